//! Limits the number of connections, from one address and in total (F-06).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ipnet::IpNet;

use crate::limits::rate_limit::network;

/// How soon the warning can be repeated.
const AGAIN_AFTER: Duration = Duration::from_secs(60);

/// How many connections are allowed.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// In total. More wait until one ends.
    pub total: usize,
    /// From one IPv4 address or one IPv6 /64. More are closed at once.
    pub of_one_address: usize,
}

/// Counts the connections.
pub(crate) struct Admission {
    limits: ConnectionLimits,
    /// Proxies, whose connections are those of many clients. They are not limited by address.
    excepted: Vec<IpNet>,
    /// Connections from this machine are not limited by address either, if the server is only being tried out
    /// on it.
    excepts_loopback: bool,
    total: AtomicUsize,
    peers: Mutex<Peers>,
}

#[derive(Default)]
struct Peers {
    counts: HashMap<IpAddr, usize>,
    said_at: Option<Instant>,
}

/// A connection that is counted until this is dropped.
pub(crate) struct Admitted {
    admission: Arc<Admission>,
    /// `None` if only the total counts it.
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

    /// Admits a connection from this address. `None` if it has too many.
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
                        "connections of one address are closed because it has the maximum (connections_per_address); \
                         if it is a proxy of yours, add it to trusted_proxies"
                    );
                }
                return None;
            }
            *count += 1;
        }
        self.total.fetch_add(1, Ordering::Relaxed);
        Some(Admitted { admission: Arc::clone(self), peer })
    }

    /// Are most of the connections in use?
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
        // After a flood from many addresses, its memory is given back.
        if peers.counts.capacity() > 1_024 && peers.counts.len() < peers.counts.capacity() / 8 {
            peers.counts.shrink_to_fit();
        }
    }
}
