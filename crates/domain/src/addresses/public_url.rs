//! The URL at which people reach this server: the issuer.

use std::fmt;

use url::{Host, Url};

/// Why a text cannot be the public URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicUrlRejected {
    /// Not a URL.
    #[error("not an absolute URL such as https://auth.example.com")]
    NotAbsolute,
    /// The scheme is neither http nor https.
    #[error("the scheme must be https")]
    Scheme,
    /// Plain http on a host that others can reach.
    #[error("http is for loopback hosts only: use https")]
    PlainHttp,
    /// It has user info, a query or a fragment.
    #[error("it can have a scheme, a host, a port and a path, and nothing else")]
    Extras,
    /// Too long to fit into every text that people sign.
    #[error("longer than {MAX_LENGTH} bytes")]
    TooLong,
    /// Another spelling of the same URL, which clients would not treat as equal.
    #[error("write it as {0}")]
    NotCanonical(String),
}

/// The longest public URL, in bytes. Every text that people sign contains it twice.
const MAX_LENGTH: usize = 255;

/// The public URL: `https://host[:port][/path]` without a slash at its end.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicUrl {
    text: String,
    authority: String,
    host: String,
    port: u16,
    path: String,
    https: bool,
    loopback: bool,
}

impl PublicUrl {
    /// Parses the operator's setting. It is never taken from a request.
    pub fn parse(text: &str) -> Result<Self, PublicUrlRejected> {
        let url = Url::parse(text).map_err(|_| PublicUrlRejected::NotAbsolute)?;
        if text.len() > MAX_LENGTH {
            return Err(PublicUrlRejected::TooLong);
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PublicUrlRejected::Scheme);
        }
        if !url.username().is_empty()
            || url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some()
        {
            return Err(PublicUrlRejected::Extras);
        }
        let host = url.host().ok_or(PublicUrlRejected::NotAbsolute)?;
        let loopback = is_loopback(&host);
        if url.scheme() == "http" && !loopback {
            return Err(PublicUrlRejected::PlainHttp);
        }
        let canonical = url.as_str().trim_end_matches('/');
        if canonical.len() > MAX_LENGTH {
            return Err(PublicUrlRejected::TooLong);
        }
        if canonical != text.trim_end_matches('/') {
            return Err(PublicUrlRejected::NotCanonical(canonical.to_owned()));
        }
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        Ok(Self {
            text: canonical.to_owned(),
            authority,
            host: host.to_string(),
            port: url.port_or_known_default().ok_or(PublicUrlRejected::Scheme)?,
            path: url.path().trim_end_matches('/').to_owned(),
            https: url.scheme() == "https",
            loopback,
        })
    }

    /// The issuer, byte for byte.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Host and port: the `domain` of a challenge.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The host as a URL writes it, without the port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, even if it is the one that the scheme implies.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The path in front of all our paths; usually empty.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Scheme, host and port: what a browser sends as `Origin`.
    pub fn origin(&self) -> String {
        format!("{}://{}", if self.https { "https" } else { "http" }, self.authority)
    }

    /// Is the server reached over https?
    pub const fn is_https(&self) -> bool {
        self.https
    }

    /// Can only this machine reach it?
    pub const fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// The URL of one of our endpoints.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }
}

impl fmt::Debug for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicUrl({})", self.text)
    }
}

pub(crate) fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_https_address_is_taken_as_it_is() {
        let url = PublicUrl::parse("https://auth.example.com").unwrap();
        assert_eq!(url.as_str(), "https://auth.example.com");
        assert_eq!(url.authority(), "auth.example.com");
        assert_eq!(url.join("/oauth/token"), "https://auth.example.com/oauth/token");
        assert!(url.is_https() && !url.is_loopback());
    }

    #[test]
    fn a_path_and_a_port_are_kept_and_a_final_slash_is_dropped() {
        let url = PublicUrl::parse("https://example.com:8443/sso/").unwrap();
        assert_eq!(
            (url.as_str(), url.authority(), url.path()),
            ("https://example.com:8443/sso", "example.com:8443", "/sso")
        );
        assert_eq!(url.origin(), "https://example.com:8443");
    }

    #[test]
    fn plain_http_is_for_loopback_only() {
        assert!(PublicUrl::parse("http://localhost:8080").is_ok());
        assert!(PublicUrl::parse("http://127.0.0.1:8080").is_ok());
        assert!(PublicUrl::parse("http://[::1]:8080").is_ok());
        assert_eq!(PublicUrl::parse("http://auth.example.com"), Err(PublicUrlRejected::PlainHttp));
    }

    #[test]
    fn whatever_is_not_an_issuer_is_refused_with_a_reason() {
        assert_eq!(PublicUrl::parse("auth.example.com"), Err(PublicUrlRejected::NotAbsolute));
        assert_eq!(PublicUrl::parse("ftp://auth.example.com"), Err(PublicUrlRejected::Scheme));
        assert_eq!(PublicUrl::parse("https://u@auth.example.com"), Err(PublicUrlRejected::Extras));
        assert_eq!(PublicUrl::parse("https://auth.example.com/?a=b"), Err(PublicUrlRejected::Extras));
        assert_eq!(
            PublicUrl::parse("https://Auth.example.com:443"),
            Err(PublicUrlRejected::NotCanonical("https://auth.example.com".to_owned()))
        );
    }
}
