//! Resource indicators (RFC 8707): which resources an access token can be for, and who decides that.
//!
//! The operator declares them, in the settings or, with scopes of their own, at the terminal ([`Catalog`]). A
//! resource server trusts every access token of ours that names it, so clients must not be free to name any
//! resource. What a request names is checked where the person sees it, before anyone signs.

use std::borrow::Cow;
use std::sync::Arc;

use url::{Host, Url};

pub use crate::scopes::catalog::{
    Catalog, MAX_RESOURCE_SCOPES, OpenTo, Resource, ResourceName, ResourceScope, ScopeTitle, UriParts,
};

use crate::client::{Client, ClientOrigin};
use crate::error::{OAuthError, OAuthErrorCode};
use crate::parameters::{Parameters, Repeated};
use crate::public_url::{PublicUrl, is_loopback};
use crate::redirect_uri::{is_plain_uri_byte, percent_escapes_are_whole};
use crate::scope::{self, ScopeRejected, ScopeSet};
use crate::scopes::named_scopes::UnknownScope;

/// The most resources that one request can name.
pub(crate) const MAX_RESOURCES: usize = 8;
/// The longest resource, in bytes. The limit on their total length follows from the text that is signed.
const MAX_LENGTH: usize = 512;
/// The prefix of our own entries in a signed text. A resource that starts with it would be read as one of
/// them.
pub(crate) const OURS: &str = "urn:countersign:";
/// The prefix of a client's id when it is written as a URN.
const UUID: &str = "urn:uuid:";

/// Why a text cannot be a resource, even if it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceUnfit {
    /// It is not an absolute URI, has a fragment, or is too long.
    #[error("not an absolute URI without a fragment, of {MAX_LENGTH} bytes at most")]
    NotAbsolute,
    /// It is the id of a client, or one of our own entries.
    #[error("a name that is reserved for clients or for this server")]
    Reserved,
    /// It is this server itself.
    #[error("a URL of this server itself")]
    ThisServer,
}

/// A resource that the operator declared in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredResource {
    /// Its URI. A request must repeat it byte for byte.
    pub uri: String,
    /// Which clients can name it.
    pub open_to: OpenTo,
}

/// The operator's rules for resources.
#[derive(Clone, Debug)]
pub struct ResourceRules {
    issuer: PublicUrl,
    /// In the settings.
    declared: Vec<DeclaredResource>,
    /// At the terminal.
    catalog: Arc<Catalog>,
}

impl ResourceRules {
    /// Uses the operator's declarations. If there are none, a server that only its own machine can reach
    /// accepts any resource, so that people can try it out. Every other server accepts none.
    pub fn new(
        issuer: PublicUrl,
        declared: Vec<DeclaredResource>,
    ) -> Result<Self, (DeclaredResource, ResourceUnfit)> {
        for resource in &declared {
            fit(&issuer, &resource.uri).map_err(|unfit| (resource.clone(), unfit))?;
        }
        Ok(Self { issuer, declared, catalog: Arc::default() })
    }

    /// The same rules with what the operator declared at the terminal.
    #[must_use]
    pub fn with(&self, catalog: Arc<Catalog>) -> Self {
        Self { issuer: self.issuer.clone(), declared: self.declared.clone(), catalog }
    }

    /// What the operator declared at the terminal, as far as these rules know it.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// What the operator declared in the settings.
    pub fn of_settings(&self) -> &[DeclaredResource] {
        &self.declared
    }

    /// Can the operator declare this resource at the terminal?
    pub fn may_be_declared(&self, uri: &str) -> Result<(), ResourceUnfit> {
        fit(&self.issuer, uri)
    }

    /// The issuer, which is the audience of tokens that name no resource.
    pub fn issuer(&self) -> &PublicUrl {
        &self.issuer
    }

    /// Checks the resources that a client names when it asks a person to sign. Duplicates are dropped, and
    /// the order of the request is kept.
    pub fn judge<'a>(
        &self,
        client: &Client,
        requested: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<String>, OAuthError> {
        let mut resources: Vec<String> = Vec::new();
        for uri in requested {
            self.admit(client, uri)?;
            if !resources.iter().any(|known| known == uri) {
                resources.push(uri.to_owned());
            }
        }
        if resources.len() > MAX_RESOURCES {
            return Err(too_many());
        }
        Ok(resources)
    }

    /// Chooses what a client asks a person to sign for: the scopes that `scope` leaves of those that it asks
    /// for, and the resources of its tokens.
    ///
    /// A scope of the operator's means its resource. If the request names no resource, those of its scopes
    /// are meant. If it names some, its scopes must belong to them. `naming` says whether others are left out
    /// instead.
    pub fn choose<'a>(
        &self,
        client: &Client,
        scope: &ScopeSet,
        naming: Naming,
        requested: impl IntoIterator<Item = &'a str>,
    ) -> Result<(ScopeSet, Vec<String>), OAuthError> {
        let mut resources = self.judge(client, requested)?;
        if scope.own().is_empty() {
            return Ok((scope.clone(), resources));
        }
        let is_named = !resources.is_empty();
        let owner = |name: &str| self.catalog.owner(name).map(|resource| resource.uri.as_str());
        let fits = |name: &str| {
            let Some(uri) = owner(name) else { return false };
            if is_named {
                resources.iter().any(|named| named == uri)
            } else {
                self.admit(client, uri).is_ok()
            }
        };
        let left = scope.only_own(|name| fits(name.as_str()));
        if naming == Naming::Explicit
            && let Some(name) = scope.own().iter().find(|name| !left.has_own(name))
        {
            return Err(invalid_scope(match owner(name.as_str()) {
                Some(uri) if is_named => format!("scope holds {name} of {uri}, which resource does not name"),
                Some(_) => format!("scope holds {name}, whose resource is not open to this client"),
                None => format!("scope holds {name}, which this server does not know"),
            }));
        }
        if left.is_empty() {
            return Err(invalid_scope("no scope that the client may ask for fits here"));
        }
        if !is_named {
            for uri in left.own().iter().filter_map(|name| owner(name.as_str())) {
                if !resources.iter().any(|known| known == uri) {
                    resources.push(uri.to_owned());
                }
            }
            resources.sort();
            if resources.len() > MAX_RESOURCES {
                return Err(invalid_scope("scope holds scopes of more than 8 resources"));
            }
        }
        Ok((left, resources))
    }

    /// Checks the scopes that a client asks for itself, which no one signs for. The operator must have given
    /// them to it: it is a client of the operator's that registered them, and the resource is open to it by
    /// name.
    pub fn choose_for_itself(
        &self,
        client: &Client,
        requested: Option<&str>,
        resources: &[String],
    ) -> Result<ScopeSet, OAuthError> {
        let is_given = client.origin == ClientOrigin::Operator;
        let registered = client.metadata.scopes.only_own(|_| is_given);
        let Some(requested) = scope::named(requested) else {
            // All that is given to it at the resources that it names.
            return Ok(ScopeSet::of_own(registered.own().iter().cloned()).only_own(|name| {
                let owner = self.catalog.owner(name.as_str());
                owner.is_some_and(|owner| resources.contains(&owner.uri))
            }));
        };
        let scope = parse_scope(requested, &self.catalog)?;
        if let Some(known) = scope.known().next() {
            let known = known.name();
            return Err(invalid_scope(format!(
                "scope holds {known}, which is about a person, and there is none: leave it out for a token for the client itself"
            )));
        }
        if let Some(name) = scope.own().iter().find(|name| !registered.has_own(name)) {
            return Err(invalid_scope(format!(
                "scope holds {name}, which the operator did not give to this client"
            )));
        }
        Ok(scope)
    }

    /// Checks one resource for a client that has people sign.
    pub(crate) fn admit(&self, client: &Client, uri: &str) -> Result<(), OAuthError> {
        self.admit_where(client, uri, |open_to| open_to == OpenTo::Everyone)
    }

    /// Checks one resource for a client that asks for itself. No one signs, so the operator must have opened
    /// it by name.
    pub(crate) fn admit_for_itself(&self, client: &Client, uri: &str) -> Result<(), OAuthError> {
        self.admit_where(client, uri, |_| false)
    }

    fn admit_where(
        &self,
        client: &Client,
        uri: &str,
        open_to_all: impl Fn(OpenTo) -> bool,
    ) -> Result<(), OAuthError> {
        fit(&self.issuer, uri).map_err(|unfit| {
            invalid_target(match unfit {
                ResourceUnfit::NotAbsolute => "resource must be an absolute URI without a fragment",
                ResourceUnfit::Reserved => "resource names a client or is reserved",
                ResourceUnfit::ThisServer => "resource is this server itself, which needs no resource",
            })
        })?;
        if client.document.as_deref() == Some(uri) {
            return Err(names_a_client());
        }
        if self.takes_any() {
            return Ok(());
        }
        let is_open = |open_to| open_to_all(open_to) || client.resources.iter().any(|open| open == uri);
        if !self.openness(uri).is_some_and(is_open) {
            return Err(invalid_target(
                "resource is not one that this server issues tokens for to this client",
            ));
        }
        Ok(())
    }

    /// Can the operator open this resource to a client?
    pub fn may_be_opened(&self, uri: &str) -> Result<bool, ResourceUnfit> {
        fit(&self.issuer, uri)?;
        Ok(self.takes_any() || self.openness(uri).is_some())
    }

    /// Which clients can name this resource; `None` if it is not declared.
    pub fn openness(&self, uri: &str) -> Option<OpenTo> {
        let in_settings = self.declared.iter().find(|declared| declared.uri == uri);
        let in_settings = in_settings.map(|declared| declared.open_to);
        in_settings.or_else(|| self.catalog.resource(uri).map(|resource| resource.open_to))
    }

    /// Is any resource open to some clients only?
    pub fn name_clients(&self) -> bool {
        self.declared.iter().any(|declared| declared.open_to == OpenTo::Named)
            || self.catalog.resources().iter().any(|resource| resource.open_to == OpenTo::Named)
    }

    /// Does the server accept any resource, because it is only being tried out?
    fn takes_any(&self) -> bool {
        self.declared.is_empty() && self.catalog.is_empty() && self.issuer.is_loopback()
    }
}

/// What becomes of a scope that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// The request is refused: a client of the operator's named the scope.
    Explicit,
    /// It is left out. The request named no scopes and means all that the client registered, or the operator does
    /// not know the client, which asks every server for the same (RFC 6749 section 3.3).
    Lenient,
}

impl Naming {
    /// The naming of a request of this client with this `scope`.
    pub fn of(client: &Client, scope: Option<&str>) -> Self {
        match client.origin {
            ClientOrigin::Operator if scope::named(scope).is_some() => Self::Explicit,
            ClientOrigin::Operator | ClientOrigin::SelfRegistered | ClientOrigin::Document => Self::Lenient,
        }
    }
}

/// The resources that a request names. Other servers call the parameter `audience` and take one value; here it
/// means `resource`.
pub fn named_in(parameters: &Parameters) -> Result<Vec<String>, OAuthError> {
    let resources = parameters.all("resource").map(ToOwned::to_owned).collect();
    let audience = parameters.once("audience").map_err(|Repeated(name)| {
        OAuthError::new(OAuthErrorCode::InvalidRequest, format!("parameter {name} is given more than once"))
    })?;
    with_audience(resources, audience)
}

/// The same for a request whose parameters were read already.
pub fn with_audience(resources: Vec<String>, audience: Option<&str>) -> Result<Vec<String>, OAuthError> {
    let Some(audience) = audience.filter(|audience| !audience.is_empty()) else { return Ok(resources) };
    if resources.is_empty() {
        return Ok(vec![audience.to_owned()]);
    }
    if resources.iter().all(|uri| uri == audience) {
        return Ok(resources);
    }
    Err(invalid_target("audience and resource name different resources: send resource alone"))
}

/// The refusal of a request that names too many resources.
pub(crate) fn too_many() -> OAuthError {
    invalid_target("resource can have up to 8 URIs")
}

/// The refusal of a resource that is a client.
pub fn names_a_client() -> OAuthError {
    invalid_target("resource names a client or is reserved")
}

/// Can this be a resource at all? A client's id is not an absolute URI. Written as a URN it is refused here.
/// The caller, who knows the clients, refuses the URLs of their documents.
fn fit(issuer: &PublicUrl, uri: &str) -> Result<(), ResourceUnfit> {
    let is_plain = uri.len() <= MAX_LENGTH
        && !uri.contains('#')
        && uri.bytes().all(is_plain_uri_byte)
        && percent_escapes_are_whole(uri);
    let url = Some(uri).filter(|_| is_plain).and_then(|uri| Url::parse(uri).ok());
    let url = url.ok_or(ResourceUnfit::NotAbsolute)?;
    let begins = |with: &str| uri.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    if begins(OURS) || begins(UUID) {
        return Err(ResourceUnfit::Reserved);
    }
    if is_at(issuer, &url) { Err(ResourceUnfit::ThisServer) } else { Ok(()) }
}

/// Is this a URL of this server, in any spelling? A browser finds it below the public URL, on the same host
/// and port.
fn is_at(issuer: &PublicUrl, url: &Url) -> bool {
    let Ok(ours) = Url::parse(issuer.as_str()) else { return false };
    let (Some(our_host), Some(host)) = (ours.host(), url.host()) else { return false };
    let is_same_host = match (&our_host, &host) {
        (Host::Domain(ours), Host::Domain(theirs)) => *ours == theirs.trim_end_matches('.'),
        _ => our_host == host,
    };
    let is_same_host = is_same_host || (is_loopback(&our_host) && is_loopback(&host));
    let is_same_port = ours.port_or_known_default() == url.port_or_known_default();
    let path = unescaped(url.path());
    let is_below = path
        .strip_prefix(issuer.path())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with('\\'));
    is_same_host && is_same_port && is_below
}

/// A path without percent-escapes. The escapes are complete. The decoded bytes need not be UTF-8 to be
/// compared.
fn unescaped(path: &str) -> String {
    let mut parts = path.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        bytes.extend(u8::from_str_radix(digits, 16).ok());
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The refusal of a resource, for this reason.
pub fn invalid_target(description: impl Into<Cow<'static, str>>) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidTarget, description)
}

pub(crate) fn invalid_scope(description: impl Into<Cow<'static, str>>) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidScope, description)
}

/// Parses the scopes of a request.
pub(crate) fn parse_scope(requested: &str, declared: &Catalog) -> Result<ScopeSet, OAuthError> {
    ScopeSet::parse(requested, declared).map_err(|rejected| match rejected {
        ScopeRejected::Unknown => {
            let unknown = UnknownScope::first_in(requested.split(' '), declared);
            invalid_scope(format!("scope {unknown}"))
        }
        ScopeRejected::TooLong => too_long(),
        ScopeRejected::Empty => invalid_scope("scope is empty"),
    })
}

/// The refusal of a longer list of scopes than anyone needs.
pub(crate) fn too_long() -> OAuthError {
    invalid_scope("scope is longer than 512 characters")
}

#[cfg(test)]
mod tests;
