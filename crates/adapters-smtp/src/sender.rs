//! The sender of mails.

use std::fmt;

use lettre::Address;
use lettre::message::Mailbox;
use url::Host;

/// Why a text cannot be used as the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SenderRejected {
    /// Not an address.
    #[error("not an address such as signin@example.com, alone or as Name <signin@example.com>")]
    NotAnAddress,
    /// The part after the @ is not a domain name.
    #[error("the part after the @ is not a domain name")]
    Domain,
}

/// The address that mails come from, perhaps with a name.
#[derive(Clone, PartialEq, Eq)]
pub struct Sender(Mailbox);

impl Sender {
    /// Reads `signin@example.com` or `Name <signin@example.com>`.
    pub fn parse(text: &str) -> Result<Self, SenderRejected> {
        if text.chars().any(char::is_control) {
            return Err(SenderRejected::NotAnAddress);
        }
        let mailbox: Mailbox = text.trim().parse().map_err(|_| SenderRejected::NotAnAddress)?;
        let email = with_ascii_domain(&mailbox.email).ok_or(SenderRejected::Domain)?;
        Ok(Self(Mailbox::new(mailbox.name, email)))
    }

    /// Name and address for the `From` header.
    pub(crate) fn mailbox(&self) -> Mailbox {
        self.0.clone()
    }

    /// The domain of the address, in ASCII.
    pub(crate) fn domain(&self) -> &str {
        self.0.email.domain()
    }
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender({self})")
    }
}

/// The same address with its domain in ASCII, so that no server needs to support non-ASCII domains. `None` if
/// the domain is not a domain name.
pub(crate) fn with_ascii_domain(address: &Address) -> Option<Address> {
    match Host::parse(address.domain()) {
        Ok(Host::Domain(domain)) => Address::new(address.user(), domain).ok(),
        Ok(Host::Ipv4(_) | Host::Ipv6(_)) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_come_with_a_name() {
        assert_eq!(Sender::parse("signin@example.com").unwrap().to_string(), "signin@example.com");
        let named = Sender::parse(" Fotos für alle <signin@bücher.example> ").unwrap();
        assert_eq!(named.to_string(), "Fotos für alle <signin@xn--bcher-kva.example>");
        assert_eq!(named.domain(), "xn--bcher-kva.example");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let two_lines = "signin@example.com\r\nBcc: all@example.com";
        for text in ["", "signin", "signin@", "@example.com", "a b@example.com", "a@b, c@d", two_lines] {
            assert_eq!(Sender::parse(text), Err(SenderRejected::NotAnAddress), "{text}");
        }
        assert_eq!(Sender::parse("signin@192.0.2.1"), Err(SenderRejected::Domain));
    }
}
