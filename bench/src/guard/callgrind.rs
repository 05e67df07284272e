//! The server under callgrind, and its counters.
//!
//! Valgrind emulates the same processor on every machine (x86-64 with AVX2), so libraries that choose their
//! code by the processor choose the same code everywhere.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tokio::task::spawn_blocking;

/// The file name of the dumps, followed by a dot and a number that counts up.
const DUMP: &str = "dump";
/// The prefix of the pipes through which the counters are reached.
const PIPES: &str = "pipes";

/// The counters of a running server.
#[derive(Debug)]
pub(super) struct Callgrind {
    folder: PathBuf,
    process: u32,
    dumps: u32,
}

/// Nothing can be counted.
#[derive(Debug, thiserror::Error)]
pub enum CallgrindError {
    /// The program that reads the counters is missing.
    #[error("vgdb cannot be run; it comes with valgrind")]
    Missing(#[source] io::Error),
    /// The counters cannot be reached.
    #[error("vgdb does not reach the server: {0}")]
    Unreachable(String),
    /// A dump is missing or has no total.
    #[error("{0} cannot be read")]
    Dump(PathBuf),
}

/// The arguments before the server's program. Counting starts later, so that the start is fast.
pub(super) fn command(folder: &Path) -> Vec<OsString> {
    let at = |option: &str, name: &str| {
        let mut word = OsString::from(option);
        word.push(folder.join(name));
        word
    };
    let plain = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--fair-sched=try", "--dump-line=no"];
    let mut words: Vec<OsString> = plain.iter().map(OsString::from).collect();
    words.extend([at("--callgrind-out-file=", DUMP), at("--vgdb-prefix=", PIPES)]);
    words
}

impl Callgrind {
    /// Starts counting in a process that was started by [`command`].
    pub(super) async fn attach(folder: PathBuf, process: u32) -> Result<Self, CallgrindError> {
        let callgrind = Self { folder, process, dumps: 0 };
        callgrind.tell(&["instrumentation", "on"]).await?;
        Ok(callgrind)
    }

    /// Resets the counters.
    pub(super) async fn zero(&self) -> Result<(), CallgrindError> {
        self.tell(&["zero"]).await
    }

    /// Returns the count and resets it.
    pub(super) async fn take(&mut self) -> Result<u64, CallgrindError> {
        self.tell(&["dump"]).await?;
        self.dumps += 1;
        let path = self.folder.join(format!("{DUMP}.{}", self.dumps));
        let total = fs::read_to_string(&path).ok().as_deref().and_then(total);
        // Anything left is removed with the folder.
        let _ = fs::remove_file(&path);
        total.ok_or(CallgrindError::Dump(path))
    }

    /// The other server's requests go on while this one is reached.
    async fn tell(&self, words: &[&str]) -> Result<(), CallgrindError> {
        let mut command = Command::new("vgdb");
        command.arg(format!("--vgdb-prefix={}", self.folder.join(PIPES).display()));
        command.arg(format!("--pid={}", self.process)).args(words);
        let asked = spawn_blocking(move || command.output()).await.map_err(io::Error::other).flatten();
        let output = asked.map_err(CallgrindError::Missing)?;
        if output.status.success() {
            return Ok(());
        }
        Err(CallgrindError::Unreachable(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}

/// The last line of a dump that was completely written.
fn total(dump: &str) -> Option<u64> {
    let line = dump.lines().rev().find(|line| !line.is_empty())?;
    line.strip_prefix("totals: ")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_stands_in_the_last_line() {
        let dump =
            "# callgrind format\nevents: Ir\nsummary: 271016\n\nfn=(80) write\n26 22\n\ntotals: 271016\n";
        assert_eq!(total(dump), Some(271_016));
    }

    #[test]
    fn a_dump_that_ends_early_has_no_total() {
        assert_eq!(total("# callgrind format\nsummary: 271016\n\nfn=(80) write\n26 22\n"), None);
        assert_eq!(total(""), None);
    }
}
