//! What callers and the writer share: the waiting commands, and whether more are accepted.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::Executor;
use crate::stats::Counters;

/// How many commands can wait, and how many can share a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many commands can wait. The next one is refused.
    pub queue: usize,
    /// How many commands can share a commit. Zero counts as one.
    pub batch: usize,
}

/// Why a command has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError<E> {
    /// Too many commands are waiting. This one was not accepted and did not happen.
    #[error("write queue is full")]
    Overloaded,
    /// The writer is gone. If a command was refused with this immediately, it did not happen.
    #[error("writer has stopped")]
    Stopped,
    /// The executor panicked or returned the wrong number of outcomes. We do not know whether the command
    /// happened.
    #[error("executor broke down")]
    Broken,
    /// The executor could not execute it. The commands of one batch share the error.
    #[error("command could not be carried out")]
    Failed(#[source] Arc<E>),
}

/// The state that callers and the writer share.
pub(crate) struct Shared<E: Executor> {
    state: Mutex<State<E>>,
    wake: Condvar,
    pub(crate) limits: Limits,
    pub(crate) counters: Counters,
}

struct State<E: Executor> {
    waiting: VecDeque<Submission<E>>,
    /// Only a sleeping writer is woken, so that under load no caller pays for a wake-up.
    writer_sleeps: bool,
    stopped: bool,
}

/// A waiting command, and where its answer goes.
pub(crate) struct Submission<E: Executor> {
    pub(crate) command: E::Command,
    pub(crate) reply: Reply<E>,
}

type Answer<E> = Result<<E as Executor>::Outcome, SubmitError<<E as Executor>::Error>>;
pub(crate) type Reply<E> = oneshot::Sender<Answer<E>>;

impl<E: Executor> Shared<E> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            state: Mutex::new(State { waiting: VecDeque::new(), writer_sleeps: false, stopped: false }),
            wake: Condvar::new(),
            limits: Limits { queue: limits.queue.max(1), batch: limits.batch.max(1) },
            counters: Counters::default(),
        }
    }

    /// How many commands are waiting now.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Puts a command into the queue. Its answer comes from the receiver.
    pub(crate) fn push(
        &self,
        command: E::Command,
    ) -> Result<oneshot::Receiver<Answer<E>>, SubmitError<E::Error>> {
        let (reply, answer) = oneshot::channel();
        let mut state = self.lock();
        if state.stopped {
            return Err(SubmitError::Stopped);
        }
        if state.waiting.len() >= self.limits.queue {
            return Err(SubmitError::Overloaded);
        }
        state.waiting.push_back(Submission { command, reply });
        let wake = std::mem::take(&mut state.writer_sleeps);
        drop(state);
        if wake {
            self.wake.notify_one();
        }
        Ok(answer)
    }

    /// Waits for work and takes at most one batch of it. `None` means stopped, with nothing left to do.
    pub(crate) fn take(&self) -> Option<Vec<Submission<E>>> {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            if state.stopped {
                return None;
            }
            state.writer_sleeps = true;
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.writer_sleeps = false;
        }
        let size = state.waiting.len().min(self.limits.batch);
        Some(state.waiting.drain(..size).collect())
    }

    /// Accepts no more commands.
    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.wake.notify_one();
    }

    /// Refuses all further commands and drops the waiting ones. Their callers get [`SubmitError::Stopped`].
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let abandoned = std::mem::take(&mut state.waiting);
        drop(state);
        drop(abandoned);
    }

    fn lock(&self) -> MutexGuard<'_, State<E>> {
        // Nothing under this lock can panic, so a poisoned state is still consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
