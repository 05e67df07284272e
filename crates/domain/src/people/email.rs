//! E-mail addresses that people add to their account.

use std::fmt;

use time::OffsetDateTime;

use crate::id::SubjectId;
use crate::secret::{Secret, SecretHash};

const MAX_LENGTH: usize = 254;
const MAX_LOCAL_LENGTH: usize = 64;
const MAX_LABEL_LENGTH: usize = 63;

/// An address as people write it: `local@domain`, in the part of RFC 5321 that is in common use. ASCII only,
/// because look-alike addresses invite fraud.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EmailAddress(String);

/// Why a text is not accepted as an e-mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmailRejected {
    /// It is not an e-mail address.
    #[error("email is not an e-mail address such as ada@example.com")]
    Malformed,
    /// No one can have a mailbox below this top-level name.
    #[error(
        "email is at the reserved domain .{0}, where no one has a mailbox: give an address that can get mail"
    )]
    Reserved(&'static str),
}

/// The top-level names under which no one can have a mailbox on the internet (RFC 2606, RFC 6761, RFC 6762,
/// RFC 7686, RFC 9476, RFC 3172). ICANN's `internal` is not among them: private networks have mailboxes there. We give out addresses below `invalid` ourselves, so
/// anyone who could add such an address could add someone else's (F-14). The second-level examples
/// (`example.com`) are not listed: they are real domains, even if their owner gives out no mailboxes.
const RESERVED: [&str; 8] = ["alt", "arpa", "example", "invalid", "local", "localhost", "onion", "test"];

impl EmailAddress {
    /// Parses an address that someone says is theirs. White space around it is tolerated. The domain is
    /// stored in lower case.
    pub fn parse(text: &str) -> Result<Self, EmailRejected> {
        let (local, domain) = text.trim().rsplit_once('@').ok_or(EmailRejected::Malformed)?;
        if !is_local(local) || !is_domain(domain) || local.len() + 1 + domain.len() > MAX_LENGTH {
            return Err(EmailRejected::Malformed);
        }
        let address = Self(format!("{local}@{}", domain.to_ascii_lowercase()));
        match address.reserved() {
            Some(ending) => Err(EmailRejected::Reserved(ending)),
            None => Ok(address),
        }
    }

    /// Is it at a domain where no one has a mailbox? Older builds accepted such addresses. A stored one
    /// counts as none.
    pub fn is_reserved(&self) -> bool {
        self.reserved().is_some()
    }

    /// The top-level name, if it is reserved.
    fn reserved(&self) -> Option<&'static str> {
        let top = self.0.trim_end_matches('.').rsplit(['.', '@']).next().unwrap_or_default();
        RESERVED.into_iter().find(|reserved| top.eq_ignore_ascii_case(reserved))
    }

    /// The mailbox that this address and its variants most likely lead to. For counting only, never for
    /// sending.
    pub fn mailbox(&self) -> String {
        let lower = self.0.to_ascii_lowercase();
        match lower.rsplit_once('@') {
            Some((local, domain)) => {
                let (name, _) = local.split_once('+').unwrap_or((local, ""));
                format!("{name}@{domain}")
            }
            None => lower,
        }
    }

    /// Wraps an address from storage.
    pub const fn from_trusted(text: String) -> Self {
        Self(text)
    }

    /// A made-up address for a user without one, for applications that insist on an address. No one can own
    /// it (RFC 2606), so nothing can be sent to it and no account can be taken over with it.
    pub fn synthetic(subject: SubjectId) -> Self {
        Self(format!("{subject}@wallet.invalid"))
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Is this a dot-string of RFC 5321?
fn is_local(text: &str) -> bool {
    let is_atom = |atom: &str| {
        !atom.is_empty()
            && atom.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte))
    };
    text.len() <= MAX_LOCAL_LENGTH && text.split('.').all(is_atom)
}

fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=MAX_LABEL_LENGTH).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let top = text.rsplit('.').next().unwrap_or_default();
    text.contains('.') && text.split('.').all(is_label) && !top.bytes().all(|byte| byte.is_ascii_digit())
}

/// A user's stored e-mail address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserEmail {
    /// The address.
    pub address: EmailAddress,
    /// When it was added.
    pub added_at: OffsetDateTime,
    /// When its owner followed the link in the mail.
    pub verified_at: Option<OffsetDateTime>,
    /// The confirmation link that was not followed yet.
    pub confirmation: Option<EmailConfirmation>,
}

/// A confirmation link that was mailed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmailConfirmation {
    /// The hash of the link's secret, which contains the user's id.
    pub hash: SecretHash,
    /// When the link expires.
    pub expires_at: OffsetDateTime,
}

impl UserEmail {
    /// The address, unless it cannot be the user's at all.
    pub fn if_usable(self) -> Option<Self> {
        (!self.address.is_reserved()).then_some(self)
    }
}

impl EmailConfirmation {
    /// Does this secret confirm the address at this time?
    pub fn admits(&self, now: OffsetDateTime, presented: &Secret) -> bool {
        now < self.expires_at && self.hash.admits(presented)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;

    fn read(text: &str) -> Option<String> {
        EmailAddress::parse(text).ok().map(|address| address.to_string())
    }

    #[test]
    fn ordinary_addresses_are_read_and_their_domain_is_lower_case() {
        assert_eq!(read(" Ada.Lovelace+x@Example.COM "), Some("Ada.Lovelace+x@example.com".to_owned()));
        assert_eq!(read("o'hara@mail.example.co.uk"), Some("o'hara@mail.example.co.uk".to_owned()));
    }

    #[test]
    fn b_070_what_is_no_address_or_could_write_a_header_is_refused() {
        let long = format!("{}@example.com", "a".repeat(65));
        let longer = format!("a@{}.com", vec!["b".repeat(63); 4].join("."));
        for text in [
            "",
            "@",
            "ada",
            "ada@",
            "@example.com",
            "ada@example",
            "ada@.com",
            "ada@example..com",
            "a..b@example.com",
            ".a@example.com",
            "ada@-example.com",
            "ada@1.2.3.4",
            "a b@example.com",
            "a@b@example.com",
            "ada@example.com\r\nBcc: eve@example.com",
            "ada\n@example.com",
            "\"a\"@example.com",
            "<a@example.com>",
            "а@example.com",
            "ada@exämple.com",
            "ada@example.com,eve@example.com",
            long.as_str(),
            longer.as_str(),
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_synthetic_address_is_one_that_nobody_can_own() {
        let address = EmailAddress::synthetic(UserId::random([7; 16]).as_public());
        assert!(address.as_str().ends_with("@wallet.invalid"));
        assert!(address.is_reserved());
    }

    /// F-14: a name that we promise to keep free stays free.
    #[test]
    fn f_14_nobody_files_an_address_where_nobody_has_a_mailbox() {
        let synthetic = EmailAddress::synthetic(UserId::random([7; 16]).as_public()).to_string();
        for text in [
            synthetic.as_str(),
            "ada@wallet.invalid",
            "ada@Wallet.INVALID",
            " ada@a.test ",
            "ada@a.example",
            "ada@a.localhost",
            "ada@printer.local",
            "ada@a.onion",
            "ada@a.alt",
            "ada@1.in-addr.arpa",
        ] {
            let Err(EmailRejected::Reserved(ending)) = EmailAddress::parse(text) else { panic!("{text}") };
            assert!(text.trim().to_ascii_lowercase().ends_with(&format!(".{ending}")), "{text}: {ending}");
        }
        for text in
            ["ada@invalid.com", "ada@example.com", "ada@test.net", "ada@onion.co", "ada@mail.internal"]
        {
            assert!(EmailAddress::parse(text).is_ok(), "{text}");
        }
        for old in ["ada@wallet.invalid", "ada@wallet.invalid.", "ADA@A.TEST"] {
            assert!(EmailAddress::from_trusted(old.to_owned()).is_reserved(), "{old}");
        }
    }

    #[test]
    fn the_spellings_of_one_mailbox_are_counted_together() {
        for text in ["Ada@example.com", "ada+1@example.com", "ADA+x+y@Example.com"] {
            assert_eq!(EmailAddress::parse(text).unwrap().mailbox(), "ada@example.com");
        }
    }
}
