//! Where people can ask for help: the operator's mail address, or a page of the operator's.

use url::Url;

use crate::email::{EmailAddress, EmailRejected};
use crate::registration::is_web_address;

/// Where people can ask for help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contact {
    /// A mailbox.
    Mail(EmailAddress),
    /// An https address.
    Page(String),
}

/// Why a text is not a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContactRejected {
    /// It is neither of the two.
    #[error("neither a mail address nor an https address")]
    Neither,
    /// No one can have a mailbox below this top-level name.
    #[error("a mail address at the reserved domain .{0}, where no one has a mailbox")]
    Reserved(&'static str),
}

impl Contact {
    /// Reads a mail address, with or without `mailto:`, or an https address.
    pub fn parse(text: &str) -> Result<Self, ContactRejected> {
        if is_web_address(text) && Url::parse(text).is_ok_and(|url| url.scheme() == "https") {
            return Ok(Self::Page(text.to_owned()));
        }
        let address = text.strip_prefix("mailto:").unwrap_or(text);
        EmailAddress::parse(address).map(Self::Mail).map_err(|rejected| match rejected {
            EmailRejected::Malformed => ContactRejected::Neither,
            EmailRejected::Reserved(ending) => ContactRejected::Reserved(ending),
        })
    }

    /// What people read.
    pub fn shown(&self) -> &str {
        match self {
            Self::Mail(address) => address.as_str(),
            Self::Page(address) => address,
        }
    }

    /// Does a link to it lead to a page?
    pub const fn is_web(&self) -> bool {
        matches!(self, Self::Page(_))
    }

    /// Where a link to it leads.
    pub fn link(&self) -> String {
        match self {
            // These begin or escape something else in a link (RFC 6068).
            Self::Mail(address) => {
                let address = address.as_str().replace('%', "%25").replace('?', "%3F").replace('#', "%23");
                format!("mailto:{address}")
            }
            Self::Page(address) => address.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_a_mail_address_or_an_https_address() {
        for (text, shown, link) in [
            ("help@example.com", "help@example.com", "mailto:help@example.com"),
            ("mailto:help@example.com", "help@example.com", "mailto:help@example.com"),
            ("a?b%c#d@example.com", "a?b%c#d@example.com", "mailto:a%3Fb%25c%23d@example.com"),
            ("https://example.com/help?a=b", "https://example.com/help?a=b", "https://example.com/help?a=b"),
        ] {
            let contact = Contact::parse(text).unwrap();
            assert_eq!((contact.shown(), &*contact.link()), (shown, link));
        }
        for text in [
            "",
            "help",
            "http://example.com/",
            "javascript:alert(1)",
            "ftp://a@b.com",
            "a b@example.com",
            "https://",
        ] {
            assert_eq!(Contact::parse(text), Err(ContactRejected::Neither), "{text:?}");
        }
        assert_eq!(Contact::parse("help@oper.example"), Err(ContactRejected::Reserved("example")));
        assert_eq!(
            Contact::parse("help@mail.internal").map(|contact| contact.shown().to_owned()).as_deref(),
            Ok("help@mail.internal")
        );
    }
}
