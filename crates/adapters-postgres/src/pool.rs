//! The pool, and what happens while the server is away.
//!
//! - An operation takes a place in a bounded queue, or is refused at once as overloaded. Waiting takes no
//!   thread: only as many operations have one as there are connections. Batches (`batch.rs`) have their own
//!   threads and take connections from here.
//! - No statement checks whether a connection is still good. An error of the connection condemns it and all
//!   that are as old, because a server that restarted has closed them all. Commands can be repeated, so the
//!   operation then runs once more on a new connection.
//! - If there is no connection, the operation waits for one, so that a short restart causes a delay and no
//!   error.
//! - A statement waits a moment for a lock that somebody else holds, and then lets others use its connection
//!   and its thread. It comes again after them. So a locked table holds up only the operations that need it.
//! - An operation that takes too long is answered as unavailable, whatever its thread is still waiting for: a
//!   server that is frozen acknowledges everything and answers nothing.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use countersign_ports::StoreError;
use diesel::PgConnection;
use diesel::r2d2::{self, ManageConnection, NopErrorHandler, PooledConnection};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::batch::SINGLES;
use crate::connection::{ConnectError, ConnectionUrl};
use crate::error::{OpError, OpResult, OutOfPatience};
use crate::options::PgOptions;

/// How long to wait for a connection: less than an operation can take, so that the reason can be reported.
const CHECKOUT: Duration = Duration::from_millis(1500);

/// How many idle connections are kept open.
const IDLE: u32 = 2;

/// The connections and the queue in front of them.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: Connections,
    /// Operations that are running or waiting.
    queue: Arc<Semaphore>,
    /// Operations that may have a connection, not counting batches.
    turns: Arc<Semaphore>,
    patience: Duration,
}

impl Pool {
    /// Makes a pool. Its connections are opened in the background.
    pub(crate) fn new(url: ConnectionUrl, options: PgOptions) -> Self {
        let size = options.pool_size.max(1);
        let epoch = Arc::new(AtomicU64::new(0));
        let opener = Opener {
            url,
            lock_patience: options.lock_patience,
            epoch: Arc::clone(&epoch),
            is_away: AtomicBool::new(false),
        };
        let pool = r2d2::Pool::builder()
            .max_size(size)
            .min_idle(Some(IDLE.min(size)))
            .test_on_check_out(false)
            .connection_timeout(CHECKOUT)
            // The opener logs when the server goes away and when it comes back; r2d2 would log every attempt.
            .error_handler(Box::new(NopErrorHandler))
            .build_unchecked(opener);
        // The threads of the batches need no permit.
        let of_batches = options.writers + options.readers + SINGLES;
        let turns = usize::try_from(size).unwrap_or(usize::MAX).saturating_sub(of_batches).max(1);
        Self {
            connections: Connections { pool, epoch },
            queue: Arc::new(Semaphore::new(options.queue.max(1))),
            turns: Arc::new(Semaphore::new(turns)),
            patience: options.patience,
        }
    }

    /// Takes a place in the queue, and keeps it until the permit is dropped.
    pub(crate) fn admit(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        self.queue.try_acquire().map_err(|_| StoreError::Overloaded)
    }

    pub(crate) const fn connections(&self) -> &Connections {
        &self.connections
    }

    pub(crate) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Carries out an operation on a thread that may block. Once it has started, dropping the future does not
    /// stop it, unless it was locked out: then it has done nothing, and does not come again.
    pub(crate) async fn run<T, F>(&self, operation: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(&mut PgConnection) -> OpResult<T> + Send + 'static,
    {
        let _place = self.admit()?;
        let answer = async {
            let mut operation = operation;
            loop {
                let turn = Arc::clone(&self.turns).acquire_owned().await;
                let turn = turn.map_err(|closed| StoreError::Unavailable(closed.into()))?;
                let connections = self.connections.clone();
                let thread = spawn_blocking(move || {
                    let answer = connections.attempt_twice(&operation);
                    drop(turn);
                    (answer, operation)
                });
                let (answer, again) = thread.await.map_err(|panicked| StoreError::Failed(panicked.into()))?;
                match answer? {
                    Err(error) if error.is_locked_out() => operation = again,
                    answer => return answer.map_err(StoreError::from),
                }
            }
        };
        match timeout(self.patience, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(StoreError::Unavailable(OutOfPatience.into())),
        }
    }
}

/// The connections, for threads that may block.
#[derive(Clone)]
pub(crate) struct Connections {
    pool: r2d2::Pool<Opener>,
    epoch: Arc<AtomicU64>,
}

impl Connections {
    /// Carries out an operation, and once more if only the connection failed.
    pub(crate) fn attempt_twice<T>(
        &self,
        operation: impl Fn(&mut PgConnection) -> OpResult<T>,
    ) -> Result<OpResult<T>, StoreError> {
        match self.attempt(&operation)? {
            Err(error) if error.is_about_the_connection() => self.attempt(&operation),
            answer => Ok(answer),
        }
    }

    fn attempt<T>(
        &self,
        operation: impl Fn(&mut PgConnection) -> OpResult<T>,
    ) -> Result<OpResult<T>, StoreError> {
        let mut link = self.check_out()?;
        let answer = operation(&mut link.connection);
        if answer.as_ref().is_err_and(OpError::is_about_the_connection) {
            // Only the first of them ends the epoch: connections that were opened since are good.
            let ended = link.epoch;
            let _ = self.epoch.compare_exchange(ended, ended + 1, Ordering::AcqRel, Ordering::Acquire);
        }
        Ok(answer)
    }

    /// Takes a connection of this epoch, and closes older ones that it finds.
    fn check_out(&self) -> Result<PooledConnection<Opener>, StoreError> {
        let deadline = Instant::now() + CHECKOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let link = self.pool.get_timeout(left).map_err(|error| StoreError::Unavailable(error.into()))?;
            if link.epoch == self.epoch.load(Ordering::Acquire) {
                return Ok(link);
            }
        }
    }
}

/// A connection, and the epoch in which it was opened.
pub(crate) struct Link {
    connection: PgConnection,
    epoch: u64,
}

/// Opens connections for the pool, and knows which of them are no longer any good.
pub(crate) struct Opener {
    url: ConnectionUrl,
    lock_patience: Duration,
    epoch: Arc<AtomicU64>,
    is_away: AtomicBool,
}

impl ManageConnection for Opener {
    type Connection = Link;
    type Error = ConnectError;

    fn connect(&self) -> Result<Link, ConnectError> {
        let epoch = self.epoch.load(Ordering::Acquire);
        let opened = self.url.open_for_pool(self.lock_patience);
        match &opened {
            Ok(_) if self.is_away.swap(false, Ordering::AcqRel) => {
                tracing::info!("database is reachable again")
            }
            Err(error) if !self.is_away.swap(true, Ordering::AcqRel) => {
                tracing::warn!(%error, "database is not reachable");
            }
            Ok(_) | Err(_) => {}
        }
        Ok(Link { connection: opened?, epoch })
    }

    fn is_valid(&self, _link: &mut Link) -> Result<(), ConnectError> {
        Ok(())
    }

    fn has_broken(&self, link: &mut Link) -> bool {
        std::thread::panicking() || link.epoch != self.epoch.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").field("url", &self.url).finish_non_exhaustive()
    }
}
