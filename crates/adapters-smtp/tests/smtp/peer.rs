//! The mail server in `tests/peers`, and a mailer that talks to it.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use countersign_adapters_smtp::{Sender, SmtpMailer, SmtpSettings, SmtpUrl};
use countersign_conformance::fakes::{ManualClock, SeededEntropy};
use countersign_ports::Mail;
use serde_json::Value;

use crate::mail_server::MailServer;

/// A running mail server, and where it listens.
pub(crate) struct Peer {
    server: MailServer,
    pub(crate) port: u16,
    pub(crate) ca_file: String,
}

impl Peer {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let peers = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers"));
        let mut server = MailServer::start(peers, arguments);
        let ready = server.next();
        let port = u16::try_from(ready["port"].as_u64().unwrap()).unwrap();
        Self { server, port, ca_file: ready["ca_file"].as_str().unwrap_or_default().to_owned() }
    }

    /// The next mail.
    pub(crate) fn next(&mut self) -> Value {
        self.server.next()
    }
}

/// A mailer with this URL, the fixtures' time and seeded randomness.
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
