//! How a batch of commands becomes one commit.

use countersign_group_commit::Executor;
use countersign_ports::signatures::*;
use countersign_ports::storage_operations;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;

use crate::checkpointer::Checkpointer;
use crate::error::SqliteError;
use crate::file::{DatabaseFile, FileWatch};
use crate::options::SqliteOptions;
use crate::{ops, pool};

/// Makes a command of each operation that writes, with its outcome.
macro_rules! commands {
    ($(
        $(#[$on_port:meta])*
        $port:ident {
            $(writes { $(
                $(#[$on_write:meta])*
                $write:ident($($write_way:ident $write_argument:ident: $write_type:ty),* $(,)?)
                    -> $outcome:ty $([$($write_mark:ident),*])?;
            )* })?
            $(reads { $(
                $(#[$on_read:meta])*
                $read:ident($($read_way:ident $read_argument:ident: $read_type:ty),* $(,)?)
                    -> $found:ty $([$($read_mark:ident),*])?;
            )* })?
        }
    )*) => {
        /// Every command that writes, with the name of its operation.
        #[derive(Debug)]
        pub(crate) enum Command { $($($($write { $($write_argument: $write_type),* },)*)?)* }

        /// The outcome of a command.
        #[derive(Debug)]
        pub(crate) enum Outcome { $($($($write($outcome),)*)?)* }

        impl Command {
            fn execute(&self, connection: &mut SqliteConnection) -> Result<Outcome, SqliteError> {
                match self {
                    $($($(Self::$write { $($write_argument),* } => {
                        ops::$write(connection, $(given!($write_way $write_argument)),*)
                            .map(Outcome::$write)
                            .map_err(SqliteError::from)
                    })*)?)*
                }
            }
        }
    };
}

/// An argument that the command keeps, as its operation takes it.
macro_rules! given {
    (copy $argument:ident) => {
        *$argument
    };
    (own $argument:ident) => {
        $argument
    };
}

storage_operations!(commands);

/// The one connection that writes, on the writer thread, and the thread that copies the log.
pub(crate) struct SqliteExecutor {
    file: DatabaseFile,
    options: SqliteOptions,
    /// `None` while a new connection must be opened.
    connection: Option<SqliteConnection>,
    checkpointer: Checkpointer,
    watch: FileWatch,
}

impl SqliteExecutor {
    pub(crate) fn open(file: DatabaseFile, options: SqliteOptions) -> Result<Self, SqliteError> {
        let connection = pool::connect_writer(&file, &options)?;
        let checkpointer =
            Checkpointer::start(file.clone(), options).map_err(SqliteError::CheckpointerNotStarted)?;
        let watch = FileWatch::of(&file).map_err(SqliteError::File)?;
        Ok(Self { file, options, connection: Some(connection), checkpointer, watch })
    }
}

impl Executor for SqliteExecutor {
    type Command = Command;
    type Outcome = Outcome;
    type Error = SqliteError;

    /// One `BEGIN IMMEDIATE … COMMIT` around all of them. The lock is taken at the beginning, so that no
    /// command finds out halfway that it cannot write.
    fn execute(&mut self, batch: &[Command]) -> Result<Vec<Outcome>, SqliteError> {
        // Whatever happens below, including a panic, the connection is kept only if it is known to be clean.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                // Opening a file that does not exist would create an empty database.
                self.watch.check()?;
                pool::connect_writer(&self.file, &self.options)?
            }
        };
        // After the commit and before the answer: what went into a file that cannot be found again must not
        // be promised.
        let result =
            commit(&mut connection, batch).and_then(|outcomes| self.watch.check().map(|()| outcomes));
        if result.is_ok() {
            self.checkpointer.committed(batch.len());
        }
        if result.is_ok() || is_clean_again(&mut connection) {
            self.connection = Some(connection);
        } else {
            tracing::warn!("writer opens a new connection, because the old one could not be rolled back");
        }
        result
    }

    fn is_outage(error: &SqliteError) -> bool {
        error.is_outage()
    }
}

fn commit(connection: &mut SqliteConnection, batch: &[Command]) -> Result<Vec<Outcome>, SqliteError> {
    connection.batch_execute("BEGIN IMMEDIATE")?;
    let outcomes =
        batch.iter().map(|command| command.execute(connection)).collect::<Result<Vec<_>, SqliteError>>()?;
    connection.batch_execute("COMMIT")?;
    Ok(outcomes)
}

/// Ends whatever the failed batch left open. After some failures SQLite has already rolled back and
/// `ROLLBACK` is an error, so what counts is whether a new transaction can begin.
fn is_clean_again(connection: &mut SqliteConnection) -> bool {
    let _ = connection.batch_execute("ROLLBACK");
    connection.batch_execute("BEGIN; ROLLBACK").is_ok()
}

#[cfg(test)]
mod tests;
