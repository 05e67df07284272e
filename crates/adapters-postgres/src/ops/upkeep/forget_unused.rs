//! Users that no client learned of are deleted.

use countersign_ports::{ForgetUnused, Purged};
use countersign_sql::{Database, SqlError, Undone};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::statement::statement;

/// Locks users and wallets in the usual order and waits for no lock.
pub(crate) fn forget_unused(
    connection: &mut PgConnection,
    command: &ForgetUnused,
) -> Result<Purged, SqlError> {
    let ForgetUnused { before, since, now, limit } = *command;
    let before = before.time();
    connection.all_or_nothing(|connection| {
        let asked: Vec<Uuid> = LockUsers { before, since, limit: limit.into() }.load(connection)?;
        let held: Vec<Uuid> = LockWallets { users: asked.clone() }.load(connection)?;
        let unused: Vec<Uuid> = Unused { users: held }.load(connection)?;
        let kept: Vec<Uuid> = asked.iter().filter(|user| !unused.contains(user)).copied().collect();
        LookAgain { users: kept, now }.execute(connection)?;
        DeleteWallets { users: unused.clone() }.execute(connection)?;
        DeleteConsents { users: unused.clone() }.execute(connection)?;
        DeleteOfEarlierRelease { users: unused.clone() }.execute(connection)?;
        let rows = DeleteUsers { users: unused }.execute(connection)?;
        let others: Vec<Uuid> = More { before, since, limit: 1 }.load(connection)?;
        let is_full = u32::try_from(asked.len()).is_ok_and(|count| count == limit);
        Ok::<_, Undone<Purged>>(Purged {
            rows: u64::try_from(rows).unwrap_or(u64::MAX),
            more: is_full && !others.is_empty(),
        })
    })
}

statement! {
    /// Users who are being changed are skipped until upkeep begins with the oldest again.
    LockUsers {
        before: OffsetDateTime as Timestamptz,
        since: OffsetDateTime as Timestamptz,
        limit: i64 as BigInt,
    } -> SqlUuid = "\
        SELECT id FROM users WHERE untold_since >= :since AND untold_since < :before \
        ORDER BY untold_since, id LIMIT :limit FOR UPDATE SKIP LOCKED"
}

statement! {
    /// One row for each wallet that is not signing in now. A login that comes later waits, and finds the
    /// wallet either deleted or still theirs.
    LockWallets { users: Vec<Uuid> as Array<SqlUuid> } -> SqlUuid = "\
        SELECT user_id FROM wallets WHERE user_id = ANY(:users) FOR UPDATE SKIP LOCKED"
}

statement! {
    /// A statement of its own: it sees the grants of the logins that came before the wallets were locked.
    /// When a grant whose code was redeemed is deleted, its user is marked as known. So the stored rows are
    /// enough to judge the users who are left.
    Unused { users: Vec<Uuid> as Array<SqlUuid> } -> SqlUuid = "\
        SELECT id FROM users WHERE id = ANY(:users) AND untold_since IS NOT NULL \
        AND NOT EXISTS (SELECT FROM grants WHERE user_id = users.id AND revoked_at IS NULL) \
        AND NOT EXISTS (SELECT FROM grants WHERE user_id = users.id AND revoked_at IS NOT NULL) \
        AND NOT EXISTS (SELECT FROM login_sessions WHERE user_id = users.id) \
        AND NOT EXISTS (SELECT FROM emails WHERE user_id = users.id) \
        AND NOT EXISTS (SELECT FROM group_users WHERE user_id = users.id) \
        AND NOT EXISTS (SELECT FROM blocked_users WHERE user_id = users.id) \
        AND (SELECT count(*) FROM wallets WHERE user_id = users.id) = 1"
}

statement! {
    LookAgain { users: Vec<Uuid> as Array<SqlUuid>, now: OffsetDateTime as Timestamptz } = "\
        UPDATE users SET untold_since = :now WHERE id = ANY(:users) AND untold_since IS NOT NULL"
}

statement! {
    DeleteWallets { users: Vec<Uuid> as Array<SqlUuid> } = "DELETE FROM wallets WHERE user_id = ANY(:users)"
}

statement! {
    /// What they agreed to. No client heard of it. No other session locks these rows, because that takes the
    /// wallet or a session.
    DeleteConsents { users: Vec<Uuid> as Array<SqlUuid> } = "\
        DELETE FROM signed_consents WHERE user_id = ANY(:users)"
}

statement! {
    /// The same in the table of the previous release.
    DeleteOfEarlierRelease { users: Vec<Uuid> as Array<SqlUuid> } = "\
        DELETE FROM consents WHERE user_id = ANY(:users)"
}

statement! {
    DeleteUsers { users: Vec<Uuid> as Array<SqlUuid> } = "DELETE FROM users WHERE id = ANY(:users)"
}

statement! {
    More {
        before: OffsetDateTime as Timestamptz,
        since: OffsetDateTime as Timestamptz,
        limit: i64 as BigInt,
    } -> SqlUuid = "\
        SELECT id FROM users WHERE untold_since >= :since AND untold_since < :before ORDER BY untold_since LIMIT :limit"
}
