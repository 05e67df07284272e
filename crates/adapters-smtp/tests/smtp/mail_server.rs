//! A running `tests/peers/smtp_server.py`. The black-box tests use this file too.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A mail server that reports the mails that it received.
pub(crate) struct MailServer {
    process: Child,
    said: BufReader<ChildStdout>,
}

impl MailServer {
    /// Starts it; `peers` is the folder `tests/peers`. The first thing that it reports is where it listens.
    pub(crate) fn start(peers: &Path, arguments: &[&str]) -> Self {
        let python = peers.join(".venv/bin/python");
        assert!(python.exists(), "the judges in tests/peers are not installed: run `make test`");
        let mut command = Command::new(python);
        command.arg(peers.join("smtp_server.py")).args(arguments);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        Self { process, said }
    }

    /// The next report: after the start, the next mail.
    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        assert!(
            !line.is_empty(),
            "the mail server ended; its output is above. Did `make test` finish its set-up?"
        );
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        // Closing its standard input ends it, and it removes its folder.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
