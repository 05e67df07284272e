//! What carries out a batch.

use std::error::Error;

/// Carries out batches of commands, all or nothing. It lives on the writer thread.
pub trait Executor: Send + 'static {
    /// What callers submit. It owns its data, so that a batch can be executed again.
    type Command: Send + 'static;
    /// What a command came to; a refusal for a business reason is one, too.
    type Outcome: Send + 'static;
    /// Why a batch was not carried out.
    type Error: Error + Send + Sync + 'static;

    /// Carries out the commands in their order, as one transaction, and gives their outcomes in the same order.
    ///
    /// `Ok` means durable. `Err` means that nothing happened, or that nobody knows whether it did. After an error or a
    /// panic the next call must find the executor usable: it cleans up after itself.
    fn execute(&mut self, batch: &[Self::Command]) -> Result<Vec<Self::Outcome>, Self::Error>;

    /// Is the error one that every command would meet, for example a database that does not answer?
    ///
    /// Then the batch is not tried again command by command: a hundred timeouts one after the other would stop the
    /// queue for minutes.
    fn is_outage(_error: &Self::Error) -> bool {
        false
    }
}
