//! A bounded queue and one writer thread that turns waiting commands into shared commits.
//!
//! A durable commit costs an fsync whether it carries one command or a hundred. Callers hand their commands to a queue;
//! one thread takes whatever waits, lets an [`Executor`] carry it out as one transaction, and answers each caller
//! afterwards. There is no timer: a command that comes alone is executed at once, and commands that come while a commit
//! runs share the next one.
//!
//! What is promised:
//!
//! - **Order.** Commands are executed in the order in which they were submitted.
//! - **Atomicity.** A batch happens whole or not at all; of a batch that failed, each command is tried again alone, so
//!   that one bad command spoils nobody else's. This is safe because commands are idempotent by their ids.
//! - **Durability before the answer.** Nobody is answered before [`Executor::execute`] returned.
//! - **Backpressure.** The queue is bounded. A full one refuses at once with [`SubmitError::Overloaded`]; nobody waits
//!   for room.
//! - **No cancellation.** A submitted command is carried out whether or not its future is still there.
//! - **No waiter hangs.** When the executor panics, its callers get an error and the writer goes on; when the writer is gone,
//!   they get [`SubmitError::Stopped`].
//!
//! This crate knows no database, and no command: what a batch means is the executor's business.

mod executor;
mod queue;
mod stats;
mod writer;

pub use executor::Executor;
pub use queue::{GroupCommit, Limits, StartError, SubmitError};
pub use stats::Stats;

#[cfg(test)]
mod tests;
