//! Signing tokens.

use async_trait::async_trait;
use countersign_domain::id::TokenId;
use countersign_domain::token::AccessClaims;

use crate::SignerError;

/// The public keys as clients read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKeys {
    /// A JSON Web Key Set (RFC 7517) with public members only.
    pub jwks: String,
    /// The algorithms that tokens are signed with.
    pub algorithms: Vec<String>,
}

/// Signs tokens. Async, because the key may live in another machine.
#[async_trait]
pub trait TokenSigner: Send + Sync {
    /// Signs an access token as RFC 9068 wants it: header `typ: at+jwt`, `alg`, `kid`.
    async fn sign_access_token(&self, claims: &AccessClaims) -> Result<String, SignerError>;

    /// Reads the `jti` of a token that looks like an access token of ours. This proves nothing: the caller compares
    /// the hash of the whole token with the one that was stored when it was issued.
    fn token_id(&self, access_token: &str) -> Option<TokenId>;

    /// The keys that clients verify with.
    fn public_keys(&self) -> PublicKeys;
}
