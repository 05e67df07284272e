//! The writer thread: takes the waiting commands, executes them, and answers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::Executor;
use crate::shared::{Reply, Shared, Submission, SubmitError};

/// Runs until the queue is stopped and empty.
pub(crate) fn run<E: Executor>(shared: &Shared<E>, mut executor: E) {
    // However this function ends, no caller is left waiting.
    let _guard = AbandonOnDrop(shared);
    while let Some(batch) = shared.take() {
        let (commands, replies) =
            batch.into_iter().map(Submission::into_parts).unzip::<_, _, Vec<_>, Vec<_>>();
        answer(shared, &mut executor, &commands, replies);
    }
}

/// Executes the commands as one batch and answers each. If the batch fails, executes each command alone.
fn answer<E: Executor>(
    shared: &Shared<E>,
    executor: &mut E,
    commands: &[E::Command],
    replies: Vec<Reply<E>>,
) {
    match attempt(executor, commands) {
        Ok(outcomes) => {
            shared.counters.committed(commands.len());
            for (reply, outcome) in replies.into_iter().zip(outcomes) {
                // A caller that went away does not need the answer.
                let _ = reply.send(Ok(outcome));
            }
        }
        Err(failure) => {
            shared.counters.failed();
            if commands.len() > 1 && !failure.is_outage::<E>() {
                tracing::warn!(commands = commands.len(), failure = %failure, "batch failed, retrying its commands one by one");
                for (command, reply) in commands.iter().zip(replies) {
                    answer(shared, executor, std::slice::from_ref(command), vec![reply]);
                }
                return;
            }
            for reply in replies {
                let _ = reply.send(Err(failure.to_submit_error()));
            }
        }
    }
}

/// Executes a batch. A panic or a wrong number of outcomes is a failure like any other.
fn attempt<E: Executor>(
    executor: &mut E,
    commands: &[E::Command],
) -> Result<Vec<E::Outcome>, Failure<E::Error>> {
    // The executor promises to clean up after a panic, and the commands are only read.
    match catch_unwind(AssertUnwindSafe(|| executor.execute(commands))) {
        Ok(Ok(outcomes)) if outcomes.len() == commands.len() => Ok(outcomes),
        Ok(Ok(_)) | Err(_) => Err(Failure::Broken),
        Ok(Err(error)) => Err(Failure::Failed(Arc::new(error))),
    }
}

/// Why a batch failed.
#[derive(Debug, thiserror::Error)]
enum Failure<X> {
    #[error("executor broke down")]
    Broken,
    #[error("{0}")]
    Failed(Arc<X>),
}

impl<X> Failure<X> {
    fn is_outage<E: Executor<Error = X>>(&self) -> bool {
        match self {
            Self::Broken => false,
            Self::Failed(error) => E::is_outage(error),
        }
    }

    fn to_submit_error(&self) -> SubmitError<X> {
        match self {
            Self::Broken => SubmitError::Broken,
            Self::Failed(error) => SubmitError::Failed(Arc::clone(error)),
        }
    }
}

impl<E: Executor> Submission<E> {
    fn into_parts(self) -> (E::Command, Reply<E>) {
        (self.command, self.reply)
    }
}

struct AbandonOnDrop<'a, E: Executor>(&'a Shared<E>);

impl<E: Executor> Drop for AbandonOnDrop<'_, E> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
