//! Copying the log into the database, beside the writer.
//!
//! Else the writer would do it all in one of its commits, and every other write would wait. What this thread leaves is little,
//! and the writer copies it when the log is to begin anew (`docs/adr/0026-checkpoints-beside-the-writer.md`). So nothing depends
//! on this thread but how long that takes.

use std::error::Error;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Integer;

use crate::error::SqliteError;
use crate::file::DatabaseFile;
use crate::options::SqliteOptions;
use crate::pool::{self, WRITER_CHECKPOINT};

/// How many commands are committed between two looks at the log. A look takes some microseconds; a command is one frame or less
/// when many share a commit, and some ten alone.
const COMMANDS_BETWEEN_LOOKS: usize = 100;

/// How many frames are worth a checkpoint. So many may be left for the writer, too.
const WORTH_COPYING: i32 = 2_000;

/// How often it is tried to catch up with the writer.
const PASSES: u32 = 8;

/// The thread that copies. Dropping this ends it and waits for it.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    /// None at the end: without somebody who may wake it the thread ends.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// How many were committed since the last look.
    commands: usize,
}

impl Checkpointer {
    /// Starts the thread. It connects when it looks for the first time.
    pub(crate) fn start(file: DatabaseFile, options: SqliteOptions) -> io::Result<Self> {
        // Who was told twice would look twice at the same log.
        let (wake, woken) = sync_channel(1);
        let thread = thread::Builder::new()
            .name("sqlite-checkpointer".to_owned())
            .spawn(move || run(&file, &options, woken))?;
        Ok(Self { wake: Some(wake), thread: Some(thread), commands: 0 })
    }

    /// Hears of a commit, and wakes the thread now and then.
    pub(crate) fn committed(&mut self, commands: usize) {
        self.commands += commands;
        if self.commands >= COMMANDS_BETWEEN_LOOKS {
            self.commands = 0;
            if let Some(wake) = &self.wake {
                // If it cannot be told, it was told before and has yet to look.
                let _ = wake.try_send(());
            }
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("checkpointer thread panicked");
        }
    }
}

/// Looks at the log whenever it is woken. After an error the next look has a new connection.
fn run(file: &DatabaseFile, options: &SqliteOptions, woken: impl IntoIterator<Item = ()>) {
    let mut connection = None;
    let mut is_failing = false;
    for () in woken {
        let copied = match connection.take() {
            Some(connection) => copy(connection),
            None => pool::connect_checkpointer(file, options).and_then(copy),
        };
        match copied {
            Ok(used) => {
                connection = Some(used);
                is_failing = false;
            }
            // A full disk would fill the operator's log, too.
            Err(_) if is_failing => {}
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "log could not be copied beside the writer, which now does it alone"
                );
                is_failing = true;
            }
        }
    }
}

/// Copies what is in the log, if it is worth it, and gives the connection back.
///
/// While a long pass copies, the writer goes on, and a pass that the writer overtook has not waited until the database is on
/// disk: whoever comes to the log's end first waits for all of it. Therefore it goes on with what was written meanwhile,
/// which is less each time, until a pass ends where the log ends.
///
/// It never begins where the writer is to end the log, because while one copies the other cannot, and it could be kept out for ever.
fn copy(mut connection: SqliteConnection) -> Result<SqliteConnection, SqliteError> {
    let mut log = Log::look(&mut connection)?;
    if log.left() < WORTH_COPYING {
        return Ok(connection);
    }
    for _ in 0..PASSES {
        if log.left() == 0 || log.frames >= WRITER_CHECKPOINT {
            break;
        }
        let before = log.copied;
        // As much as readers permit, and nobody waits for it.
        connection.batch_execute("PRAGMA wal_checkpoint(PASSIVE)")?;
        log = Log::look(&mut connection)?;
        // A reader still needs the database as it is, or another process is copying, or the log has begun anew.
        if log.copied <= before {
            break;
        }
    }
    Ok(connection)
}

/// How long the log is, and how much of it is in the database already.
#[derive(QueryableByName, Clone, Copy, Debug, PartialEq, Eq)]
struct Log {
    #[diesel(sql_type = Integer, column_name = log)]
    frames: i32,
    #[diesel(sql_type = Integer, column_name = checkpointed)]
    copied: i32,
}

impl Log {
    /// Takes no lock and does nothing else.
    fn look(connection: &mut SqliteConnection) -> Result<Self, SqliteError> {
        Ok(diesel::sql_query("PRAGMA wal_checkpoint(NOOP)").get_result(connection)?)
    }

    fn left(self) -> i32 {
        self.frames - self.copied
    }
}

#[cfg(test)]
mod tests;
