//! Requests that wait for a user.

use async_trait::async_trait;
use countersign_domain::device::DeviceRequest;
use countersign_domain::id::GrantId;
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::secret::SecretHash;
use countersign_ports::{
    BeginDevice, DenyDevice, DeviceBegun, DeviceDenied, RequestStore, StoreError, TakePushedRequest,
};
use time::OffsetDateTime;

use super::MemoryStorage;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeviceRow {
    request: DeviceRequest,
    pub(super) forget_after: OffsetDateTime,
}

#[async_trait]
impl RequestStore for MemoryStorage {
    async fn push_request(&self, request: PushedRequest) -> Result<(), StoreError> {
        self.tables().pushed_requests.entry(request.id).or_insert(request);
        Ok(())
    }

    async fn take_pushed_request(&self, command: TakePushedRequest) -> Result<Option<String>, StoreError> {
        let mut tables = self.tables();
        let is_theirs = tables.pushed_requests.get(&command.id).is_some_and(|request| {
            request.client == command.client
                && request.secret_hash == command.secret_hash
                && command.now < request.expires_at
        });
        let taken = if is_theirs { tables.pushed_requests.remove(&command.id) } else { None };
        Ok(taken.map(|request| request.parameters))
    }

    async fn begin_device(&self, command: BeginDevice) -> Result<DeviceBegun, StoreError> {
        let mut tables = self.tables();
        let BeginDevice { request, forget_after } = command;
        let mut others = tables.device_requests.values().map(|row| &row.request);
        if let Some(other) = others.find(|other| other.user_code_hash == request.user_code_hash) {
            return Ok(if other.id == request.id { DeviceBegun::Stored } else { DeviceBegun::UserCodeTaken });
        }
        tables.device_requests.insert(request.id, DeviceRow { request, forget_after });
        Ok(DeviceBegun::Stored)
    }

    async fn find_device(&self, id: GrantId) -> Result<Option<DeviceRequest>, StoreError> {
        Ok(self.tables().device_requests.get(&id).map(|row| row.request.clone()))
    }

    async fn find_device_by_user_code(&self, hash: SecretHash) -> Result<Option<DeviceRequest>, StoreError> {
        let tables = self.tables();
        let mut requests = tables.device_requests.values().map(|row| &row.request);
        Ok(requests.find(|request| request.user_code_hash == hash).cloned())
    }

    async fn deny_device(&self, command: DenyDevice) -> Result<DeviceDenied, StoreError> {
        let mut tables = self.tables();
        let is_answered = tables.grants.contains_key(&command.id);
        Ok(match tables.device_requests.get_mut(&command.id) {
            None => DeviceDenied::Unknown,
            Some(row) if row.request.denied => DeviceDenied::Denied,
            Some(_) if is_answered => DeviceDenied::Answered,
            Some(row) => {
                row.request.denied = true;
                DeviceDenied::Denied
            }
        })
    }
}
