//! Remembered sign-ins.

use async_trait::async_trait;
use countersign_domain::audience::SignedAudiences;
use countersign_domain::event::Event;
use countersign_domain::id::{ClientId, GrantId, SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::scope::Scope;
use countersign_domain::secret::SecretHash;
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use crate::{CompleteLogin, StoreError};

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

/// Spends a challenge, finds or creates the wallet's user, and remembers the sign-in. No client gets
/// anything.
#[derive(Clone, Debug)]
pub struct OpenSession {
    /// The challenge's id. No grant ever gets it.
    pub id: GrantId,
    /// The wallet that signed.
    pub account: WalletAccount,
    /// The user to create if the wallet belongs to no one yet.
    pub new_user: UserId,
    /// The session to open.
    pub session: NewSession,
    /// The time of the sign-in.
    pub now: OffsetDateTime,
    /// When the spent id can be forgotten, because the challenge has expired.
    pub forget_after: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`OpenSession`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionOpened {
    /// The session is open. A repeat of the same command (same challenge, same session) gives this too, as
    /// long as the session lasts.
    Opened {
        /// The wallet's user.
        user: UserId,
    },
    /// The challenge was used before. Nothing changed.
    ChallengeSpent,
}

/// Grants a client access without a new signature, because a session is live and its user agreed before.
#[derive(Clone, Debug)]
pub struct ContinueSession {
    /// The session to continue.
    pub session: SessionId,
    /// When the session's wallet signed. The grant records the same time.
    pub authenticated_at: OffsetDateTime,
    /// The grant as the session's wallet would have got it by signing: `account` is the session's, `new_user`
    /// is its user, and there is no `session`.
    pub login: CompleteLogin,
    /// The audiences of the consent that is repeated: those of `login.terms`, or more. Its destination is
    /// that of `login.terms`.
    pub agreed: SignedAudiences,
}

/// The outcome of [`ContinueSession`]. Every outcome but the first means that nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionContinued {
    /// The grant is stored. A repeat of the same command (same id, same code hash, same account) gives this
    /// too.
    CodeIssued,
    /// A grant with this id exists: the request was already answered.
    RequestSpent,
    /// There is no such session, or it has expired.
    SessionEnded,
    /// The user did not agree to all these scopes at these terms, or withdrew the consent.
    ConsentMissing,
}

/// Ends a session and revokes the grants made in it, except those meant to outlast it.
#[derive(Clone, Debug)]
pub struct SignOut {
    /// The session's user.
    pub user: UserId,
    /// The session to end.
    pub session: SessionId,
    /// Grants with this scope are kept.
    pub keeps: Scope,
    /// The time of the sign-out.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Ends a session.
#[derive(Clone, Debug)]
pub struct EndSession {
    /// The session's user.
    pub user: UserId,
    /// The session to end.
    pub id: SessionId,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Ends all sessions of a user.
#[derive(Clone, Debug)]
pub struct EndSessions {
    /// The user.
    pub user: UserId,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// A client that was granted access in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionClient {
    /// The session.
    pub session: SessionId,
    /// The client.
    pub client: ClientId,
}

/// Remembered sign-ins. Every write is durable before the answer. If several refusals apply, the outcome is
/// the first in the order of the enum.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Opens a session atomically. Guard: the challenge is unspent, and no grant has its id. The wallet is
    /// treated as at a login ([`LoginStore`](crate::LoginStore)).
    async fn open_session(&self, command: OpenSession) -> Result<SessionOpened, StoreError>;

    /// Reads one session, expired or not.
    async fn find_session(&self, id: SessionId) -> Result<Option<LoginSession>, StoreError>;

    /// Continues a session atomically. Guards: no grant has this id; the session exists and has not expired;
    /// and one consent of the user for the client, with the destination of the login's terms and the
    /// audiences in `agreed`, covers the scopes. Consents are never combined, and none is created. The
    /// session and the consent record `now` as their last use. If the consent is revoked at the same time,
    /// either it is revoked first and nothing is granted, or it is revoked afterwards and the grant with it.
    async fn continue_session(&self, command: ContinueSession) -> Result<SessionContinued, StoreError>;

    /// Ends a session of this user, and revokes the live grants that belong to it and lack the scope,
    /// atomically and with the reason [`SignedOut`]. The answer says whether the session existed. Grants of a
    /// session that does not exist are revoked too.
    ///
    /// [`SignedOut`]: countersign_domain::grant::RevocationReason::SignedOut
    async fn sign_out(&self, command: SignOut) -> Result<bool, StoreError>;

    /// The clients with live grants in the user's sessions: each client once per existing session, ordered by
    /// session and client.
    async fn clients_of_sessions(&self, user: UserId) -> Result<Vec<SessionClient>, StoreError>;

    /// Ends a session of this user. The answer says whether it existed. From then on no replica accepts it.
    async fn end_session(&self, command: EndSession) -> Result<bool, StoreError>;

    /// Ends all sessions of a user. The answer says how many.
    async fn end_sessions(&self, command: EndSessions) -> Result<u64, StoreError>;
}
