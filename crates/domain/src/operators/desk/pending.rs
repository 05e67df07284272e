//! A change that waits for its operator's signature, and what its subject was when the operator read it.

use std::fmt;

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::challenge::{ChallengeRejected, IssuedChallenge};
use crate::id::GrantId;
use crate::wallet::WalletAccount;

/// The longest value that is remembered, in characters. The session cookie has little room.
const MAX_REMEMBERED: usize = 60;
/// What is between the beginning of a long value and its mark.
const CUT: &str = "… ";

macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// What a fact is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FactName {
            $($(#[$doc])* $name,)*
        }

        impl FactName {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word in the session, and the key of the words that people read.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

facts! {
    /// Is it there? For what is about to be created.
    Exists = "exists",
    /// The wallets of a user.
    Wallets = "wallets",
    /// The user a wallet belongs to.
    Owner = "owner",
    /// Whether a user or wallet is blocked, and why.
    Blocked = "blocked",
    /// Whether an operator is suspended, and why.
    Suspended = "suspended",
    /// Wallets that hang together with those of a user, so that they are the same person's.
    OtherWallets = "other-wallets",
    /// The groups of a user or a wallet.
    Groups = "groups",
    /// The title of a group.
    Title = "title",
    /// How many users a group has.
    Users = "users",
    /// How many wallets a group has.
    Members = "members",
    /// Which clients use something.
    UsedBy = "used-by",
    /// Is the member in the group?
    InGroup = "in-group",
    /// Who of several members is not in the group.
    NotInGroup = "not-in-group",
    /// How a person stays in the group without the membership that is taken away.
    StillIn = "still-in",
    /// The name of a client or a resource.
    Name = "name",
    /// Where a client sends people.
    RedirectUris = "redirect-uris",
    /// The scopes of a client or a resource.
    Scopes = "scopes",
    /// The grant types of a client.
    GrantTypes = "grant-types",
    /// How a client authenticates.
    Authentication = "authentication",
    /// A mark of a client's secret.
    Secret = "secret",
    /// Who can sign in to a client.
    Rule = "rule",
    /// Which groups a client gets.
    Release = "release",
    /// The resources that are open to a client.
    Resources = "resources",
    /// Who registered a client.
    RegisteredBy = "registered-by",
    /// A mark of everything else that a client registered.
    Metadata = "metadata",
    /// Which clients can name a resource.
    OpenTo = "open-to",
    /// The signing keys and their states.
    Keys = "keys",
    /// What an admin key may do.
    AdminScopes = "admin-scopes",
    /// For how many people an invitation is, and how many came in.
    Uses = "uses",
    /// How long an invitation is valid.
    ValidFor = "valid-for",
    /// Who invites.
    Inviter = "inviter",
    /// The client that people who are invited go on to.
    LeadsTo = "leads-to",
    /// When an admin key or an invitation ends.
    Expires = "expires",
    /// Whether an admin key or an invitation is revoked.
    Revoked = "revoked",
    /// The state of a proposal.
    Proposal = "proposal",
}

impl FactName {
    /// Finds a name by its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|name| name.name() == word)
    }
}

/// Something that is so with a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub name: FactName,
    /// How it is.
    pub value: String,
}

impl Fact {
    /// Says how something is.
    pub fn new(name: FactName, value: impl fmt::Display) -> Self {
        Self { name, value: value.to_string() }
    }

    /// The same fact, short enough to be remembered. Two long values stay different.
    #[must_use]
    pub fn shortened(&self) -> Self {
        if self.value.chars().count() <= MAX_REMEMBERED {
            return self.clone();
        }
        let head: String = self.value.chars().take(MAX_REMEMBERED - 10).collect();
        let hash = hex::encode(&Sha256::digest(&self.value)[..4]);
        Self { name: self.name, value: format!("{head}{CUT}{hash}") }
    }

    /// A value without what keeps long ones apart when they are shortened.
    pub fn without_mark(value: &str) -> &str {
        let is_mark = |mark: &str| mark.len() == 8 && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
        match value.rsplit_once(CUT) {
            Some((head, mark)) if is_mark(mark) => {
                value.get(..head.len() + CUT.trim_end().len()).unwrap_or(value)
            }
            _ => value,
        }
    }
}

/// A hash of a value that no one should read, or that is too long to be read.
pub fn mark_of(value: impl AsRef<[u8]>) -> String {
    let hash = Sha256::new().chain_update(b"countersign desk value 1\0").chain_update(value).finalize();
    hex::encode(&hash[..4])
}

/// The mark of a subject as an operator read it: of all facts, in their full length. 128 bits, because an
/// attacker who could choose facts would want a second preimage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seen([u8; 16]);

impl Seen {
    /// Marks these facts.
    pub fn of(facts: &[Fact]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"countersign desk subject 1\0");
        for Fact { name, value } in facts {
            for part in [name.name(), value] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
        }
        let mut mark = [0; 16];
        mark.copy_from_slice(&hash.finalize()[..16]);
        Self(mark)
    }

    /// Reads what [`Display`](fmt::Display) writes, in its only spelling.
    pub fn parse(text: &str) -> Option<Self> {
        let mut mark = [0; 16];
        hex::decode_to_slice(text, &mut mark).ok()?;
        Some(Self(mark)).filter(|seen| seen.to_string() == text)
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seen({self})")
    }
}

/// A change whose text was issued. It exists only in the sealed session. The change itself is in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingChange {
    /// The text. Its id works once. For a first signature it is also the id of the change.
    pub challenge: IssuedChallenge,
    /// The wallet that signs.
    pub signer: WalletAccount,
    /// The proposal that this signature is the second of, if it is one.
    pub proposal: Option<GrantId>,
    /// Must a second operator sign it too? For the page only; it is judged again when the change is made.
    pub needs_second: bool,
    /// What the subject was when the text was made, shortened.
    pub seen: Vec<Fact>,
}

impl PendingChange {
    /// Can the change be made with this text?
    pub fn admit(&self, now: OffsetDateTime, text: &str) -> Result<(), ChallengeRejected> {
        self.challenge.admit_text(now, &self.signer, text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::Duration;

    use super::*;
    use crate::challenge::{ChallengeDigest, MAX_FAILURES};

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn account(address: &str) -> WalletAccount {
        WalletAccount {
            family: "eip155".to_owned(),
            chain: "eip155:1".to_owned(),
            address: address.to_owned(),
        }
    }

    fn pending() -> PendingChange {
        PendingChange {
            challenge: IssuedChallenge {
                id: GrantId::at(NOW, [1; 10]),
                digest: ChallengeDigest::of(&account("0xA"), "mine"),
                expires_at: NOW + Duration::minutes(5),
                failures: 0,
                chain: None,
                kind: None,
            },
            signer: account("0xA"),
            proposal: None,
            needs_second: false,
            seen: Vec::new(),
        }
    }

    #[test]
    fn a_change_is_made_with_its_own_text_until_its_exact_second_and_after_five_failures_no_more() {
        let mut pending = pending();
        assert_eq!(pending.admit(NOW, "mine"), Ok(()));
        assert_eq!(pending.admit(NOW, "mine "), Err(ChallengeRejected::Unknown));
        assert_eq!(pending.admit(pending.challenge.expires_at, "mine"), Err(ChallengeRejected::Expired));
        for _ in 0..MAX_FAILURES {
            assert_eq!(pending.admit(NOW, "mine"), Ok(()));
            pending.challenge.count_failure();
        }
        assert_eq!(pending.admit(NOW, "mine"), Err(ChallengeRejected::Exhausted));
        pending.challenge.failures = 0;
        pending.signer = account("0xB");
        assert_eq!(pending.admit(NOW, "mine"), Err(ChallengeRejected::Unknown));
    }

    #[test]
    fn facts_are_named_by_different_words() {
        for name in FactName::ALL {
            assert_eq!(FactName::parse(name.name()), Some(*name));
        }
        assert_eq!(FactName::parse("else"), None);
    }

    proptest! {
        #[test]
        fn what_is_remembered_of_a_value_is_short_and_tells_values_apart(
            head in ".{0,80}", one in ".{0,20}", other in ".{0,20}",
        ) {
            let fact = |tail: &str| Fact::new(FactName::Name, format!("{head}{tail}"));
            let (one, other) = (fact(&one), fact(&other));
            prop_assert!(one.shortened().value.chars().count() <= MAX_REMEMBERED);
            prop_assert_eq!(one == other, one.shortened() == other.shortened());
            let (seen, else_seen) = (Seen::of(std::slice::from_ref(&one)), Seen::of(std::slice::from_ref(&other)));
            prop_assert_eq!(one == other, seen == else_seen);
            prop_assert_eq!(Seen::parse(&seen.to_string()), Some(seen));
        }

        #[test]
        fn facts_cannot_be_moved_from_one_value_into_the_next(one in "\\PC{0,9}", other in "\\PC{1,9}") {
            let facts = |one: &str, other: &str| {
                Seen::of(&[Fact::new(FactName::Name, one), Fact::new(FactName::Name, other)])
            };
            prop_assert_ne!(facts(&one, &other), facts(&format!("{one}{other}"), ""));
        }
    }
}
