//! The resources that the operator declared at the terminal.

use async_trait::async_trait;
use countersign_domain::event::Event;
use countersign_domain::resource::Resource;
use countersign_domain::scope::ScopeName;
use time::OffsetDateTime;

use crate::StoreError;

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
    /// The resource is stored. A repeat of the same command gives this too.
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
    /// The new values are stored.
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
    /// That of [`ResourceStore::update_resource`].
    Update(UpdateResource),
    /// That of [`ResourceStore::delete_resource`].
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

/// The resources that the operator declared at the terminal. Every write is durable before the answer, and from
/// then on every replica finds the new values.
#[async_trait]
pub trait ResourceStore: Send + Sync {
    /// Stores a new resource. Guards: its URI is free, and so are the names of its scopes.
    async fn create_resource(&self, command: CreateResource) -> Result<ResourceCreated, StoreError>;

    /// Replaces everything about a resource except its URI and its `created_at`, atomically. Guards: it exists,
    /// and no other resource has one of the names.
    async fn update_resource(&self, command: UpdateResource) -> Result<ResourceUpdated, StoreError>;

    /// Deletes a resource with its scopes, atomically. The names are free then. Clients, grants and consents
    /// that name them stay as they are. The answer says whether the resource existed.
    async fn delete_resource(&self, command: DeleteResource) -> Result<bool, StoreError>;

    /// Carries out a change by its own rules, if the resource is as it was read: of two callers who read the same,
    /// one changes something. If it is another by now, or gone, it counts as unknown. A repeated command finds
    /// another resource.
    async fn if_resource_unchanged(
        &self,
        command: IfResourceUnchanged,
    ) -> Result<ResourceUpdated, StoreError>;

    /// Reads all resources with their scopes, from one snapshot: the resources by URI, the scopes of each by
    /// name, in byte order.
    async fn list_resources(&self) -> Result<Vec<Resource>, StoreError>;

    /// Counts who uses a resource or some of its scopes. Reads every client and every grant.
    async fn find_uses(&self, question: FindUses) -> Result<ResourceUses, StoreError>;
}
