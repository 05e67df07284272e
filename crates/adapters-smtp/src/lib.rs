//! Mail over SMTP: where the operator's mail server is, and the mailer that speaks to it.
//!
//! What mails say is not here: their texts are made by whoever sends them.

mod connection;
mod limited;
mod mailer;
mod message;
mod post;
mod reply;
mod sender;
mod smtp_url;

pub use mailer::SmtpMailer;
pub use sender::{Sender, SenderRejected};
pub use smtp_url::{SmtpUrl, SmtpUrlRejected};

/// What the operator decided about mail.
#[derive(Clone, Debug)]
pub struct SmtpSettings {
    /// The mail server.
    pub url: SmtpUrl,
    /// Who mails come from.
    pub sender: Sender,
}
