//! Tokens: storing one, and recognizing a command that was carried out before.

use countersign_domain::token::Token;
use diesel::dsl::exists;
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::rows::token::NewToken;
use crate::schema::tokens;
use crate::statement::statement;

/// Stores a new token.
pub(crate) fn insert(connection: &mut SqliteConnection, token: &Token) -> Result<(), SqliteError> {
    InsertToken { token: token.into() }.execute(connection)?;
    Ok(())
}

/// Is this token stored, in its family? Then the command that carries it was carried out before.
pub(crate) fn is_stored(connection: &mut SqliteConnection, token: &Token) -> Result<bool, SqliteError> {
    let (id, grant) = (token.id.as_uuid(), token.grant.as_uuid());
    let this_token =
        tokens::table.find(id.as_bytes().as_slice()).filter(tokens::grant_id.eq(grant.as_bytes().as_slice()));
    Ok(diesel::select(exists(this_token)).get_result(connection)?)
}

statement! {
    InsertToken<'a> {
        ..token: NewToken<'a>,
    } = "INSERT INTO tokens (:token.columns) VALUES (:token.values)"
}
