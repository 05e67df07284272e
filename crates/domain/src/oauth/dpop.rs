//! Checks a proof that its sender holds a key: DPoP (RFC 9449, A-110).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};
use url::Url;

use crate::claims::{Claims, SKEW, SingleUse};
use crate::key_thumbprint::KeyThumbprint;

mod nonce;

pub use nonce::DpopNonceKey;

/// The `typ` of a proof.
pub const TYP: &str = "dpop+jwt";
/// How far a client's clock can be from ours. The nonce proves a proof's age, so this only refuses absurd
/// times.
pub const WINDOW: Duration = Duration::minutes(5);

/// The request that a proof must be for.
#[derive(Clone, Copy, Debug)]
pub struct ProvenRequest<'a> {
    /// The request's method.
    pub method: &'a str,
    /// Its URL, without query and fragment.
    pub url: &'a str,
    /// The access token in the request.
    pub access_token: Option<&'a str>,
}

/// Why a proof is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DpopRejected {
    /// It is another kind of token.
    #[error("typ is not dpop+jwt")]
    OtherKind,
    /// It is for another method.
    #[error("htm is not the request's method")]
    OtherMethod,
    /// It is for another URL.
    #[error("htu is not the request's address")]
    OtherUrl,
    /// It has no `iat`, or one that is too far from now.
    #[error("iat is missing or far from now")]
    Time,
    /// It has no usable `jti`, so it could not be recognized if it came again.
    #[error("jti is missing or too long")]
    TokenId,
    /// It is not for the access token in the request.
    #[error("ath is not the access token's hash")]
    OtherToken,
    /// It has no nonce of ours, or one that is too old. The client gets a new nonce and tries again.
    #[error("nonce is missing or too old")]
    UseNonce,
}

/// Checks the claims of a proof that was signed by the key with this thumbprint. Returns what to remember
/// about it.
pub fn judge(
    typ: Option<&str>,
    claims: &Claims,
    key: KeyThumbprint,
    request: ProvenRequest<'_>,
    nonces: &DpopNonceKey,
    now: OffsetDateTime,
) -> Result<SingleUse, DpopRejected> {
    if !typ.is_some_and(|typ| typ.eq_ignore_ascii_case(TYP)) {
        return Err(DpopRejected::OtherKind);
    }
    if claims.text("htm") != Some(request.method) {
        return Err(DpopRejected::OtherMethod);
    }
    if !claims.text("htu").is_some_and(|url| is_same_resource(url, request.url)) {
        return Err(DpopRejected::OtherUrl);
    }
    if let Some(token) = request.access_token
        && claims.text("ath") != Some(token_hash(token).as_str())
    {
        return Err(DpopRejected::OtherToken);
    }
    let id = claims.token_id().ok_or(DpopRejected::TokenId)?;
    let issued_at = claims.time("iat").ok_or(DpopRejected::Time)?;
    if !claims.text("nonce").is_some_and(|nonce| nonces.admits(nonce, now)) {
        return Err(DpopRejected::UseNonce);
    }
    if (issued_at - now).abs() > WINDOW {
        return Err(DpopRejected::Time);
    }
    // From then on every replica refuses a nonce that was issued now.
    let forget_after = now.checked_add(DpopNonceKey::LIFETIME + SKEW).unwrap_or(now);
    Ok(SingleUse::new("DPoP proof", key.as_bytes(), id, forget_after))
}

/// The `ath` that a proof for this access token must have.
pub fn token_hash(access_token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(access_token.as_bytes()))
}

/// Are both the same URL, once scheme and host are normalized and query and fragment are dropped (RFC 9449
/// section 4.3)?
fn is_same_resource(claimed: &str, ours: &str) -> bool {
    let bare = |text: &str| {
        let mut url = Url::parse(text).ok()?;
        url.set_query(None);
        url.set_fragment(None);
        Some(url)
    };
    let claimed = bare(claimed);
    claimed.is_some() && claimed == bare(ours)
}

#[cfg(test)]
mod tests;
