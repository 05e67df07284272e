//! The resources that the operator declared at the terminal.

use countersign_domain::event::Event;
use countersign_domain::resource::Resource;
use countersign_domain::scope::ScopeName;
use time::OffsetDateTime;

/// Stores a resource with its scopes.
#[derive(Clone, Debug)]
pub struct CreateResource {
    /// The resource.
    pub resource: Resource,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`CreateResource`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceCreated {
    /// The resource is stored. A repeat of the same command gives this too. It is recognized by its event or,
    /// without one, by what it declares.
    Stored,
    /// Another resource has this URI. Nothing changed.
    UriTaken,
    /// Another resource has a scope of this name. Nothing changed.
    ScopeTaken(ScopeName),
}

/// Replaces a resource with its scopes.
#[derive(Clone, Debug)]
pub struct UpdateResource {
    /// What the resource is from now on. Its URI names it, and stays.
    pub resource: Resource,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`UpdateResource`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceUpdated {
    /// The resource has these values now. If it had them before, nothing changed.
    Stored,
    /// There is no such resource. Nothing changed.
    Unknown,
    /// Another resource has a scope of this name. Nothing changed.
    ScopeTaken(ScopeName),
}

/// Deletes a resource with its scopes.
#[derive(Clone, Debug)]
pub struct DeleteResource {
    /// Its URI.
    pub uri: String,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Changes a resource only if it is still as the caller read it.
#[derive(Clone, Debug)]
pub struct IfResourceUnchanged {
    /// The resource as it was read.
    pub read: Resource,
    /// What changes. It is about that resource.
    pub change: DeclarationChange,
}

/// A change of a resource.
#[derive(Clone, Debug)]
pub enum DeclarationChange {
    /// That of [`ResourceStore::update_resource`](crate::ResourceStore::update_resource).
    Update(UpdateResource),
    /// That of [`ResourceStore::delete_resource`](crate::ResourceStore::delete_resource).
    Delete(DeleteResource),
}

/// What would be missed if it were deleted.
#[derive(Clone, Debug)]
pub struct FindUses {
    /// The resource; `None` if only scopes of it are to be deleted.
    pub resource: Option<String>,
    /// The scopes.
    pub scopes: Vec<ScopeName>,
    /// The time of the question.
    pub now: OffsetDateTime,
}

/// Who uses a resource or some of its scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceUses {
    /// How many clients registered one of the scopes, or had the resource opened to them.
    pub clients: u64,
    /// How many grants that are not revoked have one of the scopes, or are for the resource.
    pub grants: u64,
}
