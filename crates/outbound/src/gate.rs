//! A limit on how many requests run at once and on how long each may take. The waiting time counts, or has a
//! limit of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout_at;

/// If the work overruns its deadline, the caller gets an answer at most this much later.
const SLACK: Duration = Duration::from_millis(300);

/// Lets a few requests through at a time.
#[derive(Debug)]
pub struct Gate {
    time: Time,
    in_flight: Arc<Semaphore>,
}

/// The time limits of a request.
#[derive(Clone, Copy, Debug)]
enum Time {
    /// One limit for waiting and work together.
    Together(Duration),
    /// A limit for each, so that a request that waited long has as much time to work as any other.
    Apart { waiting: Duration, working: Duration },
}

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
pub enum Late {
    /// Other requests used up all the time.
    #[error("too many wait")]
    Busy,
    /// The work took too long.
    #[error("it did not answer in time")]
    Time,
    /// The thread ended by itself.
    #[error("the thread that asked ended")]
    Ended(#[source] tokio::task::JoinError),
}

impl Gate {
    /// Lets this many requests through at a time, each for at most this long.
    pub fn new(in_flight: usize, total: Duration) -> Self {
        Self { time: Time::Together(total), in_flight: Arc::new(Semaphore::new(in_flight)) }
    }

    /// Lets this many requests through at a time. Each waits at most this long, and then runs at most that
    /// long. Use this one if a server is judged by whether it answered in time: the time spent waiting is not
    /// its fault.
    pub fn apart(in_flight: usize, waiting: Duration, working: Duration) -> Self {
        Self { time: Time::Apart { waiting, working }, in_flight: Arc::new(Semaphore::new(in_flight)) }
    }

    /// Runs the work on a thread that is allowed to block. The work must keep to the deadline that it is
    /// given.
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
            // Held as long as the thread is busy, even if no one waits for the result any more.
            let _permit = permit;
            // The time starts here, not while the work waits for a thread.
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
        assert!(matches!(slow.await.unwrap(), Err(Late::Time)), "no one waits for a late thread");
        // The late thread still counts until it is done.
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
