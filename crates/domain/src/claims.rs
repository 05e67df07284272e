//! What a JSON Web Token of somebody else says, read but not believed yet.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};

/// How far the clocks of others may be ahead of ours.
pub const SKEW: Duration = Duration::seconds(30);
/// How long the identifier of a token of others may be, in characters.
pub const MAX_TOKEN_ID: usize = 256;

/// One claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A string.
    Text(String),
    /// A list of strings.
    Texts(Vec<String>),
    /// A number, without what stands behind its point.
    Number(i64),
    /// Anything else: nothing that we would understand.
    Other,
}

/// The claims of a token, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims(BTreeMap<String, Claim>);

impl Claims {
    /// Takes claims that were read from an object in which no name is there twice.
    pub const fn new(claims: BTreeMap<String, Claim>) -> Self {
        Self(claims)
    }

    /// Is there a claim of this name, whatever it says?
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A claim that is a string.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Claim::Text(text) => Some(text),
            Claim::Texts(_) | Claim::Number(_) | Claim::Other => None,
        }
    }

    /// A claim that is a string, or a list of exactly one.
    pub fn single(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Claim::Text(text) => Some(text),
            Claim::Texts(texts) => match texts.as_slice() {
                [text] => Some(text),
                [] | [_, _, ..] => None,
            },
            Claim::Number(_) | Claim::Other => None,
        }
    }

    /// A claim that is a time: seconds since 1970.
    pub fn time(&self, name: &str) -> Option<OffsetDateTime> {
        match self.0.get(name)? {
            Claim::Number(seconds) => OffsetDateTime::from_unix_timestamp(*seconds).ok(),
            Claim::Text(_) | Claim::Texts(_) | Claim::Other => None,
        }
    }

    /// The identifier of the token, where it has one of a length that makes sense.
    pub fn token_id(&self) -> Option<&str> {
        self.text("jti").filter(|id| !id.is_empty() && id.len() <= MAX_TOKEN_ID)
    }
}

/// A proof that is good once: what must be remembered of it, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleUse {
    /// What the proof is known by.
    pub digest: [u8; 32],
    /// From then on the proof is refused for its age.
    pub forget_after: OffsetDateTime,
}

impl SingleUse {
    /// A proof of this kind by this sender. Lengths keep the parts apart.
    pub(crate) fn new(kind: &str, sender: &[u8], token_id: &str, forget_after: OffsetDateTime) -> Self {
        let mut hash = Sha256::new();
        for part in [kind.as_bytes(), sender, token_id.as_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self { digest: hash.finalize().into(), forget_after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(claim: Claim) -> Claims {
        Claims::new(BTreeMap::from([("x".to_owned(), claim)]))
    }

    #[test]
    fn a_claim_of_another_type_is_none_at_all() {
        for claim in [Claim::Other, Claim::Number(i64::MAX), Claim::Number(i64::MIN), Claim::Texts(vec![])] {
            let claims = claims(claim);
            assert!(claims.has("x"));
            assert_eq!((claims.text("x"), claims.single("x"), claims.time("x")), (None, None, None));
        }
    }

    #[test]
    fn a_list_of_one_is_like_the_one_where_that_is_asked_for() {
        let one = claims(Claim::Texts(vec!["a".to_owned()]));
        assert_eq!((one.single("x"), one.text("x")), (Some("a"), None));
        assert_eq!(claims(Claim::Texts(vec!["a".to_owned(), "a".to_owned()])).single("x"), None);
    }

    #[test]
    fn the_parts_of_what_is_remembered_do_not_run_together() {
        let of = |sender: &[u8], id| SingleUse::new("k", sender, id, OffsetDateTime::UNIX_EPOCH).digest;
        assert_ne!(of(b"ab", "c"), of(b"a", "bc"));
        assert_eq!(of(b"ab", "c"), of(b"ab", "c"));
    }
}
