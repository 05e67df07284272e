//! The operator's secret, and the keys that are derived from it.
//!
//! An installation has one secret to keep. Each use of it gets a key of its own by HKDF (RFC 5869), so that
//! no use can endanger another. The binary decides where the secret comes from: a setting or a file.

use std::fmt;

use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, Engine};
use countersign_domain::checkpoint::RecordKey;
use countersign_domain::id::EpochId;
use countersign_domain::pairwise::PairwiseKey;
use countersign_ports::{Entropy, EntropyExt};
use hkdf::Hkdf;
use sha2::Sha256;

/// The secret's minimum length in bytes.
pub const MIN_SECRET_BYTES: usize = 32;

/// Among 32 random bytes about 30 are different. This check refuses zeros, and one or two letters repeated.
/// Other made-up secrets look like random ones.
const MIN_DIFFERENT: usize = 5;

/// The purpose of the key of the record. With another text, no checkpoint would be the server's any more.
const RECORD_PURPOSE: &str = "countersign record of events, HMAC-SHA-256, version 1";

/// The purpose of the key of pairwise ids. With another text, everyone would get another `sub` at every pairwise client.
const PAIRWISE_PURPOSE: &str = "pairwise ids, version 1";

/// The longest key that HKDF-SHA256 can derive.
const MAX_DERIVED_BYTES: usize = 255 * 32;

/// Why a text is not an operator's secret. The error never repeats the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretRejected {
    /// The text is not base64url.
    #[error("the secret is not base64url (letters, digits, `-` and `_`)")]
    NotBase64Url,
    /// The secret is too short to be safe.
    #[error("the secret has {bytes} bytes, fewer than {MIN_SECRET_BYTES}")]
    TooShort {
        /// The number of bytes that it has.
        bytes: usize,
    },
    /// The secret is long enough but hardly random: zeros, or one letter repeated.
    #[error(
        "the secret repeats the same few bytes, so it is not random; make one with `openssl rand -base64 32`"
    )]
    NotRandom,
}

/// The secret that protects cookies, and signing keys at rest.
#[derive(Clone)]
pub struct OperatorSecret(Vec<u8>);

impl OperatorSecret {
    /// Reads the secret from base64url, with or without padding. White space around it is allowed, because
    /// files end with a line feed.
    pub fn parse(text: &str) -> Result<Self, SecretRejected> {
        let padding = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let decoded = GeneralPurpose::new(&URL_SAFE, padding).decode(text.trim());
        let bytes = decoded.map_err(|_| SecretRejected::NotBase64Url)?;
        if bytes.len() < MIN_SECRET_BYTES {
            return Err(SecretRejected::TooShort { bytes: bytes.len() });
        }
        if different(&bytes) < MIN_DIFFERENT {
            return Err(SecretRejected::NotRandom);
        }
        Ok(Self(bytes))
    }

    /// Makes a new secret of 256 random bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(entropy.bytes::<MIN_SECRET_BYTES>().to_vec())
    }

    /// Returns the secret in base64url, for the one file that keeps it.
    pub fn expose(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.0)
    }

    /// Derives the key for one purpose. The purpose is a constant of the program; changing it changes the
    /// key.
    pub fn derive<const N: usize>(&self, purpose: &str) -> [u8; N] {
        const { assert!(N <= MAX_DERIVED_BYTES) };
        let mut key = [0; N];
        #[expect(clippy::expect_used, reason = "the assertion above holds for every key that compiles")]
        Hkdf::<Sha256>::new(None, &self.0)
            .expand(purpose.as_bytes(), &mut key)
            .expect("HKDF-SHA256 gives up to 8,160 bytes");
        key
    }

    /// Derives the key of pairwise ids. It is that of every epoch: clients keep the ids.
    pub fn pairwise_key(&self) -> PairwiseKey {
        PairwiseKey::new(self.derive(PAIRWISE_PURPOSE))
    }

    /// Derives the key of the record. It is that of every epoch: a record goes on after a restore.
    pub fn record_key(&self) -> RecordKey {
        RecordKey::new(self.derive(RECORD_PURPOSE))
    }
}

/// The secret in an epoch: for the keys of what is handed out and must not outlive a restored backup. What must be read again after
/// a restore has keys of the [`OperatorSecret`] itself.
#[derive(Clone, Copy, Debug)]
pub struct EpochSecret<'a> {
    secret: &'a OperatorSecret,
    epoch: Option<EpochId>,
}

impl OperatorSecret {
    /// The secret in this epoch; `None` before the first restore, when every key is that of the secret itself.
    pub const fn in_epoch(&self, epoch: Option<EpochId>) -> EpochSecret<'_> {
        EpochSecret { secret: self, epoch }
    }
}

impl EpochSecret<'_> {
    /// Derives the key for one purpose. No other epoch has the same, because no other has the same id.
    pub fn derive<const N: usize>(&self, purpose: &str) -> [u8; N] {
        match self.epoch {
            None => self.secret.derive(purpose),
            Some(epoch) => self.secret.derive(&format!("{purpose}, epoch {epoch}")),
        }
    }
}

fn different(bytes: &[u8]) -> usize {
    let mut seen = [false; 256];
    for byte in bytes {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}

impl fmt::Debug for OperatorSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorSecret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OsEntropy;

    #[test]
    fn a_secret_is_read_with_and_without_padding_and_with_a_line_feed_after_it() {
        let text = "_-AAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0";
        for spelling in [text.to_owned(), format!("{text}="), format!("{text}\n")] {
            assert_eq!(OperatorSecret::parse(&spelling).map(|secret| secret.expose()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_short_or_not_base64url_is_refused_without_being_repeated() {
        let refused = |text: &str| OperatorSecret::parse(text).map(drop).unwrap_err();
        assert_eq!(refused(""), SecretRejected::TooShort { bytes: 0 });
        assert_eq!(refused(&"A".repeat(42)), SecretRejected::TooShort { bytes: 31 });
        assert_eq!(refused(&"+".repeat(43)), SecretRejected::NotBase64Url);
        assert_eq!(refused("correct horse battery staple and more"), SecretRejected::NotBase64Url);
        assert!(!refused("hunter2!").to_string().contains("hunter2"));
    }

    #[test]
    fn b_073_a_secret_without_chance_in_it_is_refused() {
        let refused = |bytes: &[u8]| OperatorSecret::parse(&URL_SAFE_NO_PAD.encode(bytes)).map(drop);
        for bytes in [[0_u8; 32], [0xff; 32], [b'a'; 32]] {
            assert_eq!(refused(&bytes), Err(SecretRejected::NotRandom));
        }
        assert_eq!(refused(&b"abc".repeat(20)), Err(SecretRejected::NotRandom));
        for _ in 0..1_000 {
            assert!(OperatorSecret::parse(&OperatorSecret::generate(&OsEntropy).expose()).is_ok());
        }
    }

    #[test]
    fn each_purpose_and_each_secret_has_a_key_of_its_own() {
        let secret = OperatorSecret::generate(&OsEntropy);
        let other = OperatorSecret::generate(&OsEntropy);
        let key: [u8; 32] = secret.derive("cookies");
        assert_eq!(key, secret.derive("cookies"));
        assert_ne!(key, secret.derive::<32>("signing keys"));
        assert_ne!(key, other.derive::<32>("cookies"));
        assert_eq!(
            secret.derive::<64>("cookies")[..32],
            key,
            "a longer key for the same purpose begins with the shorter one"
        );
    }

    #[test]
    fn each_epoch_has_keys_of_its_own_and_the_first_has_those_of_the_secret() {
        let secret = OperatorSecret::generate(&OsEntropy);
        let [one, other] = [1, 2].map(|byte| EpochId::at(time::OffsetDateTime::UNIX_EPOCH, [byte; 10]));
        let of = |epoch| secret.in_epoch(epoch).derive::<32>("cookies");
        assert_eq!(of(None), secret.derive::<32>("cookies"));
        assert_eq!(of(Some(one)), of(Some(one)));
        assert_ne!(of(Some(one)), of(None));
        assert_ne!(of(Some(one)), of(Some(other)));
        assert_ne!(of(Some(one)), secret.in_epoch(Some(one)).derive::<32>("forms"));
    }

    #[test]
    fn derivation_is_hkdf_sha256_so_that_keys_survive_an_upgrade() {
        // RFC 5869, test case 3: no salt, no info. Its input is 22 bytes, so it does not go through `parse`.
        let secret = OperatorSecret(vec![0x0b; 22]);
        let expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8";
        assert_eq!(hex::encode(secret.derive::<42>("")), expected);
    }

    #[test]
    fn the_secret_never_prints_itself() {
        let shown = format!("{:?}", OperatorSecret(b"a secret of more than thirty-two bytes".to_vec()));
        assert_eq!(shown, "OperatorSecret(..)");
    }
}
