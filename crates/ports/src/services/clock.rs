//! The clock.

use std::time::Duration;

use async_trait::async_trait;
use time::OffsetDateTime;

/// Reads the time of day and the time that has passed. The time of day is read once per request.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The current time in UTC.
    fn now(&self) -> OffsetDateTime;

    /// The time since an arbitrary moment. It never goes back, even when the time of day is set.
    fn elapsed(&self) -> Duration;

    /// Returns after this time.
    async fn wait(&self, duration: Duration);
}
