//! A URI on a page: people see which part of it is the host, and the operator's name for a resource before it.

use countersign_domain::resource::{ResourceName, UriParts};
use countersign_usecases::context::resources::ShownResource;
use serde::Serialize;

/// A URI in parts. The templates print the host in bold.
#[derive(PartialEq, Eq, Hash, Serialize)]
struct UriContext<T> {
    /// What is before the host; all of a URI that has none.
    before: T,
    host: Option<T>,
    after: T,
}

impl<T> UriContext<T> {
    /// The parts, each as it is printed.
    fn of(uri: &str, mut print: impl FnMut(String) -> T) -> Self {
        let UriParts { before, host, after } = UriParts::of(uri);
        let host = host.map(|host| print(host.to_owned()));
        Self { before: print(before.to_owned()), host, after: print(after.to_owned()) }
    }
}

/// A resource that access tokens are for.
#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct ResourceContext<T> {
    name: Option<T>,
    uri: UriContext<T>,
}

impl<T> ResourceContext<T> {
    /// Name and URI, each part as it is printed.
    pub(crate) fn of(resource: &ShownResource, mut print: impl FnMut(String) -> T) -> Self {
        let name = resource.name.as_ref().map(ResourceName::as_str).map(ToOwned::to_owned);
        Self { name: name.map(&mut print), uri: UriContext::of(&resource.uri, print) }
    }
}
