//! The latest refusals, for operators: in memory, and never as rows, so that callers without a credential cannot make
//! the store grow.
//!
//! Each reason has its own places. A hundred thousand requests for pages that do not exist push out
//! requests for pages that do not exist, and not the one refusal that a person complains about.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_domain::peer_address::PeerAddress;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

/// How many refusals are kept for each reason. One takes at most two kilobytes.
pub const KEPT_OF_EACH: usize = 100;

/// What an operator can learn about a refused request. The client and the wallet are those that the request named;
/// neither is proven.
#[derive(Clone, Debug)]
pub struct RecentRefusal {
    pub at: OffsetDateTime,
    pub refused_for: RefusedFor,
    /// The id of the request, which the person's error page shows.
    pub reference: Box<str>,
    pub method: Box<str>,
    pub path: Box<str>,
    /// Where the request came from, as the log shows it.
    pub peer: Option<PeerAddress>,
    /// Of the answer; none if the client heard of it by a redirect.
    pub status: Option<u16>,
    /// The registered error code.
    pub error: Option<&'static str>,
    pub client: Option<Box<str>>,
    pub wallet: Option<WalletAccount>,
    /// What was said.
    pub description: Box<str>,
    /// The exact reason, which only the log has besides.
    pub cause: Box<str>,
}

/// The latest refusals of this server.
#[derive(Debug)]
pub struct RecentRefusals {
    since: OffsetDateTime,
    kept: [Mutex<VecDeque<Arc<RecentRefusal>>>; RefusedFor::ALL.len()],
}

impl RecentRefusals {
    /// Those from now on.
    pub(crate) fn since(now: OffsetDateTime) -> Self {
        Self { since: now, kept: std::array::from_fn(|_| Mutex::default()) }
    }

    /// Keeps a refusal, and lets go of the oldest one with its reason.
    pub(crate) fn keep(&self, refusal: RecentRefusal) {
        if refusal.refused_for == RefusedFor::Pending {
            // A device that asks every five seconds: nothing is wrong with it.
            return;
        }
        let Some(kept) = self.kept.get(refusal.refused_for as usize) else { return };
        let refusal = Arc::new(refusal);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_OF_EACH {
            kept.pop_front();
        }
        kept.push_back(refusal);
    }

    /// Since when refusals are kept.
    pub const fn begun(&self) -> OffsetDateTime {
        self.since
    }

    /// Those that are wanted, the latest first.
    pub fn latest(&self, is_wanted: impl Fn(&RecentRefusal) -> bool) -> Vec<Arc<RecentRefusal>> {
        let mut found = Vec::new();
        for kept in &self.kept {
            let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            found.extend(kept.iter().filter(|refusal| is_wanted(refusal)).cloned());
        }
        found.sort_by_key(|refusal| std::cmp::Reverse(refusal.at));
        found
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    fn refusal(number: u32, refused_for: RefusedFor) -> RecentRefusal {
        RecentRefusal {
            at: OffsetDateTime::UNIX_EPOCH + Duration::seconds(number.into()),
            refused_for,
            reference: number.to_string().into(),
            method: "GET".into(),
            path: "/x".repeat(150).into(),
            peer: None,
            status: Some(404),
            error: Some("invalid_request"),
            client: None,
            wallet: None,
            description: "y".repeat(300).into(),
            cause: "z".repeat(300).into(),
        }
    }

    #[test]
    fn a_hundred_thousand_of_one_reason_push_out_only_their_own() {
        let refusals = RecentRefusals::since(OffsetDateTime::UNIX_EPOCH);
        refusals.keep(refusal(0, RefusedFor::NotAdmitted));
        for number in 1..=100_000 {
            refusals.keep(refusal(number, RefusedFor::NoSuchPage));
            refusals.keep(refusal(number, RefusedFor::Pending));
        }
        let all = refusals.latest(|_| true);
        assert_eq!(all.len(), KEPT_OF_EACH + 1);
        assert_eq!(all.first().map(|refusal| &*refusal.reference), Some("100000"));
        assert_eq!(all.last().map(|refusal| refusal.refused_for), Some(RefusedFor::NotAdmitted));
        let held: usize = refusals.kept.iter().map(|kept| kept.lock().unwrap().capacity()).sum();
        assert!(held <= 2 * (KEPT_OF_EACH + 8), "{held}");
    }

    #[test]
    fn what_is_looked_for_comes_latest_first() {
        let refusals = RecentRefusals::since(OffsetDateTime::UNIX_EPOCH);
        for (number, reason) in [(3, RefusedFor::Code), (1, RefusedFor::Signature), (2, RefusedFor::Code)] {
            refusals.keep(refusal(number, reason));
        }
        let found = |wanted| {
            let found = refusals.latest(|refusal| refusal.refused_for == wanted);
            found.iter().map(|refusal| refusal.reference.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found(RefusedFor::Code), ["3", "2"]);
        assert_eq!(found(RefusedFor::Signature), ["1"]);
        assert!(found(RefusedFor::Ended).is_empty());
    }
}
