//! Requests that wait for a person: pushed requests, and those of devices.

use countersign_domain::device::DeviceRequest;
use countersign_domain::id::GrantId;
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::secret::SecretHash;
use countersign_ports::{BeginDevice, DenyDevice, DeviceBegun, DeviceDenied, TakePushedRequest};
use countersign_sql::columns::{At, Binary, Id, Key, Moment, Text, lines};
use countersign_sql::rows::device_request::DeviceRequestRow;
use countersign_sql::schema::{device_requests, grants};
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// Pushing the same id again changes nothing.
pub(crate) fn push_request(
    connection: &mut SqliteConnection,
    command: &PushedRequest,
) -> Result<(), SqliteError> {
    let (id, client) = (Id::from(command.id), Id::from(command.client));
    let insert = InsertPushed {
        id,
        client_id: client,
        secret_hash: command.secret_hash.as_bytes(),
        parameters: &command.parameters,
        expires_at: At(command.expires_at),
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
    let (id, client) = (Id::from(command.id), Id::from(command.client));
    let take = TakePushed {
        id,
        client_id: client,
        secret_hash: command.secret_hash.as_bytes(),
        now: At(command.now),
    };
    Ok(take.get_result(connection).optional()?)
}

/// Guard: neither the id nor the user code belongs to another request.
pub(crate) fn begin_device(
    connection: &mut SqliteConnection,
    command: &BeginDevice,
) -> Result<DeviceBegun, SqliteError> {
    let request = &command.request;
    let (id, client) = (Id::from(request.id), Id::from(request.client));
    let (scope, resources) = (request.scope.to_string(), lines(request.resources.iter().map(String::as_str)));
    let insert = InsertDevice {
        id,
        client_id: client,
        user_code_hash: request.user_code_hash.as_bytes(),
        code_hash: request.code_hash.as_bytes(),
        scope: &scope,
        resources: &resources,
        expires_at: At(request.expires_at),
        forget_after: At(command.forget_after),
    };
    let is_there = insert.execute(connection)? == 1
        || find_device(connection, request.id)?.is_some_and(|stored| stored.code_hash == request.code_hash);
    Ok(if is_there { DeviceBegun::Stored } else { DeviceBegun::UserCodeTaken })
}

pub(crate) fn find_device(
    connection: &mut SqliteConnection,
    id: GrantId,
) -> Result<Option<DeviceRequest>, SqliteError> {
    let id = Id::from(id);
    let row = device_requests::table
        .find(id)
        .select(DeviceRequestRow::as_select())
        .get_result(connection)
        .optional()?;
    Ok(row.map(DeviceRequest::try_from).transpose()?)
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
    Ok(row.map(DeviceRequest::try_from).transpose()?)
}

/// Guard: no grant has the id, and the request was not denied before.
pub(crate) fn deny_device(
    connection: &mut SqliteConnection,
    command: &DenyDevice,
) -> Result<DeviceDenied, SqliteError> {
    let id = Id::from(command.id);
    let Some(found) = find_device(connection, command.id)? else { return Ok(DeviceDenied::Unknown) };
    if found.denied {
        return Ok(DeviceDenied::Denied);
    }
    let answered = grants::table.find(id);
    if diesel::select(diesel::dsl::exists(answered)).get_result(connection)? {
        return Ok(DeviceDenied::Answered);
    }
    MarkDenied { denied_at: At(command.now), id }.execute(connection)?;
    Ok(DeviceDenied::Denied)
}

statement! {
    InsertPushed<'a> {
        id: Id as Key,
        client_id: Id as Key,
        secret_hash: &'a [u8] as Binary,
        parameters: &'a str as Text,
        expires_at: At as Moment,
    } = "\
        INSERT INTO pushed_requests (id, client_id, secret_hash, parameters, expires_at) VALUES (:id, :client_id, :secret_hash, :parameters, :expires_at) \
        ON CONFLICT (id) DO NOTHING"
}

statement! {
    TakePushed<'a> {
        id: Id as Key,
        client_id: Id as Key,
        secret_hash: &'a [u8] as Binary,
        now: At as Moment,
    } -> Text = "\
        DELETE FROM pushed_requests WHERE id = :id AND client_id = :client_id AND secret_hash = :secret_hash AND expires_at > :now \
        RETURNING parameters"
}

statement! {
    InsertDevice<'a> {
        id: Id as Key,
        client_id: Id as Key,
        user_code_hash: &'a [u8] as Binary,
        code_hash: &'a [u8] as Binary,
        scope: &'a str as Text,
        resources: &'a str as Text,
        expires_at: At as Moment,
        forget_after: At as Moment,
    } = "\
        INSERT INTO device_requests (id, client_id, user_code_hash, code_hash, scope, resources, expires_at, forget_after) \
        VALUES (:id, :client_id, :user_code_hash, :code_hash, :scope, :resources, :expires_at, :forget_after) ON CONFLICT DO NOTHING"
}

statement! {
    MarkDenied {
        denied_at: At as Moment,
        id: Id as Key,
    } = "UPDATE device_requests SET denied_at = :denied_at WHERE id = :id"
}
