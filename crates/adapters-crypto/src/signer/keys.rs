//! A signing key: generates it, seals it for storage, and opens it again.

use std::fmt;

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::checkpoint::RecordKey;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::SealedKey;
use countersign_ports::error::Source;
use countersign_ports::{Entropy, EntropyExt, StoreError};
use josekit::JoseError;
use josekit::jwk::KeyPair;
use josekit::jwk::alg::ed::EdCurve;
use josekit::jws::{ES256, EdDSA, JwsSigner, JwsVerifier, RS256};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::OperatorSecret;

/// The purpose of the key that seals signing keys. Changing this text would make every stored key unreadable.
const PURPOSE: &str = "countersign signing key at rest, AES-256-GCM, version 1";

/// The nonce comes before the sealed bytes. The first half is random: an installation seals only a few keys. The second half
/// marks a key that never signed a checkpoint without a MAC; only the secret makes the mark, and builds before there were
/// MACs open such a key like any other.
const NONCE_LENGTH: usize = 12;
const RANDOM_LENGTH: usize = 6;

/// The purpose of the key that marks signing keys.
const MARK_PURPOSE: &str = "countersign signing key that comes with MACs, HMAC-SHA-256, version 1";

/// The minimum in RFC 7518 section 3.3, which every client can verify fast.
const RSA_BITS: u32 = 2048;

/// Why a signing key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The operator's secret has changed, or someone changed the stored key.
    #[error(
        "signing key {kid} cannot be opened: the secret differs from the one that the keys were sealed with \
         (or the stored key was damaged)"
    )]
    WrongSecret {
        /// The id of the key.
        kid: String,
    },
    /// The key can be opened, but it does not match its id and algorithm.
    #[error("signing key {kid} does not match its id and algorithm")]
    NotTheKey {
        /// The id of the key.
        kid: String,
    },
    /// OpenSSL refuses to make or use a key.
    #[error("signing key cannot be made or used")]
    Unusable(#[source] Source),
    /// Another replica stored a key, but then it was not there.
    #[error("the signing key that another replica stored has disappeared")]
    Vanished,
    /// The keys could not be read or stored.
    #[error("signing keys cannot be read or stored")]
    Store(#[from] StoreError),
}

/// A key pair for one algorithm.
#[derive(Clone)]
pub struct SigningKey {
    kid: String,
    algorithm: SigningAlgorithm,
    /// The public members of RFC 7517, without `kid`.
    public: Map<String, Value>,
    /// The private key as PKCS#8.
    private_der: Vec<u8>,
    public_der: Vec<u8>,
    /// Did a build make it that signs no checkpoint without a MAC?
    comes_with_macs: bool,
}

/// When a key was created, and when it starts to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTimes {
    /// The creation time.
    pub created_at: OffsetDateTime,
    /// The time from which it signs.
    pub active_from: OffsetDateTime,
}

impl SigningKey {
    /// Makes a new key. OpenSSL draws it from the generator that it also uses for the nonces of signatures.
    /// For RSA this takes a good part of a second.
    pub fn generate(algorithm: SigningAlgorithm) -> Result<Self, KeyError> {
        let pair: Box<dyn KeyPair> = match algorithm {
            SigningAlgorithm::Rs256 => Box::new(RS256.generate_key_pair(RSA_BITS).map_err(unusable)?),
            SigningAlgorithm::Es256 => Box::new(ES256.generate_key_pair().map_err(unusable)?),
            SigningAlgorithm::EdDsa => Box::new(EdDSA.generate_key_pair(EdCurve::Ed25519).map_err(unusable)?),
        };
        Self::of_pair(algorithm, pair.as_ref())
            .ok_or_else(|| KeyError::Unusable("the key has no public members".into()))
    }

    /// The key's id: its RFC 7638 thumbprint, which belongs to this key and no other.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The algorithm that it signs with.
    pub const fn algorithm(&self) -> SigningAlgorithm {
        self.algorithm
    }

    /// Seals the private key for storage. The id and the algorithm are bound to it: a row with swapped
    /// columns cannot be opened.
    pub fn seal(&self, secret: &OperatorSecret, times: KeyTimes, entropy: &dyn Entropy) -> SealedKey {
        self.seal_with(secret, times, nonce(secret, &self.kid, entropy.bytes()))
    }

    fn seal_with(&self, secret: &OperatorSecret, times: KeyTimes, nonce: [u8; NONCE_LENGTH]) -> SealedKey {
        let bound = bound_data(&self.kid, self.algorithm.name());
        #[expect(clippy::expect_used, reason = "it fails only for texts of more than 64 GiB")]
        let ciphertext = cipher(secret)
            .encrypt(&nonce.into(), Payload { msg: &self.private_der, aad: &bound })
            .expect("a private key has at most a few thousand bytes");
        SealedKey {
            kid: self.kid.clone(),
            algorithm: self.algorithm.name().to_owned(),
            sealed: [&nonce[..], &ciphertext].concat(),
            created_at: times.created_at,
            active_from: times.active_from,
            withdrawn_at: None,
        }
    }

    /// Opens a sealed key.
    pub fn open(secret: &OperatorSecret, sealed: &SealedKey) -> Result<Self, KeyError> {
        let wrong_secret = || KeyError::WrongSecret { kid: sealed.kid.clone() };
        let not_the_key = || KeyError::NotTheKey { kid: sealed.kid.clone() };
        let Some((nonce, ciphertext)) = sealed.sealed.split_first_chunk::<NONCE_LENGTH>() else {
            return Err(wrong_secret());
        };
        let bound = bound_data(&sealed.kid, &sealed.algorithm);
        let der = cipher(secret)
            .decrypt(&(*nonce).into(), Payload { msg: ciphertext, aad: &bound })
            .map_err(|_| wrong_secret())?;
        let algorithm = SigningAlgorithm::parse(&sealed.algorithm).ok_or_else(not_the_key)?;
        let pair: Box<dyn KeyPair> = match algorithm {
            SigningAlgorithm::Rs256 => Box::new(RS256.key_pair_from_der(der).map_err(unusable)?),
            SigningAlgorithm::Es256 => Box::new(ES256.key_pair_from_der(der).map_err(unusable)?),
            SigningAlgorithm::EdDsa => Box::new(EdDSA.key_pair_from_der(der).map_err(unusable)?),
        };
        let key = Self::of_pair(algorithm, pair.as_ref()).filter(|key| key.kid == sealed.kid);
        let key = key.ok_or_else(not_the_key)?;
        Ok(Self { comes_with_macs: comes_with_macs(secret, sealed), ..key })
    }

    /// Can it have signed checkpoints without a MAC?
    pub(super) const fn comes_with_macs(&self) -> bool {
        self.comes_with_macs
    }

    /// Seals it as builds did before there were MACs.
    #[cfg(test)]
    pub(super) fn seal_as_before(
        &self,
        secret: &OperatorSecret,
        times: KeyTimes,
        entropy: &dyn Entropy,
    ) -> SealedKey {
        self.seal_with(secret, times, entropy.bytes())
    }

    /// The public half as a JSON Web Key.
    pub(super) fn jwk(&self) -> Value {
        let mut members = self.public.clone();
        for (name, value) in [("kid", self.kid.as_str()), ("alg", self.algorithm.name()), ("use", "sig")] {
            members.insert(name.to_owned(), Value::from(value));
        }
        Value::Object(members)
    }

    /// The signer with this key.
    pub(super) fn signer(&self) -> Result<Box<dyn JwsSigner>, KeyError> {
        Ok(match self.algorithm {
            SigningAlgorithm::Rs256 => Box::new(RS256.signer_from_der(&self.private_der).map_err(unusable)?),
            SigningAlgorithm::Es256 => Box::new(ES256.signer_from_der(&self.private_der).map_err(unusable)?),
            SigningAlgorithm::EdDsa => Box::new(EdDSA.signer_from_der(&self.private_der).map_err(unusable)?),
        })
    }

    /// The verifier with its public half, for this algorithm and no other.
    pub(super) fn verifier(&self) -> Result<Box<dyn JwsVerifier>, KeyError> {
        Ok(match self.algorithm {
            SigningAlgorithm::Rs256 => Box::new(RS256.verifier_from_der(&self.public_der).map_err(unusable)?),
            SigningAlgorithm::Es256 => Box::new(ES256.verifier_from_der(&self.public_der).map_err(unusable)?),
            SigningAlgorithm::EdDsa => Box::new(EdDSA.verifier_from_der(&self.public_der).map_err(unusable)?),
        })
    }

    /// Takes only the members that RFC 7638 requires, so that nothing private can slip in.
    fn of_pair(algorithm: SigningAlgorithm, pair: &dyn KeyPair) -> Option<Self> {
        let jwk = pair.to_jwk_public_key();
        let mut public = Map::new();
        for name in required_members(algorithm) {
            let value = if *name == "kty" { jwk.key_type() } else { jwk.parameter(name)?.as_str()? };
            public.insert((*name).to_owned(), Value::from(value));
        }
        let kid = thumbprint(algorithm, &public)?;
        let (private_der, public_der) = (pair.to_der_private_key(), pair.to_der_public_key());
        Some(Self { kid, algorithm, public, private_der, public_der, comes_with_macs: true })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("kid", &self.kid)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// The members that define a public key, in alphabetical order (RFC 7638 section 3.2, RFC 8037 section 2).
const fn required_members(algorithm: SigningAlgorithm) -> &'static [&'static str] {
    match algorithm {
        SigningAlgorithm::Rs256 => &["e", "kty", "n"],
        SigningAlgorithm::Es256 => &["crv", "kty", "x", "y"],
        SigningAlgorithm::EdDsa => &["crv", "kty", "x"],
    }
}

/// The thumbprint of a key by RFC 7638: the hash of its required members in alphabetical order, without
/// spaces. None of their values contains a character that JSON escapes.
pub(super) fn thumbprint(algorithm: SigningAlgorithm, public: &Map<String, Value>) -> Option<String> {
    let members = required_members(algorithm)
        .iter()
        .map(|name| Some(format!(r#""{name}":"{}""#, public.get(*name)?.as_str()?)))
        .collect::<Option<Vec<_>>>()?;
    Some(URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{{{}}}", members.join(",")))))
}

fn nonce(secret: &OperatorSecret, kid: &str, random: [u8; RANDOM_LENGTH]) -> [u8; NONCE_LENGTH] {
    let mark = RecordKey::new(secret.derive(MARK_PURPOSE)).mac(&[&random[..], kid.as_bytes()].concat());
    let mut nonce = [0; NONCE_LENGTH];
    for (byte, value) in nonce.iter_mut().zip(random.iter().chain(mark.as_bytes())) {
        *byte = *value;
    }
    nonce
}

/// Is a key marked as one that never signed a checkpoint without a MAC? The mark counts if the key can be opened.
pub(super) fn comes_with_macs(secret: &OperatorSecret, sealed: &SealedKey) -> bool {
    let random = sealed.sealed.first_chunk::<RANDOM_LENGTH>();
    random.is_some_and(|random| sealed.sealed.starts_with(&nonce(secret, &sealed.kid, *random)))
}

fn cipher(secret: &OperatorSecret) -> Aes256Gcm {
    Aes256Gcm::new(&secret.derive::<32>(PURPOSE).into())
}

/// Neither part can contain a NUL, so two different pairs never give the same bytes.
fn bound_data(kid: &str, algorithm: &str) -> Vec<u8> {
    [kid.as_bytes(), &[0], algorithm.as_bytes()].concat()
}

fn unusable(error: JoseError) -> KeyError {
    KeyError::Unusable(Box::new(error))
}
