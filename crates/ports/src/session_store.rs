//! Remembered sign-ins.

use async_trait::async_trait;
use countersign_domain::audience::SignedAudiences;
use countersign_domain::id::{ClientId, GrantId, SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::scope::Scope;
use countersign_domain::secret::SecretHash;
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use crate::{CompleteLogin, StoreError};

/// A sign-in that a browser shall remember; who signed, with which wallet and when is the login's.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// The hash of the secret that the browser gets.
    pub secret_hash: SecretHash,
    /// What people call the browser.
    pub browser: String,
    /// When it ends.
    pub expires_at: OffsetDateTime,
    /// The session that the browser had before; it ends.
    pub replaces: Option<SessionId>,
}

/// Spends a challenge, finds or makes the user of the wallet, and remembers the sign-in; no client gets anything.
#[derive(Clone, Debug)]
pub struct OpenSession {
    /// The challenge's id. It never becomes a grant's.
    pub id: GrantId,
    /// The wallet that signed.
    pub account: WalletAccount,
    /// The user to make if nobody has this wallet yet.
    pub new_user: UserId,
    /// The session.
    pub session: NewSession,
    /// Now.
    pub now: OffsetDateTime,
    /// When the spent id may be forgotten: the challenge is not good any more.
    pub forget_after: OffsetDateTime,
}

/// What became of [`OpenSession`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionOpened {
    /// The session is there; also when this very command (same challenge, same session) was carried out before and the session
    /// still lives.
    Opened {
        /// Whose wallet it is.
        user: UserId,
    },
    /// The challenge was used before. Nothing changed.
    ChallengeSpent,
}

/// Gives a client a grant without a new signature, because a session lives and its user agreed before.
#[derive(Clone, Debug)]
pub struct ContinueSession {
    /// The session.
    pub session: SessionId,
    /// When its wallet signed. The grant says so too.
    pub authenticated_at: OffsetDateTime,
    /// The grant, as the session's wallet would have got it by signing: `account` is the session's, `new_user` its user,
    /// `session` is none.
    pub login: CompleteLogin,
    /// The audiences of the consent that is repeated: those of `login.terms`, or more. Its destination is that of `login.terms`.
    pub agreed: SignedAudiences,
}

/// What became of [`ContinueSession`]. Every answer but the first means that nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionContinued {
    /// The grant is stored; also when this very command (same id, same code hash, same account) was carried out before.
    CodeIssued,
    /// A grant with this id exists: the request was answered before.
    RequestSpent,
    /// There is no such session, or it has expired.
    SessionEnded,
    /// The user did not agree to all of these scopes at these terms, or took it back.
    ConsentMissing,
}

/// Ends a session, and what was granted in it for the time that the person is there.
#[derive(Clone, Copy, Debug)]
pub struct SignOut {
    /// Whose.
    pub user: UserId,
    /// Which session.
    pub session: SessionId,
    /// Grants with this scope are left alone.
    pub keeps: Scope,
    /// Now.
    pub now: OffsetDateTime,
}

/// A client that was granted something in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionClient {
    /// The session.
    pub session: SessionId,
    /// The client.
    pub client: ClientId,
}

/// Remembered sign-ins. Every write is durable before the answer. Where several refusals are true, the answer is the first in
/// the order of the enum.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Opens a session, all or nothing. Guard: nobody has spent the challenge, and no grant has its id. The wallet is treated as
    /// at a login ([`LoginStore`](crate::LoginStore)).
    async fn open_session(&self, command: OpenSession) -> Result<SessionOpened, StoreError>;

    /// Reads one session, ended by time or not.
    async fn find_session(&self, id: SessionId) -> Result<Option<LoginSession>, StoreError>;

    /// Continues a session, all or nothing. Guards: no grant has this id, the session is there and has not expired, and one consent
    /// of the user for the client, with the destination of the login's terms and the audiences that are named as agreed to, covers
    /// the scopes. Several consents are never put together, and none is made. Session and consent remember `now` as their last use. A consent that is
    /// revoked at the same time is either revoked first, and nothing is granted, or after, and the grant with it.
    async fn continue_session(&self, command: ContinueSession) -> Result<SessionContinued, StoreError>;

    /// Ends a session of this user, and revokes the live grants that belong to it and lack the scope, all or nothing, with the reason
    /// [`SignedOut`]. The answer says whether the session was there; grants of one that was not are revoked too.
    ///
    /// [`SignedOut`]: countersign_domain::grant::RevocationReason::SignedOut
    async fn sign_out(&self, command: SignOut) -> Result<bool, StoreError>;

    /// The clients that have live grants of the user's sessions, each once for each session that is there, by session and client.
    async fn clients_of_sessions(&self, user: UserId) -> Result<Vec<SessionClient>, StoreError>;

    /// Ends a session of this user; the answer says whether it was there. From then on it leads nowhere, on no replica.
    async fn end_session(&self, user: UserId, id: SessionId) -> Result<bool, StoreError>;

    /// Ends all sessions of a user; the answer says how many.
    async fn end_sessions(&self, user: UserId) -> Result<u64, StoreError>;
}
