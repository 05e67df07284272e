//! Keeping the store small, and asking whether it is there.

use async_trait::async_trait;
use countersign_domain::forgetting::{TimeMark, TimeWitness};
use countersign_domain::id::ClientId;
use time::OffsetDateTime;

use crate::StoreError;

/// Forgets what nothing can need any more.
#[derive(Clone, Copy, Debug)]
pub struct PurgeExpired {
    /// Whatever may be forgotten before this time goes.
    pub before: OffsetDateTime,
    /// Pushed requests that expired before this time go. One that was used is gone already, so that nothing depends on their being
    /// remembered, and strangers can make large ones.
    pub pushed_before: OffsetDateTime,
    /// How many rows at the most.
    pub limit: u32,
}

/// Forgets users that nobody was told of.
#[derive(Clone, Copy, Debug)]
pub struct ForgetUnused {
    /// Who was born, or looked at last, before this time.
    pub before: OffsetDateTime,
    /// Now: whoever stays is looked at again when so much has passed again.
    pub now: OffsetDateTime,
    /// How many are looked at at the most.
    pub limit: u32,
}

/// Forgets clients that a document describes and that nobody uses.
#[derive(Clone, Copy, Debug)]
pub struct ForgetDocuments {
    /// Those that were stored before this time.
    pub before: OffsetDateTime,
    /// Those that come after this one.
    pub after: Option<ClientId>,
    /// How many are looked at at the most.
    pub limit: u32,
}

/// What became of [`PurgeExpired`] or [`ForgetUnused`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purged {
    /// How many rows went.
    pub rows: u64,
    /// Is there more to do?
    pub more: bool,
}

/// What became of [`ForgetDocuments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentsForgotten {
    /// How many clients went.
    pub rows: u64,
    /// The last one that was looked at, if there may be more after it.
    pub next: Option<ClientId>,
}

/// Upkeep.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Removes grants, spent challenges, spent proofs and requests of devices whose `forget_after`, tokens whose
    /// [`Token::forget_after`], login sessions and pushed requests whose `expires_at` has passed, oldest first, each of the seven up
    /// to the limit. Grants are taken in the order in which they could have gone when they were last looked at: what a
    /// refresh adds to their time is found out when that comes. What could still be presented and mean something stays: a used challenge
    /// while its text is good, a rotated refresh token while it has not expired.
    ///
    /// A grant whose code was redeemed leaves behind that its user is known ([`forget_unused`](Self::forget_unused)).
    ///
    /// [`Token::forget_after`]: countersign_domain::token::Token::forget_after
    async fn purge_expired(&self, command: PurgeExpired) -> Result<Purged, StoreError>;

    /// Removes users of whom no client was ever told, with their wallet and their consents, all or nothing for each. A user is known
    /// for good when a code of theirs was redeemed, whatever became of its grant and its client. Of the others, those stay who have
    /// a grant (of any kind, while it is stored), a login session, an e-mail address or a second wallet, and are looked at again
    /// later. Users from before this was written down count as known. A login of the wallet comes wholly before, and the user stays,
    /// or wholly after, and makes a new user.
    async fn forget_unused(&self, command: ForgetUnused) -> Result<Purged, StoreError>;

    /// Removes clients that a document describes and that have neither a consent nor a grant nor a resource that the operator opened, in the order of their ids. Whoever
    /// stores a grant for such a client stores the client again afterwards, if it is gone.
    async fn forget_documents(&self, command: ForgetDocuments) -> Result<DocumentsForgotten, StoreError>;

    /// Asks who else knows the time: the database's clock where it is on a server, and otherwise what
    /// [`mark_time`](Self::mark_time) wrote. Where nothing was written yet, the newest grant or token tells the least that it can be.
    async fn time_witness(&self) -> Result<TimeWitness, StoreError>;

    /// Writes down what is known of the time, in the place of what was written before. A database with a clock of its own keeps
    /// nothing.
    async fn mark_time(&self, mark: TimeMark) -> Result<(), StoreError>;

    /// Asks whether the store answers and can be written, by a small write that is durable when this returns. It changes nothing that
    /// anybody reads. An error says that other writes would fail too: a full disk, a server that takes reads only, a file that is gone.
    async fn ping(&self) -> Result<(), StoreError>;
}
