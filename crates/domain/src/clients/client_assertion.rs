//! Checks the claims of a client that authenticates with a signature: `private_key_jwt` (OpenID Connect Core
//! section 9, RFC 7523; A-111, E-23).

use time::{Duration, OffsetDateTime};

use crate::claims::{Claims, SKEW, SingleUse};
use crate::client::ClientOrigin;

/// The `client_assertion_type` that is accepted.
pub const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The longest time from now until an assertion's `exp`.
pub const MAX_LIFETIME: Duration = Duration::minutes(5);

/// The audience that an assertion must name.
///
/// Only the issuer identifies a server for certain. The URLs of the endpoints are whatever the server says
/// they are. So a dishonest server can give another server's token endpoint as its own, and use there what
/// its clients sign for it (ADR 0037).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AssertionAudience {
    /// The issuer and nothing else.
    Issuer,
    /// The issuer, and from clients that a document describes the URL of the token endpoint too. The operator cannot
    /// ask them to change.
    #[default]
    Documents,
    /// The issuer or the URL of the token endpoint, for clients that cannot be changed.
    Endpoint,
}

impl AssertionAudience {
    /// All settings.
    pub const ALL: [Self; 3] = [Self::Issuer, Self::Documents, Self::Endpoint];

    /// The word in the settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Issuer => "issuer",
            Self::Documents => "documents",
            Self::Endpoint => "endpoint",
        }
    }

    /// Can a client of this origin name the token endpoint?
    pub const fn admits_endpoint(self, origin: ClientOrigin) -> bool {
        match (self, origin) {
            (Self::Endpoint, _) | (Self::Documents, ClientOrigin::Document) => true,
            (Self::Issuer, _) | (Self::Documents, ClientOrigin::Operator | ClientOrigin::SelfRegistered) => {
                false
            }
        }
    }
}

/// Who must have issued an assertion, and its audience.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The client's id, as the client writes it.
    pub client_id: &'a str,
    /// This server's issuer.
    pub issuer: &'a str,
    /// The URL of its token endpoint, if the client may use it as the audience.
    pub token_endpoint: Option<&'a str>,
    /// Does the client follow the FAPI 2.0 Security Profile? Then its `aud` must be the issuer, as a single
    /// string (section 5.3.3).
    pub keeps_fapi: bool,
    /// When a backup was last restored.
    pub restored_at: Option<OffsetDateTime>,
}

/// Why an assertion is not accepted. Clients do not learn the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssertionRejected {
    /// It is another kind of token.
    #[error("typ is not that of a client assertion")]
    OtherKind,
    /// Its issuer or its subject is not the client.
    #[error("iss and sub are not both the client")]
    OtherClient,
    /// It is for another server, or for several.
    #[error("aud is not this server alone")]
    OtherAudience,
    /// It has no `exp`, has expired, or is valid for too long.
    #[error("exp is missing, past, or more than five minutes ahead")]
    Expiry,
    /// It was issued in the future, or is not valid yet.
    #[error("iat or nbf is in the future")]
    Early,
    /// It may have been used before a backup was restored, which does not know of it.
    #[error("it may be from before the server's database was restored; make a new one")]
    BeforeRestore,
    /// It has no usable `jti`, so it could not be recognized if it came again.
    #[error("jti is missing or too long")]
    TokenId,
}

/// Checks the claims of an assertion whose signature is the client's. Returns what to remember about it.
pub fn judge(
    typ: Option<&str>,
    claims: &Claims,
    expected: Expected<'_>,
    now: OffsetDateTime,
) -> Result<SingleUse, AssertionRejected> {
    if !typ.is_none_or(is_typ_of_assertion) {
        return Err(AssertionRejected::OtherKind);
    }
    if [claims.text("iss"), claims.text("sub")] != [Some(expected.client_id); 2] {
        return Err(AssertionRejected::OtherClient);
    }
    let is_for_us = if expected.keeps_fapi {
        claims.text("aud") == Some(expected.issuer)
    } else {
        claims.single("aud").is_some_and(|aud| aud == expected.issuer || Some(aud) == expected.token_endpoint)
    };
    if !is_for_us {
        return Err(AssertionRejected::OtherAudience);
    }
    let expires_at = claims.time("exp").ok_or(AssertionRejected::Expiry)?;
    if expires_at <= now || expires_at - now > MAX_LIFETIME {
        return Err(AssertionRejected::Expiry);
    }
    // Both can be missing, but if they are there they must be times.
    let is_early =
        |name| claims.has(name) && claims.time(name).is_none_or(|at: OffsetDateTime| at - now > SKEW);
    if is_early("iat") || is_early("nbf") {
        return Err(AssertionRejected::Early);
    }
    if expected.restored_at.is_some_and(|restored_at| could_be_used_before(restored_at, claims, expires_at)) {
        return Err(AssertionRejected::BeforeRestore);
    }
    let id = claims.token_id().ok_or(AssertionRejected::TokenId)?;
    // The clocks of replicas can differ, so the id is kept a little longer than the assertion is valid
    // (E-35).
    let forget_after = expires_at.checked_add(SKEW).unwrap_or(expires_at);
    Ok(SingleUse::new("client assertion", expected.client_id.as_bytes(), id, forget_after))
}

/// Would this assertion have been accepted at that time or earlier? In lock-step with the limits above: whatever was accepted then was
/// issued at most [`SKEW`] later, and expired at most [`MAX_LIFETIME`] later.
fn could_be_used_before(time: OffsetDateTime, claims: &Claims, expires_at: OffsetDateTime) -> bool {
    let is_issued_later = claims.time("iat").is_some_and(|issued_at| issued_at - time > SKEW);
    !is_issued_later && expires_at - time <= MAX_LIFETIME
}

/// Libraries write `JWT`, the newer name, or nothing.
fn is_typ_of_assertion(typ: &str) -> bool {
    ["JWT", "client-authentication+jwt"].iter().any(|known| known.eq_ignore_ascii_case(typ))
}

#[cfg(test)]
mod tests;
