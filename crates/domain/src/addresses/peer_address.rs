//! Where a request came from, as the log shows it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The bits that are kept of an IPv4 address.
const IPV4_PREFIX: u8 = 24;
/// The bits that are kept of an IPv6 address.
const IPV6_PREFIX: u8 = 48;

/// The address that a request came from: enough to find a complaint in the log, and no more than the operator
/// asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerAddress {
    /// The network: the first 24 bits of an IPv4 address, the first 48 of an IPv6 address.
    Network(IpAddr),
    /// The whole address.
    Whole(IpAddr),
}

impl PeerAddress {
    /// The whole address, or the network that it is in.
    pub const fn shown(address: IpAddr, whole: bool) -> Self {
        if whole { Self::Whole(address) } else { Self::network(address) }
    }

    /// The network that an address is in.
    pub const fn network(address: IpAddr) -> Self {
        Self::Network(match address {
            IpAddr::V4(address) => {
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & (u32::MAX << (32 - IPV4_PREFIX))))
            }
            IpAddr::V6(address) => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << (128 - IPV6_PREFIX))))
            }
        })
    }
}

impl PeerAddress {
    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed = match text.split_once('/') {
            None => Self::Whole(text.parse().ok()?),
            Some((network, _)) => Self::network(network.parse().ok()?),
        };
        (parsed.to_string() == text).then_some(parsed)
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(IpAddr::V4(network)) => write!(f, "{network}/{IPV4_PREFIX}"),
            Self::Network(IpAddr::V6(network)) => write!(f, "{network}/{IPV6_PREFIX}"),
            Self::Whole(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_we_write_is_read() {
        for text in ["", "203.0.113.7/24", "203.0.113.0/23", "203.0.113.0/024", "::1/48", "host"] {
            assert_eq!(PeerAddress::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_address_is_cut_to_its_network_unless_all_of_it_is_wanted() {
        for (whole, network) in [
            ("203.0.113.77", "203.0.113.0/24"),
            ("127.0.0.1", "127.0.0.0/24"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
            ("::1", "::/48"),
        ] {
            let address: IpAddr = whole.parse().unwrap();
            assert_eq!(PeerAddress::network(address).to_string(), network);
            assert_eq!(PeerAddress::Whole(address).to_string(), whole);
            for text in [whole, network] {
                assert_eq!(PeerAddress::parse(text).unwrap().to_string(), text);
            }
        }
    }
}
