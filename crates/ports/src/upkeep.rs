//! Keeping the store small, and checking that it works.

use async_trait::async_trait;
use countersign_domain::forgetting::{TimeMark, TimeWitness};
use countersign_domain::id::ClientId;
use time::OffsetDateTime;

use crate::StoreError;

/// Deletes what nobody can need any more.
#[derive(Clone, Copy, Debug)]
pub struct PurgeExpired {
    /// Rows whose time to be forgotten is before this are deleted.
    pub before: OffsetDateTime,
    /// Rows whose time to be forgotten is before this may be left alone: an earlier call took them. A store in which deleted rows are
    /// still in the way while somebody reads an old state need not pass them again.
    pub since: OffsetDateTime,
    /// Pushed requests that expired before this time are deleted. They have a time of their own because a
    /// used one is already gone, so nothing depends on remembering them, and because strangers can make large
    /// ones.
    pub pushed_before: OffsetDateTime,
    /// The same as `since` for pushed requests.
    pub pushed_since: OffsetDateTime,
    /// The most rows to delete.
    pub limit: u32,
}

impl PurgeExpired {
    /// A step that begins with the oldest rows.
    pub const fn oldest(before: OffsetDateTime, limit: u32) -> Self {
        let since = OffsetDateTime::UNIX_EPOCH;
        Self { before, since, pushed_before: before, pushed_since: since, limit }
    }
}

/// Deletes users that no client was ever told about.
#[derive(Clone, Copy, Debug)]
pub struct ForgetUnused {
    /// Users who were created, or last looked at, before this time.
    pub before: OffsetDateTime,
    /// Users who were created, or last looked at, before this time may be left alone: an earlier call looked
    /// at them.
    pub since: OffsetDateTime,
    /// The time of this look. It is stored for users who stay, so that they are looked at again only later.
    pub now: OffsetDateTime,
    /// The most users to look at.
    pub limit: u32,
}

/// Deletes clients that come from a metadata document and that nobody uses.
#[derive(Clone, Copy, Debug)]
pub struct ForgetDocuments {
    /// Clients that were stored before this time.
    pub before: OffsetDateTime,
    /// Only clients with ids after this one.
    pub after: Option<ClientId>,
    /// The most clients to look at.
    pub limit: u32,
}

/// The outcome of [`PurgeExpired`] or [`ForgetUnused`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purged {
    /// How many rows were deleted.
    pub rows: u64,
    /// Is there more to do?
    pub more: bool,
}

/// The outcome of [`ForgetDocuments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentsForgotten {
    /// How many clients were deleted.
    pub rows: u64,
    /// The last client that was looked at, if there may be more after it.
    pub next: Option<ClientId>,
}

/// Upkeep of the store.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Deletes grants, spent challenges, spent proofs and device requests whose `forget_after` has passed,
    /// tokens whose [`Token::forget_after`] has passed, and login sessions, pushed requests and old secrets
    /// of clients whose `expires_at` has passed. Deletes the oldest first, up to the limit for each of the
    /// eight. Grants are
    /// taken in the order of the times known when they were last looked at. Whether a refresh has extended a
    /// grant's time is checked when that time comes. What could still be presented and mean something stays:
    /// a used challenge while its text is valid, and a rotated refresh token until it expires.
    ///
    /// If the code of a deleted grant was redeemed, its user is recorded as known
    /// ([`forget_unused`](Self::forget_unused)).
    ///
    /// [`Token::forget_after`]: countersign_domain::token::Token::forget_after
    async fn purge_expired(&self, command: PurgeExpired) -> Result<Purged, StoreError>;

    /// Deletes users that no client was ever told about, with their wallet and their consents, atomically for
    /// each user. A user is known for good once a code of theirs was redeemed, whatever becomes of its grant
    /// and its client. Of the others, users stay, and are looked at again later, if they have a stored grant
    /// of any kind, a login session, an e-mail address or a second wallet, or if the operator put them into a
    /// group or blocked them. What the operator did with their wallet alone keeps no user, and outlives them.
    /// Users from before this was recorded count as known. A login of the wallet at the same time happens
    /// entirely before, and the user stays, or entirely after, and creates a new user.
    async fn forget_unused(&self, command: ForgetUnused) -> Result<Purged, StoreError>;

    /// Deletes clients that come from a metadata document and have neither a consent nor a grant, and for which
    /// the operator decided nothing: no resource was opened to them, they have no rule of their own, and what
    /// they are told follows it. They go in the order of their ids. A caller that stores a grant for
    /// such a client stores the client again afterwards if it is gone.
    async fn forget_documents(&self, command: ForgetDocuments) -> Result<DocumentsForgotten, StoreError>;

    /// Reads a second source of the time: the database server's clock or, without a server, what
    /// [`mark_time`](Self::mark_time) wrote. If nothing was written yet, the newest grant or token gives a
    /// lower bound.
    async fn time_witness(&self) -> Result<TimeWitness, StoreError>;

    /// Stores what is known about the time, replacing what was stored before. A database with a clock of its
    /// own stores nothing.
    async fn mark_time(&self, mark: TimeMark) -> Result<(), StoreError>;

    /// Checks that the store answers and accepts writes, by a small write that is durable when this returns,
    /// and that everything is there that a sign-in and an exchange need: clients, users, wallets, consents,
    /// sessions, grants, tokens and events. It changes nothing that anyone reads, and takes no longer among
    /// many rows. An error means that sign-ins or exchanges would fail too: the disk is full, the server is
    /// read-only, the file is gone, or somebody else has locked one of them for longer than an operation
    /// can take.
    async fn ping(&self) -> Result<(), StoreError>;
}
