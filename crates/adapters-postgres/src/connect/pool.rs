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
//! - A statement waits a moment for a lock that another session holds, and then lets others use its
//!   connection and its thread. It comes again after them. So a locked table holds up only the operations
//!   that need it.
//! - An operation that takes too long is answered as unavailable, whatever its thread is still waiting for: a
//!   server that is frozen acknowledges everything and answers nothing.

use std::sync::Arc;
use std::time::Duration;

use countersign_ports::StoreError;
use diesel::PgConnection;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::connection::ConnectionUrl;
use super::connections::Connections;
use crate::error::{OpResult, OutOfPatience};
use crate::options::{PgOptions, SINGLES};

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
    /// Makes a pool without a connection. Each is opened when it is needed.
    pub(crate) fn new(url: ConnectionUrl, options: PgOptions) -> Self {
        let size = usize::try_from(options.pool_size.max(1)).unwrap_or(usize::MAX);
        // The threads of the batches need no permit.
        let of_batches = options.writers + options.readers + SINGLES;
        let turns = size.saturating_sub(of_batches).max(1);
        Self {
            connections: Connections::new(url, size, options.lock_patience),
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
