//! Access tokens and grants are revoked.

use countersign_ports::{RevokeGrant, RevokeToken, Revoked};
use countersign_sql::SqlError;
use countersign_sql::columns::Id;
use countersign_sql::ops::events::record_event::act_and_record;
use countersign_sql::schema::{grants, tokens};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::select;
use diesel::sql_types::{Binary, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::statement::statement;

pub(crate) fn revoke_token(
    connection: &mut PgConnection,
    command: &RevokeToken,
) -> Result<Revoked, SqlError> {
    let (id, access_hash) = (command.id.as_uuid(), command.access_hash.as_bytes().as_slice());
    let end = EndAccess { id, access_hash, now: command.now };
    let end = |connection: &mut PgConnection| Ok(end.execute(connection)? == 1);
    let was_live = act_and_record(connection, command.event.as_deref(), end)?;
    if was_live {
        return Ok(Revoked::Revoked);
    }
    let presented = tokens::table.find(Id(id)).filter(tokens::access_hash.eq(access_hash));
    Ok(not_revoked(select(exists(presented)).get_result(connection)?))
}

pub(crate) fn revoke_grant(
    connection: &mut PgConnection,
    command: &RevokeGrant,
) -> Result<Revoked, SqlError> {
    let id = command.id.as_uuid();
    let end = EndGrant { id, now: command.now, reason: command.reason.name() };
    let end = |connection: &mut PgConnection| Ok(end.execute(connection)? == 1);
    let was_live = act_and_record(connection, command.event.as_deref(), end)?;
    if was_live {
        return Ok(Revoked::Revoked);
    }
    Ok(not_revoked(select(exists(grants::table.find(Id(id)))).get_result(connection)?))
}

/// The outcome where nothing live was found.
const fn not_revoked(is_there: bool) -> Revoked {
    if is_there { Revoked::AlreadyRevoked } else { Revoked::Unknown }
}

statement! {
    /// One row if the access token was live, none otherwise.
    EndAccess<'a> {
        id: Uuid as SqlUuid,
        access_hash: &'a [u8] as Binary,
        now: OffsetDateTime as Timestamptz,
    } = "\
        UPDATE tokens SET access_revoked_at = :now \
        WHERE id = :id AND access_hash = :access_hash AND access_revoked_at IS NULL"
}

statement! {
    /// One row if the grant was live, none otherwise.
    EndGrant { id: Uuid as SqlUuid, now: OffsetDateTime as Timestamptz, reason: &'static str as Text } = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason WHERE id = :id AND revoked_at IS NULL"
}
