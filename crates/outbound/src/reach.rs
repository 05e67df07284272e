//! Which addresses a name can resolve to. Names are resolved here, so the address that is checked is the
//! address that is used: nothing can change in between (B-048).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The kind of network that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// The public internet.
    Public,
    /// A private network of the operator or of its provider.
    Private,
    /// This machine.
    Loopback,
    /// Link-local, where clouds keep their secrets; multicast; documentation; and ranges that have no meaning
    /// yet.
    NoService,
}

impl AddressKind {
    /// Classifies an address by the IANA registries of special-purpose addresses.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        match address.octets() {
            [127, ..] => Self::Loopback,
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Self::Private,
            [0 | 224..=255, ..]
            | [169, 254, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _] => Self::NoService,
            _ => Self::Public,
        }
    }

    /// The internet is 2000::/3 without the ranges reserved in it. An address that embeds an IPv4 address is
    /// classified by it.
    fn of_v6(address: Ipv6Addr) -> Self {
        let v4 = |high: u16, low: u16| {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            Self::of_v4(Ipv4Addr::new(a, b, c, d))
        };
        match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::Loopback,
            [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
            [0xfc00..=0xfdff, ..] => Self::Private,
            [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x2002, ..] | [0x3fff, 0..=0x0fff, ..] => Self::NoService,
            [0x2000..=0x3fff, ..] => Self::Public,
            _ => Self::NoService,
        }
    }
}

/// How far a request can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only to the public internet.
    Public,
    /// Also to this machine.
    ThisMachine,
    /// Also to this machine and to private networks, because the operator allowed it.
    Private,
}

impl Reach {
    /// May requests go to this address?
    pub fn includes(self, address: IpAddr) -> bool {
        match AddressKind::of(address) {
            AddressKind::Public => true,
            AddressKind::Loopback => self != Self::Public,
            AddressKind::Private => self == Self::Private,
            AddressKind::NoService => false,
        }
    }
}

/// A name resolves to no address within reach.
#[derive(Debug, thiserror::Error)]
#[error("its name resolves to an address that must not be contacted")]
pub struct OutOfReach;

/// Resolves names and keeps only the addresses within reach.
#[derive(Debug)]
pub struct GuardedResolver {
    /// How far requests can go.
    pub reach: Reach,
}

impl Resolver for GuardedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = DefaultResolver::default().resolve(uri, config, timeout)?;
        let mut allowed = self.empty();
        for address in found.iter().filter(|address| self.reach.includes(address.ip())) {
            allowed.push(*address);
        }
        if allowed.is_empty() { Err(Error::Other(Box::new(OutOfReach))) } else { Ok(allowed) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ureq::unversioned::transport::DefaultConnector;

    use super::*;

    #[test]
    fn b_048_special_addresses_are_told_from_the_internet() {
        let cases = [
            (
                AddressKind::Public,
                "1.1.1.1 9.255.255.255 11.0.0.0 100.63.0.1 100.128.0.1 172.15.0.1 172.32.0.1 192.0.1.1 198.17.0.1 \
                            198.20.0.1 203.0.112.1 223.255.255.255 2000:: 2606:4700::1111 2001:4860:4860::8888 2001:200::1 \
                            3ffe::1 64:ff9b::101:101 ::ffff:1.1.1.1",
            ),
            (AddressKind::Loopback, "127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1"),
            (
                AddressKind::Private,
                "10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.127.255.255 fc00:: \
                             fd12:3456::1 ::ffff:10.0.0.1 64:ff9b::a00:1",
            ),
            (
                AddressKind::NoService,
                "0.0.0.0 0.1.2.3 169.254.169.254 192.0.0.8 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 \
                               198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::2 ::1.2.3.4 \
                               fe80::1 febf::1 fec0::1 ff02::1 100::1 64:ff9b:1::1 2001::1 2001:1ff::1 2001:db8::1 2002::1 \
                               3fff:fff::1 4000::1 5f00::1 ::ffff:169.254.169.254 ::ffff:0:7f00:1",
            ),
        ];
        for (kind, addresses) in cases {
            for address in addresses.split_whitespace() {
                assert_eq!(AddressKind::of(address.parse().unwrap()), kind, "{address}");
            }
        }
    }

    #[test]
    fn b_048_how_far_a_name_reaches_is_the_operators_word() {
        let reached = |reach: Reach| {
            ["1.1.1.1", "127.0.0.1", "10.0.0.1", "169.254.169.254"]
                .map(|text| reach.includes(text.parse().unwrap()))
        };
        assert_eq!(reached(Reach::Public), [true, false, false, false]);
        assert_eq!(reached(Reach::ThisMachine), [true, true, false, false]);
        assert_eq!(reached(Reach::Private), [true, true, true, false]);
    }

    #[test]
    fn b_048_a_name_that_leads_to_this_machine_is_not_followed_unless_the_url_says_so() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://localhost:{}/", listener.local_addr().unwrap().port());
        let ask = |reach| {
            let config =
                ureq::Agent::config_builder().timeout_global(Some(Duration::from_millis(500))).build();
            let agent =
                ureq::Agent::with_parts(config, DefaultConnector::default(), GuardedResolver { reach });
            agent.get(&url).call().unwrap_err()
        };
        assert!(matches!(ask(Reach::Public), Error::Other(error) if error.is::<OutOfReach>()));
        assert!(listener.accept().is_err(), "no connection was made");
        assert!(matches!(ask(Reach::ThisMachine), Error::Timeout(_)));
        assert!(listener.accept().is_ok());
    }
}
