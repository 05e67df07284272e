//! Requests that wait for a person: pushed requests, and those of devices.

use countersign_domain::device::DeviceRequest;
use countersign_domain::id::GrantId;
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::secret::SecretHash;
use countersign_ports::{BeginDevice, DenyDevice, DeviceBegun, DeviceDenied, TakePushedRequest};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};

use crate::error::SqliteError;
use crate::rows::device_request::DeviceRequestRow;
use crate::rows::field::{lines, micros};
use crate::schema::{device_requests, grants};
use crate::statement::statement;

/// Pushing the same id again changes nothing.
pub(crate) fn push_request(
    connection: &mut SqliteConnection,
    command: &PushedRequest,
) -> Result<(), SqliteError> {
    let (id, client) = (command.id.as_uuid(), command.client.as_uuid());
    let insert = InsertPushed {
        id: id.as_bytes(),
        client_id: client.as_bytes(),
        secret_hash: command.secret_hash.as_bytes(),
        parameters: &command.parameters,
        expires_at: micros(command.expires_at),
    };
    insert.execute(connection)?;
    Ok(())
}

/// Guard: id, client and secret match, and the request has not expired. It is in the `WHERE` of the one
/// delete.
pub(crate) fn take_pushed_request(
    connection: &mut SqliteConnection,
    command: &TakePushedRequest,
) -> Result<Option<String>, SqliteError> {
    let (id, client) = (command.id.as_uuid(), command.client.as_uuid());
    let take = TakePushed {
        id: id.as_bytes(),
        client_id: client.as_bytes(),
        secret_hash: command.secret_hash.as_bytes(),
        now: micros(command.now),
    };
    Ok(take.get_result(connection).optional()?)
}

/// Guard: neither the id nor the user code belongs to another request.
pub(crate) fn begin_device(
    connection: &mut SqliteConnection,
    command: &BeginDevice,
) -> Result<DeviceBegun, SqliteError> {
    let request = &command.request;
    let (id, client) = (request.id.as_uuid(), request.client.as_uuid());
    let (scope, resources) = (request.scope.to_string(), lines(request.resources.iter().map(String::as_str)));
    let insert = InsertDevice {
        id: id.as_bytes(),
        client_id: client.as_bytes(),
        user_code_hash: request.user_code_hash.as_bytes(),
        code_hash: request.code_hash.as_bytes(),
        scope: &scope,
        resources: &resources,
        expires_at: micros(request.expires_at),
        forget_after: micros(command.forget_after),
    };
    let is_there = insert.execute(connection)? == 1
        || find_device(connection, request.id)?.is_some_and(|stored| stored.code_hash == request.code_hash);
    Ok(if is_there { DeviceBegun::Stored } else { DeviceBegun::UserCodeTaken })
}

pub(crate) fn find_device(
    connection: &mut SqliteConnection,
    id: GrantId,
) -> Result<Option<DeviceRequest>, SqliteError> {
    let id = id.as_uuid();
    let row = device_requests::table
        .find(id.as_bytes().as_slice())
        .select(DeviceRequestRow::as_select())
        .get_result(connection)
        .optional()?;
    row.map(DeviceRequest::try_from).transpose()
}

pub(crate) fn find_device_by_user_code(
    connection: &mut SqliteConnection,
    hash: SecretHash,
) -> Result<Option<DeviceRequest>, SqliteError> {
    let row = device_requests::table
        .filter(device_requests::user_code_hash.eq(hash.as_bytes().as_slice()))
        .select(DeviceRequestRow::as_select())
        .get_result(connection)
        .optional()?;
    row.map(DeviceRequest::try_from).transpose()
}

/// Guard: no grant has the id, and nobody denied the request before.
pub(crate) fn deny_device(
    connection: &mut SqliteConnection,
    command: &DenyDevice,
) -> Result<DeviceDenied, SqliteError> {
    let id = command.id.as_uuid();
    let Some(found) = find_device(connection, command.id)? else { return Ok(DeviceDenied::Unknown) };
    if found.denied {
        return Ok(DeviceDenied::Denied);
    }
    let answered = grants::table.find(id.as_bytes().as_slice());
    if diesel::select(diesel::dsl::exists(answered)).get_result(connection)? {
        return Ok(DeviceDenied::Answered);
    }
    MarkDenied { denied_at: micros(command.now), id: id.as_bytes() }.execute(connection)?;
    Ok(DeviceDenied::Denied)
}

statement! {
    InsertPushed<'a> {
        id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
        secret_hash: &'a [u8] as Binary,
        parameters: &'a str as Text,
        expires_at: i64 as BigInt,
    } = "\
        INSERT INTO pushed_requests (id, client_id, secret_hash, parameters, expires_at) VALUES (:id, :client_id, :secret_hash, :parameters, :expires_at) \
        ON CONFLICT (id) DO NOTHING"
}

statement! {
    TakePushed<'a> {
        id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
        secret_hash: &'a [u8] as Binary,
        now: i64 as BigInt,
    } -> Text = "\
        DELETE FROM pushed_requests WHERE id = :id AND client_id = :client_id AND secret_hash = :secret_hash AND expires_at > :now \
        RETURNING parameters"
}

statement! {
    InsertDevice<'a> {
        id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
        user_code_hash: &'a [u8] as Binary,
        code_hash: &'a [u8] as Binary,
        scope: &'a str as Text,
        resources: &'a str as Text,
        expires_at: i64 as BigInt,
        forget_after: i64 as BigInt,
    } = "\
        INSERT INTO device_requests (id, client_id, user_code_hash, code_hash, scope, resources, expires_at, forget_after) \
        VALUES (:id, :client_id, :user_code_hash, :code_hash, :scope, :resources, :expires_at, :forget_after) ON CONFLICT DO NOTHING"
}

statement! {
    MarkDenied<'a> {
        denied_at: i64 as BigInt,
        id: &'a [u8] as Binary,
    } = "UPDATE device_requests SET denied_at = :denied_at WHERE id = :id"
}
