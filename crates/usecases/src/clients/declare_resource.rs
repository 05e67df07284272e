//! The operator declares resources with scopes at the terminal, changes and deletes them.

use countersign_domain::event::{Details, Event, EventKind};
use countersign_domain::resource::{Catalog, MAX_RESOURCE_SCOPES, Resource, ResourceUnfit};
use countersign_domain::scope::ScopeName;
use countersign_ports::{
    CreateResource, DeleteResource, FindUses, ResourceCreated, ResourceUpdated, ResourceUses, StoreError,
    UpdateResource,
};

use crate::Management;

/// Why a resource is not declared, changed or deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeclareResourceError {
    /// It cannot be a resource.
    #[error("{uri} is {unfit}")]
    Unfit {
        /// The URI as it was given.
        uri: String,
        /// What is wrong with it.
        unfit: ResourceUnfit,
    },
    /// The settings declare it already.
    #[error("the setting `resources` declares {0}: take it out there first")]
    InSettings(String),
    /// The operator declared it before.
    #[error("{0} is declared already: `countersign resource update` changes it")]
    Declared(String),
    /// Nobody declared it at the terminal.
    #[error("no resource {0} is declared at the terminal")]
    Unknown(String),
    /// Another resource has a scope of this name.
    #[error("the scope {name} belongs to {owner}: names of scopes are unique among all resources")]
    ScopeTaken {
        /// The name.
        name: ScopeName,
        /// The other resource.
        owner: String,
    },
    /// There are more scopes than one resource can have.
    #[error("a resource has at most {MAX_RESOURCE_SCOPES} scopes")]
    TooManyScopes,
    /// It is in use, and the operator did not say that this does not matter.
    #[error(
        "{} clients and {} live grants use what would be deleted: no token would be issued for it any more. \
         Add --force if that is meant", .0.clients, .0.grants
    )]
    InUse(ResourceUses),
    /// The resource could not be read or changed.
    #[error("resource could not be read or changed")]
    Store(#[from] StoreError),
}

/// Declares a resource. From the answer on every replica knows it.
pub async fn create_resource(
    management: Management<'_>,
    resource: Resource,
) -> Result<Resource, DeclareResourceError> {
    let rules = &management.policy.resources;
    rules.may_be_declared(&resource.uri).map_err(|unfit| {
        let uri = resource.uri.clone();
        DeclareResourceError::Unfit { uri, unfit }
    })?;
    if rules.openness(&resource.uri).is_some() {
        return Err(DeclareResourceError::InSettings(resource.uri));
    }
    if resource.scopes.len() > MAX_RESOURCE_SCOPES {
        return Err(DeclareResourceError::TooManyScopes);
    }
    let event = resource_event(management, EventKind::ResourceCreated, &resource.uri);
    match management.resources.create(CreateResource { resource: resource.clone(), event }).await? {
        ResourceCreated::Stored => {
            tracing::info!(resource = resource.uri, scopes = resource.scopes.len(), "resource declared");
            Ok(resource)
        }
        ResourceCreated::UriTaken => Err(DeclareResourceError::Declared(resource.uri)),
        ResourceCreated::ScopeTaken(name) => Err(taken(management, name).await?),
    }
}

/// Changes a resource that was just read. What it loses must be used by nobody, unless the operator insists.
pub async fn update_resource(
    management: Management<'_>,
    resource: Resource,
    insists: bool,
) -> Result<Resource, DeclareResourceError> {
    if resource.scopes.len() > MAX_RESOURCE_SCOPES {
        return Err(DeclareResourceError::TooManyScopes);
    }
    let catalog = management.resources.read_fresh().await?;
    let before = catalog.resource(&resource.uri);
    let before = before.ok_or_else(|| DeclareResourceError::Unknown(resource.uri.clone()))?;
    let lost = before.scopes.iter().map(|scope| &scope.name);
    let lost: Vec<ScopeName> = lost.filter(|name| resource.scope(name.as_str()).is_none()).cloned().collect();
    if !insists && !lost.is_empty() {
        refuse_in_use(management, None, lost).await?;
    }
    let event = resource_event(management, EventKind::ResourceChanged, &resource.uri);
    match management.resources.update(UpdateResource { resource: resource.clone(), event }).await? {
        ResourceUpdated::Stored => {
            tracing::info!(resource = resource.uri, scopes = resource.scopes.len(), "resource changed");
            Ok(resource)
        }
        ResourceUpdated::Unknown => Err(DeclareResourceError::Unknown(resource.uri)),
        ResourceUpdated::ScopeTaken(name) => Err(taken(management, name).await?),
    }
}

/// Deletes a resource with its scopes. From the answer on no replica issues a token for it, and refreshes drop it.
pub async fn delete_resource(
    management: Management<'_>,
    uri: &str,
    insists: bool,
) -> Result<(), DeclareResourceError> {
    let unknown = || DeclareResourceError::Unknown(uri.to_owned());
    let catalog = management.resources.read_fresh().await?;
    let resource = catalog.resource(uri).ok_or_else(unknown)?;
    if !insists {
        let scopes = resource.scopes.iter().map(|scope| scope.name.clone()).collect();
        refuse_in_use(management, Some(uri.to_owned()), scopes).await?;
    }
    let event = resource_event(management, EventKind::ResourceDeleted, uri);
    if !management.resources.delete(DeleteResource { uri: uri.to_owned(), event }).await? {
        return Err(unknown());
    }
    tracing::info!(resource = uri, "resource deleted");
    Ok(())
}

/// All resources that were declared at the terminal.
pub async fn list_resources(management: Management<'_>) -> Result<Catalog, StoreError> {
    management.resources.read_fresh().await
}

fn resource_event(management: Management<'_>, kind: EventKind, uri: &str) -> Option<Box<Event>> {
    management.event(management.clock.now(), kind, |event| {
        event.details = Details::default().text("resource", uri);
    })
}

async fn refuse_in_use(
    management: Management<'_>,
    resource: Option<String>,
    scopes: Vec<ScopeName>,
) -> Result<(), DeclareResourceError> {
    let question = FindUses { resource, scopes, now: management.clock.now() };
    let uses = management.resources.find_uses(question).await?;
    if uses == ResourceUses::default() { Ok(()) } else { Err(DeclareResourceError::InUse(uses)) }
}

async fn taken(management: Management<'_>, name: ScopeName) -> Result<DeclareResourceError, StoreError> {
    let catalog = management.resources.read_fresh().await?;
    let owner = catalog.owner(name.as_str()).map(|owner| owner.uri.clone()).unwrap_or_default();
    Ok(DeclareResourceError::ScopeTaken { name, owner })
}
