//! A mail in the form in which it is sent (RFC 5322, RFC 2045 to 2047, RFC 3834).

use std::time::SystemTime;

use countersign_ports::Mail;
use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, SinglePart};
use lettre::{Address, message};
use time::OffsetDateTime;

use crate::Sender;
use crate::reply::Trouble;
use crate::sender::with_ascii_domain;

/// The longest address in SMTP: 64 octets, the @, and 255 octets (RFC 5321 section 4.5.3.1).
const LONGEST_ADDRESS: usize = 320;

/// A mail's envelope and its bytes.
pub(crate) struct Composed {
    pub(crate) envelope: Envelope,
    pub(crate) bytes: Vec<u8>,
}

/// Writes a mail as bytes. Anything that could add a header or a recipient is refused; everything else is
/// encoded.
pub(crate) fn compose(
    mail: &Mail,
    sender: &Sender,
    now: OffsetDateTime,
    random: [u8; 16],
) -> Result<Composed, Trouble> {
    if mail.subject.chars().any(char::is_control) {
        return Err(Trouble::Unsendable("the subject contains a control character"));
    }
    let to = recipient(&mail.to)?;
    // In SMTP a carriage return alone does not end a line, but some servers treat it as if it did.
    let text = mail.text.replace("\r\n", "\n").replace('\r', "\n");
    let written = Message::builder()
        .from(sender.mailbox())
        .to(Mailbox::new(None, to))
        .subject(mail.subject.as_str())
        .date(SystemTime::from(now.max(OffsetDateTime::UNIX_EPOCH)))
        .message_id(Some(format!("<{}@{}>", hex::encode(random), sender.domain())))
        .raw_header(auto_submitted())
        .singlepart(part(text))
        .map_err(|_| Trouble::Unsendable("the mail cannot be encoded"))?;
    Ok(Composed { envelope: written.envelope().clone(), bytes: written.formatted() })
}

fn recipient(text: &str) -> Result<Address, Trouble> {
    if text.len() > LONGEST_ADDRESS || text.chars().any(char::is_control) {
        return Err(Trouble::Unsendable("the recipient is not an address"));
    }
    let address: Option<Address> = text.parse().ok();
    let address = address.and_then(|address| with_ascii_domain(&address));
    address.ok_or(Trouble::Unsendable("the recipient is not an address"))
}

fn part(text: String) -> SinglePart {
    SinglePart::builder().header(message::header::ContentType::TEXT_PLAIN).body(text)
}

/// Prevents automatic replies such as vacation notices (RFC 3834 section 5).
fn auto_submitted() -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composed(to: &str, subject: &str, text: &str) -> Result<String, Trouble> {
        let mail = Mail { to: to.to_owned(), subject: subject.to_owned(), text: text.to_owned() };
        let sender = Sender::parse("Sign-in <signin@bücher.example>").unwrap();
        let now = time::macros::datetime!(2026-01-02 03:04:05 UTC);
        compose(&mail, &sender, now, [0xab; 16]).map(|composed| String::from_utf8(composed.bytes).unwrap())
    }

    #[test]
    fn date_and_message_id_come_from_the_clock_and_the_entropy() {
        let written = composed("ann@example.com", "Confirm", "Hello\n").unwrap();
        assert!(written.contains("Date: Fri, 02 Jan 2026 03:04:05 +0000\r\n"), "{written}");
        let id = format!("Message-ID: <{}@xn--bcher-kva.example>\r\n", "ab".repeat(16));
        assert!(written.contains(&id), "{written}");
        assert!(written.contains("Auto-Submitted: auto-generated\r\n"), "{written}");
    }

    #[test]
    fn a_clock_before_1970_does_no_harm() {
        let mail = Mail { to: "a@b.example".to_owned(), subject: String::new(), text: String::new() };
        let sender = Sender::parse("a@b.example").unwrap();
        let written = compose(&mail, &sender, time::macros::datetime!(1901-01-01 0:00 UTC), [0; 16]).unwrap();
        assert!(String::from_utf8(written.bytes).unwrap().contains("Date: Thu, 01 Jan 1970"));
    }

    #[test]
    fn nothing_in_a_mail_makes_a_header_or_a_recipient_of_its_own() {
        let broken = [
            ("ann@example.com\r\nBcc: all@example.com", "Hello"),
            ("ann@example.com>\nRCPT TO:<all@example.com", "Hello"),
            ("\"a\r\n\"@example.com", "Hello"),
            ("ann@example.com, all@example.com", "Hello"),
            ("Ann <ann@example.com>", "Hello"),
            ("ann", "Hello"),
            ("", "Hello"),
            ("ann@[192.0.2.1]", "Hello"),
            ("ann@example.com", "Hello\r\nBcc: all@example.com"),
            ("ann@example.com", "Hello\nBcc: all@example.com"),
            ("ann@example.com", "Hello\u{85}Bcc: all@example.com"),
        ];
        for (to, subject) in broken {
            assert!(matches!(composed(to, subject, ""), Err(Trouble::Unsendable(_))), "{to:?} {subject:?}");
        }
        let long = format!("{}@example.com", "a".repeat(400));
        assert!(composed(&long, "", "").is_err());
        let text = "\r\n.\r\nMAIL FROM:<a@b>\r.\r\n\n.\n";
        let written = composed("ann@example.com", "Hello", text).unwrap();
        let (_, body) = written.split_once("\r\n\r\n").unwrap();
        assert_eq!(body.replace("\r\n", "").find(['\r', '\n']), None, "{body:?}");
    }

    #[test]
    fn what_is_not_ascii_is_encoded_and_no_line_is_too_long() {
        let subject =
            "E-Mail-Adresse bestätigen für photos.example.com، أكّد عنوان بريدك الإلكتروني 確認してください "
                .repeat(3);
        let link = format!("https://auth.example.com/email?token={}", "x".repeat(1200));
        let written = composed("ann@example.com", subject.trim(), &format!("確認\n{link}\n")).unwrap();
        assert!(written.is_ascii() && written.lines().all(|line| line.len() < 998), "{written}");
    }
}
