//! The keys of the admin interface.

use async_trait::async_trait;
use countersign_domain::admin_key::AdminKey;
use countersign_domain::id::AdminKeyId;
use countersign_ports::{
    AdminKeyCreated, AdminKeyStore, BeginRequest, ClientStore, CreateAdminKey, CreateOnce, CreatedOnce,
    Creation, GroupCreated, GroupStore, InvitationCreated, InvitationStore, Registered, RequestBegun,
    RequestName, ResourceCreated, ResourceStore, RevokeAdminKey, StoreError,
};
use time::OffsetDateTime;

use super::{MemoryStorage, Tables};

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
        tables.record(command.event)?;
        tables.admin_keys.insert(key.id, key);
        Ok(AdminKeyCreated::Stored)
    }

    async fn revoke_admin_key(&self, command: RevokeAdminKey) -> Result<bool, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let key = tables.admin_keys.get_mut(&command.id).filter(|key| key.revoked_at.is_none());
        let Some(key) = key else { return Ok(false) };
        key.revoked_at = Some(command.now);
        tables.record(command.event)?;
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
        Ok(*begun.or_insert(RequestBegun { asked, begun_at: now, made_at: None }))
    }

    async fn create_once(&self, command: CreateOnce) -> Result<CreatedOnce, StoreError> {
        let CreateOnce { request: RequestName { key, name }, now, creation } = command;
        let waits = |tables: &Tables| {
            tables.admin_requests.get(&(key, name)).is_some_and(|begun| begun.made_at.is_none())
        };
        let _making = self.making.lock().await;
        if !waits(&self.tables()) {
            return Ok(self.tables().recognized(creation));
        }
        let (made, is_made) = match creation {
            Creation::Client(command) => {
                let registered = self.register_client(*command).await?;
                (CreatedOnce::Client(registered), registered == Registered::Stored)
            }
            Creation::Group(command) => {
                let created = self.create_group(command).await?;
                (CreatedOnce::Group(created), created == GroupCreated::Stored)
            }
            Creation::Resource(command) => {
                let created = self.create_resource(command).await?;
                let is_made = created == ResourceCreated::Stored;
                (CreatedOnce::Resource(created), is_made)
            }
            Creation::Invitation(command) => {
                let created = self.create_invitation(command).await?;
                (CreatedOnce::Invitation(created), created == InvitationCreated::Stored)
            }
        };
        if is_made && let Some(begun) = self.tables().admin_requests.get_mut(&(key, name)) {
            begun.made_at = Some(now);
        }
        Ok(made)
    }
}

impl Tables {
    /// What a request made before, if it is still there as it was made.
    fn recognized(&self, creation: Creation) -> CreatedOnce {
        let (made, is_there) = match creation {
            Creation::Client(command) => {
                let present = self.clients.get(&command.client.id);
                let is_there = present
                    .is_some_and(|present| present.registration_token == command.client.registration_token);
                (CreatedOnce::Client(Registered::Stored), is_there)
            }
            Creation::Group(command) => {
                let present = self.groups.get(&command.group.name);
                let is_there = present.is_some_and(|present| present.created_at == command.group.created_at);
                (CreatedOnce::Group(GroupCreated::Stored), is_there)
            }
            Creation::Resource(command) => {
                let present = self.resources.get(&command.resource.uri);
                (CreatedOnce::Resource(ResourceCreated::Stored), present == Some(&command.resource))
            }
            Creation::Invitation(command) => {
                let present = self.invitations.get(&command.invitation.id);
                let is_there = present.is_some_and(|present| present.hash == command.invitation.hash);
                (CreatedOnce::Invitation(InvitationCreated::Stored), is_there)
            }
        };
        if is_there { made } else { CreatedOnce::MadeBefore }
    }
}
