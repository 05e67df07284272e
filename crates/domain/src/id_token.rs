//! What clients are told about a sign-in in signed tokens (OpenID Connect Core section 2, Back-Channel Logout section 2.4).

use std::fmt;

use time::OffsetDateTime;

use crate::id::{SessionId, TokenId, UserId};
use crate::user_info::UserInfo;

/// The one way to sign in, in `amr`.
pub const AMR: &str = "wallet";

/// The one class of sign-ins, in `acr`: a wallet proved itself by signing a text of this server.
pub const ACR: &str = "urn:countersign:acr:wallet";

/// What an ID token says, beside [`AMR`] and [`ACR`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTokenClaims {
    /// `iss`
    pub issuer: String,
    /// `sub`
    pub subject: UserId,
    /// `aud`: the client's id as the client writes it.
    pub audience: String,
    /// `iat`
    pub issued_at: OffsetDateTime,
    /// `exp`
    pub expires_at: OffsetDateTime,
    /// `auth_time`
    pub authenticated_at: OffsetDateTime,
    /// `nonce`, as the request had it.
    pub nonce: Option<String>,
    /// `at_hash`
    pub access_token_hash: Option<String>,
    /// `sid`, where the browser remembers the sign-in.
    pub session: Option<SessionId>,
    /// The claims that the scopes release.
    pub user: UserInfo,
    /// `wallet_proof`: what the wallet signed, so that the client can check it itself.
    pub wallet_proof: Option<SignedText>,
}

/// A text and a wallet's signature of it.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedText {
    /// The exact text.
    pub text: String,
    /// The signature as the wallet gave it.
    pub signature: String,
}

impl fmt::Debug for SignedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedText").finish_non_exhaustive()
    }
}

/// What a logout token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoutClaims {
    /// `iss`
    pub issuer: String,
    /// `aud`: the client's id as the client writes it.
    pub audience: String,
    /// `sub`
    pub subject: UserId,
    /// `sid`
    pub session: Option<SessionId>,
    /// `iat`
    pub issued_at: OffsetDateTime,
    /// `exp`
    pub expires_at: OffsetDateTime,
    /// `jti`
    pub id: TokenId,
}

/// What an ID token of ours says that somebody brings back as a hint. Its signature was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTokenRead {
    /// `sub`
    pub subject: UserId,
    /// `aud`
    pub audience: String,
    /// `sid`
    pub session: Option<SessionId>,
    /// `auth_time`
    pub authenticated_at: Option<OffsetDateTime>,
    /// `exp`
    pub expires_at: OffsetDateTime,
}
