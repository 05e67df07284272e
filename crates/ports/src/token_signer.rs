//! Signing tokens.

use async_trait::async_trait;
use countersign_domain::id_token::{IdTokenClaims, IdTokenRead, LogoutClaims};
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::token::{AccessClaims, AccessTokenRead};

use crate::SignerError;

/// The public keys as clients read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKeys {
    /// A JSON Web Key Set (RFC 7517) with public members only.
    pub jwks: String,
    /// The algorithms that tokens are signed with.
    pub algorithms: Vec<String>,
}

/// Signs tokens, and reads back those that it signed. Async, because the key may live in another machine.
#[async_trait]
pub trait TokenSigner: Send + Sync {
    /// Signs an access token as RFC 9068 wants it: header `typ: at+jwt`, `alg`, `kid`. Always with ES256.
    async fn sign_access_token(&self, claims: &AccessClaims) -> Result<String, SignerError>;

    /// Signs an ID token (OpenID Connect Core section 2): header `typ: JWT`, `alg`, `kid`.
    async fn sign_id_token(
        &self,
        algorithm: SigningAlgorithm,
        claims: &IdTokenClaims,
    ) -> Result<String, SignerError>;

    /// Signs a logout token (OpenID Connect Back-Channel Logout section 2.4): header `typ: logout+jwt`, `alg`, `kid`.
    async fn sign_logout_token(
        &self,
        algorithm: SigningAlgorithm,
        claims: &LogoutClaims,
    ) -> Result<String, SignerError>;

    /// Reads what looks like an access token of ours. This proves nothing: the caller compares the hash of the whole token
    /// with the one that was stored when it was issued.
    fn read_access_token(&self, token: &str) -> Option<AccessTokenRead>;

    /// Reads an ID token of ours, and verifies its signature with the key that its header names, in the algorithm of that
    /// key. Whether the token has expired is the caller's business.
    fn read_id_token(&self, token: &str) -> Option<IdTokenRead>;

    /// The keys that clients verify with.
    fn public_keys(&self) -> PublicKeys;
}
