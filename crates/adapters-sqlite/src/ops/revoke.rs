//! Ending an access token, or a grant with everything that came from it.

use countersign_domain::id::TokenId;
use countersign_ports::{RevokeGrant, RevokeToken, Revoked};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use time::OffsetDateTime;

use super::statement::statement;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::{grants, tokens};

/// Ends one access token; when it ended first stays.
pub(crate) fn revoke_token(
    connection: &mut SqliteConnection,
    command: &RevokeToken,
) -> Result<Revoked, SqliteError> {
    let id = command.id.as_uuid();
    let hash = command.access_hash.as_bytes().as_slice();
    let revoke =
        RevokePresented { access_revoked_at: micros(command.now), id: id.as_bytes(), access_hash: hash };
    if revoke.execute(connection)? == 1 {
        return Ok(Revoked::Revoked);
    }
    let presented = tokens::table.find(id.as_bytes().as_slice()).filter(tokens::access_hash.eq(hash));
    Ok(not_revoked(diesel::select(exists(presented)).get_result(connection)?))
}

/// Ends the access token of a successor that nobody used.
pub(crate) fn revoke_access(
    connection: &mut SqliteConnection,
    id: TokenId,
    now: OffsetDateTime,
) -> Result<(), SqliteError> {
    let id = id.as_uuid();
    RevokeAccess { access_revoked_at: micros(now), id: id.as_bytes() }.execute(connection)?;
    Ok(())
}

/// Ends a grant; when and why it ended first stay.
pub(crate) fn revoke_grant(
    connection: &mut SqliteConnection,
    command: &RevokeGrant,
) -> Result<Revoked, SqliteError> {
    let id = command.id.as_uuid();
    let revoke = EndGrant {
        revoked_at: micros(command.now),
        revocation_reason: command.reason.name(),
        id: id.as_bytes(),
    };
    if revoke.execute(connection)? == 1 {
        return Ok(Revoked::Revoked);
    }
    let grant = grants::table.find(id.as_bytes().as_slice());
    Ok(not_revoked(diesel::select(exists(grant)).get_result(connection)?))
}

/// What it means that nothing was alive.
const fn not_revoked(is_there: bool) -> Revoked {
    if is_there { Revoked::AlreadyRevoked } else { Revoked::Unknown }
}

statement! {
    struct RevokePresented<'a> {
        access_revoked_at: i64 as BigInt,
        id: &'a [u8] as Binary,
        access_hash: &'a [u8] as Binary,
    }
    "UPDATE tokens SET access_revoked_at = ? WHERE id = ? AND access_hash = ? AND access_revoked_at IS NULL"
}

statement! {
    struct RevokeAccess<'a> {
        access_revoked_at: i64 as BigInt,
        id: &'a [u8] as Binary,
    }
    "UPDATE tokens SET access_revoked_at = ? WHERE id = ? AND access_revoked_at IS NULL"
}

statement! {
    struct EndGrant<'a> {
        revoked_at: i64 as BigInt,
        revocation_reason: &'a str as Text,
        id: &'a [u8] as Binary,
    }
    "UPDATE grants SET revoked_at = ?, revocation_reason = ? WHERE id = ? AND revoked_at IS NULL"
}
