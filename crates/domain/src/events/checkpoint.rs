//! Checkpoints: seals over events, so that no event can be altered, removed, added or moved unseen.
//!
//! A checkpoint covers the events at consecutive positions. It has the root of their Merkle tree (RFC 6962
//! section 2.1) and the hash of the checkpoint before it, a MAC that only the operator's secret can make, and the
//! server's key signs it all. The server builds only on a checkpoint that it can authenticate, so anyone who trusts one
//! checkpoint can verify everything before it.

mod leaf;
mod merkle;
mod record_key;

use std::fmt;

use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};

pub use self::leaf::{Commitment, Salt, leaf_of};
pub use self::merkle::merkle_root;
pub use self::record_key::{HidingKey, RecordKey};
use crate::event::{Event, EventPerson, Pseudonym};

/// The most events of one checkpoint. They are sealed in one commit, and forgotten in one.
pub const MAX_EVENTS: u32 = 500;

/// A SHA-256 hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest256([u8; 32]);

impl Digest256 {
    /// What the first checkpoint names as the one before it.
    pub const NOTHING: Self = Self([0; 32]);

    /// Wraps a hash.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Hashes these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        let digest = Self(bytes);
        (digest.to_string() == text).then_some(digest)
    }
}

/// Hexadecimal in lower case.
impl fmt::Display for Digest256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest256({self})")
    }
}

/// What a checkpoint says about its events and its place in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number. The first is 1, and none is left out.
    pub number: u64,
    /// When it was made.
    pub sealed_at: OffsetDateTime,
    /// The position of its first event. The first of all is 1.
    pub first: u64,
    /// How many events it has. It can have none.
    pub events: u32,
    /// The root of their Merkle tree.
    pub root: Digest256,
    /// The hash of the signed checkpoint before it.
    pub previous: Digest256,
    /// The number of the first checkpoint whose events are kept. The events of all before it may be gone.
    pub kept_from: u64,
}

impl Checkpoint {
    /// The position after its last event.
    pub fn next(&self) -> u64 {
        self.first.saturating_add(u64::from(self.events))
    }
}

/// Everything that the server signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointClaims {
    /// What the columns repeat. Nothing is decided by the columns.
    pub checkpoint: Checkpoint,
    /// For which retention it raises `kept_from`. `None` if it does not, or if a build signed it that did not say so.
    pub retention: Option<Duration>,
    /// The operator who decided to go on after a checkpoint that could not be authenticated.
    pub accepted_by: Option<String>,
}

impl CheckpointClaims {
    /// The claims of a checkpoint that only seals events.
    pub const fn of(checkpoint: Checkpoint) -> Self {
        Self { checkpoint, retention: None, accepted_by: None }
    }
}

/// A checkpoint as it is stored: what was signed, with its signature, as a JSON Web Signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    /// What it says, in columns of its own.
    pub checkpoint: Checkpoint,
    /// The signature, with what was signed.
    pub jws: String,
}

impl SignedCheckpoint {
    /// The hash that the next checkpoint has as `previous`.
    pub fn hash(&self) -> Digest256 {
        Digest256::of(self.jws.as_bytes())
    }
}

/// An event at its position, with what seals it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedEvent {
    /// Its position.
    pub position: u64,
    /// The event.
    pub event: Event,
    /// What makes the commitment unguessable. `None` once the person's account was deleted.
    pub salt: Option<Salt>,
    /// What the seal knows of the person.
    pub commitment: Commitment,
    /// The proof that the server took the person out ([`HidingKey::proof`]). `None` while the person is there, and for
    /// accounts that were deleted before there were proofs.
    pub hiding_proof: Option<Digest256>,
}

impl SealedEvent {
    /// Puts an event at its position.
    pub fn seal(position: u64, event: Event, salt: Salt) -> Self {
        let commitment = Commitment::to(&event, &salt);
        Self { position, event, salt: Some(salt), commitment, hiding_proof: None }
    }

    /// Takes the person out, because their account was deleted.
    #[must_use]
    pub fn forgetting(self, pseudonym: Pseudonym, key: &HidingKey) -> Self {
        let hiding_proof = Some(key.proof(self.event.id));
        Self { event: self.event.forgetting(pseudonym), salt: None, hiding_proof, ..self }
    }

    /// Does the commitment fit what the event says of the person? An event of a deleted account says nothing
    /// any more.
    pub fn is_faithful(&self) -> bool {
        match &self.salt {
            Some(salt) => self.commitment == Commitment::to(&self.event, salt),
            None => {
                let Event { person, wallet, address, signed, .. } = &self.event;
                let is_deleted = matches!(person, Some(EventPerson::Deleted(_)));
                is_deleted && wallet.is_none() && address.is_none() && signed.is_none()
            }
        }
    }

    /// The leaf of the Merkle tree.
    pub fn leaf(&self) -> Digest256 {
        leaf_of(&self.event, &self.commitment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Actor, Details, EventKind};
    use crate::id::{ClientId, EventId, UserId};
    use crate::peer_address::PeerAddress;
    use crate::wallet::WalletAccount;

    fn event() -> Event {
        let wallet = |address: &str| WalletAccount {
            family: "eip155".to_owned(),
            chain: "eip155:1".to_owned(),
            address: address.to_owned(),
        };
        Event {
            id: EventId::at(OffsetDateTime::UNIX_EPOCH, [1; 10]),
            kind: EventKind::SignIn,
            actor: Actor::Person,
            person: Some(EventPerson::User(UserId::at(OffsetDateTime::UNIX_EPOCH, [2; 10]))),
            wallet: Some(wallet("0xab")),
            client: Some(ClientId::at(OffsetDateTime::UNIX_EPOCH, [3; 10])),
            address: Some(PeerAddress::network([203, 0, 113, 77].into())),
            request: Some("request".to_owned()),
            details: Details::default(),
            signed: None,
        }
    }

    fn sealed() -> SealedEvent {
        SealedEvent::seal(1, event(), Salt::new([9; 16]))
    }

    /// What is altered, and how.
    type Alteration = (&'static str, fn(&mut Event));

    #[test]
    fn whatever_is_altered_in_an_event_is_noticed() {
        let alterations: [Alteration; 9] = [
            ("id", |event| event.id = EventId::at(OffsetDateTime::UNIX_EPOCH, [7; 10])),
            ("kind", |event| event.kind = EventKind::SignOut),
            ("actor", |event| event.actor = Actor::Server),
            ("person", |event| event.person = None),
            ("wallet", |event| event.wallet.as_mut().unwrap().address = "0xac".to_owned()),
            ("client", |event| event.client = None),
            ("address", |event| event.address = None),
            ("request", |event| event.request = Some(String::new())),
            ("details", |event| event.details = Details::default().number("sessions", 1)),
        ];
        assert!(sealed().is_faithful());
        for (what, alter) in alterations {
            let mut altered = sealed();
            alter(&mut altered.event);
            assert!(!altered.is_faithful() || altered.leaf() != sealed().leaf(), "{what}");
        }
    }

    #[test]
    fn a_deleted_account_keeps_the_seal_and_leaves_nothing_of_the_person() {
        let pseudonym = Pseudonym::new([5; 16]);
        let forgotten = SealedEvent { event: event().forgetting(pseudonym), salt: None, ..sealed() };
        assert!(forgotten.is_faithful());
        assert_eq!(forgotten.leaf(), sealed().leaf());
        for keep in [
            |kept: &mut Event| kept.wallet = event().wallet,
            |kept: &mut Event| kept.address = event().address,
            |kept: &mut Event| kept.person = event().person,
        ] {
            let mut kept = forgotten.clone();
            keep(&mut kept.event);
            assert!(!kept.is_faithful());
        }
    }

    #[test]
    fn what_moves_from_one_field_to_the_next_gives_another_leaf() {
        let mut moved = event();
        moved.request = None;
        moved.details = Details::from_stored("request".to_owned());
        let commitment = Commitment::to(&moved, &Salt::new([9; 16]));
        let mut other = moved.clone();
        other.request = Some("request".to_owned());
        other.details = Details::from_stored(String::new());
        assert_ne!(leaf_of(&moved, &commitment), leaf_of(&other, &commitment));
    }
}
