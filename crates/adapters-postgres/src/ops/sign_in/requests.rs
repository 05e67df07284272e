//! Requests that wait for a person: pushed requests, and those of devices.

use countersign_domain::device::DeviceRequest;
use countersign_domain::id::GrantId;
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::secret::SecretHash;
use countersign_ports::{BeginDevice, DenyDevice, DeviceBegun, DeviceDenied, TakePushedRequest};
use countersign_sql::columns::{Id, lines};
use countersign_sql::rows::device_request::DeviceRequestRow;
use countersign_sql::schema::device_requests;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn push_request(connection: &mut PgConnection, request: &PushedRequest) -> OpResult<()> {
    let insert = InsertPushed {
        id: request.id.as_uuid(),
        client: request.client.as_uuid(),
        secret_hash: request.secret_hash.as_bytes(),
        parameters: &request.parameters,
        expires_at: request.expires_at,
    };
    insert.execute(connection)?;
    Ok(())
}

pub(crate) fn take_pushed_request(
    connection: &mut PgConnection,
    command: &TakePushedRequest,
) -> OpResult<Option<String>> {
    let take = TakePushed {
        id: command.id.as_uuid(),
        client: command.client.as_uuid(),
        secret_hash: command.secret_hash.as_bytes(),
        now: command.now,
    };
    Ok(take.get_result(connection).optional()?)
}

pub(crate) fn begin_device(connection: &mut PgConnection, command: &BeginDevice) -> OpResult<DeviceBegun> {
    let request = &command.request;
    let insert = InsertDevice {
        id: request.id.as_uuid(),
        client: request.client.as_uuid(),
        user_code_hash: request.user_code_hash.as_bytes(),
        code_hash: request.code_hash.as_bytes(),
        scope: request.scope.to_string(),
        resources: lines(request.resources.iter().map(String::as_str)),
        expires_at: request.expires_at,
        forget_after: command.forget_after,
    };
    let is_there = insert.execute(connection)? == 1
        || find_device(connection, request.id)?.is_some_and(|stored| stored.code_hash == request.code_hash);
    Ok(if is_there { DeviceBegun::Stored } else { DeviceBegun::UserCodeTaken })
}

pub(crate) fn find_device(connection: &mut PgConnection, id: GrantId) -> OpResult<Option<DeviceRequest>> {
    let row = device_requests::table
        .find(Id::from(id))
        .select(DeviceRequestRow::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(DeviceRequest::try_from).transpose()?)
}

pub(crate) fn find_device_by_user_code(
    connection: &mut PgConnection,
    hash: SecretHash,
) -> OpResult<Option<DeviceRequest>> {
    let row = device_requests::table
        .filter(device_requests::user_code_hash.eq(hash.as_bytes().as_slice()))
        .select(DeviceRequestRow::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(DeviceRequest::try_from).transpose()?)
}

pub(crate) fn deny_device(connection: &mut PgConnection, command: &DenyDevice) -> OpResult<DeviceDenied> {
    let mark = MarkDenied { id: command.id.as_uuid(), now: command.now };
    let is_denied: Option<bool> = mark.get_result(connection).optional()?;
    Ok(match is_denied {
        None => DeviceDenied::Unknown,
        Some(true) => DeviceDenied::Denied,
        Some(false) => DeviceDenied::Answered,
    })
}

statement! {
    /// Pushing the same id again changes nothing.
    InsertPushed<'a> {
        id: Uuid as SqlUuid,
        client: Uuid as SqlUuid,
        secret_hash: &'a [u8] as Binary,
        parameters: &'a str as Text,
        expires_at: OffsetDateTime as Timestamptz,
    } = "\
        INSERT INTO pushed_requests (id, client_id, secret_hash, parameters, expires_at) \
        VALUES (:id, :client, :secret_hash, :parameters, :expires_at) ON CONFLICT (id) DO NOTHING"
}

statement! {
    /// One row if the request existed and was this client's, none otherwise.
    TakePushed<'a> {
        id: Uuid as SqlUuid,
        client: Uuid as SqlUuid,
        secret_hash: &'a [u8] as Binary,
        now: OffsetDateTime as Timestamptz,
    } -> Text = "\
        DELETE FROM pushed_requests \
        WHERE id = :id AND client_id = :client AND secret_hash = :secret_hash AND expires_at > :now \
        RETURNING parameters"
}

statement! {
    /// One row if neither the id nor the user code belongs to another request.
    InsertDevice<'a> {
        id: Uuid as SqlUuid,
        client: Uuid as SqlUuid,
        user_code_hash: &'a [u8] as Binary,
        code_hash: &'a [u8] as Binary,
        scope: String as Text,
        resources: String as Text,
        expires_at: OffsetDateTime as Timestamptz,
        forget_after: OffsetDateTime as Timestamptz,
    } = "\
        INSERT INTO device_requests \
          (id, client_id, user_code_hash, code_hash, scope, resources, expires_at, forget_after) \
        VALUES (:id, :client, :user_code_hash, :code_hash, :scope, :resources, :expires_at, :forget_after) \
        ON CONFLICT DO NOTHING"
}

statement! {
    /// One row if the request exists, which says whether it is denied now.
    MarkDenied { id: Uuid as SqlUuid, now: OffsetDateTime as Timestamptz } -> Bool = "\
        UPDATE device_requests SET denied_at = CASE \
          WHEN denied_at IS NULL AND NOT EXISTS (SELECT FROM grants WHERE grants.id = :id) THEN :now \
          ELSE denied_at END \
        WHERE id = :id RETURNING denied_at IS NOT NULL"
}
