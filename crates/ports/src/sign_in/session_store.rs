//! Remembered sign-ins.

use countersign_domain::audience::SignedAudiences;
use countersign_domain::event::Event;
use countersign_domain::id::{ClientId, GrantId, SessionId, UserId};
use countersign_domain::scope::Scope;
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use crate::sign_in::login_store::{CompleteLogin, NewSession};

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
