//! What redeeming and rotating share: storing a token, and recognizing a command that was carried out before.

use countersign_domain::token::Token;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::statement::statement;
use crate::error::SqliteError;
use crate::rows::access_token::place;
use crate::rows::field::micros;
use crate::schema::tokens;

/// Stores a new token.
pub(crate) fn insert(connection: &mut SqliteConnection, token: &Token) -> Result<(), SqliteError> {
    let (id, grant, parent) =
        (token.id.as_uuid(), token.grant.as_uuid(), token.parent.map(|id| id.as_uuid()));
    let scope = token.scope.to_string();
    let refresh = token.refresh.as_ref();
    let insert = InsertToken {
        id: id.as_bytes(),
        grant_id: grant.as_bytes(),
        parent_id: parent.as_ref().map(|id| id.as_bytes().as_slice()),
        scope: &scope,
        issued_at: micros(token.issued_at),
        access_hash: token.access_hash.as_bytes(),
        access_expires_at: micros(token.access_expires_at),
        refresh_hash: refresh.map(|refresh| refresh.hash.as_bytes().as_slice()),
        refresh_expires_at: refresh.map(|refresh| micros(refresh.expires_at)),
        forget_after: micros(token.forget_after()),
        bound_key: token.key.as_ref().map(|key| key.as_bytes().as_slice()),
        place: place(id),
    };
    insert.execute(connection)?;
    Ok(())
}

/// Is this very token there, in its family? Then the command that carries it was carried out before.
pub(crate) fn is_stored(connection: &mut SqliteConnection, token: &Token) -> Result<bool, SqliteError> {
    let (id, grant) = (token.id.as_uuid(), token.grant.as_uuid());
    let this_token =
        tokens::table.find(id.as_bytes().as_slice()).filter(tokens::grant_id.eq(grant.as_bytes().as_slice()));
    Ok(diesel::select(exists(this_token)).get_result(connection)?)
}

statement! {
    struct InsertToken<'a> {
        id: &'a [u8] as Binary,
        grant_id: &'a [u8] as Binary,
        parent_id: Option<&'a [u8]> as Nullable<Binary>,
        scope: &'a str as Text,
        issued_at: i64 as BigInt,
        access_hash: &'a [u8] as Binary,
        access_expires_at: i64 as BigInt,
        refresh_hash: Option<&'a [u8]> as Nullable<Binary>,
        refresh_expires_at: Option<i64> as Nullable<BigInt>,
        forget_after: i64 as BigInt,
        bound_key: Option<&'a [u8]> as Nullable<Binary>,
        place: i64 as BigInt,
    }
    "INSERT INTO tokens (id, grant_id, parent_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, \
     refresh_expires_at, forget_after, bound_key, place) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
}
