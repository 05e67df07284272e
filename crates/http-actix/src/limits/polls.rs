//! Remembers when each waiting device last polled, so that one that polls too often can be warned (RFC 8628
//! section 3.5).
//!
//! This is only in memory, so other replicas do not know it. Nothing depends on it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use countersign_domain::device::INTERVAL;
use countersign_domain::id::GrantId;
use time::{Duration, OffsetDateTime};

/// Polls that were sent in time may arrive closer together.
const TOLERANCE: Duration = Duration::seconds(1);

/// How many devices are remembered. Further ones are never asked to slow down.
const MOST: usize = 10_000;

#[derive(Default)]
pub(crate) struct Polls(Mutex<HashMap<GrantId, OffsetDateTime>>);

impl Polls {
    /// Did this device last poll less than the interval ago? This also counts as a poll.
    pub(crate) fn is_too_soon(&self, id: GrantId, now: OffsetDateTime) -> bool {
        let interval = Duration::seconds(INTERVAL.into()) - TOLERANCE;
        let is_recent = |before: &OffsetDateTime| now < *before + interval;
        let mut polls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if polls.len() >= MOST {
            polls.retain(|_, before| is_recent(before));
        }
        if polls.len() >= MOST && !polls.contains_key(&id) {
            return false;
        }
        polls.insert(id, now).is_some_and(|before| is_recent(&before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> GrantId {
        GrantId::from_uuid(uuid::Uuid::from_u128(u128::try_from(number).unwrap()))
    }

    #[test]
    fn a_device_that_asks_before_its_time_is_told() {
        let (polls, now) = (Polls::default(), OffsetDateTime::UNIX_EPOCH);
        assert!(!polls.is_too_soon(id(1), now));
        assert!(polls.is_too_soon(id(1), now + Duration::seconds(1)));
        assert!(!polls.is_too_soon(id(1), now + Duration::seconds(6)));
        assert!(!polls.is_too_soon(id(2), now + Duration::seconds(6)), "each device is counted separately");
    }

    #[test]
    fn no_more_devices_are_remembered_than_there_is_room_for() {
        let (polls, now) = (Polls::default(), OffsetDateTime::UNIX_EPOCH);
        (0..MOST).for_each(|number| assert!(!polls.is_too_soon(id(number), now)));
        for _ in 0..2 {
            assert!(!polls.is_too_soon(id(MOST), now));
        }
        assert!(!polls.is_too_soon(id(MOST), now + Duration::seconds(9)));
        assert!(polls.is_too_soon(id(MOST), now + Duration::seconds(9)), "there is room again");
    }
}
