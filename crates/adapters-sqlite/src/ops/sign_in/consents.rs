//! Consents: what several operations do with them.

use countersign_ports::CompleteLogin;
use countersign_sql::columns::{At, BigInt, Id, Key, Moment, Text};
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// Adds what a login grants to what its user agreed to for this client and these terms.
pub(crate) fn add(
    connection: &mut SqliteConnection,
    user_id: Id,
    login: &CompleteLogin,
) -> Result<(), SqliteError> {
    let audiences = login.terms.audiences.to_text();
    let signed = login.signed_scope();
    let add = AddConsent {
        user_id,
        client_id: login.client.into(),
        destination: login.terms.destination.to_text(),
        audiences: &audiences,
        scopes: signed.bits().into(),
        own_scopes: &signed.own_text(),
        granted_at: At(login.now),
    };
    add.execute(connection)?;
    Ok(())
}

statement! {
    /// The operator's scopes are names with spaces between them, and no name has a quote or a backslash. So they
    /// are taken apart as a list in JSON.
    AddConsent<'a> {
        user_id: Id as Key,
        client_id: Id as Key,
        destination: &'a str as Text,
        audiences: &'a str as Text,
        scopes: i64 as BigInt,
        own_scopes: &'a str as Text,
        granted_at: At as Moment,
    } = "\
        INSERT INTO signed_consents (user_id, client_id, destination, audiences, scopes, own_scopes, granted_at, last_used_at) \
        VALUES (:user_id, :client_id, :destination, :audiences, :scopes, :own_scopes, :granted_at, :granted_at) \
        ON CONFLICT (user_id, client_id, destination, audiences) \
        DO UPDATE SET scopes = scopes | excluded.scopes, last_used_at = excluded.last_used_at, \
          own_scopes = CASE excluded.own_scopes WHEN '' THEN own_scopes ELSE ( \
            SELECT group_concat(value, ' ') FROM ( \
              SELECT DISTINCT value FROM json_each('[\"' || replace(own_scopes || ' ' || excluded.own_scopes, ' ', '\",\"') || '\"]') \
              WHERE value <> '' ORDER BY value \
            ) \
          ) END"
}
