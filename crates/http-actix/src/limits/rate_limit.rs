//! Limits how often one address can do what costs us something (B-076).

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::HttpRequest;
use countersign_domain::email::EmailAddress;
use countersign_metrics::Metrics;
use governor::clock::{Clock, DefaultClock, QuantaInstant};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, NotUntil, Quota};
use ipnet::IpNet;

use crate::error::ApiError;

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub enum Limited {
    Registration,
    Challenge,
    Login,
    Mail,
    /// A pushed request or a device authorization of a client that does not authenticate.
    PublicRequest,
    /// The code of a device, typed by a user. All addresses together are limited too, against guessing from
    /// many of them.
    UserCode,
    FailedClientAuthentication,
    Document,
    /// A refresh by a client that does not authenticate. Each leaves a row for a month.
    PublicRefresh,
    /// Whether another wallet has an account, before a person links it: no one may ask for many.
    LinkLookUp,
    /// A browser with a session at a path that does not exist, or that is the desk's: who asks is found out there.
    Nowhere,
    /// The link of an invitation.
    Invitation,
}

impl Limited {
    /// The names, in the order of the variants.
    pub(crate) const NAMES: [&str; 12] = [
        "registration",
        "challenge",
        "login",
        "mail",
        "public_request",
        "user_code",
        "failed_client_authentication",
        "document",
        "public_refresh",
        "link_look_up",
        "nowhere",
        "invitation",
    ];
}

/// How many links are mailed to one mailbox in an hour, no matter who asks for them and from where.
const MAILS_AN_HOUR: u32 = 5;

/// How many times an hour one IP address can find out, before signing, that another wallet already has an
/// account.
const LINKS_AN_HOUR: u32 = 10;

/// After this many checks, addresses that have been quiet are forgotten.
const FORGET_EVERY: u32 = 4_096;

pub(crate) struct RateLimits {
    counters: Option<Counters>,
    trusted_proxies: Vec<IpNet>,
    strangers: Strangers,
    checks: AtomicU32,
    metrics: Arc<Metrics>,
}

struct Counters {
    registration: DefaultKeyedRateLimiter<IpAddr>,
    challenge: DefaultKeyedRateLimiter<IpAddr>,
    login: DefaultKeyedRateLimiter<IpAddr>,
    mail: DefaultKeyedRateLimiter<IpAddr>,
    /// By mailbox, not by sender: no one should be able to fill another person's mailbox through us.
    recipients: DefaultKeyedRateLimiter<String>,
    public_request: DefaultKeyedRateLimiter<IpAddr>,
    user_code: DefaultKeyedRateLimiter<IpAddr>,
    /// For all addresses together. There are 20^8 codes, and each is valid for ten minutes.
    user_codes: DefaultDirectRateLimiter,
    failed_client_authentication: DefaultKeyedRateLimiter<IpAddr>,
    document: DefaultKeyedRateLimiter<IpAddr>,
    public_refresh: DefaultKeyedRateLimiter<IpAddr>,
    link_look_up: DefaultKeyedRateLimiter<IpAddr>,
    nowhere: DefaultKeyedRateLimiter<IpAddr>,
    invitation: DefaultKeyedRateLimiter<IpAddr>,
    clock: DefaultClock,
}

impl RateLimits {
    pub(crate) fn new(enabled: bool, trusted_proxies: Vec<IpNet>, metrics: Arc<Metrics>) -> Self {
        let a_minute = |count: NonZeroU32| DefaultKeyedRateLimiter::keyed(Quota::per_minute(count));
        let counters = enabled.then(|| Counters {
            registration: a_minute(per_minute(30)),
            challenge: a_minute(per_minute(120)),
            login: a_minute(per_minute(60)),
            mail: a_minute(per_minute(6)),
            recipients: DefaultKeyedRateLimiter::keyed(Quota::per_hour(per_minute(MAILS_AN_HOUR))),
            public_request: a_minute(per_minute(30)),
            user_code: a_minute(per_minute(20)),
            user_codes: DefaultDirectRateLimiter::direct(Quota::per_minute(per_minute(1_200))),
            failed_client_authentication: a_minute(per_minute(60)),
            document: a_minute(per_minute(60)),
            public_refresh: a_minute(per_minute(120)),
            link_look_up: DefaultKeyedRateLimiter::keyed(Quota::per_hour(per_minute(LINKS_AN_HOUR))),
            nowhere: a_minute(per_minute(600)),
            invitation: a_minute(per_minute(120)),
            clock: DefaultClock::default(),
        });
        Self {
            counters,
            trusted_proxies,
            strangers: Strangers::default(),
            checks: AtomicU32::new(0),
            metrics,
        }
    }

    /// Counts a request from this address, or refuses it.
    pub(crate) fn check(&self, what: Limited, request: &HttpRequest) -> Result<(), ApiError> {
        let Some(counters) = &self.counters else { return Ok(()) };
        let limiter = match what {
            Limited::Registration => &counters.registration,
            Limited::Challenge => &counters.challenge,
            Limited::Login => &counters.login,
            Limited::Mail => &counters.mail,
            Limited::PublicRequest => &counters.public_request,
            Limited::UserCode => &counters.user_code,
            Limited::FailedClientAuthentication => &counters.failed_client_authentication,
            Limited::Document => &counters.document,
            Limited::PublicRefresh => &counters.public_refresh,
            Limited::LinkLookUp => &counters.link_look_up,
            Limited::Nowhere => &counters.nowhere,
            Limited::Invitation => &counters.invitation,
        };
        if self.checks.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            limiter.retain_recent();
        }
        let Some(address) = self.address(request) else { return Ok(()) };
        let refused = |until: NotUntil<QuantaInstant>| {
            self.metrics.rate_limited.at([what as usize]).count();
            let wait = until.wait_time_from(counters.clock.now());
            ApiError::too_many_requests(wait.as_secs() + 1)
        };
        limiter.check_key(&network(address)).map_err(refused)?;
        match what {
            Limited::UserCode => counters.user_codes.check().map_err(refused),
            Limited::Registration
            | Limited::Challenge
            | Limited::Login
            | Limited::Mail
            | Limited::PublicRequest
            | Limited::FailedClientAuthentication
            | Limited::Document
            | Limited::PublicRefresh
            | Limited::LinkLookUp
            | Limited::Nowhere
            | Limited::Invitation => Ok(()),
        }
    }

    /// Counts a mail to this address, or refuses it. Other spellings of the same mailbox count together.
    pub(crate) fn check_recipient(&self, to: &EmailAddress) -> Result<(), ApiError> {
        let Some(counters) = &self.counters else { return Ok(()) };
        if self.checks.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            counters.recipients.retain_recent();
        }
        counters.recipients.check_key(&to.mailbox()).map_err(|until| {
            self.metrics.rate_limited.at([Limited::Mail as usize]).count();
            ApiError::too_many_requests(until.wait_time_from(counters.clock.now()).as_secs() + 1)
        })
    }

    /// Those who forward without being trusted to.
    pub(crate) fn strangers(&self) -> Strangers {
        self.strangers.clone()
    }

    /// The client's address: the peer's own, unless a trusted proxy names the address that it forwards for.
    pub(crate) fn address(&self, request: &HttpRequest) -> Option<IpAddr> {
        let peer = request.peer_addr()?.ip().to_canonical();
        if !self.trusts(peer) {
            if is_forwarded(request) {
                self.strangers.meet(peer);
            }
            return Some(peer);
        }
        // A proxy adds to what the visitor sent, which may be anything: only the entry that is read must be text.
        let forwarded = request.headers().get_all("x-forwarded-for");
        let chain: Vec<&[u8]> =
            forwarded.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).collect();
        // The right-most address that is not one of our proxies. Anyone could have written what is left of
        // it.
        let mut nearest = peer;
        for entry in chain.into_iter().rev() {
            let text = str::from_utf8(entry).unwrap_or_default();
            let Ok(address) = text.trim().parse::<IpAddr>() else { break };
            nearest = address.to_canonical();
            if !self.trusts(nearest) {
                break;
            }
        }
        Some(nearest)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(&address))
    }
}

/// Does the request say that it was forwarded?
fn is_forwarded(request: &HttpRequest) -> bool {
    ["x-forwarded-for", "forwarded"].iter().any(|name| request.headers().contains_key(*name))
}

/// Untrusted peers that forward for others: a proxy that the operator forgot, or an attacker (F-04). Each is
/// logged once, and only a few are, because anyone can be one.
#[derive(Clone, Debug, Default)]
pub struct Strangers {
    known: Arc<Mutex<Vec<IpAddr>>>,
}

const MOST_STRANGERS: usize = 16;

impl Strangers {
    /// One that is on this machine or in a private network: most likely a proxy that the operator forgot. On the
    /// internet, anyone can be one.
    pub fn nearby(&self) -> Option<IpAddr> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_near = |peer: &IpAddr| match peer {
            IpAddr::V4(peer) => peer.is_loopback() || peer.is_private(),
            IpAddr::V6(peer) => peer.is_loopback() || peer.is_unique_local(),
        };
        known.iter().copied().find(is_near)
    }

    fn meet(&self, peer: IpAddr) {
        let peer = network(peer);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_STRANGERS || known.contains(&peer) {
            return;
        }
        known.push(peer);
        tracing::warn!(
            %peer,
            "a peer that is not trusted forwards for others, who share its limits; if it is a proxy of yours, \
             add it to trusted_proxies"
        );
    }
}

/// The network that counts as one address. A household or a server has a whole IPv6 /64, so counting single
/// addresses in it would limit nothing.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
    }
}

const fn per_minute(count: u32) -> NonZeroU32 {
    match NonZeroU32::new(count) {
        Some(count) => count,
        None => NonZeroU32::MIN,
    }
}
