//! What executes a batch.

use std::error::Error;

/// Executes batches of commands, each batch atomically. It lives on the writer thread.
pub trait Executor: Send + 'static {
    /// What callers submit. A command owns its data, so that a batch can be executed again.
    type Command: Send + 'static;
    /// The result of a command. A refusal for a business reason is an outcome too.
    type Outcome: Send + 'static;
    /// Why a batch was not executed.
    type Error: Error + Send + Sync + 'static;

    /// Executes the commands in order, as one transaction, and returns their outcomes in the same order.
    ///
    /// `Ok` means durable. `Err` means that nothing happened, or that we do not know whether it did. After an
    /// error or a panic, the next call must find the executor usable: it cleans up after itself.
    fn execute(&mut self, batch: &[Self::Command]) -> Result<Vec<Self::Outcome>, Self::Error>;

    /// Would every command meet this error, as when the database does not answer?
    ///
    /// If so, the batch is not retried command by command: a hundred timeouts in a row would block the queue
    /// for minutes.
    fn is_outage(_error: &Self::Error) -> bool {
        false
    }
}
