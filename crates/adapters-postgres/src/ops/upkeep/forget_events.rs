//! Sealed events that are old enough are deleted.

use countersign_ports::ForgetEvents;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::error::OpResult;
use crate::statement::statement;

/// Each checkpoint is emptied by a statement of its own, and so in a commit of its own.
pub(crate) fn forget_events(connection: &mut PgConnection, command: &ForgetEvents) -> OpResult<u64> {
    let before = i64::try_from(command.before).unwrap_or(i64::MAX);
    let mut events = 0;
    for _ in 0..command.checkpoints {
        let forgotten = Forget { before }.execute(connection)?;
        if forgotten == 0 {
            break;
        }
        events += u64::try_from(forgotten).unwrap_or(u64::MAX);
    }
    Ok(events)
}

statement! {
    /// One row for each event of the oldest checkpoint that has any left, unless one of them is to stay. A
    /// checkpoint without events begins where the next one does, so of several the last one has the events.
    /// Locks the events in the order of their positions, as where an account is deleted.
    Forget { before: i64 as BigInt } = "\
        WITH oldest AS MATERIALIZED ( \
          SELECT first_position + events AS next FROM checkpoints \
          WHERE first_position <= (SELECT position FROM events WHERE position > 0 ORDER BY position LIMIT 1) \
          ORDER BY first_position DESC, number DESC LIMIT 1 \
        ), old AS MATERIALIZED ( \
          SELECT position FROM events WHERE position > 0 AND position < (SELECT next FROM oldest WHERE next <= :before) \
          ORDER BY position FOR UPDATE \
        ) \
        DELETE FROM events USING old WHERE events.position = old.position"
}
