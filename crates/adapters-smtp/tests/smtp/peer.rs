//! The mail server in `tests/peers`, and a mailer for it.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use countersign_adapters_smtp::{Sender, SmtpMailer, SmtpSettings, SmtpUrl};
use countersign_conformance::fakes::{ManualClock, SeededEntropy};
use countersign_ports::Mail;
use serde_json::Value;

/// A running mail server.
pub(crate) struct Peer {
    child: Child,
    lines: BufReader<ChildStdout>,
    pub(crate) port: u16,
    pub(crate) ca_file: String,
}

impl Peer {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let peers = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers"));
        let python = peers.join(".venv/bin/python");
        assert!(python.exists(), "the judges in tests/peers are not installed: run `make test`");
        let mut child = Command::new(python)
            .arg(peers.join("smtp_server.py"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut peer = Self { child, lines, port: 0, ca_file: String::new() };
        let ready = peer.next();
        peer.port = u16::try_from(ready["port"].as_u64().unwrap()).unwrap();
        peer.ca_file = ready["ca_file"].as_str().unwrap_or_default().to_owned();
        peer
    }

    /// The next thing that it says: after its start, the next mail.
    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert!(
            !line.is_empty(),
            "the mail server ended; its words are above. Is `make test` through with its set-up?"
        );
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of its input ends it, and its folder goes away.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A mailer with this URL, the fixtures' time and seeded entropy.
pub(crate) fn mailer(url: &str) -> SmtpMailer {
    let settings = SmtpSettings {
        url: SmtpUrl::parse(url).unwrap(),
        sender: Sender::parse("Countersign <signin@auth.example.com>").unwrap(),
    };
    SmtpMailer::new(settings, Arc::new(ManualClock::default()), Arc::new(SeededEntropy::default()))
}

pub(crate) fn mail(to: &str) -> Mail {
    Mail { to: to.to_owned(), subject: "Hello".to_owned(), text: "A line.\n".to_owned() }
}

/// An error with all its causes.
pub(crate) fn whole(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
