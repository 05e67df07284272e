//! Access tokens and grants are revoked.

use countersign_domain::id::TokenId;
use countersign_ports::{RevokeGrant, RevokeToken, Revoked};
use countersign_sql::columns::{At, Binary, Id, Key, Moment, Text};
use countersign_sql::ops::events::record_event::record;
use countersign_sql::schema::{grants, tokens};
use diesel::dsl::exists;
use diesel::prelude::*;
use time::OffsetDateTime;

use crate::error::SqliteError;
use crate::statement::statement;

/// Revokes one access token. If it was revoked before, the earlier time stays.
pub(crate) fn revoke_token(
    connection: &mut SqliteConnection,
    command: &RevokeToken,
) -> Result<Revoked, SqliteError> {
    let id = Id::from(command.id);
    let hash = command.access_hash.as_bytes().as_slice();
    let revoke = EndAccess { access_revoked_at: At(command.now), id, access_hash: hash };
    if revoke.execute(connection)? == 1 {
        record(connection, command.event.as_deref())?;
        return Ok(Revoked::Revoked);
    }
    let presented = tokens::table.find(id).filter(tokens::access_hash.eq(hash));
    Ok(not_revoked(diesel::select(exists(presented)).get_result(connection)?))
}

/// Revokes the access token of a successor that was never used.
pub(crate) fn revoke_access(
    connection: &mut SqliteConnection,
    id: TokenId,
    now: OffsetDateTime,
) -> Result<(), SqliteError> {
    EndReplaced { access_revoked_at: At(now), id: id.into() }.execute(connection)?;
    Ok(())
}

/// Revokes a grant. If it was revoked before, the earlier time and reason stay.
pub(crate) fn revoke_grant(
    connection: &mut SqliteConnection,
    command: &RevokeGrant,
) -> Result<Revoked, SqliteError> {
    let id = Id::from(command.id);
    let revoke = EndGrant { revoked_at: At(command.now), revocation_reason: command.reason.name(), id };
    if revoke.execute(connection)? == 1 {
        record(connection, command.event.as_deref())?;
        return Ok(Revoked::Revoked);
    }
    let grant = grants::table.find(id);
    Ok(not_revoked(diesel::select(exists(grant)).get_result(connection)?))
}

/// The outcome where nothing live was found.
const fn not_revoked(is_there: bool) -> Revoked {
    if is_there { Revoked::AlreadyRevoked } else { Revoked::Unknown }
}

statement! {
    EndAccess<'a> {
        access_revoked_at: At as Moment,
        id: Id as Key,
        access_hash: &'a [u8] as Binary,
    } = "\
        UPDATE tokens SET access_revoked_at = :access_revoked_at WHERE id = :id AND access_hash = :access_hash AND access_revoked_at IS NULL"
}

statement! {
    EndReplaced {
        access_revoked_at: At as Moment,
        id: Id as Key,
    } = "\
        UPDATE tokens SET access_revoked_at = :access_revoked_at WHERE id = :id AND access_revoked_at IS NULL"
}

statement! {
    EndGrant<'a> {
        revoked_at: At as Moment,
        revocation_reason: &'a str as Text,
        id: Id as Key,
    } = "\
        UPDATE grants SET revoked_at = :revoked_at, revocation_reason = :revocation_reason WHERE id = :id AND revoked_at IS NULL"
}
