//! Can the database do what a sign-in and an exchange need?

use diesel::prelude::*;
use diesel::sql_types::{Bool, Uuid as SqlUuid};
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn ping(connection: &mut PgConnection) -> OpResult<()> {
    Touch { really: true, absent: Uuid::nil() }.execute(connection)?;
    Ok(())
}

statement! {
    /// Writes a row without changing it. A server that is read-only or has no room refuses that. The updates
    /// of a user who does not exist change nothing, but they fail if a table is gone, and wait if another
    /// session has locked one.
    Touch { really: bool as Bool, absent: Uuid as SqlUuid } = "\
        WITH of_clients AS (UPDATE clients SET id = id WHERE id = :absent), \
          of_users AS (UPDATE users SET id = id WHERE id = :absent), \
          of_wallets AS (UPDATE wallets SET user_id = user_id WHERE user_id = :absent), \
          of_consents AS (UPDATE signed_consents SET user_id = user_id WHERE user_id = :absent), \
          of_sessions AS (UPDATE login_sessions SET id = id WHERE id = :absent), \
          of_grants AS (UPDATE grants SET id = id WHERE id = :absent), \
          of_tokens AS (UPDATE tokens SET id = id WHERE id = :absent), \
          of_events AS (UPDATE fresh_events SET id = id WHERE id = :absent) \
        UPDATE signing_keys SET kid = kid WHERE kid = (SELECT max(kid) FROM signing_keys WHERE :really)"
}
