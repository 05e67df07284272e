//! A bound on how many are asked at once, and on how long that takes, waiting included.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout_at;

/// How much later than promised an answer is given at the latest, should something not keep to its time.
const SLACK: Duration = Duration::from_millis(300);

/// Lets a few through at a time.
#[derive(Debug)]
pub struct Gate {
    total: Duration,
    in_flight: Arc<Semaphore>,
}

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
pub enum Late {
    /// Others took all the time.
    #[error("too many wait")]
    Busy,
    /// It took too long.
    #[error("it did not answer in time")]
    Time,
    /// It ended by itself.
    #[error("the thread that asked ended")]
    Ended(#[source] tokio::task::JoinError),
}

impl Gate {
    /// Lets this many through at a time, each for this long at most.
    pub fn new(in_flight: usize, total: Duration) -> Self {
        Self { total, in_flight: Arc::new(Semaphore::new(in_flight)) }
    }

    /// Does something on a thread that may block, which must keep to the deadline that it is given.
    pub async fn pass<T: Send + 'static>(
        &self,
        work: impl FnOnce(Instant) -> T + Send + 'static,
    ) -> Result<T, Late> {
        let deadline = Instant::now() + self.total;
        let waiting = Arc::clone(&self.in_flight).acquire_owned();
        let Ok(Ok(permit)) = timeout_at(deadline.into(), waiting).await else {
            return Err(Late::Busy);
        };
        let working = spawn_blocking(move || {
            // Held as long as the thread is busy, even if nobody waits for the outcome any more.
            let _permit = permit;
            work(deadline)
        });
        match timeout_at((deadline + SLACK).into(), working).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(ended)) => Err(Late::Ended(ended)),
            Err(_) => Err(Late::Time),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    const TOTAL: Duration = Duration::from_millis(200);

    #[tokio::test]
    async fn b_048_whoever_comes_while_all_are_busy_waits_and_no_longer_than_promised() {
        let gate = Arc::new(Gate::new(1, TOTAL));
        let busy = Arc::clone(&gate);
        let slow = tokio::spawn(async move { busy.pass(|_| sleep(TOTAL * 4)).await });
        tokio::task::yield_now().await;
        assert!(matches!(gate.pass(|_| ()).await, Err(Late::Busy)));
        assert!(matches!(slow.await.unwrap(), Err(Late::Time)), "nobody waits for a thread that is late");
        // The late thread still counts, until it is done.
        sleep(TOTAL * 3);
        assert!(gate.pass(|_| ()).await.is_ok());
    }
}
