//! Shared step: a caller proves that they hold a key (RFC 9449, A-110).

use countersign_domain::client::Client;
use countersign_domain::dpop::{self, DpopRejected, ProvenRequest};
use countersign_domain::forgetting::MARGIN;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_ports::{EntropyExt, JwsRejected, SpendProof, StoreError};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::Context;

/// Why a DPoP proof is refused.
#[derive(Debug, thiserror::Error)]
pub enum ProveKeyError {
    /// There is no proof where one is needed.
    #[error("DPoP proof is missing")]
    Missing,
    /// It is not signed by the key in its header.
    #[error("DPoP proof: {0}")]
    Signature(#[from] JwsRejected),
    /// Its payload is not an object of claims.
    #[error("DPoP proof: the payload is not an object with every name once")]
    Payload,
    /// It is for something else, is too old, or lacks a nonce.
    #[error("DPoP proof: {0}")]
    Claims(#[from] DpopRejected),
    /// The code or token that came with it is bound to another key.
    #[error("DPoP proof is by another key")]
    OtherKey,
    /// It was used before.
    #[error("DPoP proof was used before")]
    Replayed,
    /// It could not be remembered.
    #[error("DPoP proof could not be remembered")]
    Store(#[from] StoreError),
}

/// What a proof must be about.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) method: &'a str,
    /// The path below the public URL.
    pub(crate) path: &'a str,
    pub(crate) access_token: Option<&'a str>,
    /// The key that must have signed it, if that is known.
    pub(crate) key: Option<KeyThumbprint>,
}

/// Verifies a proof and uses it up. Callers judge everything else first, so that a request that is refused
/// anyway stores nothing.
pub(crate) async fn prove_key(
    context: &Context,
    now: OffsetDateTime,
    proof: &str,
    wanted: Wanted<'_>,
) -> Result<KeyThumbprint, ProveKeyError> {
    let (signed, key) = context.jws.read_self_signed(proof)?;
    let claims = context.jws.read_claims(&signed.payload).ok_or(ProveKeyError::Payload)?;
    let url = context.policy.public_url.join(wanted.path);
    let request = ProvenRequest { method: wanted.method, url: &url, access_token: wanted.access_token };
    let nonces = &context.keys.nonces;
    let once = dpop::judge(signed.typ.as_deref(), &claims, key, request, nonces, now)?;
    if wanted.key.is_some_and(|bound| bound != key) {
        return Err(ProveKeyError::OtherKey);
    }
    let spend = SpendProof {
        digest: once.digest,
        attempt: Uuid::from_bytes(context.entropy.bytes()),
        before: now - MARGIN,
        forget_after: once.forget_after,
    };
    if context.storage.spend_proof(spend).await? { Ok(key) } else { Err(ProveKeyError::Replayed) }
}

/// Finds the key that the tokens of an answer are bound to. The code or token that is redeemed may be bound
/// to a key already, and a client may have registered that all its tokens are bound.
pub(crate) async fn prove_key_of_tokens(
    context: &Context,
    now: OffsetDateTime,
    client: &Client,
    proof: Option<&str>,
    bound: Option<KeyThumbprint>,
) -> Result<Option<KeyThumbprint>, ProveKeyError> {
    let wanted = Wanted { method: "POST", path: "/oauth/token", access_token: None, key: bound };
    match proof {
        Some(proof) => Ok(Some(prove_key(context, now, proof, wanted).await?)),
        None if bound.is_some() || client.metadata.requires_bound_tokens => Err(ProveKeyError::Missing),
        None => Ok(None),
    }
}
