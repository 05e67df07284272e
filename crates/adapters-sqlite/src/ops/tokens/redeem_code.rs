//! A code is exchanged for its family's first tokens.

use countersign_ports::{RedeemCode, Redeemed};
use countersign_sql::columns::{At, Id, Key, Moment, StoredTime};
use countersign_sql::schema::grants;
use diesel::prelude::*;

use super::store_token;
use crate::error::SqliteError;
use crate::statement::statement;

/// Guard: the grant is neither redeemed nor revoked. It is in the `WHERE` of the one update.
pub(crate) fn redeem_code(
    connection: &mut SqliteConnection,
    command: &RedeemCode,
) -> Result<Redeemed, SqliteError> {
    let (grant, token) = (Id::from(command.token.grant), Id::from(command.token.id));
    let mark = MarkRedeemed {
        redeemed_at: At(command.now),
        newest_token: token,
        forget_after: At(command.forget_after),
        id: grant,
    };
    if mark.execute(connection)? == 1 {
        store_token::insert(connection, &command.token)?;
        return Ok(Redeemed::Stored);
    }
    let redeemed_at: Option<Option<StoredTime>> =
        grants::table.find(grant).select(grants::redeemed_at).get_result(connection).optional()?;
    Ok(match redeemed_at {
        None => Redeemed::Unknown,
        Some(_) if store_token::is_stored(connection, &command.token)? => Redeemed::Stored,
        Some(Some(_)) => Redeemed::Replayed,
        Some(None) => Redeemed::Revoked,
    })
}

statement! {
    MarkRedeemed {
        redeemed_at: At as Moment,
        newest_token: Id as Key,
        forget_after: At as Moment,
        id: Id as Key,
    } = "\
        UPDATE grants SET redeemed_at = :redeemed_at, newest_token = :newest_token, forget_after = :forget_after \
        WHERE id = :id AND redeemed_at IS NULL AND revoked_at IS NULL"
}
