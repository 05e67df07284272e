//! Sectors: which clients know a person by the same `sub` (OpenID Connect Core section 8.1).
//!
//! The rules of a registration that can be judged without asking anyone are here. The list behind a
//! `sector_identifier_uri` is fetched by the use case that registers a client.

use std::fmt;

use url::Url;

use crate::client::{Client, ClientMetadata, ClientOrigin};
use crate::client_field::PAIRWISE;
use crate::grant_type::GrantType;
use crate::id::ClientId;
use crate::public_url::is_loopback;
use crate::redirect_uri::RedirectUri;

/// The clients that know a person by the same `sub`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sector {
    /// All pairwise clients of this host.
    Host(String),
    /// This client alone, because no host answers for it.
    Client(ClientId),
}

impl Sector {
    /// The sector of a pairwise client: the host of its `sector_identifier_uri`, or else the one host of its redirect
    /// URIs. An application on the person's own device has neither.
    pub fn of(client: &Client) -> Self {
        Self::host_of(&client.metadata).map_or(Self::Client(client.id), Self::Host)
    }

    fn host_of(metadata: &ClientMetadata) -> Option<String> {
        match &metadata.display.sector_identifier_uri {
            Some(uri) => web_host(uri),
            None => metadata.redirect_uris.iter().find_map(|uri| public_host(uri.as_str())),
        }
    }
}

/// The text that its keys are derived from. The two kinds cannot be mistaken for each other.
impl fmt::Display for Sector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(f, "host {host}"),
            Self::Client(client) => write!(f, "client {client}"),
        }
    }
}

impl ClientMetadata {
    /// Does each sector get a `sub` of its own?
    pub fn is_pairwise(&self) -> bool {
        self.display.subject_type.as_deref() == Some(PAIRWISE)
    }
}

impl Client {
    /// The sector of a pairwise client; `None` for a public one.
    pub fn sector(&self) -> Option<Sector> {
        self.metadata.is_pairwise().then(|| Sector::of(self))
    }
}

/// Judges what a registration says of its sector.
///
/// No client of someone else may find out a `sub` of a host. A redirect URI proves nothing by itself: only the host gets
/// what is sent there. So a client that gets tokens in another way as well, and that no operator registered,
/// cannot be in the sector of a host.
pub(crate) fn judge(metadata: &ClientMetadata, origin: ClientOrigin) -> Result<(), SectorUnfit> {
    if !metadata.is_pairwise() {
        return Ok(());
    }
    let mut hosts: Vec<_> = metadata.redirect_uris.iter().map(|uri| public_host(uri.as_str())).collect();
    hosts.sort();
    hosts.dedup();
    let is_listed = metadata.display.sector_identifier_uri.is_some();
    if !is_listed && hosts.len() > 1 {
        return field(
            "sector_identifier_uri",
            "is needed, because the redirect_uris of this pairwise client have more than one host",
        );
    }
    let Some(sector) = Sector::host_of(metadata) else { return Ok(()) };
    match origin {
        ClientOrigin::Operator => return Ok(()),
        ClientOrigin::SelfRegistered | ClientOrigin::Document => {}
    }
    if hosts.contains(&None) {
        return field(
            "sector_identifier_uri",
            "cannot vouch for redirect_uris on the user's own device, unless an operator registers the client",
        );
    }
    let is_without_page = |grant_type: &GrantType| match grant_type {
        GrantType::DeviceCode | GrantType::WalletSignature => true,
        GrantType::AuthorizationCode | GrantType::RefreshToken | GrantType::ClientCredentials => false,
    };
    if hosts.is_empty() || metadata.grant_types.iter().any(is_without_page) {
        return field(
            "grant_types",
            "must lead to a redirect URI for a pairwise client in the sector of a host, unless an operator registers it",
        );
    }
    let notified = metadata.backchannel_logout_uri.as_deref().map(web_host);
    if notified.is_some_and(|host| host.as_ref() != Some(&sector) && !hosts.contains(&host)) {
        return field(
            "backchannel_logout_uri",
            "must be on a host of the redirect_uris of this pairwise client, unless an operator registers it",
        );
    }
    Ok(())
}

/// Refuses a change that moves a pairwise client to another sector by its redirect URIs alone: every person would get
/// another `sub` there, and nothing in the request would say so. Nor can a client by itself become public.
pub(crate) fn judge_change(before: &Client, after: &Client) -> Result<(), SectorUnfit> {
    let (from, to) = match (before.sector(), after.sector(), after.origin) {
        (Some(from), Some(to), _) => (from, to),
        // People read that other sites get another ID. Only an operator takes that back.
        (Some(_), None, ClientOrigin::SelfRegistered | ClientOrigin::Document) => {
            return field("subject_type", "must stay pairwise: register another client instead");
        }
        (Some(_), None, ClientOrigin::Operator) | (None, _, _) => return Ok(()),
    };
    let uri = |client: &Client| client.metadata.display.sector_identifier_uri.clone();
    if from == to || uri(before) != uri(after) {
        return Ok(());
    }
    field(
        "redirect_uris",
        "would move this pairwise client to another sector, where everyone has another sub: name a sector_identifier_uri",
    )
}

/// The host of a URL.
fn web_host(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

/// The host of a redirect URI; `None` if it leads to the person's own device.
fn public_host(uri: &str) -> Option<String> {
    let url = Url::parse(uri).ok()?;
    let host = url.host().filter(|_| matches!(url.scheme(), "https" | "http"))?;
    (!is_loopback(&host)).then(|| host.to_string())
}

fn field(field: &'static str, rule: &'static str) -> Result<(), SectorUnfit> {
    Err(SectorUnfit { field, rule })
}

/// What does not fit a pairwise client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectorUnfit {
    pub(crate) field: &'static str,
    pub(crate) rule: &'static str,
}

/// What is wrong with the list behind a `sector_identifier_uri`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SectorRejected {
    /// It was not fetched. The reason is only logged: a caller could look into our network with it.
    #[error("cannot be fetched: it must answer at a public https address, in time, and with 64 KiB at most")]
    NotFetched,
    /// It is something else.
    #[error("must return a JSON array of strings")]
    NotAList,
    /// A redirect URI is not in it.
    #[error("returns a list without redirect_uris[{0}]")]
    Lacks(usize),
}

/// Checks that the list of a sector has all redirect URIs of a client, each byte for byte.
pub fn judge_list(listed: &[String], redirect_uris: &[RedirectUri]) -> Result<(), SectorRejected> {
    let is_missing = |uri: &RedirectUri| !listed.iter().any(|listed| listed == uri.as_str());
    redirect_uris.iter().position(is_missing).map_or(Ok(()), |missing| Err(SectorRejected::Lacks(missing)))
}

#[cfg(test)]
mod tests;
