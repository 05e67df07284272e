//! Ids for requests.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives each request an id that no other request has, on any replica. Nobody gains anything by guessing an
/// id, so it is not taken from the system's random numbers. It does not tell how many requests there were
/// before.
#[derive(Debug, Default)]
pub(crate) struct RequestIds {
    halves: [RandomState; 2],
    given: AtomicU64,
}

impl RequestIds {
    pub(crate) fn next(&self) -> String {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        let [first, second] = self.halves.each_ref().map(|half| half.hash_one(number));
        format!("{first:016x}{second:016x}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_requests_have_one_name_and_no_two_replicas_give_one() {
        let replicas = [RequestIds::default(), RequestIds::default()];
        let names: HashSet<_> = replicas.iter().flat_map(|ids| (0..1_000).map(|_| ids.next())).collect();
        assert_eq!(names.len(), 2_000);
        assert!(
            names.iter().all(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
        );
    }
}
