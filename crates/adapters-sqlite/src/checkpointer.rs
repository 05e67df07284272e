//! Copies the log into the database, beside the writer.
//!
//! Otherwise the writer would copy all of it in one of its commits while every other write waits. What this
//! thread leaves is little; the writer copies that when the log starts over
//! (`docs/adr/0026-checkpoints-beside-the-writer.md`). So the only thing that depends on this thread is how
//! long that takes.

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

/// How many commands are committed between two checks of the log. A check takes a few microseconds. A command
/// adds at most one frame to the log when many share a commit, and about ten when it has a commit of its own.
const COMMANDS_BETWEEN_LOOKS: usize = 100;

/// How many frames are worth a checkpoint. Up to this many can be left for the writer, too.
const WORTH_COPYING: i32 = 2_000;

/// How many times one checkpoint tries to catch up with the writer.
const PASSES: u32 = 8;

/// The thread that copies. Dropping this ends the thread and waits for it.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    /// `None` at the end: once nothing can wake it, the thread ends.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// How many commands were committed since the last check.
    commands: usize,
}

impl Checkpointer {
    /// Starts the thread. It connects when it first checks the log.
    pub(crate) fn start(file: DatabaseFile, options: SqliteOptions) -> io::Result<Self> {
        // One signal is enough: two would make it check the same log twice.
        let (wake, woken) = sync_channel(1);
        let thread = thread::Builder::new()
            .name("sqlite-checkpointer".to_owned())
            .spawn(move || run(&file, &options, woken))?;
        Ok(Self { wake: Some(wake), thread: Some(thread), commands: 0 })
    }

    /// Counts the commands of a commit, and wakes the thread now and then.
    pub(crate) fn committed(&mut self, commands: usize) {
        self.commands += commands;
        if self.commands >= COMMANDS_BETWEEN_LOOKS {
            self.commands = 0;
            if let Some(wake) = &self.wake {
                // If the channel is full, the thread was woken before and has not checked yet.
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

/// Checks the log whenever it is woken. After an error the next check opens a new connection.
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
                    "log could not be copied by the checkpointer; the writer now copies it alone"
                );
                is_failing = true;
            }
        }
    }
}

/// Copies the log, if that is worth it, and returns the connection.
///
/// The writer goes on while a long pass copies. A pass that the writer overtook has not waited until the
/// database is on disk; the first pass to reach the end of the log waits for all of it. So this continues
/// with what was written in the meantime, which is less each time, until a pass ends where the log ends.
///
/// It never starts near the point where the writer starts the log over: only one of them can copy at a time,
/// and the writer could be kept from it forever.
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
        // As much as readers permit, without making anybody wait.
        connection.batch_execute("PRAGMA wal_checkpoint(PASSIVE)")?;
        log = Log::look(&mut connection)?;
        // A reader still needs the old pages, or another process is copying, or the log has started over.
        if log.copied <= before {
            break;
        }
    }
    Ok(connection)
}

/// How long the log is, and how much of it is already in the database.
#[derive(QueryableByName, Clone, Copy, Debug, PartialEq, Eq)]
struct Log {
    #[diesel(sql_type = Integer, column_name = log)]
    frames: i32,
    #[diesel(sql_type = Integer, column_name = checkpointed)]
    copied: i32,
}

impl Log {
    /// Only reads the numbers, and takes no lock.
    fn look(connection: &mut SqliteConnection) -> Result<Self, SqliteError> {
        Ok(diesel::sql_query("PRAGMA wal_checkpoint(NOOP)").get_result(connection)?)
    }

    fn left(self) -> i32 {
        self.frames - self.copied
    }
}

#[cfg(test)]
mod tests;
