//! The time.

use std::time::Duration;

use async_trait::async_trait;
use time::OffsetDateTime;

/// Where the time comes from; the time of day is read once for each request.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The time in UTC.
    fn now(&self) -> OffsetDateTime;

    /// What passed since some moment. It never goes back, whoever sets the time of day.
    fn elapsed(&self) -> Duration;

    /// Comes back when so much has passed.
    async fn wait(&self, duration: Duration);
}
