//! A refresh token is replaced by the next one of its family.

use countersign_ports::{RotateRefresh, Rotated};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};

use super::{revoke, tokens};
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::grants;
use crate::statement::statement;

/// Guard: the expected token is the newest, and the grant is not revoked. It is in the `WHERE` of the one
/// update.
pub(crate) fn rotate_refresh(
    connection: &mut SqliteConnection,
    command: &RotateRefresh,
) -> Result<Rotated, SqliteError> {
    let (grant, token) = (command.token.grant.as_uuid(), command.token.id.as_uuid());
    let expected = command.expected_newest.as_uuid();
    let replace = ReplaceNewest {
        newest_token: token.as_bytes(),
        forget_after: micros(command.forget_after),
        id: grant.as_bytes(),
        expected_newest: expected.as_bytes(),
    };
    if replace.execute(connection)? == 1 {
        if command.token.parent != Some(command.expected_newest) {
            // Within the grace period an unused successor is replaced. Its access token must not stay valid
            // beside the new one.
            revoke::revoke_access(connection, command.expected_newest, command.now)?;
        }
        tokens::insert(connection, &command.token)?;
        return Ok(Rotated::Stored);
    }
    let revoked_at: Option<Option<i64>> = grants::table
        .find(grant.as_bytes().as_slice())
        .select(grants::revoked_at)
        .get_result(connection)
        .optional()?;
    Ok(match revoked_at {
        None => Rotated::Unknown,
        Some(_) if tokens::is_stored(connection, &command.token)? => Rotated::Stored,
        Some(Some(_)) => Rotated::Revoked,
        Some(None) => Rotated::Reused,
    })
}

statement! {
    ReplaceNewest<'a> {
        newest_token: &'a [u8] as Binary,
        forget_after: i64 as BigInt,
        id: &'a [u8] as Binary,
        expected_newest: &'a [u8] as Binary,
    } = "\
        UPDATE grants SET newest_token = :newest_token, forget_after = max(forget_after, :forget_after) \
        WHERE id = :id AND newest_token = :expected_newest AND revoked_at IS NULL"
}
