//! Signing in.

use countersign_domain::consent::ConsentTerms;
use countersign_domain::event::Event;
use countersign_domain::id::{ClientId, GrantId, SessionId, UserId};
use countersign_domain::particulars::Particulars;
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::SecretHash;
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

/// Spends a challenge, finds or creates the wallet's user, stores the grant with its code, and adds the
/// scopes to the user's consent for this client and these terms.
#[derive(Clone, Debug)]
pub struct CompleteLogin {
    /// The challenge's id, which becomes the grant's.
    pub id: GrantId,
    /// The client that gets the grant.
    pub client: ClientId,
    /// The wallet that signed.
    pub account: WalletAccount,
    /// The user to create if the wallet belongs to no one yet.
    pub new_user: UserId,
    /// The URI that the code is sent to; `None` if no browser is redirected.
    pub redirect_uri: Option<RedirectUri>,
    /// The scopes that are granted.
    pub scope: ScopeSet,
    /// The scopes that the person signed for too, but lacks the group for. The consent has them, the grant has
    /// not.
    pub withheld: ScopeSet,
    /// Where the sign-in leads and which audiences its tokens are for, as stated in the signed text.
    pub terms: ConsentTerms,
    /// The `nonce` parameter of OpenID Connect.
    pub nonce: Option<String>,
    /// The PKCE challenge.
    pub code_challenge: Option<CodeChallenge>,
    /// Details that few grants have.
    pub particulars: Particulars,
    /// The hash of the code.
    pub code_hash: SecretHash,
    /// The time of the login.
    pub now: OffsetDateTime,
    /// When the code expires.
    pub code_expires_at: OffsetDateTime,
    /// When the row can be forgotten, because challenge and code have both expired.
    pub forget_after: OffsetDateTime,
    /// The session for the browser to remember, if any.
    pub session: Option<NewSession>,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

impl CompleteLogin {
    /// All scopes that the person signed for.
    pub fn signed_scope(&self) -> ScopeSet {
        self.scope.union(&self.withheld)
    }
}

/// A sign-in for the browser to remember. Who signed, with which wallet and when comes from the login.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The session's id.
    pub id: SessionId,
    /// The hash of the secret that the browser is given.
    pub secret_hash: SecretHash,
    /// A name that people recognize the browser by.
    pub browser: String,
    /// When the session expires.
    pub expires_at: OffsetDateTime,
    /// The browser's previous session, which ends.
    pub replaces: Option<SessionId>,
}

/// The outcome of [`CompleteLogin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginCompleted {
    /// The grant is stored. A repeat of the same command (same id, same code hash, same account) gives this
    /// too.
    CodeIssued {
        /// The wallet's user.
        user: UserId,
    },
    /// A grant with this id exists: the challenge was used before. Nothing changed.
    ChallengeSpent,
}
