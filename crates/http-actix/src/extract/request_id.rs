//! Ids for requests.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use actix_web::dev::ServiceRequest;
use actix_web::{HttpMessage, HttpRequest};
use time::OffsetDateTime;

/// Gives each request an id that no other request has, on any replica. Guessing an id gains nothing, so it is
/// not taken from the system's random numbers. It does not tell how many requests there were before.
///
/// It begins with the time in milliseconds, so that the index of events by request grows at its end: with ids in no
/// order, each event that is sealed changes a page of its own.
#[derive(Debug, Default)]
pub(crate) struct RequestIds {
    halves: [RandomState; 2],
    given: AtomicU64,
}

impl RequestIds {
    pub(crate) fn next(&self, now: OffsetDateTime) -> String {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        let [first, second] = self.halves.each_ref().map(|half| half.hash_one(number));
        let millis = now.unix_timestamp_nanos().div_euclid(1_000_000) & 0xffff_ffff_ffff;
        format!("{millis:012x}{first:016x}{:04x}", second & 0xffff)
    }
}

/// The id of a request: in the log, in the header of its answer, in its events, and on some pages. With it,
/// the operator can find the request that a person complains about.
#[derive(Debug)]
pub struct Reference(String);

impl Reference {
    /// Keeps the id with its request. It is moved, because few requests ask for it again.
    pub fn keep(request: &ServiceRequest, id: String) {
        request.extensions_mut().insert(Self(id));
    }

    /// The id of this request.
    pub fn of(request: &HttpRequest) -> Option<String> {
        request.extensions().get::<Self>().map(|Self(id)| id.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_requests_have_one_name_and_no_two_replicas_give_one() {
        let replicas = [RequestIds::default(), RequestIds::default()];
        let now = OffsetDateTime::UNIX_EPOCH + time::Duration::milliseconds(0x0123_4567_89ab);
        let names: HashSet<_> = replicas.iter().flat_map(|ids| (0..1_000).map(|_| ids.next(now))).collect();
        assert_eq!(names.len(), 2_000);
        assert!(names.iter().all(|name| name.starts_with("0123456789ab")));
        assert!(
            names.iter().all(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
        );
    }
}
