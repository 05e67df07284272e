//! Consents: what several operations do with them.

use countersign_ports::CompleteLogin;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};

use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::statement::statement;

/// Adds what a login grants to what its user agreed to for this client and these terms.
pub(crate) fn add(
    connection: &mut SqliteConnection,
    user_id: &[u8],
    login: &CompleteLogin,
) -> Result<(), SqliteError> {
    let (client, now) = (login.client.as_uuid(), micros(login.now));
    let audiences = login.terms.audiences.to_text();
    let signed = login.signed_scope();
    let add = AddConsent {
        user_id,
        client_id: client.as_bytes(),
        destination: login.terms.destination.to_text(),
        audiences: &audiences,
        scopes: signed.bits().into(),
        own_scopes: &signed.own_text(),
        granted_at: now,
    };
    add.execute(connection)?;
    Ok(())
}

statement! {
    /// The operator's scopes are names with spaces between them, and no name has a quote or a backslash. So they
    /// are taken apart as a list in JSON.
    AddConsent<'a> {
        user_id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
        destination: &'a str as Text,
        audiences: &'a str as Text,
        scopes: i64 as BigInt,
        own_scopes: &'a str as Text,
        granted_at: i64 as BigInt,
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
