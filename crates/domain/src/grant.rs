//! Grants: what one signature allowed.

use time::OffsetDateTime;

use crate::id::{ClientId, GrantId, UserId};
use crate::pkce::CodeChallenge;
use crate::redirect_uri::RedirectUri;
use crate::scope::ScopeSet;
use crate::secret::SecretHash;
use crate::wallet::WalletAccount;

/// A grant as storage has it. All but the last two fields are fixed when the person signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its id: the challenge's, and the code's.
    pub id: GrantId,
    /// To whom.
    pub client: ClientId,
    /// By whom.
    pub user: UserId,
    /// With which wallet.
    pub account: WalletAccount,
    /// Where the code went.
    pub redirect_uri: RedirectUri,
    /// What was granted.
    pub scope: ScopeSet,
    /// OpenID Connect's nonce.
    pub nonce: Option<String>,
    /// PKCE.
    pub code_challenge: Option<CodeChallenge>,
    /// What we keep of the code.
    pub code_hash: SecretHash,
    /// When the wallet's signature was verified.
    pub authenticated_at: OffsetDateTime,
    /// When the code stops being good.
    pub code_expires_at: OffsetDateTime,
    /// Was the code redeemed?
    pub redeemed: bool,
    /// Was the grant revoked, with everything that came from it?
    pub revoked: bool,
}

/// Why a grant was revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationReason {
    /// The client asked for it.
    ClientRequest,
    /// A used code was presented again.
    CodeReplayed,
    /// A wrong PKCE verifier came with the code.
    VerifierMismatch,
    /// A rotated refresh token was presented again.
    RefreshReused,
    /// The wallet that signed was unlinked from the user.
    WalletUnlinked,
    /// The user took the client's access away.
    ConsentRevoked,
    /// The user is gone.
    AccountDeleted,
}

impl RevocationReason {
    /// The word for storage and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClientRequest => "client_request",
            Self::CodeReplayed => "code_replayed",
            Self::VerifierMismatch => "verifier_mismatch",
            Self::RefreshReused => "refresh_reused",
            Self::WalletUnlinked => "wallet_unlinked",
            Self::ConsentRevoked => "consent_revoked",
            Self::AccountDeleted => "account_deleted",
        }
    }
}
