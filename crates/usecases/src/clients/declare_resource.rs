//! The operator declares resources with scopes at the terminal, changes and deletes them.

use countersign_domain::event::{Details, Event, EventKind};
use countersign_domain::resource::{Catalog, MAX_RESOURCE_SCOPES, Resource};
use countersign_domain::scope::ScopeName;
use countersign_ports::{
    CreateResource, DeleteResource, FindUses, ResourceCreated, ResourceUpdated, ResourceUses, StoreError,
    UpdateResource,
};

use crate::Management;
use crate::act_refused::ActRefused;

/// Declares a resource. From the answer on every replica knows it.
pub async fn create_resource(management: Management<'_>, resource: Resource) -> Result<Resource, ActRefused> {
    let rules = &management.policy.resources;
    rules.may_be_declared(&resource.uri).map_err(|unfit| {
        let uri = resource.uri.clone();
        ActRefused::ResourceUnfit { uri, unfit }
    })?;
    if rules.openness(&resource.uri).is_some() {
        return Err(ActRefused::InSettings(resource.uri));
    }
    if resource.scopes.len() > MAX_RESOURCE_SCOPES {
        return Err(ActRefused::TooManyScopes);
    }
    let event = resource_event(management, EventKind::ResourceCreated, &resource.uri);
    match management.create_resource(CreateResource { resource: resource.clone(), event }).await? {
        Some(ResourceCreated::Stored) => {
            tracing::info!(resource = resource.uri, scopes = resource.scopes.len(), "resource declared");
            Ok(resource)
        }
        Some(ResourceCreated::UriTaken) => Err(ActRefused::ResourceTaken(resource.uri)),
        Some(ResourceCreated::ScopeTaken(name)) => Err(taken(management, name).await?),
        None => Err(ActRefused::MadeBefore),
    }
}

/// A resource that was changed.
#[derive(Clone, Debug)]
pub struct ResourceChanged {
    /// As it was.
    pub before: Resource,
    /// As it is.
    pub now: Resource,
}

/// Changes a resource; its age stays. What it loses must not be in use, unless the operator insists.
pub async fn update_resource(
    management: Management<'_>,
    mut resource: Resource,
    insists: bool,
) -> Result<ResourceChanged, ActRefused> {
    if resource.scopes.len() > MAX_RESOURCE_SCOPES {
        return Err(ActRefused::TooManyScopes);
    }
    let catalog = management.resources.read_fresh().await?;
    let before = catalog.resource(&resource.uri);
    let before = before.ok_or_else(|| ActRefused::ResourceUnknown(resource.uri.clone()))?;
    resource.created_at = before.created_at;
    if before.is_declared_as(&resource) {
        return Ok(ResourceChanged { before: before.clone(), now: resource });
    }
    let lost = before.scopes.iter().map(|scope| &scope.name);
    let lost: Vec<ScopeName> = lost.filter(|name| resource.scope(name.as_str()).is_none()).cloned().collect();
    if !insists && !lost.is_empty() {
        refuse_in_use(management, None, lost).await?;
    }
    let event = resource_event(management, EventKind::ResourceChanged, &resource.uri);
    match management.resources.update(UpdateResource { resource: resource.clone(), event }).await? {
        ResourceUpdated::Stored => {
            tracing::info!(resource = resource.uri, scopes = resource.scopes.len(), "resource changed");
            Ok(ResourceChanged { before: before.clone(), now: resource })
        }
        ResourceUpdated::Unknown => Err(ActRefused::ResourceUnknown(resource.uri)),
        ResourceUpdated::ScopeTaken(name) => Err(taken(management, name).await?),
    }
}

/// Deletes a resource with its scopes. From the answer on no replica issues a token for it, and refreshes drop it.
pub async fn delete_resource(management: Management<'_>, uri: &str, insists: bool) -> Result<(), ActRefused> {
    let unknown = || ActRefused::ResourceUnknown(uri.to_owned());
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
) -> Result<(), ActRefused> {
    let question = FindUses { resource, scopes, now: management.clock.now() };
    let uses = management.resources.find_uses(question).await?;
    if uses == ResourceUses::default() { Ok(()) } else { Err(ActRefused::ResourceInUse(uses)) }
}

async fn taken(management: Management<'_>, name: ScopeName) -> Result<ActRefused, StoreError> {
    let catalog = management.resources.read_fresh().await?;
    let owner = catalog.owner(name.as_str()).map(|owner| owner.uri.clone()).unwrap_or_default();
    Ok(ActRefused::ScopeTaken { name, owner })
}
