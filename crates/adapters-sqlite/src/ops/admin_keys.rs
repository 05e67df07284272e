//! Keys of the admin interface are created, used and revoked, and their requests begun.

use countersign_domain::admin_key::AdminKey;
use countersign_domain::id::AdminKeyId;
use countersign_ports::{AdminKeyCreated, BeginRequest, CreateAdminKey, RequestBegun, RevokeAdminKey};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool};
use time::OffsetDateTime;

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::admin_key::{AdminKeyRow, AdminKeySql, ListedKey, RequestRow};
use crate::rows::field::micros;
use crate::statement::statement;

/// Writes down a use of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoteAdminKeyUse {
    pub(crate) id: AdminKeyId,
    pub(crate) used_at: OffsetDateTime,
}

/// Guard: the name is free. A key of the same id is this command's own, from an earlier attempt.
pub(crate) fn create_admin_key(
    connection: &mut SqliteConnection,
    command: &CreateAdminKey,
) -> Result<AdminKeyCreated, SqliteError> {
    let id = command.key.id.as_uuid();
    if (StoreKey { key: AdminKeyRow::from(&command.key) }).execute(connection)? == 1 {
        record(connection, command.event.as_deref())?;
        return Ok(AdminKeyCreated::Stored);
    }
    let is_repeated = IsThere { id: id.as_bytes() }.get_result(connection)?;
    Ok(if is_repeated { AdminKeyCreated::Stored } else { AdminKeyCreated::NameTaken })
}

/// Returns whether the key existed and was not revoked before.
pub(crate) fn revoke_admin_key(
    connection: &mut SqliteConnection,
    command: &RevokeAdminKey,
) -> Result<bool, SqliteError> {
    let id = command.id.as_uuid();
    let is_revoked = RevokeKey { id: id.as_bytes(), now: micros(command.now) }.execute(connection)? == 1;
    if is_revoked {
        record(connection, command.event.as_deref())?;
    }
    Ok(is_revoked)
}

pub(crate) fn note_admin_key_use(
    connection: &mut SqliteConnection,
    command: &NoteAdminKeyUse,
) -> Result<(), SqliteError> {
    let id = command.id.as_uuid();
    NoteUse { id: id.as_bytes(), used_at: micros(command.used_at) }.execute(connection)?;
    Ok(())
}

pub(crate) fn find_admin_key(
    connection: &mut SqliteConnection,
    id: AdminKeyId,
) -> Result<Option<AdminKey>, SqliteError> {
    let id = id.as_uuid();
    let row: Option<ListedKey> = FindKey { id: id.as_bytes() }.get_result(connection).optional()?;
    row.map(AdminKey::try_from).transpose()
}

pub(crate) fn list_admin_keys(connection: &mut SqliteConnection) -> Result<Vec<AdminKey>, SqliteError> {
    let rows: Vec<ListedKey> = ListKeys {}.load(connection)?;
    rows.into_iter().map(AdminKey::try_from).collect()
}

/// Guard: the key began no request of this name that is not forgotten.
pub(crate) fn begin_request(
    connection: &mut SqliteConnection,
    command: &BeginRequest,
) -> Result<RequestBegun, SqliteError> {
    let BeginRequest { key, name, asked, now, forget_before } = command;
    let key = key.as_uuid();
    let (key, name) = (key.as_bytes().as_slice(), name.as_slice());
    ForgetRequests { key, forget_before: micros(*forget_before) }.execute(connection)?;
    StoreRequest { key, name, asked, now: micros(*now) }.execute(connection)?;
    let row: RequestRow = FindRequest { key, name }.get_result(connection)?;
    row.read(key)
}

statement! {
    /// One row if the id and the name were free, none otherwise.
    StoreKey<'a> {
        ..key: AdminKeyRow<'a>,
    } = "INSERT INTO admin_keys (:key.columns) VALUES (:key.values) ON CONFLICT DO NOTHING"
}

statement! {
    IsThere<'a> {
        id: &'a [u8] as Binary,
    } -> Bool = "SELECT EXISTS (SELECT 1 FROM admin_keys WHERE id = :id)"
}

statement! {
    RevokeKey<'a> {
        id: &'a [u8] as Binary,
        now: i64 as BigInt,
    } = "UPDATE admin_keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL"
}

statement! {
    NoteUse<'a> {
        id: &'a [u8] as Binary,
        used_at: i64 as BigInt,
    } = "\
        UPDATE admin_keys SET last_used_at = :used_at \
        WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :used_at)"
}

statement! {
    FindKey<'a> {
        id: &'a [u8] as Binary,
    } -> AdminKeySql = "\
        SELECT id, name, scopes, hash, created_at, expires_at, revoked_at, last_used_at \
        FROM admin_keys WHERE id = :id"
}

statement! {
    ListKeys {} -> AdminKeySql = "\
        SELECT id, name, scopes, hash, created_at, expires_at, revoked_at, last_used_at \
        FROM admin_keys ORDER BY id"
}

statement! {
    ForgetRequests<'a> {
        key: &'a [u8] as Binary,
        forget_before: i64 as BigInt,
    } = "DELETE FROM admin_requests WHERE key_id = :key AND begun_at < :forget_before"
}

statement! {
    StoreRequest<'a> {
        key: &'a [u8] as Binary,
        name: &'a [u8] as Binary,
        asked: &'a [u8] as Binary,
        now: i64 as BigInt,
    } = "\
        INSERT INTO admin_requests (key_id, name, asked, begun_at) VALUES (:key, :name, :asked, :now) \
        ON CONFLICT (key_id, name) DO NOTHING"
}

statement! {
    FindRequest<'a> {
        key: &'a [u8] as Binary,
        name: &'a [u8] as Binary,
    } -> (Binary, BigInt) = "SELECT asked, begun_at FROM admin_requests WHERE key_id = :key AND name = :name"
}
