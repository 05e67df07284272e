//! The RPC addresses that may be asked about contracts. They come only from the operator's settings (B-048).

use std::fmt;
use std::net::IpAddr;

use countersign_outbound::{AddressKind, Reach};
use ureq::http::Uri;
use url::{Host, Url};

/// The URL of an Ethereum RPC service. It often contains a key, so printing it shows only scheme, host and
/// port.
#[derive(Clone, PartialEq, Eq)]
pub struct RpcUrl(Url);

/// Why a text is not such a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcUrlRejected {
    /// It cannot be parsed.
    #[error("not a URL")]
    NotAUrl,
    /// Neither https nor http.
    #[error("neither https nor http")]
    Scheme,
    /// It is plain http outside the private network, where anyone on the way could change the answers.
    #[error("http is for localhost and for loopback or private addresses only: use https")]
    PlainHttp,
    /// It has a fragment, which is never sent to a server.
    #[error("it has a fragment")]
    Fragment,
    /// No service can run there: multicast, link-local, documentation addresses and the like.
    #[error("no service can run at its address")]
    NoService,
}

impl RpcUrl {
    /// Reads a URL: https, or http if it cannot leave the machine or the private network. A user and a
    /// password in it are sent with HTTP Basic.
    pub fn parse(text: &str) -> Result<Self, RpcUrlRejected> {
        let url = Url::parse(text).map_err(|_| RpcUrlRejected::NotAUrl)?;
        if url.fragment().is_some() {
            return Err(RpcUrlRejected::Fragment);
        }
        let kind = literal(&url).map(AddressKind::of);
        match (url.scheme(), kind) {
            ("https" | "http", Some(AddressKind::NoService)) => return Err(RpcUrlRejected::NoService),
            ("https", _) => {}
            ("http", Some(AddressKind::Loopback | AddressKind::Private)) => {}
            ("http", None) if is_localhost(&url) => {}
            ("http", _) => return Err(RpcUrlRejected::PlainHttp),
            _ => return Err(RpcUrlRejected::Scheme),
        }
        // The HTTP client parses the URL again by its own rules.
        Uri::try_from(url.as_str()).map_err(|_| RpcUrlRejected::NotAUrl)?;
        Ok(Self(url))
    }

    /// Returns the whole URL with its secrets, for the one place that connects.
    pub(super) fn expose(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for RpcUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.origin().ascii_serialization())
    }
}

impl fmt::Debug for RpcUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RpcUrl({self})")
    }
}

/// The service that is asked about the contracts of one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcEndpoint {
    chain: u64,
    url: RpcUrl,
    allow_private: bool,
}

/// Why a URL cannot be used for a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcEndpointRejected {
    /// Chain numbers start at one.
    #[error("0 is not a chain number")]
    NoChain,
    /// The address is private, and private addresses are not allowed.
    #[error("its address is private, and private addresses are not allowed")]
    Private,
}

impl RpcEndpoint {
    /// Sets the service for the contracts of the chain with this number. Unless private addresses are
    /// allowed, a host name must not resolve to a private address, or to this machine unless the URL itself
    /// says so.
    pub fn new(chain: u64, url: RpcUrl, allow_private: bool) -> Result<Self, RpcEndpointRejected> {
        if chain == 0 {
            return Err(RpcEndpointRejected::NoChain);
        }
        let is_private =
            literal(&url.0).is_some_and(|address| AddressKind::of(address) == AddressKind::Private);
        if is_private && !allow_private {
            return Err(RpcEndpointRejected::Private);
        }
        Ok(Self { chain, url, allow_private })
    }

    /// The chain's number.
    pub fn chain(&self) -> u64 {
        self.chain
    }

    /// The URL of the service.
    pub fn url(&self) -> &RpcUrl {
        &self.url
    }

    /// Which addresses the host name may resolve to.
    pub(super) fn reach(&self) -> Reach {
        let names_this_machine = is_localhost(&self.url.0)
            || literal(&self.url.0).is_some_and(|address| AddressKind::of(address) == AddressKind::Loopback);
        if self.allow_private {
            Reach::Private
        } else if names_this_machine {
            Reach::ThisMachine
        } else {
            Reach::Public
        }
    }
}

/// The IP address, if the host is one.
fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

fn is_localhost(url: &Url) -> bool {
    url.host_str() == Some("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(text: &str) -> Option<RpcUrlRejected> {
        RpcUrl::parse(text).err()
    }

    #[test]
    fn https_is_taken_anywhere_and_http_only_where_it_stays_inside() {
        for text in [
            "https://mainnet.example/v3/key",
            "https://user:password@node.example:8443/?key=1",
            "https://203.0.114.7/",
            "https://10.0.0.5/",
            "http://localhost:8545",
            "http://127.0.0.1:8545/path",
            "http://[::1]:8545",
            "http://10.0.0.5:8545",
            "http://[fd00::5]:8545",
        ] {
            assert_eq!(rejected(text), None, "{text}");
        }
        for text in
            ["http://node.example/", "http://localhost.example/", "http://8.8.8.8/", "http://[2600::1]/"]
        {
            assert_eq!(rejected(text), Some(RpcUrlRejected::PlainHttp), "{text}");
        }
        for text in ["ws://localhost:8545", "ftp://node.example/", "file:///etc/passwd", "data:,"] {
            assert_eq!(rejected(text), Some(RpcUrlRejected::Scheme), "{text}");
        }
        for text in
            ["", "localhost", "1=https://a", "https://", "https://a b/", "https://[::1", "https://a:99999/"]
        {
            assert_eq!(rejected(text), Some(RpcUrlRejected::NotAUrl), "{text}");
        }
        assert_eq!(rejected("https://node.example/#a"), Some(RpcUrlRejected::Fragment));
    }

    #[test]
    fn b_048_addresses_without_a_service_are_refused_however_they_are_written() {
        for text in
            ["http://169.254.169.254/", "https://0.0.0.0/", "https://[ff02::1]/", "http://0xa9fea9fe/"]
        {
            assert_eq!(rejected(text), Some(RpcUrlRejected::NoService), "{text}");
        }
        assert_eq!(RpcUrl::parse("http://0x7f.1:1/").unwrap().to_string(), "http://127.0.0.1:1");
    }

    #[test]
    fn a_key_in_it_is_shown_nowhere() {
        let url = RpcUrl::parse("https://user:password@node.example:8443/v3/key?more=key").unwrap();
        assert_eq!(url.to_string(), "https://node.example:8443");
        let endpoint = RpcEndpoint::new(1, url, false).unwrap();
        let shown = format!("{endpoint:?}");
        assert!(shown.contains("https://node.example:8443"), "{shown}");
        assert!(!shown.contains("key") && !shown.contains("user") && !shown.contains("password"), "{shown}");
    }

    #[test]
    fn b_048_a_private_address_must_be_allowed() {
        let endpoint = |chain, text, allowed| RpcEndpoint::new(chain, RpcUrl::parse(text).unwrap(), allowed);
        for text in ["http://10.0.0.5:8545", "https://192.168.1.1", "https://[fd00::1]", "http://100.64.0.1"]
        {
            assert_eq!(endpoint(1, text, false), Err(RpcEndpointRejected::Private), "{text}");
            assert_eq!(endpoint(1, text, true).unwrap().reach(), Reach::Private, "{text}");
        }
        assert_eq!(endpoint(1, "https://node.example", false).unwrap().reach(), Reach::Public);
        for text in ["http://localhost:1", "http://127.0.0.1:1", "https://[::1]"] {
            assert_eq!(endpoint(1, text, false).unwrap().reach(), Reach::ThisMachine, "{text}");
        }
        assert_eq!(endpoint(0, "https://node.example", false), Err(RpcEndpointRejected::NoChain));
    }
}
