//! Keys of the admin interface are created, used and revoked, and their requests begun.

use countersign_domain::admin_key::AdminKey;
use countersign_domain::id::AdminKeyId;
use countersign_ports::{AdminKeyCreated, BeginRequest, CreateAdminKey, RequestBegun, RevokeAdminKey};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::transaction::{act_and_record, all_or_nothing};
use crate::error::OpResult;
use crate::rows::admin_key::{AdminKeyRow, AdminKeySql, ListedKey, RequestRow};
use crate::statement::statement;

/// Guard: the name is free. A key of the same id is this command's own, from an earlier attempt.
pub(crate) fn create_admin_key(
    connection: &mut PgConnection,
    command: &CreateAdminKey,
) -> OpResult<AdminKeyCreated> {
    let is_new = act_and_record(
        connection,
        command.event.as_deref(),
        |is_new| *is_new,
        |connection| Ok(StoreKey { key: AdminKeyRow::from(&command.key) }.execute(connection)? == 1),
    )?;
    if is_new {
        return Ok(AdminKeyCreated::Stored);
    }
    let is_repeated = IsThere { id: command.key.id.as_uuid() }.get_result(connection)?;
    Ok(if is_repeated { AdminKeyCreated::Stored } else { AdminKeyCreated::NameTaken })
}

/// Returns whether the key existed and was not revoked before.
pub(crate) fn revoke_admin_key(connection: &mut PgConnection, command: &RevokeAdminKey) -> OpResult<bool> {
    act_and_record(
        connection,
        command.event.as_deref(),
        |is_revoked| *is_revoked,
        |connection| Ok(RevokeKey { id: command.id.as_uuid(), now: command.now }.execute(connection)? == 1),
    )
}

pub(crate) fn note_admin_key_use(
    connection: &mut PgConnection,
    id: AdminKeyId,
    used_at: OffsetDateTime,
) -> OpResult<()> {
    NoteUse { id: id.as_uuid(), used_at }.execute(connection)?;
    Ok(())
}

pub(crate) fn find_admin_key(connection: &mut PgConnection, id: AdminKeyId) -> OpResult<Option<AdminKey>> {
    let row: Option<ListedKey> = FindKey { id: id.as_uuid() }.get_result(connection).optional()?;
    Ok(row.map(AdminKey::try_from).transpose()?)
}

pub(crate) fn list_admin_keys(connection: &mut PgConnection) -> OpResult<Vec<AdminKey>> {
    let rows: Vec<ListedKey> = ListKeys {}.load(connection)?;
    Ok(rows.into_iter().map(AdminKey::try_from).collect::<Result<_, _>>()?)
}

/// Guard: the key began no request of this name that is not forgotten. Whoever comes second at the same time waits
/// for the first, and reads theirs.
pub(crate) fn begin_request(connection: &mut PgConnection, command: &BeginRequest) -> OpResult<RequestBegun> {
    let BeginRequest { key, name, asked, now, forget_before } = command;
    let (key, name) = (key.as_uuid(), name.as_slice());
    let row: RequestRow = all_or_nothing(connection, |connection| {
        ForgetRequests { key, forget_before: *forget_before }.execute(connection)?;
        StoreRequest { key, name, asked, now: *now }.execute(connection)?;
        Ok(FindRequest { key, name }.get_result(connection)?)
    })?;
    Ok(row.read(key)?)
}

statement! {
    /// One row if the id and the name were free, none otherwise.
    StoreKey<'a> {
        ..key: AdminKeyRow<'a>,
    } = "INSERT INTO admin_keys (:key.columns) VALUES (:key.values) ON CONFLICT DO NOTHING"
}

statement! {
    IsThere { id: Uuid as SqlUuid } -> Bool = "SELECT EXISTS (SELECT FROM admin_keys WHERE id = :id)"
}

statement! {
    RevokeKey { id: Uuid as SqlUuid, now: OffsetDateTime as Timestamptz } = "\
        UPDATE admin_keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL"
}

statement! {
    NoteUse { id: Uuid as SqlUuid, used_at: OffsetDateTime as Timestamptz } = "\
        UPDATE admin_keys SET last_used_at = :used_at \
        WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :used_at)"
}

statement! {
    FindKey { id: Uuid as SqlUuid } -> AdminKeySql = "\
        SELECT id, name, scopes, hash, created_at, expires_at, revoked_at, last_used_at \
        FROM admin_keys WHERE id = :id"
}

statement! {
    ListKeys {} -> AdminKeySql = "\
        SELECT id, name, scopes, hash, created_at, expires_at, revoked_at, last_used_at \
        FROM admin_keys ORDER BY id"
}

statement! {
    /// In the order of their keys, because several requests of one key do this at the same time.
    ForgetRequests { key: Uuid as SqlUuid, forget_before: OffsetDateTime as Timestamptz } = "\
        WITH old AS MATERIALIZED ( \
          SELECT name FROM admin_requests WHERE key_id = :key AND begun_at < :forget_before \
          ORDER BY name FOR UPDATE \
        ) \
        DELETE FROM admin_requests USING old WHERE key_id = :key AND admin_requests.name = old.name"
}

statement! {
    StoreRequest<'a> {
        key: Uuid as SqlUuid,
        name: &'a [u8] as Binary,
        asked: &'a [u8] as Binary,
        now: OffsetDateTime as Timestamptz,
    } = "\
        INSERT INTO admin_requests (key_id, name, asked, begun_at) VALUES (:key, :name, :asked, :now) \
        ON CONFLICT (key_id, name) DO NOTHING"
}

statement! {
    FindRequest<'a> { key: Uuid as SqlUuid, name: &'a [u8] as Binary } -> (Binary, Timestamptz) = "\
        SELECT asked, begun_at FROM admin_requests WHERE key_id = :key AND name = :name"
}
