//! Keeping the store small, and checking that it works.

use countersign_domain::forgetting::Past;
use countersign_domain::id::ClientId;
use time::OffsetDateTime;

/// Deletes what can no longer be needed.
#[derive(Clone, Copy, Debug)]
pub struct PurgeExpired {
    /// Rows whose time to be forgotten is before this are deleted.
    pub before: Past,
    /// Rows whose time to be forgotten is before this may be left alone: an earlier call took them. A store
    /// in which deleted rows are still in the way while a reader uses an old state need not pass them again.
    pub since: OffsetDateTime,
    /// Pushed requests that expired before this time are deleted. They have a time of their own because a
    /// used one is already gone, so nothing depends on remembering them, and because strangers can make large
    /// ones.
    pub pushed_before: Past,
    /// The same as `since` for pushed requests.
    pub pushed_since: OffsetDateTime,
    /// The most rows to delete.
    pub limit: u32,
}

impl PurgeExpired {
    /// A step that begins with the oldest rows.
    pub const fn oldest(before: Past, limit: u32) -> Self {
        let since = OffsetDateTime::UNIX_EPOCH;
        Self { before, since, pushed_before: before, pushed_since: since, limit }
    }
}

/// Deletes users that no client ever learned of.
#[derive(Clone, Copy, Debug)]
pub struct ForgetUnused {
    /// Users who were created, or last looked at, before this time.
    pub before: Past,
    /// Users who were created, or last looked at, before this time may be left alone: an earlier call looked
    /// at them.
    pub since: OffsetDateTime,
    /// The time of this look. It is stored for users who stay, so that they are looked at again only later.
    pub now: OffsetDateTime,
    /// The most users to look at.
    pub limit: u32,
}

/// Deletes clients that come from a metadata document and are no longer used.
#[derive(Clone, Copy, Debug)]
pub struct ForgetDocuments {
    /// Clients that were stored before this time.
    pub before: Past,
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
