//! Tokens as JWTs: access tokens (RFC 9068) with ES256, ID tokens and logout tokens (OpenID Connect) with the
//! algorithm that the client chose.
//!
//! A token of ours begins with one of our own headers, byte for byte. No header is ever parsed, so nothing
//! that a token says about itself decides how it is read. Access tokens are recognized by their stored hash.
//! ID tokens that come back are verified with the one key that belongs to their header.

mod checkpoint;
mod checkpoint_reader;
mod header;
mod keys;
mod payload;
mod ring;
mod rotation;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::checkpoint::{CheckpointClaims, RecordKey, SignedCheckpoint};
use countersign_domain::id_token::{IdTokenClaims, IdTokenRead, LogoutClaims};
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::token::{AccessClaims, AccessTokenRead};
use countersign_ports::{
    CheckpointProof, CheckpointRead, KeyStore, PublicKeys, SecurityEventClaims, SignerError, TokenSigner,
};
use serde::Serialize;
use time::OffsetDateTime;

use crate::OperatorSecret;
use checkpoint::Parsed;
use header::TokenType;
use payload::{AccessPayload, IdPayload, LogoutPayload, SecurityEventPayload};
use ring::{OpenKey, Ring};

pub use checkpoint_reader::CheckpointReader;
pub use keys::{KeyError, KeyTimes, SigningKey};
pub use ring::KeyChange;
pub use rotation::{KeyEvents, forget_old_keys, load_or_create, make_due_keys, make_key};

/// The algorithm of access tokens: signatures are small and fast, and every resource server supports it.
const ACCESS_ALGORITHM: SigningAlgorithm = SigningAlgorithm::Es256;

/// Longer texts are not our tokens, and are not even parsed.
const MAX_TOKEN_LENGTH: usize = 16 * 1024;

/// Signs with a ring of keys, with OpenSSL. Headers, signers and the key set are computed when the keys
/// change. Each signature uses the ring as it is at that moment, and waits for nothing.
pub struct JosekitSigner {
    ring: RwLock<Arc<Ring>>,
}

impl JosekitSigner {
    /// Signs with these keys. The first key of each algorithm is the one that signs.
    pub fn new(keys: &[SigningKey]) -> Result<Self, KeyError> {
        Ok(Self { ring: RwLock::new(Arc::new(Ring::of(keys)?)) })
    }

    /// Reads the stored keys and signs with them from now on. Returns what changed. After an error,
    /// everything stays as it was.
    pub async fn reload(
        &self,
        store: &dyn KeyStore,
        secret: &OperatorSecret,
        now: OffsetDateTime,
    ) -> Result<Vec<KeyChange>, KeyError> {
        let stored = store.signing_keys().await?;
        let before = self.ring();
        let Some(ring) = before.follow(&stored, secret, now)? else { return Ok(Vec::new()) };
        let changes = before.changes_to(&ring);
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
        Ok(changes)
    }

    /// For each key that signs now, since when it has done so.
    pub fn active_since(&self) -> Vec<(SigningAlgorithm, OffsetDateTime)> {
        self.ring().active_since().collect()
    }

    fn ring(&self) -> Arc<Ring> {
        Arc::clone(&self.ring.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn sign(
        &self,
        typ: TokenType,
        algorithm: SigningAlgorithm,
        payload: &impl Serialize,
    ) -> Result<String, SignerError> {
        let payload = serde_json::to_vec(payload).map_err(failed)?;
        self.sign_with(typ, algorithm, |_| Ok(payload), |signature| signature)
    }

    /// Signs a payload that depends on the key, with a signature that is written in another form.
    fn sign_with(
        &self,
        typ: TokenType,
        algorithm: SigningAlgorithm,
        payload: impl FnOnce(&OpenKey) -> Result<Vec<u8>, SignerError>,
        written: impl FnOnce(Vec<u8>) -> Vec<u8>,
    ) -> Result<String, SignerError> {
        let ring = self.ring();
        let key = ring
            .active(algorithm)
            .ok_or_else(|| SignerError::Failed(format!("there is no key for {}", algorithm.name()).into()))?;
        let payload = payload(key)?;
        let header = key.header(typ);
        let mut token = String::with_capacity(header.len() + payload.len() * 4 / 3 + 400);
        token.push_str(header);
        URL_SAFE_NO_PAD.encode_string(payload, &mut token);
        let signature = written(key.sign(token.as_bytes()).map_err(failed)?);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }
}

#[async_trait]
impl TokenSigner for JosekitSigner {
    async fn sign_access_token(&self, claims: &AccessClaims) -> Result<String, SignerError> {
        self.sign(TokenType::Access, ACCESS_ALGORITHM, &AccessPayload::of(claims))
    }

    async fn sign_id_token(
        &self,
        algorithm: SigningAlgorithm,
        claims: &IdTokenClaims,
    ) -> Result<String, SignerError> {
        self.sign(TokenType::Id, algorithm, &IdPayload::of(claims))
    }

    async fn sign_logout_token(
        &self,
        algorithm: SigningAlgorithm,
        claims: &LogoutClaims,
    ) -> Result<String, SignerError> {
        self.sign(TokenType::Logout, algorithm, &LogoutPayload::of(claims))
    }

    async fn sign_checkpoint(
        &self,
        claims: &CheckpointClaims,
        after: Option<&SignedCheckpoint>,
        record: &RecordKey,
    ) -> Result<String, SignerError> {
        let after = after.and_then(|after| Parsed::of(&after.jws));
        let payload = |key: &OpenKey| {
            let header = key.header(TokenType::Checkpoint);
            let is_known = after.as_ref().is_some_and(|after| after.has_mac() && after.kid == key.kid());
            let jwk = (!is_known).then(|| key.jwk());
            checkpoint::payload(claims, jwk, header, record).map_err(failed)
        };
        self.sign_with(TokenType::Checkpoint, ACCESS_ALGORITHM, payload, checkpoint::low)
    }

    async fn sign_security_event(&self, claims: &SecurityEventClaims) -> Result<String, SignerError> {
        let payload = SecurityEventPayload::of(claims).map_err(failed)?;
        self.sign(TokenType::SecurityEvent, ACCESS_ALGORITHM, &payload)
    }

    /// Tokens of withdrawn keys are read too: their stored hash proves that we issued them.
    fn read_access_token(&self, token: &str) -> Option<AccessTokenRead> {
        let token = within_length(token)?;
        let ring = self.ring();
        let rest = ring.access_headers().find_map(|header| token.strip_prefix(header))?;
        let (payload, signature) = rest.split_once('.')?;
        // If a signature has two encodings, only the canonical one is ours. The length is that of ES256.
        if URL_SAFE_NO_PAD.decode(signature).ok()?.len() != ES256_SIGNATURE_LENGTH {
            return None;
        }
        payload::read_access(&URL_SAFE_NO_PAD.decode(payload).ok()?)
    }

    fn read_id_token(&self, token: &str) -> Option<IdTokenRead> {
        let token = within_length(token)?;
        let ring = self.ring();
        let mut keys = ring.published();
        let (key, rest) = keys.find_map(|key| Some((key, token.strip_prefix(key.header(TokenType::Id))?)))?;
        let (payload, signature) = rest.split_once('.')?;
        let (signed, _) = token.rsplit_once('.')?;
        if !key.verifies(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).ok()?) {
            return None;
        }
        payload::read_id(&URL_SAFE_NO_PAD.decode(payload).ok()?)
    }

    fn read_checkpoint(&self, jws: &str, record: &RecordKey) -> Option<CheckpointRead> {
        let parsed = Parsed::of(jws)?;
        let ring = self.ring();
        let key = ring.published().find(|key| jws.starts_with(key.header(TokenType::Checkpoint)));
        if key.is_some_and(|key| !key.verifies(parsed.signed.as_bytes(), &parsed.signature)) {
            return None;
        }
        // A key that came with MACs signed no checkpoint without one, so this one is forged.
        let signed_by = match key {
            Some(key) if parsed.has_mac() || !key.comes_with_macs() => CheckpointProof::PublishedKey,
            Some(_) | None => CheckpointProof::Nothing,
        };
        parsed.judge(Some(record), signed_by)
    }

    fn public_keys(&self) -> PublicKeys {
        self.ring().public_keys().clone()
    }
}

impl fmt::Debug for JosekitSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JosekitSigner").field("public_keys", &self.public_keys()).finish_non_exhaustive()
    }
}

/// Two numbers of 32 bytes (RFC 7518 section 3.4).
const ES256_SIGNATURE_LENGTH: usize = 64;

fn within_length(token: &str) -> Option<&str> {
    (token.len() <= MAX_TOKEN_LENGTH).then_some(token)
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> SignerError {
    SignerError::Failed(Box::new(error))
}

#[cfg(test)]
mod tests;
