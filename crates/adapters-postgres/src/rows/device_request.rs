//! Rows of `device_requests`.

use countersign_domain::device::DeviceRequest;
use countersign_domain::id::{ClientId, GrantId};
use countersign_ports::StoreError;
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use super::field::{Row, from_lines};
use crate::schema::device_requests;

/// What the domain needs to judge a device's request.
#[derive(Queryable, Selectable)]
#[diesel(table_name = device_requests, check_for_backend(diesel::pg::Pg))]
pub(crate) struct DeviceRequestRow {
    id: Uuid,
    client_id: Uuid,
    user_code_hash: Vec<u8>,
    code_hash: Vec<u8>,
    scope: String,
    resources: String,
    expires_at: OffsetDateTime,
    denied_at: Option<OffsetDateTime>,
}

impl TryFrom<DeviceRequestRow> for DeviceRequest {
    type Error = StoreError;

    fn try_from(row: DeviceRequestRow) -> Result<Self, StoreError> {
        let at = Row { table: "device_requests", key: row.id };
        Ok(Self {
            id: GrantId::from_uuid(row.id),
            client: ClientId::from_uuid(row.client_id),
            user_code_hash: at.hash("user_code_hash", &row.user_code_hash)?,
            code_hash: at.hash("code_hash", &row.code_hash)?,
            scope: at.scope("scope", &row.scope)?,
            resources: from_lines(&row.resources).map(ToOwned::to_owned).collect(),
            expires_at: row.expires_at,
            denied: row.denied_at.is_some(),
        })
    }
}
