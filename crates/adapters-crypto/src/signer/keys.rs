//! The signing key: making it, sealing it for storage, opening it again.

use std::fmt;

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::signing_key::SealedKey;
use countersign_ports::error::Source;
use countersign_ports::{Entropy, EntropyExt, StoreError};
use josekit::JoseError;
use josekit::jwk::KeyPair;
use josekit::jwk::alg::ec::EcKeyPair;
use josekit::jws::ES256;
use josekit::jws::alg::ecdsa::EcdsaJwsSigner;
use serde_json::json;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::OperatorSecret;

/// The name of the algorithm in headers, key sets and storage.
pub(super) const ALGORITHM: &str = "ES256";

/// What the sealing key is derived for. Another text would make every stored key unreadable.
const PURPOSE: &str = "countersign signing key at rest, AES-256-GCM, version 1";

/// The nonce stands before the sealed bytes. It is random: an installation seals few keys, far from the 2^32 with which
/// random nonces become doubtful.
const NONCE_LENGTH: usize = 12;

/// Why there is no signing key to work with.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The operator's secret is another one now, or somebody changed the stored key.
    #[error(
        "signing key {kid} does not open: the secret differs from the one that the keys were sealed with (or the stored \
         key was damaged)"
    )]
    WrongSecret {
        /// Which key.
        kid: String,
    },
    /// The key opens, but what comes out is not the key that its name says.
    #[error("signing key {kid} is not an ES256 key of that name")]
    NotTheKey {
        /// Which key.
        kid: String,
    },
    /// OpenSSL refuses to make or to use a key.
    #[error("signing key cannot be made or used")]
    Unusable(#[source] Source),
    /// Another replica stored a key, and then there was none.
    #[error("signing key of another replica vanished")]
    Vanished,
    /// The keys could not be read or stored.
    #[error("signing keys cannot be read or stored")]
    Store(#[from] StoreError),
}

/// An ES256 key pair.
#[derive(Clone)]
pub struct SigningKey {
    kid: String,
    x: String,
    y: String,
    /// The private key as PKCS#8.
    der: Vec<u8>,
}

impl SigningKey {
    /// Makes a new key. OpenSSL draws it, from the generator that it also draws the nonces of signatures from.
    pub fn generate() -> Result<Self, KeyError> {
        let pair = ES256.generate_key_pair().map_err(unusable)?;
        Self::of_pair(&pair).ok_or_else(|| KeyError::Unusable("a key without coordinates".into()))
    }

    /// The name of the key: its thumbprint by RFC 7638, so that it names nothing but this key.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Seals the private key for storage. Name and algorithm are bound to it: a row with its columns exchanged does not open.
    pub fn seal(
        &self,
        secret: &OperatorSecret,
        created_at: OffsetDateTime,
        entropy: &dyn Entropy,
    ) -> SealedKey {
        let nonce: [u8; NONCE_LENGTH] = entropy.bytes();
        let bound = bound_data(&self.kid, ALGORITHM);
        #[expect(clippy::expect_used, reason = "the only failure is a text of more than 64 GiB")]
        let ciphertext = cipher(secret)
            .encrypt(&nonce.into(), Payload { msg: &self.der, aad: &bound })
            .expect("a private key has some hundred bytes");
        SealedKey {
            kid: self.kid.clone(),
            algorithm: ALGORITHM.to_owned(),
            sealed: [&nonce[..], &ciphertext].concat(),
            created_at,
        }
    }

    /// Opens a sealed key.
    pub fn open(secret: &OperatorSecret, sealed: &SealedKey) -> Result<Self, KeyError> {
        let wrong_secret = || KeyError::WrongSecret { kid: sealed.kid.clone() };
        let Some((nonce, ciphertext)) = sealed.sealed.split_first_chunk::<NONCE_LENGTH>() else {
            return Err(wrong_secret());
        };
        let bound = bound_data(&sealed.kid, &sealed.algorithm);
        let der = cipher(secret)
            .decrypt(&(*nonce).into(), Payload { msg: ciphertext, aad: &bound })
            .map_err(|_| wrong_secret())?;
        let pair = ES256.key_pair_from_der(der).map_err(unusable)?;
        Self::of_pair(&pair)
            .filter(|key| key.kid == sealed.kid && sealed.algorithm == ALGORITHM)
            .ok_or_else(|| KeyError::NotTheKey { kid: sealed.kid.clone() })
    }

    /// The key set with the public half only.
    pub(super) fn jwks(&self) -> String {
        let Self { kid, x, y, .. } = self;
        let key =
            json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": kid, "alg": ALGORITHM, "use": "sig"});
        json!({ "keys": [key] }).to_string()
    }

    /// The signer over this key.
    pub(super) fn signer(&self) -> Result<EcdsaJwsSigner, KeyError> {
        ES256.signer_from_der(&self.der).map_err(unusable)
    }

    fn of_pair(pair: &EcKeyPair) -> Option<Self> {
        let public = pair.to_jwk_public_key();
        let x = public.parameter("x")?.as_str()?.to_owned();
        let y = public.parameter("y")?.as_str()?.to_owned();
        Some(Self { kid: thumbprint(&x, &y), x, y, der: pair.to_der_private_key() })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.kid).finish_non_exhaustive()
    }
}

/// The thumbprint of a P-256 key by RFC 7638: the hash of its required members in alphabetical order, without spaces.
pub(super) fn thumbprint(x: &str, y: &str) -> String {
    let members = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    URL_SAFE_NO_PAD.encode(Sha256::digest(members))
}

fn cipher(secret: &OperatorSecret) -> Aes256Gcm {
    Aes256Gcm::new(&secret.derive::<32>(PURPOSE).into())
}

/// Neither part can hold a NUL, so two pairs never give the same bytes.
fn bound_data(kid: &str, algorithm: &str) -> Vec<u8> {
    [kid.as_bytes(), &[0], algorithm.as_bytes()].concat()
}

fn unusable(error: JoseError) -> KeyError {
    KeyError::Unusable(Box::new(error))
}
