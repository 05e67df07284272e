//! Consents: what people agreed to.
//!
//! A consent covers everything in the signed text: the client, where the sign-in leads, the audiences of the
//! tokens, and the scopes. A remembered sign-in repeats one consent or less than it. It never combines two
//! (docs/adr/0030-a-consent-is-everything-that-was-signed.md).

use std::cmp::Ordering;

use time::OffsetDateTime;

use crate::audience::SignedAudiences;
use crate::id::ClientId;
use crate::redirect_uri::RedirectUri;
use crate::scope::ScopeSet;

/// What a user signed for at one client. All signatures for the same terms make one consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// The client that it was given to.
    pub client: ClientId,
    /// Where the sign-in leads, and the audiences of the tokens.
    pub terms: ConsentTerms,
    /// The scopes that were signed for.
    pub scope: ScopeSet,
    /// When the user first signed for these terms.
    pub granted_at: OffsetDateTime,
    /// When the user last signed in with this consent.
    pub last_used_at: OffsetDateTime,
}

impl Consent {
    /// The order in which people see their consents: most recently used first, then by client and terms.
    pub fn last_used_first(&self, other: &Self) -> Ordering {
        let by_use = other.last_used_at.cmp(&self.last_used_at);
        by_use.then_with(|| (self.client, &self.terms).cmp(&(other.client, &other.terms)))
    }

    /// Did the user sign for all these scopes, at these terms?
    pub fn covers(&self, asked: &ConsentTerms, scope: &ScopeSet) -> bool {
        self.terms.hold(asked) && scope.is_subset_of(&self.scope)
    }
}

/// The terms of a consent. Together with the user and the client they identify it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConsentTerms {
    /// Where the sign-in leads.
    pub destination: ConsentDestination,
    /// The audiences of the tokens.
    pub audiences: SignedAudiences,
}

impl ConsentTerms {
    /// Does someone who agreed to these terms also agree to the other ones? The destination must be the same.
    pub fn hold(&self, asked: &Self) -> bool {
        let is_same_place = match (&self.destination, &asked.destination) {
            (ConsentDestination::Origin(here), ConsentDestination::Origin(there)) => here == there,
            (ConsentDestination::Device, ConsentDestination::Device)
            | (ConsentDestination::Program, ConsentDestination::Program) => true,
            (
                ConsentDestination::Origin(_)
                | ConsentDestination::Device
                | ConsentDestination::Program
                | ConsentDestination::Unrecorded,
                _,
            ) => false,
        };
        is_same_place && self.audiences.holds(&asked.audiences)
    }
}

/// The destination of a sign-in that someone agreed to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConsentDestination {
    /// The origin of a redirect URI with its port, or the scheme of an app.
    Origin(String),
    /// A device that waited for a sign-in. All devices of a client are one destination, because each shows a
    /// different code.
    Device,
    /// A program without a browser.
    Program,
    /// Not recorded: the consent is from before destinations were stored. It matches no destination.
    Unrecorded,
}

impl ConsentDestination {
    /// The destination of a redirect URI.
    pub fn of(redirect_uri: &RedirectUri) -> Self {
        Self::Origin(redirect_uri.origin())
    }

    /// The text for storage. An origin never looks like one of the words.
    pub fn to_text(&self) -> &str {
        match self {
            Self::Origin(origin) => origin,
            Self::Device => "device",
            Self::Program => "program",
            Self::Unrecorded => "",
        }
    }

    /// Parses the text from storage.
    pub fn parse(text: &str) -> Self {
        match text {
            "device" => Self::Device,
            "program" => Self::Program,
            "" => Self::Unrecorded,
            origin => Self::Origin(origin.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scope;

    fn terms(destination: &str, resources: &[&str], scope: &[Scope]) -> ConsentTerms {
        let resources: Vec<String> = resources.iter().map(|uri| (*uri).to_owned()).collect();
        ConsentTerms {
            destination: ConsentDestination::parse(destination),
            audiences: SignedAudiences::of(&resources, &ScopeSet::of(scope)),
        }
    }

    #[test]
    fn f_03_terms_hold_for_their_own_destination_only() {
        let places =
            ["https://a.example", "https://a.example:8443", "com.example.app:/", "device", "program"];
        for here in places {
            for there in places {
                let held = terms(here, &[], &[]).hold(&terms(there, &[], &[]));
                assert_eq!(held, here == there, "{here} {there}");
            }
            assert!(!terms("", &[], &[]).hold(&terms(here, &[], &[])), "{here}");
            assert!(!terms(here, &[], &[]).hold(&terms("", &[], &[])), "{here}");
        }
        assert!(!terms("", &[], &[]).hold(&terms("", &[], &[])), "what was never recorded matches nothing");
    }

    #[test]
    fn f_03_terms_hold_for_the_same_audiences_and_for_fewer() {
        let (one, both) = (&["urn:a"][..], &["urn:a", "urn:b"][..]);
        let at = |resources, scope| terms("https://a.example", resources, scope);
        assert!(at(both, &[]).hold(&at(one, &[])));
        assert!(!at(one, &[]).hold(&at(both, &[])));
        assert!(!at(&[], &[]).hold(&at(one, &[])));
        assert!(!at(both, &[]).hold(&at(&[], &[])), "a consent for an API is not one for this server");
        assert!(
            at(both, &[Scope::OpenId]).hold(&at(&[], &[])),
            "but a signature for openid covers this server"
        );
        assert!(!at(both, &[]).hold(&at(one, &[Scope::OpenId])));
    }

    #[test]
    fn a_destination_is_read_as_it_was_written() {
        for text in ["https://a.example:8443", "http://[::1]:7", "com.example.app:/", "device", "program", ""]
        {
            assert_eq!(ConsentDestination::parse(text).to_text(), text);
        }
    }
}
