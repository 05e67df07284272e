//! The judgement on a proof that its sender holds a key: DPoP (RFC 9449, A-110).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};
use url::Url;

use crate::claims::{Claims, SKEW, SingleUse};
use crate::key_thumbprint::KeyThumbprint;

mod nonce;

pub use nonce::DpopNonceKey;

/// The media type of a proof, without `application/`.
pub const TYP: &str = "dpop+jwt";
/// How far the clock of a client may be from ours. The nonce says how old a proof is; this only refuses what is absurd.
pub const WINDOW: Duration = Duration::minutes(5);

/// The request that a proof must be for.
#[derive(Clone, Copy, Debug)]
pub struct ProvenRequest<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its address, without query and fragment.
    pub url: &'a str,
    /// The access token that came with it.
    pub access_token: Option<&'a str>,
}

/// Why a proof is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DpopRejected {
    /// It is a token of another kind.
    #[error("typ is not dpop+jwt")]
    OtherKind,
    /// For another method.
    #[error("htm is not the request's method")]
    OtherMethod,
    /// For another address.
    #[error("htu is not the request's address")]
    OtherUrl,
    /// Without a time, or from another one.
    #[error("iat is missing or far from now")]
    Time,
    /// Nothing that it could be known by.
    #[error("jti is missing or too long")]
    TokenId,
    /// Not for the access token that came along.
    #[error("ath is not the access token's hash")]
    OtherToken,
    /// Without a nonce of ours, or with one that is too old: the sender gets a new one and tries again.
    #[error("nonce is missing or too old")]
    UseNonce,
}

/// Judges the claims of a proof that is signed by the key with this thumbprint; gives what must be remembered of it.
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
    // A nonce of this moment is refused from then on, on every replica.
    let forget_after = now.checked_add(DpopNonceKey::LIFETIME + SKEW).unwrap_or(now);
    Ok(SingleUse::new("DPoP proof", key.as_bytes(), id, forget_after))
}

/// What `ath` must be for this access token.
pub fn token_hash(access_token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(access_token.as_bytes()))
}

/// Do both mean the same, once scheme and host are written alike and without query and fragment (RFC 9449 section 4.3)?
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
