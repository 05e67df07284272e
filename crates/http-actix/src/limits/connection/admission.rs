//! How many connections there may be: of one address, and in all (F-06).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ipnet::IpNet;

use crate::limits::rate_limit::network;

/// How often one thing is said.
const AGAIN_AFTER: Duration = Duration::from_secs(60);

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// In all. More wait until one ends.
    pub total: usize,
    /// Of one IPv4 address or one IPv6 /64. More are closed at once.
    pub of_one_address: usize,
}

/// Counts the connections.
pub(crate) struct Admission {
    limits: ConnectionLimits,
    /// Whose connections are those of many people.
    excepted: Vec<IpNet>,
    /// Whoever tries the server out on this machine is nobody's attacker.
    excepts_loopback: bool,
    total: AtomicUsize,
    peers: Mutex<Peers>,
}

#[derive(Default)]
struct Peers {
    counts: HashMap<IpAddr, usize>,
    said_at: Option<Instant>,
}

/// A connection that counts until this is dropped.
pub(crate) struct Admitted {
    admission: Arc<Admission>,
    /// `None`: it counts only among all.
    peer: Option<IpAddr>,
}

impl Admission {
    pub(crate) fn new(limits: ConnectionLimits, excepted: Vec<IpNet>, excepts_loopback: bool) -> Arc<Self> {
        Arc::new(Self {
            limits,
            excepted,
            excepts_loopback,
            total: AtomicUsize::new(0),
            peers: Mutex::default(),
        })
    }

    /// Lets a connection of this address in, or does not.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Admitted> {
        let address = address.to_canonical();
        let is_excepted = self.excepted.iter().any(|network| network.contains(&address))
            || (self.excepts_loopback && address.is_loopback());
        let peer = (!is_excepted).then(|| network(address));
        if let Some(peer) = peer {
            let mut peers = self.peers();
            let count = peers.counts.entry(peer).or_default();
            if *count >= self.limits.of_one_address {
                let now = Instant::now();
                if peers.said_at.is_none_or(|at| now.duration_since(at) >= AGAIN_AFTER) {
                    peers.said_at = Some(now);
                    tracing::warn!(
                        %peer,
                        connections = self.limits.of_one_address,
                        "connections of one address are closed, it has as many as one may have \
                         (connections_per_address); if it is a proxy of yours, name it in trusted_proxies"
                    );
                }
                return None;
            }
            *count += 1;
        }
        self.total.fetch_add(1, Ordering::Relaxed);
        Some(Admitted { admission: Arc::clone(self), peer })
    }

    /// Is there hardly room for another one?
    pub(crate) fn is_crowded(&self) -> bool {
        self.total.load(Ordering::Relaxed) >= self.limits.total - self.limits.total / 8
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.admission.total.fetch_sub(1, Ordering::Relaxed);
        let Some(peer) = self.peer else { return };
        let mut peers = self.admission.peers();
        if let Some(count) = peers.counts.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                peers.counts.remove(&peer);
            }
        }
        // After a flood from many addresses its room is given back.
        if peers.counts.capacity() > 1_024 && peers.counts.len() < peers.counts.capacity() / 8 {
            peers.counts.shrink_to_fit();
        }
    }
}
