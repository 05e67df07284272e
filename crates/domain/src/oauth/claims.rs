//! The claims of a JSON Web Token from someone else: parsed, but not trusted yet.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};

/// How far ahead of ours another clock can be.
pub const SKEW: Duration = Duration::seconds(30);
/// The longest `jti` of a token from someone else, in characters.
pub const MAX_TOKEN_ID: usize = 256;

/// The value of one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A string.
    Text(String),
    /// A list of strings.
    Texts(Vec<String>),
    /// A number, without its fraction.
    Number(i64),
    /// Any other value, which we would not understand.
    Other,
}

/// The claims of a token, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims(BTreeMap<String, Claim>);

impl Claims {
    /// Wraps claims from a JSON object that repeats no name.
    pub const fn new(claims: BTreeMap<String, Claim>) -> Self {
        Self(claims)
    }

    /// Is there a claim with this name, whatever its value?
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

    /// A claim that is a string, or a list of exactly one string.
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

    /// A claim that is a time, in seconds since 1970.
    pub fn time(&self, name: &str) -> Option<OffsetDateTime> {
        match self.0.get(name)? {
            Claim::Number(seconds) => OffsetDateTime::from_unix_timestamp(*seconds).ok(),
            Claim::Text(_) | Claim::Texts(_) | Claim::Other => None,
        }
    }

    /// The token's `jti`, if it has one of a sensible length.
    pub fn token_id(&self) -> Option<&str> {
        self.text("jti").filter(|id| !id.is_empty() && id.len() <= MAX_TOKEN_ID)
    }
}

/// A proof that can be used once: what to remember about it, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleUse {
    /// The digest that identifies the proof.
    pub digest: [u8; 32],
    /// From this time on the proof is refused as too old.
    pub forget_after: OffsetDateTime,
}

impl SingleUse {
    /// A proof of this kind from this sender. The lengths are hashed too, so that the parts cannot run
    /// together.
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
