//! Audiences: whom an access token is for (RFC 9068 section 2.2, RFC 8707).
//!
//! Nobody makes an [`Audience`] from what a request names. There are few ways to one: what a person signed for, in a browser or for a
//! program, what the operator opened to a client, and this server. A request only chooses among that.

use std::collections::BTreeSet;

use crate::challenge::ProgramText;
use crate::client::Client;
use crate::error::OAuthError;
use crate::grant::{Grant, Holder};
use crate::resource::{MAX_RESOURCES, ResourceRules, invalid_target, too_many};
use crate::scope::{Scope, ScopeSet};

/// Whom an access token is for: its `aud`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience(Vec<String>);

impl Audience {
    /// What a token of this grant is for: what the request names of what was granted, or all of that. `scope` is the token's.
    pub fn of_grant(
        rules: &ResourceRules,
        client: &Client,
        grant: &Grant,
        scope: ScopeSet,
        requested: &[String],
    ) -> Result<Self, OAuthError> {
        match &grant.holder {
            Holder::Client => Self::of_client(rules, client, requested),
            Holder::Person { .. } => {
                let signed = Signed { resources: &grant.particulars.resources, scope: grant.scope };
                Self::choose(rules, client, signed, scope, requested)
            }
        }
    }

    /// The same before the grant is stored, for a text that a wallet signed.
    pub fn of_program(
        rules: &ResourceRules,
        client: &Client,
        text: &ProgramText,
        requested: &[String],
    ) -> Result<Self, OAuthError> {
        let signed = Signed { resources: &text.resources, scope: text.scope };
        Self::choose(rules, client, signed, text.scope, requested)
    }

    /// What a token is for that a client gets for itself: what the operator opened to it, or else this server.
    pub fn of_client(
        rules: &ResourceRules,
        client: &Client,
        requested: &[String],
    ) -> Result<Self, OAuthError> {
        let issuer = rules.issuer().as_str();
        if requested.len() > MAX_RESOURCES {
            return Err(too_many());
        }
        let mut audience = Vec::new();
        for uri in requested {
            if uri != issuer {
                rules.admit_for_itself(client, uri)?;
            }
            if !audience.contains(uri) {
                audience.push(uri.clone());
            }
        }
        if audience.is_empty() { Ok(Self::of_issuer(rules)) } else { Ok(Self(audience)) }
    }

    /// This server alone.
    pub fn of_issuer(rules: &ResourceRules) -> Self {
        Self(vec![rules.issuer().as_str().to_owned()])
    }

    /// What was granted is judged once more: what the operator has taken back since then is granted no longer.
    fn choose(
        rules: &ResourceRules,
        client: &Client,
        signed: Signed<'_>,
        scope: ScopeSet,
        requested: &[String],
    ) -> Result<Self, OAuthError> {
        let issuer = rules.issuer().as_str();
        let mut audience: Vec<String> = Vec::new();
        if requested.is_empty() {
            let open = signed.resources.iter().filter(|uri| rules.admit(client, uri).is_ok());
            audience.extend(open.cloned());
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
        // Whoever speaks OpenID Connect asks us who signed in, whatever else the token is for.
        let asks_us = scope.contains(Scope::OpenId) || (requested.is_empty() && signed.holds_issuer());
        if asks_us && signed.holds_issuer() && !audience.iter().any(|uri| uri == issuer) {
            audience.push(issuer.to_owned());
        }
        Ok(Self(audience))
    }

    /// The audiences, as `aud` lists them.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// What stood in a text that was signed, as far as it says for whom tokens are.
struct Signed<'a> {
    resources: &'a [String],
    scope: ScopeSet,
}

impl Signed<'_> {
    fn holds_issuer(&self) -> bool {
        self.resources.is_empty() || self.scope.contains(Scope::OpenId)
    }
}

/// All audiences that one signature was for, as a set. This server is one of them where no resource is named, and where the person
/// signed for `openid`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedAudiences {
    this_server: bool,
    resources: BTreeSet<String>,
}

/// How storage writes this server. No absolute URI is spelled so.
const THIS_SERVER: &str = "issuer";

impl SignedAudiences {
    /// What somebody signs for who signs for these resources and scopes.
    pub(crate) fn of(resources: &[String], scope: ScopeSet) -> Self {
        let this_server = Signed { resources, scope }.holds_issuer();
        Self { this_server, resources: resources.iter().cloned().collect() }
    }

    /// Is everything here that is there? Nothing at all holds nothing, and is held by nothing.
    pub fn holds(&self, other: &Self) -> bool {
        let is_something = other.this_server || !other.resources.is_empty();
        is_something && (self.this_server || !other.this_server) && other.resources.is_subset(&self.resources)
    }

    /// The resources, in the order of their letters.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.resources.iter().map(String::as_str)
    }

    /// Is this server one of them?
    pub const fn hold_this_server(&self) -> bool {
        self.this_server
    }

    /// The text for storage: one line each. Equal sets give equal texts.
    pub fn to_text(&self) -> String {
        let this_server = self.this_server.then_some(THIS_SERVER);
        this_server.into_iter().chain(self.resources()).collect::<Vec<_>>().join("\n")
    }

    /// Reads the text of storage; `None` for one that [`Self::to_text`] did not write. The empty text is what nobody wrote down:
    /// it holds nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines: BTreeSet<String> = text.lines().map(ToOwned::to_owned).collect();
        let this = Self { this_server: lines.remove(THIS_SERVER), resources: lines };
        (this.to_text() == text).then_some(this)
    }
}

#[cfg(test)]
mod tests;
