//! Stand-ins for the clock, the entropy, the token signer, a user's wallet, and the outside world.

pub(crate) mod signer;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_ports::{Clock, Entropy};
use k256::ecdsa::SigningKey;
use sha3::{Digest, Keccak256};
use time::{Duration, OffsetDateTime};

pub use signer::FakeSigner;

use crate::fixtures;

mod outside;

pub use outside::{FakeFetcher, FakeReader, Received};

/// A clock that stands still until a test moves it. Waiting moves it too and takes no real time.
#[derive(Debug)]
pub struct ManualClock {
    now: Mutex<OffsetDateTime>,
    elapsed: Mutex<Duration>,
}

impl ManualClock {
    /// Makes a clock that shows this time.
    pub const fn at(now: OffsetDateTime) -> Self {
        Self { now: Mutex::new(now), elapsed: Mutex::new(Duration::ZERO) }
    }

    /// Moves the clock forward.
    pub fn advance(&self, duration: Duration) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) += duration;
        *self.elapsed.lock().unwrap_or_else(PoisonError::into_inner) += duration;
    }
}

impl Default for ManualClock {
    /// Makes a clock that shows the time of the fixtures.
    fn default() -> Self {
        Self::at(fixtures::NOW)
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> OffsetDateTime {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn elapsed(&self) -> std::time::Duration {
        self.elapsed.lock().unwrap_or_else(PoisonError::into_inner).unsigned_abs()
    }

    /// The time of day stays the same, so that a test knows it.
    async fn wait(&self, duration: std::time::Duration) {
        *self.elapsed.lock().unwrap_or_else(PoisonError::into_inner) += duration;
    }
}

/// Bytes that look random and are the same in every run: hashes of the seed and a counter.
#[derive(Debug, Default)]
pub struct SeededEntropy {
    seed: u64,
    next: AtomicU64,
}

impl SeededEntropy {
    /// Makes a source for this seed. Different seeds give different bytes.
    pub const fn new(seed: u64) -> Self {
        Self { seed, next: AtomicU64::new(0) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        for block in buffer.chunks_mut(32) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let hash = keccak([self.seed.to_be_bytes(), number.to_be_bytes()].as_flattened());
            block.copy_from_slice(&hash[..block.len()]);
        }
    }
}

/// An Ethereum wallet with a real key. It signs as wallets do (EIP-191 `personal_sign`).
#[derive(Clone, Debug)]
pub struct TestWallet {
    key: SigningKey,
}

impl TestWallet {
    /// Makes a wallet. Different seeds give different keys.
    pub fn from_seed(seed: u64) -> Self {
        let secret = keccak([b"wallet ".as_slice(), &seed.to_be_bytes()].concat().as_slice());
        Self { key: SigningKey::from_slice(&secret).unwrap() }
    }

    /// Makes a wallet of a private key in hex.
    pub fn from_key(key: &str) -> Self {
        Self { key: SigningKey::from_slice(&hex::decode(key).unwrap()).unwrap() }
    }

    /// The private key as `0x` and hex, for wallets of other people's code.
    pub fn private_key(&self) -> String {
        format!("0x{}", hex::encode(self.key.to_bytes()))
    }

    /// The address with the checksum of EIP-55.
    pub fn address(&self) -> String {
        let public = self.key.verifying_key().to_sec1_point(false);
        let digits = hex::encode(&keccak(&public.as_bytes()[1..])[12..]);
        let checksum = hex::encode(keccak(digits.as_bytes()));
        let cased = digits
            .chars()
            .zip(checksum.chars())
            .map(|(digit, check)| if check >= '8' { digit.to_ascii_uppercase() } else { digit });
        format!("0x{}", cased.collect::<String>())
    }

    /// Signs a text and returns the form that wallets return: `0x` and hex.
    pub fn sign(&self, text: &str) -> String {
        format!("0x{}", hex::encode(self.sign_bytes(text)))
    }

    /// Signs a text and returns base64 with padding.
    pub fn sign_base64(&self, text: &str) -> String {
        STANDARD.encode(self.sign_bytes(text))
    }

    /// Signs a text and returns the bytes: `r`, a low `s`, and 27 or 28.
    pub fn sign_bytes(&self, text: &str) -> Vec<u8> {
        let prefix = format!("\x19Ethereum Signed Message:\n{}", text.len());
        let hash = keccak([prefix.as_bytes(), text.as_bytes()].concat().as_slice());
        let (signature, recovery) = self.key.sign_prehash_recoverable(&hash);
        let mut bytes = signature.to_bytes().to_vec();
        bytes.push(27 + recovery.to_byte());
        bytes
    }
}

fn keccak(bytes: &[u8]) -> [u8; 32] {
    Keccak256::digest(bytes).into()
}
