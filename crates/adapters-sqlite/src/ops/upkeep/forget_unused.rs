//! Users that no client learned of are deleted.

use countersign_domain::id::UserId;
use countersign_ports::{ForgetUnused, Purged};
use countersign_sql::columns::{At, Bool, Id, Key, Moment, Row, StoredId};
use countersign_sql::schema::{consents, signed_consents, users, wallets};
use diesel::dsl::exists;
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// When a grant whose code was redeemed is deleted, a trigger marks its user as known. So
/// the stored rows are enough to judge the users who are left. The single writer keeps that true until the
/// commit.
pub(crate) fn forget_unused(
    connection: &mut SqliteConnection,
    command: &ForgetUnused,
) -> Result<Purged, SqliteError> {
    let before = At(command.before.time());
    let asked: Vec<StoredId> = users::table
        .filter(users::untold_since.lt(before))
        .order(users::untold_since)
        .limit(command.limit.into())
        .select(users::id)
        .load(connection)?;
    let mut rows = 0;
    for user in asked {
        let user = Id::from(Row { table: "users", key: &user }.id::<UserId>("id", &user)?);
        if (IsKept { id: user }).get_result::<bool>(connection)? {
            LookAgain { untold_since: At(command.now), id: user }.execute(connection)?;
            continue;
        }
        forget_consents(connection, user)?;
        diesel::delete(wallets::table.filter(wallets::user_id.eq(user))).execute(connection)?;
        diesel::delete(users::table.find(user)).execute(connection)?;
        rows += 1;
    }
    let others = users::table.filter(users::untold_since.lt(before));
    let more = diesel::select(exists(others)).get_result(connection)?;
    Ok(Purged { rows, more })
}

/// What the user agreed to. No client heard of it.
fn forget_consents(connection: &mut SqliteConnection, user: Id) -> Result<(), SqliteError> {
    diesel::delete(signed_consents::table.filter(signed_consents::user_id.eq(user))).execute(connection)?;
    // The same in the table of the previous release.
    diesel::delete(consents::table.filter(consents::user_id.eq(user))).execute(connection)?;
    Ok(())
}

statement! {
    /// Finds grants by the indexes `grants_by_user` and `grants_ended_by_user`.
    IsKept {
        id: Id as Key,
    } -> Bool = "\
        WITH asked AS (SELECT :id AS id) \
        SELECT EXISTS (SELECT 1 FROM grants WHERE user_id = (SELECT id FROM asked) AND revoked_at IS NULL) \
        OR EXISTS (SELECT 1 FROM grants WHERE user_id = (SELECT id FROM asked) AND revoked_at IS NOT NULL) \
        OR EXISTS (SELECT 1 FROM login_sessions WHERE user_id = :id) \
        OR EXISTS (SELECT 1 FROM emails WHERE user_id = :id) \
        OR EXISTS (SELECT 1 FROM group_users WHERE user_id = :id) \
        OR EXISTS (SELECT 1 FROM blocked_users WHERE user_id = :id) \
        OR (SELECT count(*) FROM wallets WHERE user_id = :id) > 1"
}

statement! {
    LookAgain {
        untold_since: At as Moment,
        id: Id as Key,
    } = "UPDATE users SET untold_since = :untold_since WHERE id = :id"
}
