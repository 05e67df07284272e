//! Decides which URLs lead back to this server. No client can register one of them: a response that we send
//! to ourselves would be a form of our own origin that someone else filled in (F-02).

use url::{Host, Url};

use crate::public_url::{PublicUrl, is_loopback};

/// The path of the playground page.
pub const PLAYGROUND: &str = "/playground";

/// The origin of this server, and the one URL on it that a client can have.
#[derive(Clone, Copy, Debug)]
pub struct OwnOrigin<'a> {
    public_url: &'a PublicUrl,
    /// The path of the playground, if there is one.
    playground: Option<&'static str>,
}

impl<'a> OwnOrigin<'a> {
    /// The origin of a server, with a playground at this path or without one.
    pub const fn new(public_url: &'a PublicUrl, playground: Option<&'static str>) -> Self {
        Self { public_url, playground }
    }

    /// Is this URL forbidden for every client? The playground's own URL is the only exception, byte for byte.
    pub fn forbids(&self, address: &str) -> bool {
        self.is_reached_by(address) && !self.is_playground(address)
    }

    /// Is this the URL of the playground page?
    pub fn is_playground(&self, address: &str) -> bool {
        self.playground.is_some_and(|path| self.public_url.join(path) == address)
    }

    /// Can only this machine reach this server?
    pub const fn is_loopback(&self) -> bool {
        self.public_url.is_loopback()
    }

    /// Would a browser that goes to this URL reach us? Scheme, letter case and a final dot in the host do not
    /// matter. All loopback hosts count as one, because whatever listens there on our port is us.
    pub fn is_reached_by(&self, address: &str) -> bool {
        !self.is_plainly_elsewhere(address) && self.is_reached_by_parsed(address)
    }
}

impl OwnOrigin<'_> {
    fn is_reached_by_parsed(&self, address: &str) -> bool {
        let (Ok(ours), Ok(theirs)) = (Url::parse(self.public_url.as_str()), Url::parse(address)) else {
            return false;
        };
        if !matches!(theirs.scheme(), "http" | "https") {
            return false;
        }
        let (Some(our_host), Some(their_host)) = (ours.host(), theirs.host()) else { return false };
        let same_host = name_of(&our_host) == name_of(&their_host)
            || (names_this_machine(&our_host) && names_this_machine(&their_host));
        same_host && ours.port_or_known_default() == theirs.port_or_known_default()
    }

    /// Does the text alone show that the URL is elsewhere? For almost every redirect URI it does, and this is
    /// asked on every authorization request, so only the others are parsed. A port that differs from ours is
    /// enough. With our own port, the host must be another name, in the one spelling that browsers write.
    fn is_plainly_elsewhere(&self, address: &str) -> bool {
        let Some((port_of_scheme, rest)) = ["https://", "http://"]
            .into_iter()
            .zip([443, 80])
            .find_map(|(scheme, port)| Some((port, address.strip_prefix(scheme)?)))
        else {
            return false;
        };
        let is_of_host = |next: char| matches!(next, 'a'..='z' | '0'..='9' | '-' | '.');
        let (host, behind) = rest.split_at(rest.find(|next| !is_of_host(next)).unwrap_or(rest.len()));
        let (port, behind) = match behind.strip_prefix(':') {
            None => (Some(port_of_scheme), behind),
            Some(behind) => {
                let end = behind.find(|next: char| !next.is_ascii_digit()).unwrap_or(behind.len());
                (behind[..end].parse().ok(), &behind[end..])
            }
        };
        let is_whole = !host.is_empty() && (behind.is_empty() || behind.starts_with(['/', '?']));
        let Some(port) = port.filter(|_| is_whole) else { return false };
        // To browsers, a host that ends in a number is an IP address. One that ends in a dot is another
        // spelling of a name.
        let is_name = host
            .rsplit('.')
            .next()
            .is_some_and(|label| label.starts_with(|first: char| first.is_ascii_lowercase()));
        let is_loopback = host == "localhost" || host.ends_with(".localhost");
        port != self.public_url.port() || (is_name && !is_loopback && host != self.public_url.host())
    }
}

/// The host as resolvers read it.
fn name_of(host: &Host<&str>) -> String {
    host.to_string().trim_end_matches('.').to_ascii_lowercase()
}

/// Is the host, in any spelling, a name for the very machine that connects to it?
fn names_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(address) => address.is_unspecified() || is_loopback(host),
        Host::Ipv6(address) => {
            address.is_unspecified()
                || is_loopback(host)
                || address
                    .to_ipv4_mapped()
                    .is_some_and(|mapped| mapped.is_loopback() || mapped.is_unspecified())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forbids(public_url: &str, address: &str) -> bool {
        OwnOrigin::new(&PublicUrl::parse(public_url).unwrap(), Some("/playground")).forbids(address)
    }

    #[test]
    fn f_02_every_spelling_of_our_own_origin_is_ours() {
        for address in [
            "https://auth.example.com/account/email/remove",
            "https://auth.example.com",
            "https://AUTH.example.com/x",
            "https://auth.example.com.:443/x",
            "https://auth.example.com:443/sso/oauth/continue",
            "http://auth.example.com:443/x",
            "https://auth.example.com/elsewhere",
        ] {
            assert!(forbids("https://auth.example.com/sso", address), "{address}");
        }
        for address in [
            "https://auth.example.com:8443/cb",
            "https://example.com/cb",
            "https://auth.example.com.evil.example/cb",
            "https://xauth.example.com/cb",
            "com.example.app:/cb",
            "http://127.0.0.1/cb",
            "nonsense",
        ] {
            assert!(!forbids("https://auth.example.com/sso", address), "{address}");
        }
    }

    #[test]
    fn f_02_on_loopback_every_loopback_host_with_our_port_is_ours() {
        for issuer in ["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"] {
            for address in [
                "http://localhost:8080/account/email/remove",
                "http://LOCALHOST:8080/x",
                "http://127.0.0.1:8080/oauth/continue",
                "http://127.7.7.7:8080/x",
                "http://[::1]:8080/x",
                "https://[::ffff:127.0.0.1]:8080/x",
                "https://a.localhost:8080/x",
                "https://localhost.:8080/x",
                "https://0.0.0.0:8080/x",
            ] {
                assert!(forbids(issuer, address), "{issuer} {address}");
            }
            for address in ["http://127.0.0.1/cb", "http://localhost:8081/cb", "https://localhost/cb"] {
                assert!(!forbids(issuer, address), "{issuer} {address}");
            }
        }
    }

    proptest::proptest! {
        /// F-02: what the text alone shows agrees with what a browser's parser would find.
        #[test]
        fn f_02_no_address_of_ours_is_plainly_elsewhere(
            ours in "(https://(a|b)\\.example|http://(localhost|127\\.0\\.0\\.1|\\[::1\\]))(:(80|443|8080))?",
            theirs in "(https?|HTTP)://(a|b|A|1|%61)?\\.?(example|localhost|127\\.0\\.0\\.1|1|0x7f\\.1)?\\.?(@|:|:0?80|:443|:0*8080|:x)?(@a\\.example)?[/?#\\\\]?",
        ) {
            let Ok(public_url) = PublicUrl::parse(&ours) else { return Ok(()) };
            let own = OwnOrigin::new(&public_url, None);
            let plainly_elsewhere = own.is_plainly_elsewhere(&theirs);
            proptest::prop_assert!(!(plainly_elsewhere && own.is_reached_by_parsed(&theirs)), "{} {}", ours, theirs);
        }
    }

    #[test]
    fn the_playground_is_excepted_byte_for_byte() {
        let issuer = "http://localhost:8080";
        assert!(!forbids(issuer, "http://localhost:8080/playground"));
        for near in ["/playground/", "/playground?x=1", "/Playground", "/playground/../account"] {
            assert!(forbids(issuer, &format!("{issuer}{near}")), "{near}");
        }
        assert!(forbids(issuer, "http://127.0.0.1:8080/playground"));
        let off = PublicUrl::parse(issuer).unwrap();
        assert!(OwnOrigin::new(&off, None).forbids("http://localhost:8080/playground"));
    }
}
