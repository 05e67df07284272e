//! The leaf of an event: what a checkpoint seals of it.

use std::fmt;

use sha2::{Digest, Sha256};

use super::Digest256;
use crate::event::{Event, EventPerson};

/// Random bytes, so that no one can find out by guessing which person a commitment is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt([u8; 16]);

impl Salt {
    /// Takes random bytes.
    pub const fn new(random: [u8; 16]) -> Self {
        Self(random)
    }

    /// The bytes, for storage.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(..)")
    }
}

/// What the seal knows of the person, the wallet, the address and what operators signed: their hash. It stays when an account is
/// deleted, so that the seal still holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Commitment([u8; 32]);

impl Commitment {
    /// Commits to what an event says of the person.
    pub fn to(event: &Event, salt: &Salt) -> Self {
        let mut hash = Fields::new("countersign event person 1");
        hash.field(Some(salt.as_bytes()));
        hash.text(event.person.as_ref().map(EventPerson::to_string));
        let wallet = event.wallet.as_ref();
        hash.text(wallet.map(|wallet| &*wallet.family));
        hash.text(wallet.map(|wallet| &*wallet.chain));
        hash.text(wallet.map(|wallet| &*wallet.address));
        hash.text(event.address.map(|address| address.to_string()));
        // Only where there is one, so that what was sealed before there was a desk stays as it is.
        if let Some(signed) = &event.signed {
            hash.text(Some(signed.as_str()));
        }
        Self(hash.finish())
    }

    /// Wraps the bytes from storage.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for storage.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Commitment({})", hex::encode(self.0))
    }
}

/// The leaf of an event whose person is committed to.
pub fn leaf_of(event: &Event, commitment: &Commitment) -> Digest256 {
    let mut hash = Fields::leaf("countersign event 1");
    hash.field(Some(event.id.as_uuid().as_bytes()));
    hash.text(Some(event.kind.name()));
    hash.text(Some(event.actor.to_string()));
    hash.field(event.client.map(|client| client.as_uuid().into_bytes()));
    hash.text(event.request.as_ref());
    hash.text(Some(event.details.as_str()));
    hash.field(Some(commitment.as_bytes()));
    Digest256::new(hash.finish())
}

/// A hash over fields. Each has its length in front, so that no two lists of fields give the same bytes.
struct Fields(Sha256);

impl Fields {
    fn new(purpose: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.text(Some(purpose));
        fields
    }

    /// Begins with the byte that distinguishes a leaf from a node (RFC 6962 section 2.1).
    fn leaf(purpose: &str) -> Self {
        let mut fields = Self(Sha256::new_with_prefix([0]));
        fields.text(Some(purpose));
        fields
    }

    fn text(&mut self, text: Option<impl AsRef<str>>) {
        self.field(text.as_ref().map(|text| text.as_ref().as_bytes()));
    }

    fn field(&mut self, bytes: Option<impl AsRef<[u8]>>) {
        match bytes.as_ref().map(AsRef::as_ref) {
            None => self.0.update([0]),
            Some(bytes) => {
                self.0.update([1]);
                let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                self.0.update(length.to_be_bytes());
                self.0.update(bytes);
            }
        }
    }

    fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}
