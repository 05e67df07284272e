//! How clients know people and their sign-ins: by the ids themselves, or by others for each sector (OpenID Connect Core
//! section 8.1).
//!
//! A pairwise id is the id itself, encrypted with a key of the sector. So it needs no storage, the server reads it back
//! when a client sends it, and without the server's secret nothing leads from one sector's id to another's
//! (docs/adr/0057-pairwise-subjects.md).

use std::fmt;

use aes::Aes256;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use uuid::{Uuid, Variant};

use crate::client::Client;
use crate::id::{SessionId, Sid, SubjectId, UserId};
use crate::sector::Sector;

/// The key from which the keys of all sectors are derived.
#[derive(Clone)]
pub struct PairwiseKey([u8; 32]);

/// How a client knows people and their sign-ins.
#[derive(Debug)]
pub enum KnownAs {
    /// By their own ids, as every other such client does.
    Public,
    /// By ids that only the clients of one sector get.
    Pairwise(Box<SectorKeys>),
}

/// The keys of a sector.
pub struct SectorKeys {
    subjects: Aes256,
    sessions: Aes256,
}

impl PairwiseKey {
    /// Makes a key from bytes that were derived for this purpose only.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// How a client knows people. A public client pays one comparison for it.
    pub fn known_to(&self, client: &Client) -> KnownAs {
        match client.sector() {
            None => KnownAs::Public,
            Some(sector) => KnownAs::Pairwise(Box::new(self.keys_of(&sector))),
        }
    }

    fn keys_of(&self, sector: &Sector) -> SectorKeys {
        let cipher = |what: &str| Aes256::new(&self.derive(what, sector).into());
        SectorKeys { subjects: cipher("sub"), sessions: cipher("sid") }
    }

    /// The step of HKDF that makes one key for each purpose (RFC 5869 section 2.3), for a key that fits into one block.
    #[expect(clippy::expect_used, reason = "an HMAC key may have any length")]
    fn derive(&self, what: &str, sector: &Sector) -> [u8; 32] {
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&self.0).expect("32 bytes are a key");
        mac.update(format!("countersign pairwise {what}, AES-256, version 1, {sector}").as_bytes());
        mac.update(&[1]);
        mac.finalize().into_bytes().into()
    }
}

impl KnownAs {
    /// The `sub` of a person.
    pub fn subject(&self, user: UserId) -> SubjectId {
        SubjectId::from_uuid(match self {
            Self::Public => user.as_uuid(),
            Self::Pairwise(keys) => encrypt(&keys.subjects, user.as_uuid()),
        })
    }

    /// The person with this `sub`. An id that no one has at this client gives a user that does not exist.
    pub fn user(&self, subject: SubjectId) -> UserId {
        UserId::from_uuid(match self {
            Self::Public => subject.as_uuid(),
            Self::Pairwise(keys) => decrypt(&keys.subjects, subject.as_uuid()),
        })
    }

    /// The `sid` of a sign-in.
    pub fn sid(&self, session: SessionId) -> Sid {
        Sid::from_uuid(match self {
            Self::Public => session.as_uuid(),
            Self::Pairwise(keys) => encrypt(&keys.sessions, session.as_uuid()),
        })
    }

    /// Must nothing show when a person signed in? That time is the same at every client of a browser.
    pub const fn hides_times(&self) -> bool {
        matches!(self, Self::Pairwise(_))
    }
}

/// Encrypts an id into another of the same form. AES permutes all blocks; repeating it until the form is that of the
/// id again permutes the ids of each form (cycle walking). So a `sub` stays a UUID of version 4, which some libraries
/// insist on. That takes 64 blocks on average.
fn encrypt(cipher: &Aes256, id: Uuid) -> Uuid {
    walk(id, |block| cipher.encrypt_block(block))
}

fn decrypt(cipher: &Aes256, id: Uuid) -> Uuid {
    walk(id, |block| cipher.decrypt_block(block))
}

fn walk(id: Uuid, step: impl Fn(&mut aes::Block)) -> Uuid {
    let form = is_random(id);
    let mut block = id.into_bytes().into();
    loop {
        step(&mut block);
        let next = Uuid::from_bytes(block.into());
        if is_random(next) == form {
            return next;
        }
    }
}

/// Does it look like the id of a user (UUID version 4)?
fn is_random(id: Uuid) -> bool {
    id.get_version_num() == 4 && id.get_variant() == Variant::RFC4122
}

impl fmt::Debug for PairwiseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairwiseKey(..)")
    }
}

impl fmt::Debug for SectorKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SectorKeys(..)")
    }
}

#[cfg(test)]
mod tests;
