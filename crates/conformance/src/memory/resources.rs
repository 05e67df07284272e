//! The resources that the operator declared.

use async_trait::async_trait;
use countersign_domain::resource::Resource;
use countersign_domain::scope::{ScopeName, ScopeSet};
use countersign_ports::{
    CreateResource, DeclarationChange, DeleteResource, FindUses, IfResourceUnchanged, ResourceCreated,
    ResourceStore, ResourceUpdated, ResourceUses, StoreError, UpdateResource,
};

use super::{MemoryStorage, Tables};

#[async_trait]
impl ResourceStore for MemoryStorage {
    async fn create_resource(&self, command: CreateResource) -> Result<ResourceCreated, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let resource = command.resource;
        if let Some(present) = tables.resources.get(&resource.uri) {
            let is_repeated = tables.is_recorded(command.event.as_deref()).unwrap_or(*present == resource);
            return Ok(if is_repeated { ResourceCreated::Stored } else { ResourceCreated::UriTaken });
        }
        if let Some(name) = tables.scope_taken(&resource) {
            return Ok(ResourceCreated::ScopeTaken(name));
        }
        tables.record(command.event)?;
        tables.resources.insert(resource.uri.clone(), resource);
        Ok(ResourceCreated::Stored)
    }

    async fn update_resource(&self, command: UpdateResource) -> Result<ResourceUpdated, StoreError> {
        self.tables_for(command.event.as_deref())?.update_resource(command)
    }

    async fn delete_resource(&self, command: DeleteResource) -> Result<bool, StoreError> {
        self.tables_for(command.event.as_deref())?.delete_resource(command)
    }

    async fn if_resource_unchanged(
        &self,
        command: IfResourceUnchanged,
    ) -> Result<ResourceUpdated, StoreError> {
        let event = match &command.change {
            DeclarationChange::Update(change) => &change.event,
            DeclarationChange::Delete(change) => &change.event,
        };
        let mut tables = self.tables_for(event.as_deref())?;
        if tables.resources.get(&command.read.uri) != Some(&command.read) {
            return Ok(ResourceUpdated::Unknown);
        }
        match command.change {
            DeclarationChange::Update(change) => tables.update_resource(change),
            DeclarationChange::Delete(change) => Ok(match tables.delete_resource(change)? {
                true => ResourceUpdated::Stored,
                false => ResourceUpdated::Unknown,
            }),
        }
    }

    async fn list_resources(&self) -> Result<Vec<Resource>, StoreError> {
        Ok(self.tables().resources.values().cloned().collect())
    }

    async fn find_uses(&self, question: FindUses) -> Result<ResourceUses, StoreError> {
        let tables = self.tables();
        let FindUses { resource, scopes, now } = question;
        let names = |uris: &[String]| resource.as_ref().is_some_and(|resource| uris.contains(resource));
        let has = |scope: &ScopeSet| scopes.iter().any(|name| scope.has_own(name));
        let clients =
            tables.clients.values().filter(|client| has(&client.metadata.scopes) || names(&client.resources));
        let lives = tables.grants.values().filter(|row| !row.grant.revoked && now < row.forget_after);
        let grants = lives.filter(|row| has(&row.grant.scope) || names(&row.grant.particulars.resources));
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Ok(ResourceUses { clients: number(clients.count()), grants: number(grants.count()) })
    }
}

impl Tables {
    fn update_resource(&mut self, command: UpdateResource) -> Result<ResourceUpdated, StoreError> {
        let resource = command.resource;
        let Some(present) = self.resources.get(&resource.uri) else { return Ok(ResourceUpdated::Unknown) };
        if present.is_declared_as(&resource) {
            return Ok(ResourceUpdated::Stored);
        }
        let created_at = present.created_at;
        if let Some(name) = self.scope_taken(&resource) {
            return Ok(ResourceUpdated::ScopeTaken(name));
        }
        self.record(command.event)?;
        self.resources.insert(resource.uri.clone(), Resource { created_at, ..resource });
        Ok(ResourceUpdated::Stored)
    }

    fn delete_resource(&mut self, command: DeleteResource) -> Result<bool, StoreError> {
        if !self.resources.contains_key(&command.uri) {
            return Ok(false);
        }
        self.record(command.event)?;
        Ok(self.resources.remove(&command.uri).is_some())
    }

    /// A scope of this resource whose name another resource has.
    fn scope_taken(&self, resource: &Resource) -> Option<ScopeName> {
        let others = || self.resources.values().filter(|other| other.uri != resource.uri);
        let is_taken = |name: &ScopeName| others().any(|other| other.scope(name.as_str()).is_some());
        resource.scopes.iter().map(|scope| &scope.name).find(|name| is_taken(name)).cloned()
    }
}
