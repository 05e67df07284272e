//! Access tokens as JWTs (RFC 9068), signed with ES256 (RFC 7518 section 3.4).
//!
//! Nothing here verifies a token: the server judges one of its own by the hash that it stored, and everybody else uses the
//! published keys.

mod keys;

use std::fmt;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::id::TokenId;
use countersign_domain::token::AccessClaims;
use countersign_ports::{
    AddSigningKey, Clock, Entropy, KeyAdded, KeyStore, PublicKeys, SignerError, TokenSigner,
};
use josekit::jws::JwsSigner;
use josekit::jws::alg::ecdsa::EcdsaJwsSigner;
use serde::{Deserialize, Serialize};

pub use keys::{KeyError, SigningKey};

use crate::OperatorSecret;
use keys::ALGORITHM;

/// Longer texts are no tokens of ours, and are not even parsed.
const MAX_TOKEN_LENGTH: usize = 8 * 1024;

/// Signs with one ES256 key, over OpenSSL. Made once and shared: header, key and key set are computed at start.
pub struct JosekitSigner {
    signer: EcdsaJwsSigner,
    /// The protected header in base64url, with the dot after it.
    header: String,
    public_keys: PublicKeys,
}

impl JosekitSigner {
    /// Signs with this key.
    pub fn new(key: &SigningKey) -> Result<Self, KeyError> {
        let header = format!(r#"{{"typ":"at+jwt","alg":"{ALGORITHM}","kid":"{}"}}"#, key.kid());
        Ok(Self {
            signer: key.signer()?,
            header: format!("{}.", URL_SAFE_NO_PAD.encode(header)),
            public_keys: PublicKeys { jwks: key.jwks(), algorithms: vec![ALGORITHM.to_owned()] },
        })
    }

    fn sign(&self, claims: &AccessClaims) -> Result<String, SignerError> {
        let payload = serde_json::to_vec(&Payload::of(claims)).map_err(failed)?;
        let mut token = String::with_capacity(self.header.len() + payload.len() * 4 / 3 + 96);
        token.push_str(&self.header);
        URL_SAFE_NO_PAD.encode_string(payload, &mut token);
        let signature = self.signer.sign(token.as_bytes()).map_err(failed)?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }
}

#[async_trait]
impl TokenSigner for JosekitSigner {
    async fn sign_access_token(&self, claims: &AccessClaims) -> Result<String, SignerError> {
        self.sign(claims)
    }

    /// A token of ours begins with our header, byte for byte, so no other header is ever parsed.
    fn token_id(&self, access_token: &str) -> Option<TokenId> {
        if access_token.len() > MAX_TOKEN_LENGTH {
            return None;
        }
        let (payload, signature) = access_token.strip_prefix(&self.header)?.split_once('.')?;
        // Of two spellings of one signature only the canonical one is ours; the length is that of ES256.
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        if signature.len() != self.signer.signature_len() {
            return None;
        }
        let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
        let OnlyTheId { jti } = serde_json::from_slice(&payload).ok()?;
        TokenId::parse(jti)
    }

    fn public_keys(&self) -> PublicKeys {
        self.public_keys.clone()
    }
}

impl fmt::Debug for JosekitSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JosekitSigner").field("public_keys", &self.public_keys).finish_non_exhaustive()
    }
}

/// Makes the signer from the stored key. At the very first start there is none: then it makes one and stores it. Replicas
/// that do so at once end up with the same key.
pub async fn load_or_create(
    store: &dyn KeyStore,
    secret: &OperatorSecret,
    clock: &dyn Clock,
    entropy: &dyn Entropy,
) -> Result<JosekitSigner, KeyError> {
    if let Some(key) = stored_key(store, secret).await? {
        return JosekitSigner::new(&key);
    }
    let key = SigningKey::generate()?;
    let sealed = key.seal(secret, clock.now(), entropy);
    match store.add_signing_key(AddSigningKey { key: sealed }).await? {
        KeyAdded::Stored => JosekitSigner::new(&key),
        KeyAdded::AlgorithmTaken => {
            let key = stored_key(store, secret).await?.ok_or(KeyError::Vanished)?;
            JosekitSigner::new(&key)
        }
    }
}

async fn stored_key(store: &dyn KeyStore, secret: &OperatorSecret) -> Result<Option<SigningKey>, KeyError> {
    let keys = store.signing_keys().await?;
    let sealed = keys.iter().find(|key| key.algorithm == ALGORITHM);
    sealed.map(|sealed| SigningKey::open(secret, sealed)).transpose()
}

/// The claims of RFC 9068 section 2.2, in its order.
#[derive(Serialize)]
struct Payload<'a> {
    iss: &'a str,
    exp: i64,
    aud: &'a str,
    sub: String,
    client_id: String,
    iat: i64,
    jti: String,
    auth_time: i64,
    scope: String,
}

impl<'a> Payload<'a> {
    fn of(claims: &'a AccessClaims) -> Self {
        Self {
            iss: &claims.issuer,
            exp: claims.expires_at.unix_timestamp(),
            aud: &claims.audience,
            sub: claims.subject.to_string(),
            client_id: claims.client.to_string(),
            iat: claims.issued_at.unix_timestamp(),
            jti: claims.id.to_string(),
            auth_time: claims.authenticated_at.unix_timestamp(),
            scope: claims.scope.to_string(),
        }
    }
}

/// A `jti` written with escapes is none of ours, so borrowing the text is enough.
#[derive(Deserialize)]
struct OnlyTheId<'a> {
    jti: &'a str,
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> SignerError {
    SignerError::Failed(Box::new(error))
}

#[cfg(test)]
mod tests;
