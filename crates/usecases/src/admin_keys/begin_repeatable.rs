//! A program asks for something that must not be made twice, and may ask again because it did not hear the answer.
//!
//! When it first asked is remembered for a day, with a digest of what it asked. The same request is then carried out
//! again with the same time and the same random bits. So it makes the same ids and the same secrets, and the storage
//! recognizes the repeat by them. No secret is stored for that.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration as Elapsed;

use async_trait::async_trait;
use countersign_domain::id::AdminKeyId;
use countersign_domain::repeat_key::{RepeatKey, RepeatedBits, digest_of};
use countersign_ports::{BeginRequest, Clock, Entropy, StoreError};
use time::{Duration, OffsetDateTime};

use crate::Management;

/// How long a request is recognized.
const REMEMBERED: Duration = Duration::days(1);

/// Why the request is not carried out.
#[derive(Debug, thiserror::Error)]
pub enum BeginRepeatableError {
    /// The name was used for something else.
    #[error("this idempotency key was used for another request")]
    AskedOtherwise,
    /// The request could not be remembered.
    #[error("request could not be remembered")]
    Store(#[from] StoreError),
}

/// The time and the random bits of a request, the same ones for each repeat.
pub struct Repeatable<'a> {
    clock: FirstTime<'a>,
    entropy: SameBits,
}

/// Begins a request of this key. `name` is what the program calls it, `asked` is all of what it asks.
pub async fn begin_repeatable<'a>(
    management: Management<'a>,
    repeat_key: &RepeatKey,
    key: AdminKeyId,
    name: &str,
    asked: &[u8],
) -> Result<Repeatable<'a>, BeginRepeatableError> {
    let now = management.clock.now();
    let asked = digest_of(asked);
    let command = BeginRequest {
        key,
        name: digest_of(name.as_bytes()),
        asked,
        // As exact as every database.
        now: now.replace_microsecond(now.microsecond()).unwrap_or(now),
        forget_before: now.saturating_sub(REMEMBERED),
    };
    let begun = management.storage.begin_request(command).await?;
    if begun.asked != asked {
        return Err(BeginRepeatableError::AskedOtherwise);
    }
    // With its time: a name that is used again after it was forgotten gets other bits.
    let request = format!("{}\n{name}", begun.begun_at.unix_timestamp_nanos());
    let bits = repeat_key.bits_for(key, request.as_bytes());
    Ok(Repeatable {
        clock: FirstTime { first: begun.begun_at, clock: management.clock },
        entropy: SameBits(Mutex::new(bits)),
    })
}

impl Repeatable<'_> {
    /// What carries out the request.
    pub fn of<'b>(&'b self, management: Management<'b>) -> Management<'b> {
        Management { clock: &self.clock, entropy: &self.entropy, ..management }
    }
}

/// A clock on which it is still as late as when the request was first begun.
struct FirstTime<'a> {
    first: OffsetDateTime,
    clock: &'a dyn Clock,
}

#[async_trait]
impl Clock for FirstTime<'_> {
    fn now(&self) -> OffsetDateTime {
        self.first
    }

    fn elapsed(&self) -> Elapsed {
        self.clock.elapsed()
    }

    async fn wait(&self, duration: Elapsed) {
        self.clock.wait(duration).await;
    }
}

struct SameBits(Mutex<RepeatedBits>);

impl Entropy for SameBits {
    fn fill(&self, buffer: &mut [u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(buffer);
    }
}

impl fmt::Debug for Repeatable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repeatable").field("first", &self.clock.first).finish_non_exhaustive()
    }
}
