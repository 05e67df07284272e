//! Whether the database is still the one with which the server started.
//!
//! A restore or a copy refuses a database on which a server said within the last minute that it runs. A server that stood still (a stopped
//! process, a machine that slept) is not seen, and what it remembers and the keys that it derived are then those of an epoch that is over. So
//! the server looks every few seconds at two random ids, that of the epoch and that of the last filling. Before a request is answered it
//! only compares two clocks in memory with the time of the last look: if either says that it was long ago, the request looks first. A
//! request of a server that does not stand still asks nothing.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use countersign_domain::epoch::Lineage;
use countersign_ports::{Clock, Storage, StoreError};

/// For how long a look is believed. It must be shorter than the time for which a restore watches a server (`WATCHED`),
/// less the time between two signs of life.
pub const SURE_FOR: Duration = Duration::from_millis(SURE_FOR_MILLIS as u64);

const SURE_FOR_MILLIS: i64 = 10_000;

/// Compares what the database is with what it was.
pub struct Footing {
    storage: Arc<dyn Storage>,
    /// The clock of this machine: the time of day goes on while the machine sleeps, and the monotonic clock
    /// cannot be set.
    clock: Arc<dyn Clock>,
    /// As it was when the server started.
    at_start: Lineage,
    /// The last look, by both clocks, in milliseconds.
    looked: [AtomicI64; 2],
    is_lost: AtomicBool,
}

/// Why the server does not answer.
#[derive(Debug, thiserror::Error)]
pub enum NoFooting {
    /// Another epoch began, or the database was filled anew. The server has to start again.
    #[error("the database was restored or copied while the server ran")]
    Lost,
    /// The database is being filled, or that was interrupted. If it is undone, the server goes on.
    #[error("a restore or a copy fills the database, or did not finish")]
    BeingFilled,
    /// The database did not answer.
    #[error("database did not say whether it is the same")]
    Unknown(#[source] StoreError),
}

impl Footing {
    /// Begins with what the database is at the start of the server.
    pub fn new(storage: Arc<dyn Storage>, clock: Arc<dyn Clock>, at_start: Lineage) -> Self {
        let looked = now(&*clock).map(AtomicI64::new);
        Self { storage, clock, at_start, looked, is_lost: AtomicBool::new(false) }
    }

    /// Is the last look recent by both clocks, and was all well? Asks nothing.
    pub fn is_sure(&self) -> bool {
        if self.is_lost.load(Ordering::Relaxed) {
            return false;
        }
        let [of_day, running] = now(&*self.clock);
        let [day_looked, run_looked] = &self.looked;
        is_recent(of_day, day_looked) && is_recent(running, run_looked)
    }

    /// Looks at the database.
    pub async fn look(&self) -> Result<(), NoFooting> {
        if self.is_lost.load(Ordering::Relaxed) {
            return Err(NoFooting::Lost);
        }
        // Taken before, so that everything that was committed by then is in what is read.
        let asked = now(&*self.clock);
        let lineage = self.storage.lineage().await.map_err(NoFooting::Unknown)?;
        if (lineage.epoch, lineage.filling) != (self.at_start.epoch, self.at_start.filling) {
            self.is_lost.store(true, Ordering::Relaxed);
            return Err(NoFooting::Lost);
        }
        if lineage.is_unfinished {
            // Until it is undone, every request looks.
            self.looked.iter().for_each(|looked| looked.store(i64::MIN, Ordering::Relaxed));
            return Err(NoFooting::BeingFilled);
        }
        for (looked, asked) in self.looked.iter().zip(asked) {
            looked.store(asked, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn is_recent(now: i64, looked: &AtomicI64) -> bool {
    let ago = now.saturating_sub(looked.load(Ordering::Relaxed));
    (0..SURE_FOR_MILLIS).contains(&ago)
}

/// What both clocks show, in milliseconds.
fn now(clock: &dyn Clock) -> [i64; 2] {
    let (of_day, running) = (clock.now(), clock.elapsed());
    [
        of_day.unix_timestamp().saturating_mul(1000) + i64::from(of_day.millisecond()),
        i64::try_from(running.as_secs()).unwrap_or(i64::MAX).saturating_mul(1000)
            + i64::from(running.subsec_millis()),
    ]
}

impl fmt::Debug for Footing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Footing").field("at_start", &self.at_start).finish_non_exhaustive()
    }
}
