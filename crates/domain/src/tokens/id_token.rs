//! What signed tokens tell clients about a sign-in (OpenID Connect Core section 2, Back-Channel Logout
//! section 2.4).

use std::fmt;

use time::OffsetDateTime;

use crate::id::{Sid, SubjectId, TokenId};
use crate::user_info::UserInfo;

/// The only sign-in method, in `amr`.
pub const AMR: &str = "wallet";

/// The only authentication context class, in `acr`: a wallet proved itself by signing a text of this server.
pub const ACR: &str = "urn:countersign:acr:wallet";

/// The claims of an ID token, besides [`AMR`] and [`ACR`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTokenClaims {
    /// `iss`: this server
    pub issuer: String,
    /// `sub`: the user
    pub subject: SubjectId,
    /// `aud`: the client's id, as the client writes it
    pub audience: String,
    /// `iat`: when the token was issued
    pub issued_at: OffsetDateTime,
    /// `exp`: when the token expires
    pub expires_at: OffsetDateTime,
    /// `auth_time`: when the wallet signed, unless that is hidden from the client
    pub authenticated_at: Option<OffsetDateTime>,
    /// `nonce`, as in the request
    pub nonce: Option<String>,
    /// `at_hash`: the half hash of the access token
    pub access_token_hash: Option<String>,
    /// `sid`, if the browser remembers the sign-in
    pub session: Option<Sid>,
    /// The claims that the scopes release.
    pub user: UserInfo,
    /// `wallet_proof`: what the wallet signed, so that the client can check it itself
    pub wallet_proof: Option<SignedText>,
}

/// A text, and a wallet's signature of it.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedText {
    /// The exact text.
    pub text: String,
    /// The signature as the wallet returned it.
    pub signature: String,
}

impl fmt::Debug for SignedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedText").finish_non_exhaustive()
    }
}

/// The claims of a logout token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoutClaims {
    /// `iss`: this server
    pub issuer: String,
    /// `aud`: the client's id, as the client writes it
    pub audience: String,
    /// `sub`: the user
    pub subject: SubjectId,
    /// `sid`: the session that ended
    pub session: Option<Sid>,
    /// `iat`: when the token was issued
    pub issued_at: OffsetDateTime,
    /// `exp`: when the token expires
    pub expires_at: OffsetDateTime,
    /// `jti`: the id of this token
    pub id: TokenId,
}

/// The claims of one of our ID tokens that a client sends back as a hint. Its signature was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTokenRead {
    /// `sub`: the user
    pub subject: SubjectId,
    /// `aud`: the client's id, as the client writes it
    pub audience: String,
    /// `sid`: the session
    pub session: Option<Sid>,
    /// `auth_time`: when the wallet signed
    pub authenticated_at: Option<OffsetDateTime>,
    /// `exp`: when the token expires
    pub expires_at: OffsetDateTime,
}
