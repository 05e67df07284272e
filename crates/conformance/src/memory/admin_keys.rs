//! The keys of the admin interface.

use async_trait::async_trait;
use countersign_domain::admin_key::AdminKey;
use countersign_domain::id::AdminKeyId;
use countersign_ports::{
    AdminKeyCreated, AdminKeyStore, BeginRequest, CreateAdminKey, RequestBegun, RevokeAdminKey, StoreError,
};
use time::OffsetDateTime;

use super::MemoryStorage;

#[async_trait]
impl AdminKeyStore for MemoryStorage {
    async fn create_admin_key(&self, command: CreateAdminKey) -> Result<AdminKeyCreated, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let key = command.key;
        if tables.admin_keys.contains_key(&key.id) {
            return Ok(AdminKeyCreated::Stored);
        }
        if tables.admin_keys.values().any(|other| other.name == key.name) {
            return Ok(AdminKeyCreated::NameTaken);
        }
        tables.admin_keys.insert(key.id, key);
        tables.record(command.event);
        Ok(AdminKeyCreated::Stored)
    }

    async fn revoke_admin_key(&self, command: RevokeAdminKey) -> Result<bool, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let key = tables.admin_keys.get_mut(&command.id).filter(|key| key.revoked_at.is_none());
        let Some(key) = key else { return Ok(false) };
        key.revoked_at = Some(command.now);
        tables.record(command.event);
        Ok(true)
    }

    async fn note_admin_key_use(&self, id: AdminKeyId, used_at: OffsetDateTime) -> Result<(), StoreError> {
        if let Some(key) = self.tables().admin_keys.get_mut(&id) {
            key.last_used_at = key.last_used_at.max(Some(used_at));
        }
        Ok(())
    }

    async fn find_admin_key(&self, id: AdminKeyId) -> Result<Option<AdminKey>, StoreError> {
        Ok(self.tables().admin_keys.get(&id).cloned())
    }

    async fn list_admin_keys(&self) -> Result<Vec<AdminKey>, StoreError> {
        Ok(self.tables().admin_keys.values().cloned().collect())
    }

    async fn begin_request(&self, command: BeginRequest) -> Result<RequestBegun, StoreError> {
        let BeginRequest { key, name, asked, now, forget_before } = command;
        let mut tables = self.tables();
        tables.admin_requests.retain(|(of, _), begun| *of != key || begun.begun_at >= forget_before);
        let begun = tables.admin_requests.entry((key, name));
        Ok(*begun.or_insert(RequestBegun { asked, begun_at: now }))
    }
}
