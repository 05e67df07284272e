//! The bounded queue: the part that callers see.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::Executor;
use crate::shared::{Limits, Shared, SubmitError};
use crate::stats::Stats;
use crate::writer;

/// The writer thread could not be started.
#[derive(Debug, thiserror::Error)]
#[error("writer thread could not be started")]
pub struct StartError(#[source] std::io::Error);

/// A queue with its writer thread. Dropping it does the same as [`GroupCommit::shutdown`].
pub struct GroupCommit<E: Executor> {
    shared: Arc<Shared<E>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl<E: Executor> GroupCommit<E> {
    /// Starts the writer thread under the given name.
    pub fn start(name: &str, limits: Limits, executor: E) -> Result<Self, StartError> {
        let shared = Arc::new(Shared::new(limits));
        let of_writer = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || writer::run(&of_writer, executor))
            .map_err(StartError)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Puts a command into the queue immediately, and returns a future of its outcome.
    ///
    /// The command is in the queue when this function returns. Dropping the future, polled or not, does not
    /// cancel it.
    pub fn submit(
        &self,
        command: E::Command,
    ) -> impl Future<Output = Result<E::Outcome, SubmitError<E::Error>>> + Send + use<E> {
        let submitted = self.shared.push(command);
        async move { submitted?.await.unwrap_or(Err(SubmitError::Stopped)) }
    }

    /// What the writer has done so far.
    pub fn stats(&self) -> Stats {
        self.shared.counters.read()
    }

    /// How many commands are waiting now.
    pub fn waiting(&self) -> usize {
        self.shared.waiting()
    }

    /// Accepts no more commands, executes those that are waiting, and ends the writer thread. Blocks until
    /// that is done. A second call does nothing.
    pub fn shutdown(&self) {
        self.shared.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("writer thread panicked");
        }
    }
}

impl<E: Executor> Drop for GroupCommit<E> {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl<E: Executor> fmt::Debug for GroupCommit<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupCommit")
            .field("limits", &self.shared.limits)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
