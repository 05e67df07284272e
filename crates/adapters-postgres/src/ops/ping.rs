//! Can the database do what a sign-in and an exchange need?

use diesel::prelude::*;
use diesel::sql_types::{Bool, Uuid as SqlUuid};
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn ping(connection: &mut PgConnection) -> OpResult<()> {
    Touch { really: true, nobody: Uuid::nil() }.execute(connection)?;
    Ok(())
}

statement! {
    /// Writes a row without changing it. A server that is read-only or has no room refuses that. The updates of nobody change nothing,
    /// but they fail if a table is gone, and wait if somebody has locked one.
    Touch { really: bool as Bool, nobody: Uuid as SqlUuid } = "\
        WITH of_clients AS (UPDATE clients SET id = id WHERE id = :nobody), \
          of_users AS (UPDATE users SET id = id WHERE id = :nobody), \
          of_wallets AS (UPDATE wallets SET user_id = user_id WHERE user_id = :nobody), \
          of_consents AS (UPDATE signed_consents SET user_id = user_id WHERE user_id = :nobody), \
          of_sessions AS (UPDATE login_sessions SET id = id WHERE id = :nobody), \
          of_grants AS (UPDATE grants SET id = id WHERE id = :nobody), \
          of_tokens AS (UPDATE tokens SET id = id WHERE id = :nobody), \
          of_events AS (UPDATE fresh_events SET id = id WHERE id = :nobody) \
        UPDATE signing_keys SET kid = kid WHERE kid = (SELECT max(kid) FROM signing_keys WHERE :really)"
}
