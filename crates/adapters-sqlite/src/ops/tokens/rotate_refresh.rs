//! A refresh token is replaced by the next one of its family.

use countersign_ports::{RotateRefresh, Rotated};
use countersign_sql::columns::{At, Id, Key, Moment, StoredTime};
use countersign_sql::schema::grants;
use diesel::prelude::*;

use super::{revoke, store_token};
use crate::error::SqliteError;
use crate::statement::statement;

/// Guard: the expected token is the newest, and the grant is not revoked. It is in the `WHERE` of the one
/// update.
pub(crate) fn rotate_refresh(
    connection: &mut SqliteConnection,
    command: &RotateRefresh,
) -> Result<Rotated, SqliteError> {
    let (grant, token) = (Id::from(command.token.grant), Id::from(command.token.id));
    let expected = Id::from(command.expected_newest);
    let replace = ReplaceNewest {
        newest_token: token,
        forget_after: At(command.forget_after),
        id: grant,
        expected_newest: expected,
    };
    if replace.execute(connection)? == 1 {
        if command.token.parent != Some(command.expected_newest) {
            // Within the grace period an unused successor is replaced. Its access token must not stay valid
            // beside the new one.
            revoke::revoke_access(connection, command.expected_newest, command.now)?;
        }
        store_token::insert(connection, &command.token)?;
        return Ok(Rotated::Stored);
    }
    let revoked_at: Option<Option<StoredTime>> =
        grants::table.find(grant).select(grants::revoked_at).get_result(connection).optional()?;
    Ok(match revoked_at {
        None => Rotated::Unknown,
        Some(_) if store_token::is_stored(connection, &command.token)? => Rotated::Stored,
        Some(Some(_)) => Rotated::Revoked,
        Some(None) => Rotated::Reused,
    })
}

statement! {
    ReplaceNewest {
        newest_token: Id as Key,
        forget_after: At as Moment,
        id: Id as Key,
        expected_newest: Id as Key,
    } = "\
        UPDATE grants SET newest_token = :newest_token, forget_after = max(forget_after, :forget_after) \
        WHERE id = :id AND newest_token = :expected_newest AND revoked_at IS NULL"
}
