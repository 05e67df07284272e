//! Rows of `device_requests`.

use countersign_domain::device::DeviceRequest;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{Binary, Key, Moment, Nullable, Row, StoredId, StoredTime, Text, from_lines};

/// The SQL types of [`DeviceRequestRow`].
pub type DeviceRequestSql = (Key, Key, Binary, Binary, Text, Text, Moment, Nullable<Moment>);

/// What the domain needs to judge a device's request.
#[derive(Debug, Queryable)]
pub struct DeviceRequestRow {
    id: StoredId,
    client_id: StoredId,
    user_code_hash: Vec<u8>,
    code_hash: Vec<u8>,
    scope: String,
    resources: String,
    expires_at: StoredTime,
    denied_at: Option<StoredTime>,
}

impl TryFrom<DeviceRequestRow> for DeviceRequest {
    type Error = SqlError;

    fn try_from(row: DeviceRequestRow) -> Result<Self, SqlError> {
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
