//! Mail to people.

use std::fmt;

use async_trait::async_trait;

use crate::error::Source;

/// A plain-text mail. Its author writes it in the recipient's language.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    /// One address, such as `ann@example.com`.
    pub to: String,
    /// A single line.
    pub subject: String,
    /// The body. Its lines end with line feeds.
    pub text: String,
}

impl fmt::Debug for Mail {
    /// Shows nothing of the mail: the text can hold a link that acts for the person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mail(..)")
    }
}

/// A mail was not sent, as far as we can tell. What this prints, with all its causes, contains neither the
/// mail's text nor its recipient nor the server's credentials.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The mail server does not accept mail from us now. The mail may have been sent anyway. It can be sent
    /// again.
    #[error("mail server is unavailable")]
    Unavailable(#[source] Source),
    /// This mail will never be accepted: its address is not valid, or the server knows no such recipient.
    #[error("mail was refused")]
    Refused(#[source] Source),
}

/// Sends mail.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Hands a mail to the mail server. The answer says that the server accepted it, not that it arrived.
    ///
    /// The answer comes within 15 seconds, whatever the server does. Nothing in a mail can add a header, a
    /// recipient or another mail: an invalid address and a subject of several lines are
    /// [`MailError::Refused`]. If the future is dropped, the mail is either sent whole or not at all, and
    /// later mails are unaffected.
    async fn send(&self, mail: Mail) -> Result<(), MailError>;

    /// Talks to the mail server as for a mail, up to its sender, and sends none. A sender that the server does not
    /// accept is [`MailError::Refused`]. The answer comes within 15 seconds, too.
    async fn check(&self) -> Result<(), MailError>;
}
