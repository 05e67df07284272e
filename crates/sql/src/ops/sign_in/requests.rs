//! Requests that wait for a person: pushed requests, and those of devices.

use countersign_domain::device::DeviceRequest;
use countersign_domain::id::GrantId;
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::secret::SecretHash;
use countersign_ports::{BeginDevice, DenyDevice, DeviceBegun, DeviceDenied, TakePushedRequest};

use crate::columns::{At, Binary, Bool, Id, Key, Moment, Text, lines};
use crate::database::Statement;
use crate::rows::device_request::{DeviceRequestRow, DeviceRequestSql};
use crate::statement::statement;
use crate::{Database, SqlError};

/// Pushing the same id again changes nothing.
pub fn push_request(db: &mut impl Database, request: &PushedRequest) -> Result<(), SqlError> {
    let insert = InsertPushed {
        id: request.id.into(),
        client: request.client.into(),
        secret_hash: request.secret_hash.as_bytes(),
        parameters: &request.parameters,
        expires_at: At(request.expires_at),
    };
    insert.run(db).map(drop)
}

/// Guard: id, client and secret match, and the request has not expired. It is in the `WHERE` of the one
/// delete.
pub fn take_pushed_request(
    db: &mut impl Database,
    command: &TakePushedRequest,
) -> Result<Option<String>, SqlError> {
    let take = TakePushed {
        id: command.id.into(),
        client: command.client.into(),
        secret_hash: command.secret_hash.as_bytes(),
        now: At(command.now),
    };
    take.maybe(db)
}

/// Guard: neither the id nor the user code belongs to another request.
pub fn begin_device(db: &mut impl Database, command: &BeginDevice) -> Result<DeviceBegun, SqlError> {
    let request = &command.request;
    let insert = InsertDevice {
        id: request.id.into(),
        client: request.client.into(),
        user_code_hash: request.user_code_hash.as_bytes(),
        code_hash: request.code_hash.as_bytes(),
        scope: request.scope.to_string(),
        resources: lines(request.resources.iter().map(String::as_str)),
        expires_at: At(request.expires_at),
        forget_after: At(command.forget_after),
    };
    let is_there = insert.run(db)? == 1
        || find_device(db, request.id)?.is_some_and(|stored| stored.code_hash == request.code_hash);
    Ok(if is_there { DeviceBegun::Stored } else { DeviceBegun::UserCodeTaken })
}

pub fn find_device(db: &mut impl Database, id: GrantId) -> Result<Option<DeviceRequest>, SqlError> {
    let row: Option<DeviceRequestRow> = FindDevice { id: id.into() }.maybe(db)?;
    row.map(DeviceRequest::try_from).transpose()
}

pub fn find_device_by_user_code(
    db: &mut impl Database,
    hash: SecretHash,
) -> Result<Option<DeviceRequest>, SqlError> {
    let row: Option<DeviceRequestRow> = FindDeviceByUserCode { hash: hash.as_bytes() }.maybe(db)?;
    row.map(DeviceRequest::try_from).transpose()
}

/// Guard: no grant has the id, and the request was not denied before.
pub fn deny_device(db: &mut impl Database, command: &DenyDevice) -> Result<DeviceDenied, SqlError> {
    let is_denied: Option<bool> = MarkDenied { id: command.id.into(), now: At(command.now) }.maybe(db)?;
    Ok(match is_denied {
        None => DeviceDenied::Unknown,
        Some(true) => DeviceDenied::Denied,
        Some(false) => DeviceDenied::Answered,
    })
}

statement! {
    InsertPushed<'a> {
        id: Id as Key,
        client: Id as Key,
        secret_hash: &'a [u8] as Binary,
        parameters: &'a str as Text,
        expires_at: At as Moment,
    } = "\
        INSERT INTO pushed_requests (id, client_id, secret_hash, parameters, expires_at) \
        VALUES (:id, :client, :secret_hash, :parameters, :expires_at) ON CONFLICT (id) DO NOTHING"
}

statement! {
    TakePushed<'a> {
        id: Id as Key,
        client: Id as Key,
        secret_hash: &'a [u8] as Binary,
        now: At as Moment,
    } -> Text = "\
        DELETE FROM pushed_requests \
        WHERE id = :id AND client_id = :client AND secret_hash = :secret_hash AND expires_at > :now \
        RETURNING parameters"
}

statement! {
    /// One row if neither the id nor the user code belongs to another request.
    InsertDevice<'a> {
        id: Id as Key,
        client: Id as Key,
        user_code_hash: &'a [u8] as Binary,
        code_hash: &'a [u8] as Binary,
        scope: String as Text,
        resources: String as Text,
        expires_at: At as Moment,
        forget_after: At as Moment,
    } = "\
        INSERT INTO device_requests \
          (id, client_id, user_code_hash, code_hash, scope, resources, expires_at, forget_after) \
        VALUES (:id, :client, :user_code_hash, :code_hash, :scope, :resources, :expires_at, :forget_after) \
        ON CONFLICT DO NOTHING"
}

statement! {
    FindDevice { id: Id as Key } -> DeviceRequestSql = "\
        SELECT id, client_id, user_code_hash, code_hash, scope, resources, expires_at, denied_at \
        FROM device_requests WHERE id = :id"
}

statement! {
    FindDeviceByUserCode<'a> { hash: &'a [u8] as Binary } -> DeviceRequestSql = "\
        SELECT id, client_id, user_code_hash, code_hash, scope, resources, expires_at, denied_at \
        FROM device_requests WHERE user_code_hash = :hash"
}

statement! {
    /// One row if the request exists, which says whether it is denied now.
    MarkDenied {
        id: Id as Key,
        now: At as Moment,
    } -> Bool = "\
        UPDATE device_requests SET denied_at = CASE \
          WHEN denied_at IS NULL AND NOT EXISTS (SELECT 1 FROM grants WHERE grants.id = :id) THEN :now \
          ELSE denied_at END \
        WHERE id = :id RETURNING denied_at IS NOT NULL"
}
