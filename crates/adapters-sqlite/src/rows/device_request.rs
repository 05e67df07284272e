//! Rows of `device_requests`.

use countersign_domain::device::DeviceRequest;
use diesel::prelude::*;

use super::field::{Row, from_lines};
use crate::error::SqliteError;
use crate::schema::device_requests;

/// What the domain needs to judge a device's request.
#[derive(Queryable, Selectable)]
#[diesel(table_name = device_requests)]
#[diesel(check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct DeviceRequestRow {
    id: Vec<u8>,
    client_id: Vec<u8>,
    user_code_hash: Vec<u8>,
    code_hash: Vec<u8>,
    scope: String,
    resources: String,
    expires_at: i64,
    denied_at: Option<i64>,
}

impl TryFrom<DeviceRequestRow> for DeviceRequest {
    type Error = SqliteError;

    fn try_from(row: DeviceRequestRow) -> Result<Self, SqliteError> {
        let at = Row { table: "device_requests", key: &row.id };
        Ok(Self {
            id: at.id("id", &row.id)?,
            client: at.id("client_id", &row.client_id)?,
            user_code_hash: at.hash("user_code_hash", &row.user_code_hash)?,
            code_hash: at.hash("code_hash", &row.code_hash)?,
            scope: at.scope("scope", &row.scope)?,
            resources: from_lines(&row.resources).map(ToOwned::to_owned).collect(),
            expires_at: at.time("expires_at", row.expires_at)?,
            denied: row.denied_at.is_some(),
        })
    }
}
