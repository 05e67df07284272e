//! Mail over SMTP: the address of the operator's mail server, and the mailer that talks to it.
//!
//! The content of mails is not here. The caller writes the texts.

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

/// The operator's settings for mail.
#[derive(Clone, Debug)]
pub struct SmtpSettings {
    /// The mail server.
    pub url: SmtpUrl,
    /// The sender of mails.
    pub sender: Sender,
}
