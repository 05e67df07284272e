//! What only the operator's secret can make in the record: the MAC of a checkpoint, and the proofs that an event lost its
//! person because their account was deleted, and that the server wrote down its own host.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::Digest256;
use crate::event::Pseudonym;
use crate::id::{EventId, UserId};

/// Separates the uses of the key.
const CHECKPOINT: &[u8] = b"countersign checkpoint, version 1\0";
const HOST: &[u8] = b"countersign host of the server, version 1\0";
const HIDING: &[u8] = b"countersign hidden person, version 1\0";

/// The key of the record. It is the same for as long as the secret is, whatever happens to signing keys.
#[derive(Clone, PartialEq, Eq)]
pub struct RecordKey([u8; 32]);

impl RecordKey {
    /// Makes a key from bytes that were derived for this purpose only.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The MAC of a checkpoint over everything else that it says.
    pub fn mac(&self, said: &[u8]) -> Digest256 {
        self.over(CHECKPOINT, said)
    }

    /// Is this the MAC of a checkpoint?
    pub fn admits(&self, said: &[u8], mac: &Digest256) -> bool {
        self.mac(said).as_bytes()[..].ct_eq(&mac.as_bytes()[..]).into()
    }

    /// The key with which events are hidden behind a pseudonym.
    pub fn hiding(&self, pseudonym: Pseudonym) -> HidingKey {
        HidingKey(*self.over(HIDING, pseudonym.as_bytes()).as_bytes())
    }

    /// The proof, in the event with this id, that the server has this host and had the other one before.
    pub fn host_proof(&self, event: EventId, host: &str, before: Option<&str>) -> Digest256 {
        let mut said = event.as_uuid().as_bytes().to_vec();
        for part in [Some(host), before] {
            // With its length, so that nothing moves from one part to the next.
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            said.extend_from_slice(&length.to_be_bytes());
            said.extend_from_slice(part.unwrap_or_default().as_bytes());
        }
        self.over(HOST, &said)
    }

    fn over(&self, label: &[u8], bytes: &[u8]) -> Digest256 {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("32 bytes are a key");
        mac.update(label);
        mac.update(bytes);
        Digest256(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecordKey(..)")
    }
}

/// The key of one pseudonym. The storage gets it to prove that the server itself took the person out of an event, and
/// forgets it. It can hide nothing behind another pseudonym.
#[derive(Clone, PartialEq, Eq)]
pub struct HidingKey([u8; 32]);

impl HidingKey {
    /// The bytes, for storage to hash with the id of an event.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The proof of an event: the SHA-256 hash of this key and the 16 bytes of the event's id. Both have fixed
    /// lengths, so no proof can be made from another.
    pub fn proof(&self, event: EventId) -> Digest256 {
        let mut hash = Sha256::new_with_prefix(self.0);
        hash.update(event.as_uuid().as_bytes());
        Digest256(hash.finalize().into())
    }

    /// The proof that the server itself deletes this user, whose events are hidden in steps. It is longer than what
    /// proves an event.
    pub fn proof_of_user(&self, user: UserId) -> Digest256 {
        let mut hash = Sha256::new_with_prefix(self.0);
        hash.update(b"user");
        hash.update(user.as_uuid().as_bytes());
        Digest256(hash.finalize().into())
    }
}

impl fmt::Debug for HidingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HidingKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proof_of_a_host_is_for_one_event_and_its_two_hosts() {
        let (key, other) = (RecordKey::new([1; 32]), RecordKey::new([2; 32]));
        let id = |random| EventId::at(time::OffsetDateTime::UNIX_EPOCH, [random; 10]);
        let proof = key.host_proof(id(1), "a.example", Some("b.example"));
        assert_eq!(proof, key.host_proof(id(1), "a.example", Some("b.example")));
        let others = [
            other.host_proof(id(1), "a.example", Some("b.example")),
            key.host_proof(id(2), "a.example", Some("b.example")),
            key.host_proof(id(1), "a.example", None),
            key.host_proof(id(1), "a.exampleb", Some(".example")),
            key.host_proof(id(1), "b.example", Some("a.example")),
        ];
        assert!(!others.contains(&proof));
        assert_ne!(key.host_proof(id(1), "a.example", None), key.host_proof(id(1), "a.example", Some("")));
    }

    #[test]
    fn a_mac_and_a_proof_are_made_by_one_key_for_one_thing() {
        let (key, other) = (RecordKey::new([7; 32]), RecordKey::new([8; 32]));
        let mac = key.mac(b"checkpoint");
        assert!(key.admits(b"checkpoint", &mac));
        assert!(!key.admits(b"checkpoint2", &mac) && !other.admits(b"checkpoint", &mac));
        let [one, another] = [1, 2].map(|byte| EventId::at(time::OffsetDateTime::UNIX_EPOCH, [byte; 10]));
        let [ann, bob] = [1, 2].map(|byte| Pseudonym::new([byte; 16]));
        let proof = key.hiding(ann).proof(one);
        assert_eq!(proof, key.hiding(ann).proof(one));
        for wrong in [
            key.hiding(bob).proof(one),
            key.hiding(ann).proof(another),
            other.hiding(ann).proof(one),
            key.mac(ann.as_bytes()),
        ] {
            assert_ne!(proof, wrong);
        }
    }
}
