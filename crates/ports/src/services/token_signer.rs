//! Signing tokens.

use async_trait::async_trait;
use countersign_domain::checkpoint::{CheckpointClaims, RecordKey, SignedCheckpoint};
use countersign_domain::id::{EventId, UserId};
use countersign_domain::id_token::{IdTokenClaims, IdTokenRead, LogoutClaims};
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::token::{AccessClaims, AccessTokenRead};

use time::OffsetDateTime;

use crate::SignerError;

/// The public keys in the form that clients read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKeys {
    /// A JSON Web Key Set (RFC 7517) that holds only public members.
    pub jwks: String,
    /// The algorithms that tokens are signed with.
    pub algorithms: Vec<String>,
}

/// The claims of a Security Event Token (RFC 8417).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityEventClaims {
    /// `iss`: this server
    pub issuer: String,
    /// `aud`: the receiver
    pub audience: String,
    /// `iat`: when the token was issued
    pub issued_at: OffsetDateTime,
    /// `jti`: the id of the event, whose time is `toe`
    pub id: EventId,
    /// `sub_id`: the user it is about
    pub subject: Option<UserId>,
    /// `txn`: the id of the request
    pub transaction: Option<String>,
    /// The URI of the kind of event
    pub kind: String,
    /// What the event says, as an object of JSON
    pub details: String,
}

/// A checkpoint that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRead {
    /// What it says.
    pub says: CheckpointClaims,
    /// The id of the key that its header names.
    pub kid: String,
    /// Does it have a MAC? Checkpoints of builds before there were MACs have none.
    pub has_mac: bool,
    /// What shows that it is the server's.
    pub proof: CheckpointProof,
}

/// What shows that a checkpoint is the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointProof {
    /// Its MAC, which only the operator's secret can make.
    Secret,
    /// It has no MAC that could be checked. A key that the server publishes, or that the verifier was given, signed it.
    PublishedKey,
    /// The same with a key that an earlier checkpoint names. The checkpoints in between must vouch for it.
    RecordedKey,
    /// The same with a key that was withdrawn. Anyone who took that key could have signed it, too.
    WithdrawnKey,
    /// Nothing: the key that its header names is not there.
    Nothing,
}

/// Reads checkpoints, to verify a whole record from the first to the last.
pub trait RecordReader: Send {
    /// Reads a checkpoint. `None` if it is not one, or if its MAC or its signature is wrong. Remembers the key that a good
    /// one names.
    fn read(&mut self, jws: &str) -> Option<CheckpointRead>;

    /// The key of the record, if the secret is known.
    fn record_key(&self) -> Option<&RecordKey>;
}

/// Signs tokens, and reads back the ones that it signed. Async, because the key can be on another machine.
#[async_trait]
pub trait TokenSigner: Send + Sync {
    /// Signs an access token as RFC 9068 requires. Its header has `typ` (`at+jwt`), `alg` and `kid`. Always
    /// uses ES256.
    async fn sign_access_token(&self, claims: &AccessClaims) -> Result<String, SignerError>;

    /// Signs an ID token (OpenID Connect Core section 2). Its header has `typ` (`JWT`), `alg` and `kid`.
    async fn sign_id_token(
        &self,
        algorithm: SigningAlgorithm,
        claims: &IdTokenClaims,
    ) -> Result<String, SignerError>;

    /// Signs a logout token (OpenID Connect Back-Channel Logout section 2.4). Its header has `typ`
    /// (`logout+jwt`), `alg` and `kid`.
    async fn sign_logout_token(
        &self,
        algorithm: SigningAlgorithm,
        claims: &LogoutClaims,
    ) -> Result<String, SignerError>;

    /// Signs a checkpoint that follows the one in `after`, with a MAC. Its header has `typ`
    /// (`countersign-checkpoint+jwt`), `alg` and `kid`. Always uses ES256. If another key signed the one before, or it
    /// has no MAC, the checkpoint also names the public key that signs it.
    async fn sign_checkpoint(
        &self,
        claims: &CheckpointClaims,
        after: Option<&SignedCheckpoint>,
        key: &RecordKey,
    ) -> Result<String, SignerError>;

    /// Signs a Security Event Token (RFC 8417 section 2). Its header has `typ` (`secevent+jwt`), `alg` and `kid`.
    /// Always uses ES256.
    async fn sign_security_event(&self, claims: &SecurityEventClaims) -> Result<String, SignerError>;

    /// Reads a checkpoint. Verifies its MAC, if it has one, and its signature, if the key that its header names is
    /// published. `None` if it is not a checkpoint, or one of them is wrong.
    fn read_checkpoint(&self, jws: &str, key: &RecordKey) -> Option<CheckpointRead>;

    /// Reads what looks like one of our access tokens. This proves nothing: the caller compares the hash of
    /// the whole token with the one stored when it was issued.
    fn read_access_token(&self, token: &str) -> Option<AccessTokenRead>;

    /// Reads one of our ID tokens, and verifies its signature with the key that its header names, in that
    /// key's algorithm. The caller checks whether the token has expired.
    fn read_id_token(&self, token: &str) -> Option<IdTokenRead>;

    /// The keys that clients verify tokens with.
    fn public_keys(&self) -> PublicKeys;
}
