//! A program asks for something that must not be made twice, and may ask again because it did not hear the answer.
//!
//! The request is remembered for a day, with a digest of what it asked and, from the commit that creates something on,
//! with the time of that. A repeat makes the same ids and the same secrets again, of that time and the same random bits,
//! and the storage recognizes them. No secret is stored for that. Nothing is created twice: if what the request made is
//! gone, the repeat is refused (F-22).

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration as Elapsed;

use async_trait::async_trait;
use countersign_domain::id::AdminKeyId;
use countersign_domain::repeat_key::{RepeatKey, RepeatedBits, digest_of};
use countersign_ports::{BeginRequest, Clock, Entropy, REQUESTS_REMEMBERED, RequestName, StoreError};
use time::{Duration, OffsetDateTime};

use countersign_usecases::Management;

/// How long a request is recognized.
const REMEMBERED: Duration = REQUESTS_REMEMBERED;

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
    request: RequestName,
    was_made: bool,
    clock: OneTime<'a>,
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
        request: RequestName { key, name: command.name },
        was_made: begun.made_at.is_some(),
        clock: OneTime { time: begun.made_at.unwrap_or(command.now), clock: management.clock },
        entropy: SameBits(Mutex::new(bits)),
    })
}

impl Repeatable<'_> {
    /// What carries out the request.
    pub fn of<'b>(&'b self, management: Management<'b>) -> Management<'b> {
        Management { clock: &self.clock, entropy: &self.entropy, once: Some(self.request), ..management }
    }

    /// Had the request made something when it was begun this time? If not, and it is refused because it made something
    /// ([`ActRefused::MadeBefore`](countersign_usecases::act_refused::ActRefused::MadeBefore)), then another attempt was faster: begin it once more.
    pub const fn was_made(&self) -> bool {
        self.was_made
    }
}

/// A stopped clock: at the time at which something was made, or else at that of this attempt.
struct OneTime<'a> {
    time: OffsetDateTime,
    clock: &'a dyn Clock,
}

#[async_trait]
impl Clock for OneTime<'_> {
    fn now(&self) -> OffsetDateTime {
        self.time
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
        f.debug_struct("Repeatable").field("time", &self.clock.time).finish_non_exhaustive()
    }
}
