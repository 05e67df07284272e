//! A bound on how many are asked at once, and on how long that takes, waiting included or apart.

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
    time: Time,
    in_flight: Arc<Semaphore>,
}

/// How long it may take.
#[derive(Clone, Copy, Debug)]
enum Time {
    /// Waiting and work together.
    Together(Duration),
    /// Each has its own, so that whoever waited long has as much time to work as all others.
    Apart { waiting: Duration, working: Duration },
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
        Self { time: Time::Together(total), in_flight: Arc::new(Semaphore::new(in_flight)) }
    }

    /// Lets this many through at a time, each after this much waiting at most, and then for this long at most. Whoever judges
    /// those who are asked by whether they kept to their time needs this one: what passed before is not their time.
    pub fn apart(in_flight: usize, waiting: Duration, working: Duration) -> Self {
        Self { time: Time::Apart { waiting, working }, in_flight: Arc::new(Semaphore::new(in_flight)) }
    }

    /// Does something on a thread that may block, which must keep to the deadline that it is given.
    pub async fn pass<T: Send + 'static>(
        &self,
        work: impl FnOnce(Instant) -> T + Send + 'static,
    ) -> Result<T, Late> {
        let came = Instant::now();
        let patience = match self.time {
            Time::Together(total) => total,
            Time::Apart { waiting, .. } => waiting,
        };
        let waiting = Arc::clone(&self.in_flight).acquire_owned();
        let Ok(Ok(permit)) = timeout_at((came + patience).into(), waiting).await else {
            return Err(Late::Busy);
        };
        let time = self.time;
        let deadline = move || match time {
            Time::Together(total) => came + total,
            Time::Apart { working, .. } => Instant::now() + working,
        };
        let patience = deadline() + SLACK;
        let working = spawn_blocking(move || {
            // Held as long as the thread is busy, even if nobody waits for the outcome any more.
            let _permit = permit;
            // Their time begins where they do, not where they wait for a thread.
            work(deadline())
        });
        match timeout_at(patience.into(), working).await {
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

    #[tokio::test]
    async fn f_16_whoever_waited_has_as_much_time_as_all_others_where_waiting_is_apart() {
        let gate = Arc::new(Gate::apart(1, TOTAL * 3, TOTAL));
        let busy = Arc::clone(&gate);
        let slow = tokio::spawn(async move { busy.pass(|_| sleep(TOTAL)).await });
        tokio::task::yield_now().await;
        let left = gate.pass(|deadline| deadline.saturating_duration_since(Instant::now())).await.unwrap();
        assert!(left > TOTAL - TOTAL / 4, "{left:?}");
        assert!(slow.await.unwrap().is_ok());

        let impatient = Gate::apart(0, TOTAL / 4, TOTAL);
        let came = Instant::now();
        assert!(matches!(impatient.pass(|_| ()).await, Err(Late::Busy)));
        assert!(came.elapsed() < TOTAL);
    }
}
