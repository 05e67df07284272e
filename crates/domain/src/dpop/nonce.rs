//! Nonces for proofs, of which the server keeps none: a MAC over the time.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use time::{Duration, OffsetDateTime};

/// Keeps this use of the key apart from any other.
const LABEL: &[u8] = b"countersign DPoP nonce, version 1\0";
/// A nonce is new for this long, and good for as long again, in seconds.
const STEP: i64 = 150;
/// How much of the MAC a nonce holds: 128 bits, which nobody hits by guessing at a server.
const MAC_BYTES: usize = 16;

/// The key of the MAC in nonces. All replicas have the same, so that a nonce of one is good at the others.
#[derive(Clone, PartialEq, Eq)]
pub struct DpopNonceKey([u8; 32]);

impl DpopNonceKey {
    /// How long a nonce is good at most.
    pub const LIFETIME: Duration = Duration::seconds(2 * STEP);

    /// Takes a key that was derived for this and nothing else.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The nonce to give away now.
    pub fn nonce(&self, now: OffsetDateTime) -> String {
        self.of_step(step_of(now))
    }

    /// Is this a nonce of the current step or the one before?
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
