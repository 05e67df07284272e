//! Ids for requests.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use actix_web::dev::ServiceRequest;
use actix_web::{HttpMessage, HttpRequest};

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

/// The name of a request, for the pages on which a person finds it: they tell it the operator, who finds the
/// request in the log.
#[derive(Clone, Debug)]
pub(crate) struct Reference(pub(crate) String);

impl Reference {
    /// The paths whose pages may show it. For all others it is not kept.
    const SHOWN_AT: [&str; 4] =
        ["/oauth/login", "/oauth/continue", "/account/wallets/link", "/account/wallets/unlink"];

    /// Keeps the name with a request whose page may show it.
    pub(crate) fn keep(request: &ServiceRequest, path: &str, id: &str) {
        if Self::SHOWN_AT.contains(&path) {
            request.extensions_mut().insert(Self(id.to_owned()));
        }
    }

    /// The name of this request, if it was kept.
    pub(crate) fn of(request: &HttpRequest) -> Option<String> {
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
        let names: HashSet<_> = replicas.iter().flat_map(|ids| (0..1_000).map(|_| ids.next())).collect();
        assert_eq!(names.len(), 2_000);
        assert!(
            names.iter().all(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
        );
    }
}
