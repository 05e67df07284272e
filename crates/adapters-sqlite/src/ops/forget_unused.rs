//! Users go that nobody was told of.

use countersign_ports::{ForgetUnused, Purged};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::query_builder::Query;
use diesel::sql_types::{BigInt, Binary, Bool};

use super::statement::statement;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::{consents, signed_consents, users, wallets};

/// A grant whose code was redeemed takes its user out of question when it is deleted (a trigger, whoever deletes it), so whoever is left
/// is known by what is stored now. The one writer keeps that true until the commit.
pub(crate) fn forget_unused(
    connection: &mut SqliteConnection,
    command: &ForgetUnused,
) -> Result<Purged, SqliteError> {
    let before = micros(command.before);
    let asked: Vec<Vec<u8>> = users::table
        .filter(users::untold_since.lt(before))
        .order(users::untold_since)
        .limit(command.limit.into())
        .select(users::id)
        .load(connection)?;
    let mut rows = 0;
    for user in &asked {
        let user = user.as_slice();
        let is_kept = IsKept { of_grants: user, of_sessions: user, of_emails: user, of_wallets: user };
        if is_kept.get_result::<bool>(connection)? {
            LookAgain { untold_since: micros(command.now), id: user }.execute(connection)?;
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

/// What the user agreed to, and no client heard of.
fn forget_consents(connection: &mut SqliteConnection, user: &[u8]) -> Result<(), SqliteError> {
    diesel::delete(signed_consents::table.filter(signed_consents::user_id.eq(user))).execute(connection)?;
    // As the release before kept it.
    diesel::delete(consents::table.filter(consents::user_id.eq(user))).execute(connection)?;
    Ok(())
}

statement! {
    /// Finds grants by the indexes `grants_by_user` and `grants_ended_by_user`.
    struct IsKept<'a> {
        of_grants: &'a [u8] as Binary,
        of_sessions: &'a [u8] as Binary,
        of_emails: &'a [u8] as Binary,
        of_wallets: &'a [u8] as Binary,
    }
    "WITH asked AS (SELECT ? AS id) \
     SELECT EXISTS (SELECT 1 FROM grants WHERE user_id = (SELECT id FROM asked) AND revoked_at IS NULL) \
     OR EXISTS (SELECT 1 FROM grants WHERE user_id = (SELECT id FROM asked) AND revoked_at IS NOT NULL) \
     OR EXISTS (SELECT 1 FROM login_sessions WHERE user_id = ?) \
     OR EXISTS (SELECT 1 FROM emails WHERE user_id = ?) \
     OR (SELECT count(*) FROM wallets WHERE user_id = ?) > 1"
}

impl Query for IsKept<'_> {
    type SqlType = Bool;
}

statement! {
    struct LookAgain<'a> {
        untold_since: i64 as BigInt,
        id: &'a [u8] as Binary,
    }
    "UPDATE users SET untold_since = ? WHERE id = ?"
}
