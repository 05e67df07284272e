//! The resources that the operator declared at the terminal, with the scopes of each.
//!
//! A name of a scope belongs to one resource. So a scope says which resource it is for, and a token for one
//! resource never carries a scope of another.

use std::collections::BTreeMap;

use time::OffsetDateTime;

use crate::group::GroupName;
use crate::readable::{MAX_NAME_LENGTH, readable_text};
use crate::scope::{ScopeName, ScopeSet};

/// The most scopes that one resource can have.
pub const MAX_RESOURCE_SCOPES: usize = 64;

/// A resource that the operator declared at the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its URI. A request must repeat it byte for byte.
    pub uri: String,
    /// What people read before the URI.
    pub name: Option<ResourceName>,
    /// Which clients can name it.
    pub open_to: OpenTo,
    /// Its scopes, sorted by name.
    pub scopes: Vec<ResourceScope>,
    /// When it was declared.
    pub created_at: OffsetDateTime,
}

impl Resource {
    /// Would declaring this change nothing? The time of the declaration does not count, nor the order of the scopes.
    pub fn is_declared_as(&self, other: &Self) -> bool {
        let mut scopes: Vec<_> = other.scopes.iter().collect();
        scopes.sort_by(|one, two| one.name.cmp(&two.name));
        (&self.uri, &self.name, self.open_to) == (&other.uri, &other.name, other.open_to)
            && self.scopes.iter().eq(scopes)
    }
}

readable_text! {
    /// The operator's name for a resource, which people read before its URI.
    ResourceName, MAX_NAME_LENGTH
}

/// A scope of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceScope {
    /// Its name, which no other resource has.
    pub name: ScopeName,
    /// What people read before they sign.
    pub title: ScopeTitle,
    /// The same in other languages, by the language's tag.
    pub titles: BTreeMap<String, ScopeTitle>,
    /// The group that a user must be in to get the scope.
    pub needs: Option<GroupName>,
}

impl ResourceScope {
    /// The lines by which operators write and read it: `photos.admin needs staff = Manage photos`, and one more for each
    /// other language, `photos.admin[de] = Fotos verwalten`.
    pub fn lines(&self) -> Vec<String> {
        let Self { name, title, titles, needs } = self;
        let needs = needs.as_ref().map(|group| format!(" needs {group}")).unwrap_or_default();
        let first = format!("{name}{needs} = {}", title.as_str());
        let others = titles.iter().map(|(tag, title)| format!("{name}[{tag}] = {}", title.as_str()));
        std::iter::once(first).chain(others).collect()
    }
}

readable_text! {
    /// What people read about a scope: the operator's words.
    ScopeTitle, MAX_NAME_LENGTH
}

impl ScopeTitle {
    /// The title of a scope that has none: its name. Names are shorter than titles may be, and are readable.
    pub fn of_name(name: &ScopeName) -> Self {
        const { assert!(crate::scope::MAX_SCOPE_NAME <= MAX_NAME_LENGTH, "a name fits into a title") };
        Self(name.as_str().to_owned())
    }
}

impl Resource {
    /// The scope with this name.
    pub fn scope(&self, name: &str) -> Option<&ResourceScope> {
        self.scopes.iter().find(|scope| scope.name.as_str() == name)
    }

    /// What people see of the resource: its host, or all of a URI that has none.
    pub fn shown_as(&self) -> &str {
        UriParts::of(&self.uri).host.unwrap_or(&self.uri)
    }
}

/// A URI in parts, for people: the host is what they should look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UriParts<'a> {
    /// What is before the host; all of a URI that has none.
    pub before: &'a str,
    /// Host and port.
    pub host: Option<&'a str>,
    /// What is after them.
    pub after: &'a str,
}

impl<'a> UriParts<'a> {
    /// The parts of a URI. Together they are the whole URI.
    pub fn of(uri: &'a str) -> Self {
        let authority = uri.find("://").map(|place| place + 3).unwrap_or(uri.len());
        let end = uri[authority..].find(['/', '?']).map_or(uri.len(), |place| authority + place);
        let host = uri[authority..end].rfind('@').map_or(authority, |place| authority + place + 1);
        if host == end {
            return Self { before: uri, host: None, after: "" };
        }
        Self { before: &uri[..host], host: Some(&uri[host..end]), after: &uri[end..] }
    }
}

impl ResourceScope {
    /// The title in a language, or the one for all languages.
    pub fn title_in(&self, language: &str) -> &str {
        self.titles.get(language).unwrap_or(&self.title).as_str()
    }
}

/// Which clients can name a declared resource when they send people here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTo {
    /// All clients: the person reads the resource and signs for it.
    Everyone,
    /// Only the clients that the operator opened it to by name.
    Named,
}

impl OpenTo {
    /// The word in storage and at the terminal.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everyone => "everyone",
            Self::Named => "named",
        }
    }

    /// Parses the word.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Everyone, Self::Named].into_iter().find(|open_to| open_to.name() == name)
    }
}

/// All resources that the operator declared at the terminal, as they are at one moment.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Sorted by URI.
    resources: Vec<Resource>,
    /// The places of a scope and of its resource.
    by_scope: BTreeMap<ScopeName, (usize, usize)>,
}

impl Catalog {
    /// The catalog of a server whose operator declared nothing at the terminal.
    pub const NONE: Self = Self { resources: Vec::new(), by_scope: BTreeMap::new() };

    /// Makes a catalog. If two resources have a scope of the same name, which storage prevents, the scope
    /// belongs to the first.
    pub fn new(mut resources: Vec<Resource>) -> Self {
        resources.sort_by(|one, other| one.uri.cmp(&other.uri));
        let mut by_scope = BTreeMap::new();
        for (place, resource) in resources.iter().enumerate() {
            for (of_scope, scope) in resource.scopes.iter().enumerate() {
                by_scope.entry(scope.name.clone()).or_insert((place, of_scope));
            }
        }
        Self { resources, by_scope }
    }

    /// Is nothing declared?
    pub const fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The resources, sorted by URI.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The resource with this URI.
    pub fn resource(&self, uri: &str) -> Option<&Resource> {
        let place = self.resources.binary_search_by(|resource| resource.uri.as_str().cmp(uri));
        self.resources.get(place.ok()?)
    }

    /// The scope with this name.
    pub fn scope(&self, name: &str) -> Option<&ResourceScope> {
        self.find(name).map(|(_, scope)| scope)
    }

    /// The resource that the scope with this name belongs to.
    pub fn owner(&self, name: &str) -> Option<&Resource> {
        self.find(name).map(|(resource, _)| resource)
    }

    fn find(&self, name: &str) -> Option<(&Resource, &ResourceScope)> {
        let (resource, scope) = *self.by_scope.get(name)?;
        let resource = self.resources.get(resource)?;
        Some((resource, resource.scopes.get(scope)?))
    }

    /// The names of all scopes that every client can ask for.
    pub fn open_scopes(&self) -> impl Iterator<Item = &ScopeName> {
        let open = self.resources.iter().filter(|resource| resource.open_to == OpenTo::Everyone);
        open.flat_map(|resource| resource.scopes.iter().map(|scope| &scope.name))
    }

    /// The same catalog with fewer scopes.
    #[must_use]
    pub fn only(&self, stays: impl Fn(&Resource, &ScopeName) -> bool) -> Self {
        let mut resources = self.resources.clone();
        for (resource, whole) in resources.iter_mut().zip(&self.resources) {
            resource.scopes.retain(|scope| stays(whole, &scope.name));
        }
        Self::new(resources)
    }

    /// The scopes that need this group.
    pub fn needing<'a>(&'a self, group: &'a GroupName) -> impl Iterator<Item = &'a ScopeName> {
        let scopes = self.resources.iter().flat_map(|resource| &resource.scopes);
        scopes.filter(move |scope| scope.needs.as_ref() == Some(group)).map(|scope| &scope.name)
    }

    /// The groups that scopes of this set need.
    pub fn needs<'a>(&'a self, scope: &'a ScopeSet) -> impl Iterator<Item = &'a GroupName> {
        scope.own().iter().filter_map(|name| self.scope(name.as_str())?.needs.as_ref())
    }

    /// The set without the scopes whose group is missing. What is not declared any more is left as it is.
    #[must_use]
    pub fn within_groups(&self, scope: &ScopeSet, is_in: impl Fn(&GroupName) -> bool) -> ScopeSet {
        scope.only_own(|name| {
            self.scope(name.as_str()).and_then(|scope| scope.needs.as_ref()).is_none_or(&is_in)
        })
    }
}
