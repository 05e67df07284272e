//! Where events are pushed to, and what waits there.

use std::fmt;

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

/// The receiver of events, as storage knows it: by the hash of its URL. A URL can hold a secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiverId([u8; 32]);

impl ReceiverId {
    /// The receiver at this URL.
    pub fn of(url: &str) -> Self {
        Self(Sha256::digest(url.as_bytes()).into())
    }

    /// The bytes, for storage.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for ReceiverId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceiverId({})", hex::encode(&self.0[..4]))
    }
}

/// An event that the receiver did not take, or that waits for an earlier one of the same person. Only its
/// position is kept: the event is read again when it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedEvent {
    /// Its position.
    pub position: u64,
    /// Since when it waits.
    pub since: OffsetDateTime,
    /// When to try it next.
    pub next_at: OffsetDateTime,
    /// How often it was tried.
    pub tries: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_is_another_one_at_another_url_and_shows_none() {
        let [one, other] = ["https://a.example/?key=secret", "https://a.example/"].map(ReceiverId::of);
        assert_ne!(one, other);
        assert_eq!(one, ReceiverId::of("https://a.example/?key=secret"));
        assert!(!format!("{one:?}").contains("secret"));
    }
}
