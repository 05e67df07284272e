//! The resources that the operator declared at the terminal, and the only way to change them.
//!
//! Requests that name no resource and no scope of one never ask for them. For the others, what was read is used
//! for 200 ms without asking storage again, and a change is answered after 220 ms. By then no replica uses older
//! values (ADR 0024).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use countersign_domain::resource::{Catalog, Resource, ResourceName, ResourceRules, ResourceScope};
use countersign_domain::scope::{ScopeName, ScopeSet};
use countersign_ports::{
    Clock, CreateResource, DeclarationChange, DeleteResource, FindUses, IfResourceUnchanged, ResourceCreated,
    ResourceStore, ResourceUpdated, ResourceUses, StoreError, UpdateResource,
};

use super::moment::{Moment, until_forgotten};
use crate::{Context, Management};

/// The resources. Nothing else in the use-cases can reach [`ResourceStore`].
///
/// Copies share what they remember.
#[derive(Clone)]
pub struct Resources {
    storage: Arc<dyn ResourceStore>,
    clock: Arc<dyn Clock>,
    known: Arc<Moment<Arc<Catalog>>>,
    /// The resource as it was read for a change, which is made only if the resource is still the same.
    guard: Option<Arc<Resource>>,
}

impl Resources {
    /// Owns the resources of a storage. Uses the clock to wait and to forget.
    pub fn new(storage: Arc<dyn ResourceStore>, clock: Arc<dyn Clock>) -> Self {
        Self { storage, clock, known: Arc::default(), guard: None }
    }

    /// The same resources for one change of one of them: it is only carried out if the resource is still as it was
    /// read. If it is not, it counts as unknown. Of two who read the same, one changes it.
    #[must_use]
    pub fn only_if_still(&self, read: Resource) -> Self {
        Self { guard: Some(Arc::new(read)), ..self.clone() }
    }

    /// All resources as they are, or as they were a moment ago if their change has not been answered yet.
    pub async fn catalog(&self) -> Result<Arc<Catalog>, StoreError> {
        // Taken before reading, so that every change that was answered by then is in what we read.
        let asked_at = self.clock.elapsed();
        if let Some(catalog) = self.known.get(asked_at) {
            return Ok(catalog);
        }
        let catalog = Arc::new(self.read_fresh().await?);
        self.known.keep(Arc::clone(&catalog), asked_at);
        Ok(catalog)
    }

    /// All resources as they were when they were last read here, however long ago; none if they never were.
    pub fn last_known(&self) -> Arc<Catalog> {
        self.known.last().unwrap_or_default()
    }

    /// Reads all resources from storage, for callers that are about to change one.
    pub async fn read_fresh(&self) -> Result<Catalog, StoreError> {
        Ok(Catalog::new(self.storage.list_resources().await?))
    }

    /// Stores a new resource. From the answer on every replica knows it.
    pub async fn create(&self, command: CreateResource) -> Result<ResourceCreated, StoreError> {
        let created = self.storage.create_resource(command).await;
        self.wait_until_forgotten().await;
        created
    }

    /// Replaces everything about a resource except its URI and its `created_at`. By the time of the answer no
    /// replica uses the old values.
    pub async fn update(&self, command: UpdateResource) -> Result<ResourceUpdated, StoreError> {
        let updated = match &self.guard {
            None => self.storage.update_resource(command).await,
            Some(read) => self.if_unchanged(read, DeclarationChange::Update(command)).await,
        };
        // After an error too: the change may have been stored.
        self.wait_until_forgotten().await;
        updated
    }

    /// Deletes a resource with its scopes. The answer says whether it existed. By then no replica knows it.
    pub async fn delete(&self, command: DeleteResource) -> Result<bool, StoreError> {
        let deleted = match &self.guard {
            None => self.storage.delete_resource(command).await,
            Some(read) => {
                let deleted = self.if_unchanged(read, DeclarationChange::Delete(command)).await;
                deleted.map(|deleted| deleted == ResourceUpdated::Stored)
            }
        };
        self.wait_until_forgotten().await;
        deleted
    }

    /// Counts who uses a resource or some of its scopes.
    pub async fn find_uses(&self, question: FindUses) -> Result<ResourceUses, StoreError> {
        self.storage.find_uses(question).await
    }

    async fn if_unchanged(
        &self,
        read: &Resource,
        change: DeclarationChange,
    ) -> Result<ResourceUpdated, StoreError> {
        let command = IfResourceUnchanged { read: read.clone(), change };
        self.storage.if_resource_unchanged(command).await
    }

    pub(super) async fn wait_until_forgotten(&self) {
        until_forgotten(&*self.clock).await;
    }
}

/// A scope of a resource as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownScope {
    /// Its name.
    pub name: ScopeName,
    /// What the operator says about it; `None` if it was deleted.
    pub declared: Option<DeclaredScope>,
}

/// What the operator says about a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredScope {
    /// The scope with its titles.
    pub scope: ResourceScope,
    /// The host of its resource.
    pub host: String,
}

/// A resource as people see it.
#[derive(Clone, Debug)]
pub struct ShownResource {
    /// Its URI.
    pub uri: String,
    /// The operator's name for it.
    pub name: Option<ResourceName>,
}

impl ShownScope {
    /// What people read: the operator's words in their language, or else the name.
    pub fn title_in(&self, language: &str) -> &str {
        self.declared.as_ref().map_or(self.name.as_str(), |declared| declared.scope.title_in(language))
    }
}

impl Context {
    /// The rules for a request. `names_any` says whether it names a resource or a scope of one; only then it is
    /// looked up what the operator declared at the terminal.
    pub(crate) async fn resource_rules(&self, names_any: bool) -> Result<Cow<'_, ResourceRules>, StoreError> {
        if !names_any {
            return Ok(Cow::Borrowed(&self.policy.resources));
        }
        Ok(Cow::Owned(self.policy.resources.with(self.resources.catalog().await?)))
    }

    /// Resources as people see them. None at all costs nothing.
    pub async fn show_resources(
        &self,
        uris: impl IntoIterator<Item = &str>,
    ) -> Result<Vec<ShownResource>, StoreError> {
        let mut uris = uris.into_iter().peekable();
        if uris.peek().is_none() {
            return Ok(Vec::new());
        }
        let catalog = self.resources.catalog().await?;
        let name_of = |uri| catalog.resource(uri).and_then(|resource| resource.name.clone());
        Ok(uris.map(|uri| ShownResource { uri: uri.to_owned(), name: name_of(uri) }).collect())
    }

    /// The scopes of resources in a set as people see them. A set without any costs nothing.
    pub async fn show_scopes(&self, scope: &ScopeSet) -> Result<Vec<ShownScope>, StoreError> {
        if scope.own().is_empty() {
            return Ok(Vec::new());
        }
        let catalog = self.resources.catalog().await?;
        let show = |name: &ScopeName| {
            let found = catalog.scope(name.as_str()).zip(catalog.owner(name.as_str()));
            let declared = found.map(|(scope, resource)| DeclaredScope {
                scope: scope.clone(),
                host: resource.shown_as().to_owned(),
            });
            ShownScope { name: name.clone(), declared }
        };
        Ok(scope.own().iter().map(show).collect())
    }
}

impl Management<'_> {
    /// The rules, with what is declared at the terminal now.
    pub async fn resource_rules(&self) -> Result<ResourceRules, StoreError> {
        Ok(self.policy.resources.with(Arc::new(self.resources.read_fresh().await?)))
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resources").finish_non_exhaustive()
    }
}
