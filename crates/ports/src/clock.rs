//! The time.

use time::OffsetDateTime;

/// Where the time comes from; read once for each request.
pub trait Clock: Send + Sync {
    /// The time in UTC.
    fn now(&self) -> OffsetDateTime;
}
