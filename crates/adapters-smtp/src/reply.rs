//! What went wrong with a mail, in words for the operator's log, and whether sending it again can help.

use std::io;

use countersign_ports::MailError;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::response::Category;

/// The longest part of a server's reply that is logged, in characters.
const MOST_CHARACTERS: usize = 200;
/// A longer word is not from any language. It could be a key or a link.
const LONGEST_WORD: usize = 32;

/// Why a mail was not sent.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Nothing answers at the server's address.
    NotReached(io::Error),
    /// TLS is required, but the server does not offer it.
    NoStartTls,
    /// The SMTP conversation failed.
    Conversation(Error),
    /// The time limit was reached.
    TooSlow,
    /// The mail cannot be sent to anyone in this form.
    Unsendable(&'static str),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Conversation(error)
    }
}

/// How far the sending got when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The server was not yet asked to accept the mail.
    Before,
    /// The server was asked to accept the mail.
    Asked,
}

/// The text of a [`Trouble`], without anything private.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Words(String);

impl Trouble {
    /// The error for the caller. `private` holds the texts that it must not repeat.
    pub(crate) fn judge(self, stage: Stage, server: &str, private: &[String]) -> MailError {
        let refused = match &self {
            Self::Conversation(error) => stage == Stage::Asked && is_final(error),
            Self::Unsendable(_) => true,
            Self::NotReached(_) | Self::NoStartTls | Self::TooSlow => false,
        };
        let words = match self {
            Self::NotReached(error) => format!("{server} cannot be reached: {error}"),
            Self::NoStartTls => format!("{server} offers no STARTTLS, and smtp_url requires it"),
            Self::Conversation(error) => format!("{server}: {}", readable(&error.to_string(), private)),
            Self::TooSlow => format!("{server} was too slow"),
            Self::Unsendable(reason) => reason.to_owned(),
        };
        let source = Box::new(Words(words));
        if refused { MailError::Refused(source) } else { MailError::Unavailable(source) }
    }
}

/// Would the server refuse the same mail again? A server that wants us to sign in (53x, RFC 4954) says
/// nothing about the mail.
fn is_final(error: &Error) -> bool {
    let about_us = error.status().is_some_and(|code| code.category == Category::Unspecified3);
    (error.is_permanent() && !about_us) || error.is_client()
}

/// A server's reply in a form that is safe to log: a short line without private texts.
fn readable(text: &str, private: &[String]) -> String {
    let plain: String =
        text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    let plain = private
        .iter()
        .filter(|private| !private.is_empty())
        .fold(plain, |text, private| text.replace(private.as_str(), "…"));
    let words: Vec<&str> = plain
        .split_whitespace()
        .map(|word| if word.chars().count() > LONGEST_WORD { "…" } else { word })
        .collect();
    words.join(" ").chars().take(MOST_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_private_is_not_repeated() {
        let private = ["hunter2".to_owned(), "ann@example.com".to_owned(), String::new()];
        let said = "550 <ann@example.com>: no hunter2\r\n\u{1b}[31m in http://a.example/confirm?token=0123456789abcdef";
        assert_eq!(readable(said, &private), "550 <…>: no … [31m in …");
    }

    #[test]
    fn a_long_answer_is_cut() {
        let said = readable(&"é no ".repeat(10_000), &[]);
        assert!(said.chars().count() == MOST_CHARACTERS && said.starts_with("é no é"), "{said}");
    }
}
