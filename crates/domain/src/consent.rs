//! What people agreed to.
//!
//! A consent is everything that stood in the text: the client, where the sign-in leads, for whom tokens are, and the scopes. A
//! remembered sign-in repeats one consent or takes less of it; it never puts two together
//! (docs/adr/0030-a-consent-is-everything-that-was-signed.md).

use std::cmp::Ordering;

use time::OffsetDateTime;

use crate::audience::SignedAudiences;
use crate::id::ClientId;
use crate::redirect_uri::RedirectUri;
use crate::scope::ScopeSet;

/// What a user signed for at one client, all signatures for the same terms together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// To whom.
    pub client: ClientId,
    /// Where to, and for whom tokens are.
    pub terms: ConsentTerms,
    /// Which scopes.
    pub scope: ScopeSet,
    /// When the user first signed for these terms.
    pub granted_at: OffsetDateTime,
    /// When they last signed in by them.
    pub last_used_at: OffsetDateTime,
}

impl Consent {
    /// The order in which people see what they agreed to: the last used first, those of one moment by client and terms.
    pub fn last_used_first(&self, other: &Self) -> Ordering {
        let by_use = other.last_used_at.cmp(&self.last_used_at);
        by_use.then_with(|| (self.client, &self.terms).cmp(&(other.client, &other.terms)))
    }

    /// Did the user sign for all that is asked for, at these terms?
    pub fn covers(&self, asked: &ConsentTerms, scope: ScopeSet) -> bool {
        self.terms.hold(asked) && scope.is_subset_of(self.scope)
    }
}

/// The terms of a consent: with its user and its client they tell it from all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConsentTerms {
    /// Where the sign-in leads.
    pub destination: ConsentDestination,
    /// For whom tokens are.
    pub audiences: SignedAudiences,
}

impl ConsentTerms {
    /// Does somebody who agreed to these terms agree to those? The destination must be the same one.
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

/// Where a sign-in led that somebody agreed to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConsentDestination {
    /// The origin of a redirect URI with its port, or the scheme of an app.
    Origin(String),
    /// A device that waited for a code. All devices of a client are one destination: each shows a code of its own.
    Device,
    /// A program without a browser.
    Program,
    /// Nobody wrote it down: an agreement from before destinations were kept. It leads nowhere.
    Unrecorded,
}

impl ConsentDestination {
    /// Where a redirect URI leads.
    pub fn of(redirect_uri: &RedirectUri) -> Self {
        Self::Origin(redirect_uri.origin())
    }

    /// The text for storage. No origin is spelled like one of the words.
    pub fn to_text(&self) -> &str {
        match self {
            Self::Origin(origin) => origin,
            Self::Device => "device",
            Self::Program => "program",
            Self::Unrecorded => "",
        }
    }

    /// Reads the text of storage.
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
            audiences: SignedAudiences::of(&resources, ScopeSet::of(scope)),
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
        assert!(!terms("", &[], &[]).hold(&terms("", &[], &[])), "what nobody wrote down matches nothing");
    }

    #[test]
    fn f_03_terms_hold_for_the_same_audiences_and_for_fewer() {
        let (one, both) = (&["urn:a"][..], &["urn:a", "urn:b"][..]);
        let at = |resources, scope| terms("https://a.example", resources, scope);
        assert!(at(both, &[]).hold(&at(one, &[])));
        assert!(!at(one, &[]).hold(&at(both, &[])));
        assert!(!at(&[], &[]).hold(&at(one, &[])));
        assert!(!at(both, &[]).hold(&at(&[], &[])), "an API's consent is none for this server");
        assert!(
            at(both, &[Scope::OpenId]).hold(&at(&[], &[])),
            "but whoever signed for openid, did sign for it"
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
