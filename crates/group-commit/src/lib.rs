//! A bounded queue and one writer thread that turns waiting commands into shared commits.
//!
//! A durable commit costs an fsync whether it carries one command or a hundred. Callers put their commands in
//! a queue. One thread takes whatever is waiting, lets an [`Executor`] execute it as one transaction, and
//! then answers each caller. There is no timer: a command that comes alone is executed at once, and commands
//! that come during a commit share the next one.
//!
//! What the crate guarantees:
//!
//! - **Order.** Commands are executed in the order in which they were submitted.
//! - **Atomicity.** A batch is committed whole or not at all. If a batch fails, each of its commands is
//!   retried alone, so that one bad command does not fail the others. This is safe because commands are
//!   idempotent by their ids.
//! - **Durability before the answer.** No caller gets an answer before [`Executor::execute`] has returned.
//! - **Backpressure.** The queue is bounded. A full queue refuses at once with [`SubmitError::Overloaded`];
//!   no one waits for room.
//! - **No cancellation.** A submitted command is executed even if its future is dropped.
//! - **No caller hangs.** If the executor panics, its callers get an error and the writer continues. If the
//!   writer is gone, they get [`SubmitError::Stopped`].
//!
//! This crate knows no database and no particular command. Only the executor knows what a batch means.

mod executor;
mod queue;
mod shared;
mod stats;
mod writer;

pub use executor::Executor;
pub use queue::{GroupCommit, StartError};
pub use shared::{Limits, SubmitError};
pub use stats::Stats;

#[cfg(test)]
mod tests;
