//! The judgement on what a client says when it proves itself by a signature: `private_key_jwt` (OpenID Connect Core
//! section 9, RFC 7523; A-111, E-23).

use time::{Duration, OffsetDateTime};

use crate::claims::{Claims, SKEW, SingleUse};

/// `client_assertion_type` of the assertions that are taken.
pub const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// How long before its end an assertion may come.
pub const MAX_LIFETIME: Duration = Duration::minutes(5);

/// Whom an assertion is for.
///
/// Only its issuer names a server for certain: the addresses of its endpoints are what the server itself says of them, so a server
/// that lies can name another one's token endpoint as its own, and use there what its clients sign for it (ADR 0037).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AssertionAudience {
    /// The issuer and nothing else.
    #[default]
    Issuer,
    /// The issuer, or the address of the token endpoint: for clients that cannot be told.
    Endpoint,
}

impl AssertionAudience {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Issuer, Self::Endpoint];

    /// The word for the settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Issuer => "issuer",
            Self::Endpoint => "endpoint",
        }
    }
}

/// Who must have written an assertion, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The client's identifier, as it was written.
    pub client_id: &'a str,
    /// This server.
    pub issuer: &'a str,
    /// The address of its token endpoint, where the operator lets old clients take that for its name.
    pub token_endpoint: Option<&'a str>,
    /// Does the client keep the FAPI 2.0 Security Profile? Its `aud` is then the issuer, and one string (section 5.3.3).
    pub keeps_fapi: bool,
}

/// Why an assertion is not believed. Clients are told nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssertionRejected {
    /// It is a token of another kind.
    #[error("typ is that of another kind of token")]
    OtherKind,
    /// Written by somebody else, or about somebody else.
    #[error("iss and sub are not both the client")]
    OtherClient,
    /// Written for somebody else, or for several.
    #[error("aud is not this server alone")]
    OtherAudience,
    /// Without an end, past it, or good for too long.
    #[error("exp is missing, past, or more than five minutes ahead")]
    Expiry,
    /// From the future.
    #[error("iat or nbf is ahead of time")]
    Early,
    /// Nothing that it could be known by.
    #[error("jti is missing or too long")]
    TokenId,
}

/// Judges the claims of an assertion whose signature is the client's; gives what must be remembered of it.
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
    // Either may be missing, but not be something else than a time.
    let is_early =
        |name| claims.has(name) && claims.time(name).is_none_or(|at: OffsetDateTime| at - now > SKEW);
    if is_early("iat") || is_early("nbf") {
        return Err(AssertionRejected::Early);
    }
    let id = claims.token_id().ok_or(AssertionRejected::TokenId)?;
    // Replicas' clocks may differ: the identifier is kept a little longer than the assertion is good (E-35).
    let forget_after = expires_at.checked_add(SKEW).unwrap_or(expires_at);
    Ok(SingleUse::new("client assertion", expected.client_id.as_bytes(), id, forget_after))
}

/// Libraries write `JWT`, the newer name, or nothing.
fn is_typ_of_assertion(typ: &str) -> bool {
    ["JWT", "client-authentication+jwt"].iter().any(|known| known.eq_ignore_ascii_case(typ))
}

#[cfg(test)]
mod tests;
