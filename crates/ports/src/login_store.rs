//! Signing in.

use async_trait::async_trait;
use countersign_domain::consent::ConsentTerms;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::particulars::Particulars;
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::SecretHash;
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use countersign_domain::id::ClientId;

use crate::{NewSession, StoreError};

/// Spends a challenge, finds or makes the user of the wallet, stores the grant with its code, and adds its scopes to what the
/// user agreed to at this client and these terms.
#[derive(Clone, Debug)]
pub struct CompleteLogin {
    /// The challenge's id, which becomes the grant's.
    pub id: GrantId,
    /// To whom the grant is given.
    pub client: ClientId,
    /// The wallet that signed.
    pub account: WalletAccount,
    /// The user to make if nobody has this wallet yet.
    pub new_user: UserId,
    /// Where the code goes; `None` where no browser is sent anywhere.
    pub redirect_uri: Option<RedirectUri>,
    /// What is granted.
    pub scope: ScopeSet,
    /// Where it leads and for whom its tokens are, as it stood in the text.
    pub terms: ConsentTerms,
    /// OpenID Connect's nonce.
    pub nonce: Option<String>,
    /// PKCE.
    pub code_challenge: Option<CodeChallenge>,
    /// What few grants have.
    pub particulars: Particulars,
    /// The hash of the code.
    pub code_hash: SecretHash,
    /// Now.
    pub now: OffsetDateTime,
    /// When the code stops being good.
    pub code_expires_at: OffsetDateTime,
    /// When the row may be forgotten: neither challenge nor code is good any more.
    pub forget_after: OffsetDateTime,
    /// What the browser shall remember, if anything.
    pub session: Option<NewSession>,
}

/// What became of [`CompleteLogin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginCompleted {
    /// The grant is stored; also when this very command (same id, same code hash, same account) was carried out before.
    CodeIssued {
        /// Whose wallet it is.
        user: UserId,
    },
    /// A grant with this id exists: the challenge was used before. Nothing changed.
    ChallengeSpent,
}

/// Signing in.
#[async_trait]
pub trait LoginStore: Send + Sync {
    /// Completes a login, all or nothing. Guard: no grant has this id. A wallet (family and address) belongs to
    /// one user: of two first logins at once both get the same. The consent of user, client and terms gets the scopes, and `now`
    /// as its last use; a first one is granted now. Consents at other terms stay as they are. Durable before the answer.
    async fn complete_login(&self, command: CompleteLogin) -> Result<LoginCompleted, StoreError>;
}
