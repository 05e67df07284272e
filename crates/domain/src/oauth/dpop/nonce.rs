//! Nonces for proofs. The server stores none of them: a nonce is a MAC over the time.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use time::{Duration, OffsetDateTime};

/// Separates this use of the key from any other.
const LABEL: &[u8] = b"countersign DPoP nonce, version 1\0";
/// A nonce is current for this many seconds, and valid for as long again.
const STEP: i64 = 150;
/// How much of the MAC goes into a nonce: 128 bits, which no one can guess.
const MAC_BYTES: usize = 16;

/// The MAC key for nonces. All replicas have the same key, so a nonce from one is valid at the others.
#[derive(Clone, PartialEq, Eq)]
pub struct DpopNonceKey([u8; 32]);

impl DpopNonceKey {
    /// The longest time for which a nonce is valid.
    pub const LIFETIME: Duration = Duration::seconds(2 * STEP);

    /// Makes a key from bytes that were derived for this purpose only.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The current nonce, to be sent to clients.
    pub fn nonce(&self, now: OffsetDateTime) -> String {
        self.of_step(step_of(now))
    }

    /// Is this the nonce of the current step or of the one before?
    pub fn admits(&self, nonce: &str, now: OffsetDateTime) -> bool {
        let step = step_of(now);
        [step, step.saturating_sub(1)]
            .into_iter()
            .any(|step| bool::from(self.of_step(step).as_bytes().ct_eq(nonce.as_bytes())))
    }

    fn of_step(&self, step: i64) -> String {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("32 bytes are a key");
        mac.update(LABEL);
        mac.update(&step.to_be_bytes());
        URL_SAFE_NO_PAD.encode(&mac.finalize().into_bytes()[..MAC_BYTES])
    }
}

fn step_of(now: OffsetDateTime) -> i64 {
    now.unix_timestamp().div_euclid(STEP)
}

impl fmt::Debug for DpopNonceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DpopNonceKey(..)")
    }
}
