//! Audiences: the servers that an access token is for (RFC 9068 section 2.2, RFC 8707).
//!
//! An [`Audience`] is never made from what a request names. It comes from what a person signed for, in a
//! browser or for a program, from what the operator opened to a client, or it is this server. A request only
//! selects from that. With it comes what the token allows there ([`TokenAccess`]).

use std::collections::BTreeSet;

use crate::client::Client;
use crate::error::OAuthError;
use crate::grant::{Grant, Holder};
use crate::resource::{MAX_RESOURCES, ResourceRules, invalid_scope, invalid_target, too_many};
use crate::scope::{Scope, ScopeName, ScopeSet};

/// The servers that an access token is for: its `aud`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience(Vec<String>);

/// What one access token is for, and what it allows there. A scope of the operator's is in it only if its
/// resource is the one that the token is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenAccess {
    /// Where the token is valid.
    pub audience: Audience,
    /// What it allows.
    pub scope: ScopeSet,
}

impl TokenAccess {
    /// The access of a token of this grant: what the request names out of what was granted, or all that was
    /// granted. `scope` are the scopes that the request wants of those that were granted.
    pub fn of_grant(
        rules: &ResourceRules,
        client: &Client,
        grant: &Grant,
        scope: &ScopeSet,
        requested: &[String],
    ) -> Result<Self, OAuthError> {
        match &grant.holder {
            Holder::Client => Self::of_client(rules, client, scope, requested),
            Holder::Person { .. } => {
                let signed = Signed { resources: &grant.particulars.resources, scope: &grant.scope };
                Self::choose(rules, client, signed, scope, requested)
            }
        }
    }

    /// The same for what a wallet signed for, before the grant is stored.
    pub fn of_signed(
        rules: &ResourceRules,
        client: &Client,
        signed: Signed<'_>,
        requested: &[String],
    ) -> Result<Self, OAuthError> {
        Self::choose(rules, client, signed, signed.scope, requested)
    }

    /// The access of a token that a client gets for itself: what the operator opened to it, or else this
    /// server. The scopes are those that the operator gave to it; if it names no resource, theirs is meant.
    pub fn of_client(
        rules: &ResourceRules,
        client: &Client,
        scope: &ScopeSet,
        requested: &[String],
    ) -> Result<Self, OAuthError> {
        let issuer = rules.issuer().as_str();
        if requested.len() > MAX_RESOURCES {
            return Err(too_many());
        }
        let implied = if requested.is_empty() { owners(rules, scope) } else { Vec::new() };
        let requested = if requested.is_empty() { &implied } else { requested };
        let mut audience = Vec::new();
        for uri in requested {
            if uri != issuer {
                rules.admit_for_itself(client, uri)?;
            }
            if !audience.contains(uri) {
                audience.push(uri.clone());
            }
        }
        let audience = if audience.is_empty() { Audience::of_issuer(rules) } else { Audience(audience) };
        let this = Self::at(rules, audience, scope)?;
        match scope.without(&this.scope).own().first() {
            Some(name) => {
                Err(invalid_scope(format!("scope holds {name} of a resource that resource does not name")))
            }
            None => Ok(this),
        }
    }

    /// What was granted is checked again: what the operator has withdrawn since then is no longer granted.
    fn choose(
        rules: &ResourceRules,
        client: &Client,
        signed: Signed<'_>,
        scope: &ScopeSet,
        requested: &[String],
    ) -> Result<Self, OAuthError> {
        let issuer = rules.issuer().as_str();
        let mut audience: Vec<String> = Vec::new();
        if requested.is_empty() {
            let open = signed.resources.iter().filter(|uri| rules.admit(client, uri).is_ok());
            audience.extend(open.cloned());
            // All scopes of resources that are left belong to one: the token is for that one.
            if let [only] = owners(rules, scope).as_slice()
                && audience.contains(only)
            {
                audience = vec![only.clone()];
            }
            if audience.is_empty() && !signed.resources.is_empty() && !signed.holds_issuer() {
                return Err(invalid_target(
                    "what was granted is not one that this server issues tokens for any more",
                ));
            }
        }
        for uri in requested {
            let is_granted =
                if uri == issuer { signed.holds_issuer() } else { signed.resources.contains(uri) };
            if !is_granted {
                return Err(invalid_target("resource goes beyond what was granted"));
            }
            if uri != issuer {
                rules.admit(client, uri)?;
            }
            if !audience.contains(uri) {
                audience.push(uri.clone());
            }
        }
        // An OpenID Connect client asks us who signed in, whatever else the token is for.
        let asks_us = scope.contains(Scope::OpenId) || (requested.is_empty() && signed.holds_issuer());
        if asks_us && signed.holds_issuer() && !audience.iter().any(|uri| uri == issuer) {
            audience.push(issuer.to_owned());
        }
        Self::at(rules, Audience(audience), scope)
    }

    /// Leaves out the scopes of resources that the token is not for, and those that are no longer declared. A
    /// token with scopes of a resource is for no other resource, because that other one could use it there.
    fn at(rules: &ResourceRules, audience: Audience, scope: &ScopeSet) -> Result<Self, OAuthError> {
        if scope.own().is_empty() {
            return Ok(Self { audience, scope: scope.clone() });
        }
        let is_here = |name: &ScopeName| {
            let owner = rules.catalog().owner(name.as_str());
            owner.is_some_and(|owner| audience.0.contains(&owner.uri))
        };
        let left = scope.only_own(is_here);
        let issuer = rules.issuer().as_str();
        if !left.own().is_empty() && audience.0.iter().filter(|uri| *uri != issuer).count() > 1 {
            return Err(invalid_target(
                "a token with scopes of a resource is for that resource alone: name one with resource",
            ));
        }
        if left.is_empty() {
            return Err(invalid_scope("none of these scopes is one of this resource"));
        }
        Ok(Self { audience, scope: left })
    }
}

/// The resources of these scopes, sorted, each once.
fn owners(rules: &ResourceRules, scope: &ScopeSet) -> Vec<String> {
    let owners = scope.own().iter().filter_map(|name| rules.catalog().owner(name.as_str()));
    let mut owners: Vec<String> = owners.map(|owner| owner.uri.clone()).collect();
    owners.sort();
    owners.dedup();
    owners
}

impl Audience {
    /// The audience that is only this server.
    pub fn of_issuer(rules: &ResourceRules) -> Self {
        Self(vec![rules.issuer().as_str().to_owned()])
    }

    /// The audiences, in the order of `aud`.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// The part of a signed text that says which servers tokens are for.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// The resources; if there are none, this server.
    pub resources: &'a [String],
    /// The scopes.
    pub scope: &'a ScopeSet,
}

impl Signed<'_> {
    fn holds_issuer(&self) -> bool {
        self.resources.is_empty() || self.scope.contains(Scope::OpenId)
    }
}

/// All audiences that one signature was for, as a set. This server is one of them if no resource is named, or
/// if the person signed for `openid`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedAudiences {
    this_server: bool,
    resources: BTreeSet<String>,
}

/// The word for this server in storage. It is not an absolute URI, so it cannot be confused with a resource.
const THIS_SERVER: &str = "issuer";

impl SignedAudiences {
    /// The audiences that someone signs for with these resources and scopes.
    pub(crate) fn of(resources: &[String], scope: &ScopeSet) -> Self {
        let this_server = Signed { resources, scope }.holds_issuer();
        Self { this_server, resources: resources.iter().cloned().collect() }
    }

    /// Does this set contain the other one? An empty set contains nothing and is contained in nothing.
    pub fn holds(&self, other: &Self) -> bool {
        let is_something = other.this_server || !other.resources.is_empty();
        is_something && (self.this_server || !other.this_server) && other.resources.is_subset(&self.resources)
    }

    /// The resources, sorted.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.resources.iter().map(String::as_str)
    }

    /// Is this server in the set?
    pub const fn hold_this_server(&self) -> bool {
        self.this_server
    }

    /// The text for storage, one audience per line. Equal sets give equal texts.
    pub fn to_text(&self) -> String {
        let this_server = self.this_server.then_some(THIS_SERVER);
        this_server.into_iter().chain(self.resources()).collect::<Vec<_>>().join("\n")
    }

    /// Reads the text from storage; `None` for a text that [`Self::to_text`] did not write. The empty text
    /// means audiences that were never recorded, and gives an empty set.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines: BTreeSet<String> = text.lines().map(ToOwned::to_owned).collect();
        let this = Self { this_server: lines.remove(THIS_SERVER), resources: lines };
        (this.to_text() == text).then_some(this)
    }
}

#[cfg(test)]
mod tests;
