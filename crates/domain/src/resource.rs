//! Resource indicators (RFC 8707): which resources an access token may be for, and who decides that.
//!
//! The operator declares them. A resource server believes every access token of ours that names it, so a client must not name
//! whom it likes: what a request names is judged where the person sees it, before anybody signs.

use url::{Host, Url};

use crate::client::Client;
use crate::error::{OAuthError, OAuthErrorCode};
use crate::public_url::{PublicUrl, is_loopback};
use crate::redirect_uri::{is_plain_uri_byte, percent_escapes_are_whole};

/// How many resources one request may name.
pub(crate) const MAX_RESOURCES: usize = 8;
/// How long one may be, in bytes. How long they may be together follows from the text that is signed.
const MAX_LENGTH: usize = 512;
/// What stands before our own words in a text that is signed. A resource that begins so would be read as one of them.
pub(crate) const OURS: &str = "urn:countersign:";
/// What stands before a client's id where it is written as a URN.
const UUID: &str = "urn:uuid:";

/// Why a text can be no resource, whoever declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceUnfit {
    /// Not an absolute URI, or one with a fragment, or too long.
    #[error("not an absolute URI without a fragment, of {MAX_LENGTH} bytes at most")]
    NotAbsolute,
    /// The id of a client, or one of our own words.
    #[error("a name of clients or of this server's own, which no resource server has")]
    Reserved,
    /// This server itself.
    #[error("an address of this server itself")]
    ThisServer,
}

/// To which clients a declared resource is open when they send people here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTo {
    /// To all: the person reads it and signs for it.
    Everyone,
    /// To those to which the operator opened it by name.
    Named,
}

/// A resource that the operator declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredResource {
    /// Its URI, which the request must repeat byte for byte.
    pub uri: String,
    /// Who may name it.
    pub open_to: OpenTo,
}

/// What the operator decided about resources.
#[derive(Clone, Debug)]
pub struct ResourceRules {
    issuer: PublicUrl,
    declared: Vec<DeclaredResource>,
}

impl ResourceRules {
    /// Takes what the operator declared. Where that is nothing, a server that only its own machine reaches takes any resource, to be
    /// tried out; every other server takes none.
    pub fn new(
        issuer: PublicUrl,
        declared: Vec<DeclaredResource>,
    ) -> Result<Self, (DeclaredResource, ResourceUnfit)> {
        for resource in &declared {
            fit(&issuer, &resource.uri).map_err(|unfit| (resource.clone(), unfit))?;
        }
        Ok(Self { issuer, declared })
    }

    /// The issuer: the audience of tokens that name no resource.
    pub fn issuer(&self) -> &PublicUrl {
        &self.issuer
    }

    /// Judges the resources that a client names when it asks a person to sign. Each is taken once, in the order of the request.
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

    /// Judges one resource for a client that has people sign.
    pub(crate) fn admit(&self, client: &Client, uri: &str) -> Result<(), OAuthError> {
        self.admit_where(client, uri, |declared| declared.open_to == OpenTo::Everyone)
    }

    /// Judges one resource for a client that asks for itself: nobody signs, so the operator must have opened it by name.
    pub(crate) fn admit_for_itself(&self, client: &Client, uri: &str) -> Result<(), OAuthError> {
        self.admit_where(client, uri, |_| false)
    }

    fn admit_where(
        &self,
        client: &Client,
        uri: &str,
        open_to_all: impl Fn(&DeclaredResource) -> bool,
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
        let is_open = |declared: &DeclaredResource| {
            declared.uri == uri && (open_to_all(declared) || client.resources.iter().any(|open| open == uri))
        };
        if !self.declared.iter().any(is_open) {
            return Err(invalid_target(
                "resource is not one that this server issues tokens for to this client",
            ));
        }
        Ok(())
    }

    /// May the operator open this resource to a client?
    pub fn may_be_opened(&self, uri: &str) -> Result<bool, ResourceUnfit> {
        fit(&self.issuer, uri)?;
        Ok(self.takes_any() || self.declared.iter().any(|declared| declared.uri == uri))
    }

    /// Is there a resource that is open to some clients only?
    pub fn name_clients(&self) -> bool {
        self.declared.iter().any(|declared| declared.open_to == OpenTo::Named)
    }

    /// Does the server take any resource, because it is only tried out?
    fn takes_any(&self) -> bool {
        self.declared.is_empty() && self.issuer.is_loopback()
    }
}

/// The refusal of more resources than a request may name.
pub(crate) fn too_many() -> OAuthError {
    invalid_target("resource takes up to 8 URIs")
}

/// The refusal of a resource that is a client.
pub fn names_a_client() -> OAuthError {
    invalid_target("resource names a client or is reserved")
}

/// Can this be a resource at all? The ids of clients are no absolute URIs; as URNs they are refused here, and the addresses of
/// their documents by whoever knows the clients.
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

/// Is it an address of this server, however it is spelled? A browser finds it below the public URL, on the same host and port.
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

/// A path without its escapes. The escapes are whole, and what they give need not be UTF-8 to be compared.
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

/// The refusal of a resource.
pub fn invalid_target(description: &'static str) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidTarget, description)
}

#[cfg(test)]
mod tests;
