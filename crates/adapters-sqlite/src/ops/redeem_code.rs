//! A code is exchanged for its family's first tokens.

use countersign_ports::{RedeemCode, Redeemed};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};

use super::tokens;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::grants;
use crate::statement::statement;

/// Guard: the grant is neither redeemed nor revoked. It is in the `WHERE` of the one update.
pub(crate) fn redeem_code(
    connection: &mut SqliteConnection,
    command: &RedeemCode,
) -> Result<Redeemed, SqliteError> {
    let (grant, token) = (command.token.grant.as_uuid(), command.token.id.as_uuid());
    let mark = MarkRedeemed {
        redeemed_at: micros(command.now),
        newest_token: token.as_bytes(),
        forget_after: micros(command.forget_after),
        id: grant.as_bytes(),
    };
    if mark.execute(connection)? == 1 {
        tokens::insert(connection, &command.token)?;
        return Ok(Redeemed::Stored);
    }
    let redeemed_at: Option<Option<i64>> = grants::table
        .find(grant.as_bytes().as_slice())
        .select(grants::redeemed_at)
        .get_result(connection)
        .optional()?;
    Ok(match redeemed_at {
        None => Redeemed::Unknown,
        Some(_) if tokens::is_stored(connection, &command.token)? => Redeemed::Stored,
        Some(Some(_)) => Redeemed::Replayed,
        Some(None) => Redeemed::Revoked,
    })
}

statement! {
    MarkRedeemed<'a> {
        redeemed_at: i64 as BigInt,
        newest_token: &'a [u8] as Binary,
        forget_after: i64 as BigInt,
        id: &'a [u8] as Binary,
    } = "\
        UPDATE grants SET redeemed_at = :redeemed_at, newest_token = :newest_token, forget_after = :forget_after \
        WHERE id = :id AND redeemed_at IS NULL AND revoked_at IS NULL"
}
