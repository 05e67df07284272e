//! Lets an event that would repeat all the time through once a minute.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// The target of the part that accepts connections. While no descriptors are free it fails, and logs that,
/// twice a second.
const ACCEPTS: &str = "actix_server::accept";
const MINUTE: Duration = Duration::from_secs(60);

/// Lets an event of [`ACCEPTS`] through once a minute, and all other events always.
#[derive(Debug, Default)]
pub(crate) struct OncePerMinute {
    said_at: Mutex<Option<Instant>>,
}

impl OncePerMinute {
    fn may_say(&self, now: Instant) -> bool {
        let mut said_at = self.said_at.lock().unwrap_or_else(PoisonError::into_inner);
        if said_at.is_some_and(|at| now.duration_since(at) < MINUTE) {
            return false;
        }
        *said_at = Some(now);
        true
    }
}

impl<S: Subscriber> Layer<S> for OncePerMinute {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        event.metadata().target() != ACCEPTS || self.may_say(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_23_running_out_of_descriptors_is_said_once_a_minute() {
        let layer = OncePerMinute::default();
        let begun = Instant::now();
        let said = (0..300).filter(|half| layer.may_say(begun + Duration::from_millis(500 * half)));
        assert_eq!(said.count(), 3);
    }
}
