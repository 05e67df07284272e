//! Sealed events that are old enough are deleted.

use countersign_ports::ForgetEvents;
use countersign_sql::columns::{BigInt, Nullable, stored};
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// Whole checkpoints, each found by its first event that is left. Returns how many events were deleted.
pub(crate) fn forget_events(
    connection: &mut SqliteConnection,
    command: &ForgetEvents,
) -> Result<u64, SqliteError> {
    let mut deleted = 0;
    for _ in 0..command.checkpoints {
        let oldest: Option<i64> = OldestSealed {}.get_result(connection)?;
        let Some(oldest) = oldest else { break };
        let next: Option<i64> = NextCheckpoint { oldest }.get_result(connection)?;
        // An event that no checkpoint covers is not ours, and stays for verification.
        let Some(next) = next.filter(|next| oldest < *next && *next <= stored(command.before)) else { break };
        deleted += Forget { next }.execute(connection)?;
    }
    Ok(u64::try_from(deleted).unwrap_or(u64::MAX))
}

statement! {
    OldestSealed {} -> Nullable<BigInt> = "SELECT min(position) FROM events WHERE position > 0"
}

statement! {
    /// The position after the checkpoint of the oldest event. Those without events begin where the next one with
    /// events begins, and come before it.
    NextCheckpoint {
        oldest: i64 as BigInt,
    } -> Nullable<BigInt> = "\
        SELECT (SELECT first_position + events FROM checkpoints WHERE first_position <= :oldest \
        ORDER BY first_position DESC, number DESC LIMIT 1)"
}

statement! {
    Forget {
        next: i64 as BigInt,
    } = "DELETE FROM events WHERE position > 0 AND position < :next"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys};

    #[test]
    fn old_events_are_found_without_reading_the_others() {
        let (_folder, mut connection) = database();
        finds_rows_by_keys(&mut connection, OldestSealed {});
        finds_rows_by_keys(&mut connection, NextCheckpoint { oldest: 1 });
        finds_rows_by_keys(&mut connection, Forget { next: 1_001 });
    }
}
