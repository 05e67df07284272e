//! Tokens: storing one, and recognizing a command that was carried out before.

use countersign_domain::token::Token;
use countersign_sql::columns::{BigInt, Id};
use countersign_sql::rows::token::NewToken;
use countersign_sql::schema::tokens;
use diesel::dsl::exists;
use diesel::prelude::*;

use super::place::place;
use crate::error::SqliteError;
use crate::statement::statement;

/// Stores a new token.
pub(crate) fn insert(connection: &mut SqliteConnection, token: &Token) -> Result<(), SqliteError> {
    InsertToken { token: token.into(), place: place(token.id.as_uuid()) }.execute(connection)?;
    Ok(())
}

/// Is this token stored, in its family? Then the command that carries it was carried out before.
pub(crate) fn is_stored(connection: &mut SqliteConnection, token: &Token) -> Result<bool, SqliteError> {
    let this_token = tokens::table.find(Id::from(token.id));
    let this_token = this_token.filter(tokens::grant_id.eq(Id::from(token.grant)));
    Ok(diesel::select(exists(this_token)).get_result(connection)?)
}

statement! {
    InsertToken<'a> {
        ..token: NewToken<'a>,
        place: i64 as BigInt,
    } = "INSERT INTO tokens (:token.columns, place) VALUES (:token.values, :place)"
}
