//! Mail to people.

use std::fmt;

use async_trait::async_trait;

use crate::error::Source;

/// A mail in plain text. Whoever makes it writes the texts in the person's language.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    /// One address, such as `ann@example.com`.
    pub to: String,
    /// One line.
    pub subject: String,
    /// What the person reads; its lines end with line feeds.
    pub text: String,
}

impl fmt::Debug for Mail {
    /// Nothing of it: the text may hold a link that acts for the person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mail(..)")
    }
}

/// A mail was not sent, as far as can be known. What it prints, with all its causes, holds neither the text nor the recipient of
/// the mail nor the credentials of the server.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The mail server does not take mail from us now. The mail may have been sent all the same; it can be sent again.
    #[error("mail server is unavailable")]
    Unavailable(#[source] Source),
    /// This mail will not be taken however often it is sent: the address is none, or the server knows no such recipient.
    #[error("mail was refused")]
    Refused(#[source] Source),
}

/// Sends mail.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Hands a mail to the mail server; the answer says that the server took it, not that it arrived.
    ///
    /// It comes within 15 seconds, whatever the server does. Nothing in the mail can make another header, another recipient or
    /// another mail: an address that is none and a subject of several lines are [`MailError::Refused`]. When the future is
    /// dropped the mail may or may not be sent, whole, and later mails are not touched by it.
    async fn send(&self, mail: Mail) -> Result<(), MailError>;
}
