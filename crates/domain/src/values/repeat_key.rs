//! Random bits that a repeated request gets again: AES-CMAC (RFC 4493) with a 256-bit key, in counter mode (NIST
//! SP 800-108).
//!
//! A program that did not hear the answer to its request sends it again, with the same idempotency key. The id and
//! the secrets that are made for it then are those of the first time, although none of them was stored.

use std::fmt;

use aes::Aes256;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cmac::{Cmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::id::AdminKeyId;

/// The key from which these bits are made. All replicas have the same one.
#[derive(Clone)]
pub struct RepeatKey(Cmac<Aes256>);

impl RepeatKey {
    /// Makes a key from bytes that were derived for this purpose only.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Cmac::new(&bytes.into()))
    }

    /// The bits for one request of one admin key.
    pub fn bits_for(&self, key: AdminKeyId, request: &[u8]) -> RepeatedBits {
        let mut mac = self.0.clone();
        mac.update(key.as_uuid().as_bytes());
        mac.update(&u64::try_from(request.len()).unwrap_or(u64::MAX).to_be_bytes());
        mac.update(request);
        RepeatedBits { mac, blocks: 0, left: Vec::new() }
    }
}

impl fmt::Debug for RepeatKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RepeatKey(..)")
    }
}

/// What is remembered of a request's name, and of what it asks: its SHA-256.
pub fn digest_of(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// A short text that identifies these bytes and reveals nothing about them.
pub fn mark_of(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(digest_of(bytes).get(..16).unwrap_or_default())
}

/// A stream of bits, the same ones each time.
#[derive(Clone)]
pub struct RepeatedBits {
    mac: Cmac<Aes256>,
    blocks: u64,
    left: Vec<u8>,
}

impl RepeatedBits {
    /// Fills a buffer with the next bits.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for byte in buffer {
            if self.left.is_empty() {
                let mut mac = self.mac.clone();
                mac.update(&self.blocks.to_be_bytes());
                self.blocks += 1;
                self.left = mac.finalize().into_bytes().to_vec();
            }
            *byte = self.left.pop().unwrap_or_default();
        }
    }
}

impl fmt::Debug for RepeatedBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RepeatedBits(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use time::OffsetDateTime;

    use super::*;

    fn bits(key: u8, admin_key: u8, request: &str) -> [u8; 80] {
        let id = AdminKeyId::at(OffsetDateTime::UNIX_EPOCH, [admin_key; 10]);
        let mut stream = RepeatKey::new([key; 32]).bits_for(id, request.as_bytes());
        let mut made = [0; 80];
        let (first, rest) = made.split_at_mut(33);
        stream.fill(first);
        stream.fill(rest);
        made
    }

    #[test]
    fn the_same_request_of_the_same_key_gets_the_same_bits_and_no_other_does() {
        assert_eq!(bits(1, 1, "a"), bits(1, 1, "a"));
        let all = [bits(1, 1, "a"), bits(2, 1, "a"), bits(1, 2, "a"), bits(1, 1, "b"), bits(1, 1, "")];
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        let blocks: HashSet<_> = all.iter().flat_map(|bits| bits.chunks(16)).collect();
        assert_eq!(blocks.len(), 25, "no block comes twice");
    }
}
