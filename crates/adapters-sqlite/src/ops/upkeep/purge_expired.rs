//! What can no longer be needed is deleted.

use countersign_ports::{PurgeExpired, Purged, REQUESTS_REMEMBERED};
use countersign_sql::columns::{At, BigInt, Bool, Moment};
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// Deletes grants, tokens, spent challenges, spent proofs, login sessions, both kinds of requests, requests of
/// admin keys and old secrets of clients, the oldest first, each up to the limit. A grant that is due for review but has been extended since only gets a
/// new time of review.
pub(crate) fn purge_expired(
    connection: &mut SqliteConnection,
    command: &PurgeExpired,
) -> Result<Purged, SqliteError> {
    let begun_before = At(command.before.kept_for(REQUESTS_REMEMBERED).time());
    let before = At(command.before.time());
    let pushed_before = At(command.pushed_before.time());
    let limit = i64::from(command.limit);
    let mut rows = PurgeGrants { before, limit }.execute(connection)?;
    let mut more = false;
    for (purge, before) in [
        (tokens as Purge, before),
        (spent_challenges, before),
        (spent_proofs, before),
        (login_sessions, before),
        (pushed_requests, pushed_before),
        (device_requests, before),
        (admin_requests, begun_before),
    ] {
        let (purged, has_more) = purge(connection, before, limit)?;
        rows += purged;
        more |= has_more;
    }
    // Before the secrets, which tell them apart.
    ForgetSecrets { before, limit }.execute(connection)?;
    rows += PurgeSecrets { before, limit }.execute(connection)?;
    ReviewGrants { before, limit }.execute(connection)?;
    PurgeLiving { before, limit }.execute(connection)?;
    let more = more
        || OldGrants { before }.get_result(connection)?
        || OldSecrets { before }.get_result(connection)?
        || OldestLivingIsOld { before }.get_result(connection)?;
    Ok(Purged { rows: u64::try_from(rows).unwrap_or(u64::MAX), more })
}

/// Deletes the oldest rows of a table, up to the limit. Returns how many, and whether old ones are left.
type Purge = fn(&mut SqliteConnection, At, i64) -> QueryResult<(usize, bool)>;

/// Declares such a function for each table, whose name it has: by which key a row is deleted, and which time says that it is old.
macro_rules! purges {
    ($($table:ident: $key:literal, $time:literal;)*) => { $(
        fn $table(connection: &mut SqliteConnection, before: At, limit: i64) -> QueryResult<(usize, bool)> {
            statement! {
                Delete {
                    before: At as Moment,
                    limit: i64 as BigInt,
                } = concat!(
                    "DELETE FROM ", stringify!($table), " WHERE (", $key, ") IN (SELECT ", $key, " FROM ", stringify!($table),
                    " WHERE ", $time, " < :before ORDER BY ", $time, " LIMIT :limit)"
                )
            }
            statement! {
                IsLeft {
                    before: At as Moment,
                } -> Bool = concat!(
                    "SELECT EXISTS (SELECT 1 FROM ", stringify!($table), " WHERE ", $time, " < :before)"
                )
            }
            let rows = Delete { before, limit }.execute(connection)?;
            Ok((rows, IsLeft { before }.get_result(connection)?))
        }
    )* };
}

purges! {
    tokens: "id", "forget_after";
    spent_challenges: "id", "forget_after";
    spent_proofs: "digest", "forget_after";
    login_sessions: "id", "expires_at";
    pushed_requests: "id", "expires_at";
    device_requests: "id", "forget_after";
    // Whatever became of the keys that began them.
    admin_requests: "key_id, name", "begun_at";
}

statement! {
    PurgeGrants {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM grants WHERE id IN (SELECT id FROM grants WHERE review_at < :before ORDER BY review_at LIMIT :limit) \
        AND forget_after < :before"
}

statement! {
    /// Grants that were due and were not purged live longer by now.
    ReviewGrants {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        UPDATE grants SET review_at = forget_after \
        WHERE id IN (SELECT id FROM grants WHERE review_at < :before ORDER BY review_at LIMIT :limit) AND forget_after >= :before"
}

statement! {
    OldGrants {
        before: At as Moment,
    } -> Bool = "SELECT EXISTS (SELECT 1 FROM grants WHERE review_at < :before)"
}

statement! {
    /// These rows only copy what `tokens` has, so they are not counted. They lie in the order in which they
    /// were created. That is close enough to the order in which they expire, so no index is needed: one token
    /// that lives longer keeps those after it for as long.
    PurgeLiving {
        limit: i64 as BigInt,
        before: At as Moment,
    } = "\
        DELETE FROM access_tokens WHERE place IN (SELECT place FROM access_tokens ORDER BY place LIMIT :limit) AND expires_at < :before"
}

statement! {
    OldestLivingIsOld {
        before: At as Moment,
    } -> Bool = "\
        SELECT coalesce((SELECT expires_at < :before FROM access_tokens ORDER BY place LIMIT 1), FALSE)"
}

statement! {
    /// What operators know about these secrets. The rows are not counted.
    ForgetSecrets {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM client_secrets WHERE (client_id, hash) IN \
        (SELECT id, old_secret_hash FROM clients WHERE old_secret_expires_at < :before \
        ORDER BY old_secret_expires_at, id LIMIT :limit)"
}

statement! {
    PurgeSecrets {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        UPDATE clients SET old_secret_hash = NULL, old_secret_expires_at = NULL WHERE id IN \
        (SELECT id FROM clients WHERE old_secret_expires_at < :before ORDER BY old_secret_expires_at, id LIMIT :limit)"
}

statement! {
    OldSecrets {
        before: At as Moment,
    } -> Bool = "SELECT EXISTS (SELECT 1 FROM clients WHERE old_secret_expires_at < :before)"
}
