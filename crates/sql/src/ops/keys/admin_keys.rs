//! Keys of the admin interface are created, used and revoked, and their requests begun.

use countersign_domain::admin_key::AdminKey;
use countersign_domain::id::AdminKeyId;
use countersign_ports::{
    AdminKeyCreated, BeginRequest, CreateAdminKey, RequestBegun, RequestName, RevokeAdminKey,
};
use time::OffsetDateTime;

use crate::columns::{At, Binary, Bool, Id, Key, Moment, Nullable};
use crate::database::Statement;
use crate::ops::events::record_event::act_and_record;
use crate::rows::admin_key::{AdminKeyRow, AdminKeySql, ListedKey, RequestRow};
use crate::statement::statement;
use crate::{Database, SqlError};

/// Guard: the name is free. A key of the same id is this command's own, from an earlier attempt.
pub fn create_admin_key(
    db: &mut impl Database,
    command: &CreateAdminKey,
) -> Result<AdminKeyCreated, SqlError> {
    let store = |db: &mut _| Ok(StoreKey { key: AdminKeyRow::from(&command.key) }.run(db)? == 1);
    if act_and_record(db, command.event.as_deref(), store)? {
        return Ok(AdminKeyCreated::Stored);
    }
    let is_repeated = IsThere { id: command.key.id.into() }.one(db)?;
    Ok(if is_repeated { AdminKeyCreated::Stored } else { AdminKeyCreated::NameTaken })
}

/// Returns whether the key existed and was not revoked before.
pub fn revoke_admin_key(db: &mut impl Database, command: &RevokeAdminKey) -> Result<bool, SqlError> {
    act_and_record(db, command.event.as_deref(), |db| {
        Ok(RevokeKey { id: command.id.into(), now: At(command.now) }.run(db)? == 1)
    })
}

pub fn note_admin_key_use(
    db: &mut impl Database,
    id: AdminKeyId,
    used_at: OffsetDateTime,
) -> Result<(), SqlError> {
    NoteUse { id: id.into(), used_at: At(used_at) }.run(db)?;
    Ok(())
}

pub fn find_admin_key(db: &mut impl Database, id: AdminKeyId) -> Result<Option<AdminKey>, SqlError> {
    let row: Option<ListedKey> = FindKey { id: id.into() }.maybe(db)?;
    row.map(AdminKey::try_from).transpose()
}

pub fn list_admin_keys(db: &mut impl Database) -> Result<Vec<AdminKey>, SqlError> {
    let rows: Vec<ListedKey> = ListKeys {}.all(db)?;
    rows.into_iter().map(AdminKey::try_from).collect()
}

/// Guard: the key began no request of this name that is not forgotten. The second of two at the same time
/// waits for the first, and reads its answer.
pub fn begin_request(db: &mut impl Database, command: &BeginRequest) -> Result<RequestBegun, SqlError> {
    let BeginRequest { key, name, asked, now, forget_before } = command;
    let (key, name) = (Id::from(*key), name.as_slice());
    let row: RequestRow = db.all_or_nothing(|db| {
        ForgetRequests { key, forget_before: At(*forget_before) }.run(db)?;
        StoreRequest { key, name, asked, now: At(*now) }.run(db)?;
        Ok(FindRequest { key, name }.one(db)?)
    })?;
    row.read(key)
}

/// Does the request wait? The lock lets one attempt after another create something, so the second finds what the first
/// made.
pub fn waits(db: &mut impl Database, request: &RequestName) -> Result<bool, SqlError> {
    let waits: Option<bool> = LockRequest { key: request.key.into(), name: &request.name }.maybe(db)?;
    Ok(waits == Some(true))
}

/// The request made something.
pub fn note_made(db: &mut impl Database, request: &RequestName, now: OffsetDateTime) -> Result<(), SqlError> {
    NoteMade { now: At(now), key: request.key.into(), name: &request.name }.run(db)?;
    Ok(())
}

statement! {
    /// One row if the id and the name were free, none otherwise.
    pub StoreKey<'a> {
        ..key: AdminKeyRow<'a>,
    } = "INSERT INTO admin_keys (:key.columns) VALUES (:key.values) ON CONFLICT DO NOTHING"
}

statement! {
    pub IsThere { id: Id as Key } -> Bool = "SELECT EXISTS (SELECT 1 FROM admin_keys WHERE id = :id)"
}

statement! {
    pub RevokeKey { id: Id as Key, now: At as Moment } = "\
        UPDATE admin_keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL"
}

statement! {
    pub NoteUse { id: Id as Key, used_at: At as Moment } = "\
        UPDATE admin_keys SET last_used_at = :used_at \
        WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :used_at)"
}

statement! {
    pub FindKey { id: Id as Key } -> AdminKeySql = "\
        SELECT id, name, scopes, hash, created_at, expires_at, revoked_at, last_used_at \
        FROM admin_keys WHERE id = :id"
}

statement! {
    pub ListKeys {} -> AdminKeySql = "\
        SELECT id, name, scopes, hash, created_at, expires_at, revoked_at, last_used_at \
        FROM admin_keys ORDER BY id"
}

statement! {
    /// In the order of their keys, because several requests of one key do this at the same time.
    pub ForgetRequests { key: Id as Key, forget_before: At as Moment },
    sqlite = "DELETE FROM admin_requests WHERE key_id = :key AND begun_at < :forget_before",
    postgres = "\
        WITH old AS MATERIALIZED ( \
          SELECT name FROM admin_requests WHERE key_id = :key AND begun_at < :forget_before \
          ORDER BY name FOR UPDATE \
        ) \
        DELETE FROM admin_requests USING old WHERE key_id = :key AND admin_requests.name = old.name"
}

statement! {
    pub StoreRequest<'a> {
        key: Id as Key,
        name: &'a [u8] as Binary,
        asked: &'a [u8] as Binary,
        now: At as Moment,
    } = "\
        INSERT INTO admin_requests (key_id, name, asked, begun_at, waits_since) \
        VALUES (:key, :name, :asked, :now, :now) \
        ON CONFLICT (key_id, name) DO NOTHING"
}

statement! {
    pub FindRequest<'a> {
        key: Id as Key,
        name: &'a [u8] as Binary,
    } -> (Binary, Moment, Nullable<Moment>, Nullable<Moment>) = "\
        SELECT asked, begun_at, waits_since, made_at FROM admin_requests WHERE key_id = :key AND name = :name"
}

statement! {
    pub LockRequest<'a> { key: Id as Key, name: &'a [u8] as Binary } -> Bool,
    sqlite = "\
        SELECT waits_since IS NOT NULL FROM admin_requests WHERE key_id = :key AND name = :name",
    postgres = "\
        SELECT waits_since IS NOT NULL FROM admin_requests WHERE key_id = :key AND name = :name FOR UPDATE"
}

statement! {
    pub NoteMade<'a> {
        now: At as Moment,
        key: Id as Key,
        name: &'a [u8] as Binary,
    } = "UPDATE admin_requests SET waits_since = NULL, made_at = :now WHERE key_id = :key AND name = :name"
}
