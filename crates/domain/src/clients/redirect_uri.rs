//! Redirect URIs: checked once at registration, and compared exactly afterwards (RFC 6749 section 3.1.2, RFC
//! 8252, RFC 9700 section 2.1).

mod scheme;
pub mod unregistered;

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::OnceLock;

use url::{Host, Position, Url, form_urlencoded};

use crate::addresses::host::{self, HostRejected};
use crate::public_url::is_loopback;

/// The longest redirect URI that can be registered, in bytes.
pub const MAX_LENGTH: usize = 2048;

/// Parameters that we add to the URI. A registered URI must not have them already (E-37).
const RESERVED: [&str; 6] = ["code", "state", "iss", "error", "error_description", "response"];

/// Why a redirect URI cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedirectUriRejected {
    /// Longer than [`MAX_LENGTH`].
    #[error("longer than {MAX_LENGTH} bytes")]
    TooLong,
    /// A wildcard. Redirect URIs are compared exactly, so it would match nothing.
    #[error("holds a wildcard (*), and redirect URIs are compared exactly: register each one in full")]
    Wildcard,
    /// A space, a control character, a quote, a backslash or anything beyond ASCII.
    #[error(
        "holds a character that a URI may not hold; write other alphabets as punycode or percent-encoded"
    )]
    Character,
    /// It is not absolute, or has no host.
    #[error("not an absolute URI")]
    NotAbsolute,
    /// It has a fragment.
    #[error("holds a fragment")]
    Fragment,
    /// It has a user name or a password.
    #[error("holds user information")]
    UserInfo,
    /// Plain http to a host that others can reach, or something that is not a scheme in lower case.
    #[error("must be https, http on a loopback host, or a private-use scheme in lower case")]
    Scheme,
    /// A scheme that is not an application's own.
    #[error("its scheme is not an application's own: {0}")]
    SchemeTaken(&'static str),
    /// A private-use scheme without a dot, for a client that authenticates.
    #[error(
        "a private-use scheme without a dot in it is for public clients (token_endpoint_auth_method none), which \
         must use PKCE"
    )]
    SchemeNeedsPkce,
    /// A host that cannot exist in DNS.
    #[error("its host is neither a name that DNS can have nor an IP address")]
    Host,
    /// A host or a path that is not spelled as a browser would spell it.
    #[error("host, port or path is not in its canonical form")]
    NotCanonical,
    /// A parameter that we add ourselves.
    #[error("its query holds a parameter that the answer adds")]
    ReservedParameter,
    /// An address of this server ([`crate::own_origin`]).
    #[error("it is on this server's own origin, where no client lives")]
    OwnOrigin,
}

/// What kind of client a redirect URI belongs to. Each kind can do what those before it can, and one thing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UriOwner {
    /// A registered client with a credential.
    Registered,
    /// A client with keys that a document describes. The document is the same for every computer that the client
    /// runs on, so the port of `http://localhost` is free.
    Described,
    /// A public client. Its answers are safe in other hands, because it must use PKCE, so its scheme need not have
    /// a dot in it either.
    Public,
}

/// A redirect URI that a client can register, stored exactly as it was written.
#[derive(Clone)]
pub struct RedirectUri {
    text: String,
    /// Do today's rules allow it, and from which kind of client on? Empty until someone asks about a URI that was
    /// stored.
    allowed_from: OnceLock<Option<UriOwner>>,
}

impl RedirectUri {
    /// Checks a URI that a client of this kind wants to register.
    pub fn parse(text: &str, owner: UriOwner) -> Result<Self, RedirectUriRejected> {
        let from = judge(text)?;
        if owner < from {
            return Err(RedirectUriRejected::SchemeNeedsPkce);
        }
        Ok(Self { text: text.to_owned(), allowed_from: OnceLock::from(Some(from)) })
    }

    /// Wraps a URI from storage or the session. An older release checked it, perhaps by laxer rules.
    pub const fn from_trusted(text: String) -> Self {
        Self { text, allowed_from: OnceLock::new() }
    }

    /// Does the requested URI of a client of this kind match this one? They must be equal byte for byte, except
    /// for the port of a loopback IP literal (RFC 8252 section 7.3), and for most clients that of `localhost`: a
    /// program cannot know which port will be free.
    pub fn admits(&self, requested: &str, owner: UriOwner) -> bool {
        const FREE_PORTS: [(&str, UriOwner); 3] = [
            ("http://127.0.0.1", UriOwner::Registered),
            ("http://[::1]", UriOwner::Registered),
            ("http://localhost", UriOwner::Described),
        ];
        if self.text == requested {
            return true;
        }
        FREE_PORTS.into_iter().filter(|(_, from)| owner >= *from).any(|(origin, _)| {
            let registered = self.text.strip_prefix(origin).and_then(without_port);
            let requested = requested.strip_prefix(origin).and_then(without_port);
            registered.is_some() && registered == requested
        })
    }

    /// The requested URI, if this registered one admits it and today's rules still allow it (F-08). The rules
    /// are checked once per client that was read. The two URIs can differ only in the port of a loopback
    /// address, which does not affect the rules.
    pub fn admitted(&self, requested: &str, owner: UriOwner) -> Option<Self> {
        if !self.admits(requested, owner) {
            return None;
        }
        let from = *self.allowed_from.get_or_init(|| judge(&self.text).ok());
        from.filter(|from| owner >= *from)?;
        Some(Self { text: requested.to_owned(), allowed_from: OnceLock::from(from) })
    }

    /// The URI as it was registered or requested.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What a person should read before signing: the host and port, or the application's own scheme.
    pub fn destination(&self) -> Destination {
        plain_destination(&self.text).unwrap_or_else(|| self.parsed_destination())
    }

    fn parsed_destination(&self) -> Destination {
        let Ok(url) = Url::parse(&self.text) else { return Destination::App(self.text.clone()) };
        let Some(host) = url.host().filter(|_| matches!(url.scheme(), "http" | "https")) else {
            return Destination::App(url.scheme().to_owned());
        };
        let authority = url[Position::BeforeHost..Position::AfterPort].to_owned();
        if is_loopback(&host) { Destination::ThisComputer(authority) } else { Destination::Host(authority) }
    }

    /// The origin as a URI.
    pub fn origin(&self) -> String {
        self.origin_at(self.destination())
    }

    /// The same for a caller that knows the destination.
    pub(crate) fn origin_at(&self, destination: Destination) -> String {
        match destination {
            Destination::Host(authority) | Destination::ThisComputer(authority) => {
                let scheme = self.text.split(':').next().unwrap_or("https");
                format!("{scheme}://{authority}")
            }
            Destination::App(scheme) => format!("{scheme}:/"),
            Destination::Device(code) => format!("urn:countersign:device:{code}"),
        }
    }

    /// The name of the place in our `form-action` policy: scheme, host and port, each as parsed and not as
    /// written. A policy cannot contain literal IPv6 addresses, so for those, as for an application, it is
    /// only the scheme. `None` if no policy can name it.
    pub fn policy_source(&self) -> Option<String> {
        let url = Url::parse(&self.text).ok()?;
        let scheme = url.scheme();
        if !matches!(scheme, "http" | "https") {
            return Some(format!("{scheme}:"));
        }
        let host = match url.host()? {
            Host::Domain(name) if host::is_name(name) => name.to_owned(),
            Host::Domain(_) => return None,
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(_) => return Some(format!("{scheme}:")),
        };
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Some(format!("{scheme}://{host}{port}"))
    }

    /// The URI with our response added to the query that it already had.
    pub fn with_answer(&self, answer: &[(&str, &str)]) -> String {
        let mut target = self.text.clone();
        let query_starts = match target.find('?') {
            Some(position) => position + 1,
            None => {
                target.push('?');
                target.len()
            }
        };
        form_urlencoded::Serializer::for_suffix(target, query_starts).extend_pairs(answer).finish()
    }
}

impl PartialEq for RedirectUri {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RedirectUri {}

impl fmt::Display for RedirectUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for RedirectUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedirectUri({})", self.text)
    }
}

/// Where a sign-in leads, in words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A site: host and port.
    Host(String),
    /// A program on the person's own computer: host and port.
    ThisComputer(String),
    /// An application on the person's device: its scheme.
    App(String),
    /// Another device, which is waiting: the code that it shows.
    Device(String),
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(authority) => f.write_str(authority),
            Self::ThisComputer(authority) => write!(f, "a program on this computer ({authority})"),
            Self::App(scheme) => write!(f, "an application on this device ({scheme})"),
            Self::Device(code) => write!(f, "the device that shows {code}"),
        }
    }
}

/// Checks a URI, and says from which kind of client on it can be registered.
fn judge(text: &str) -> Result<UriOwner, RedirectUriRejected> {
    if text.len() > MAX_LENGTH {
        return Err(RedirectUriRejected::TooLong);
    }
    if text.contains('*') {
        return Err(RedirectUriRejected::Wildcard);
    }
    if !text.bytes().all(is_plain_uri_byte) || !percent_escapes_are_whole(text) {
        return Err(RedirectUriRejected::Character);
    }
    if text.contains('#') {
        return Err(RedirectUriRejected::Fragment);
    }
    let url = Url::parse(text).map_err(|_| RedirectUriRejected::NotAbsolute)?;
    if !url.username().is_empty() || url.password().is_some() || names_a_user(text) {
        return Err(RedirectUriRejected::UserInfo);
    }
    let mut from = UriOwner::Registered;
    match url.scheme() {
        "https" => judge_spelling(text, &url)?,
        "http" => {
            judge_spelling(text, &url)?;
            if !url.host().is_some_and(|host| is_loopback(&host)) {
                return Err(RedirectUriRejected::Scheme);
            }
        }
        private_use if text.starts_with(private_use) => {
            if let Some(handler) = scheme::taken_by(private_use) {
                return Err(RedirectUriRejected::SchemeTaken(handler));
            }
            if !private_use.contains('.') {
                from = UriOwner::Public;
            }
            // `com.example.app:/cb` and `com.example.app:///cb` have no host. If there is a host, it is
            // checked like any other.
            if url.host().is_some() {
                judge_host(text, &url)?;
            }
        }
        _ => return Err(RedirectUriRejected::Scheme),
    }
    if url.query_pairs().any(|(name, _)| RESERVED.contains(&name.as_ref())) {
        return Err(RedirectUriRejected::ReservedParameter);
    }
    Ok(from)
}

/// The characters of RFC 3986, without those that only cause trouble: quotes, angle brackets, backslash,
/// wildcard.
pub(crate) fn is_plain_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()+,;=%".contains(&byte)
}

/// Is every `%` followed by two hexadecimal digits?
pub fn percent_escapes_are_whole(text: &str) -> bool {
    let mut parts = text.split('%');
    parts.next();
    parts.all(|part| part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
}

/// Does the authority contain an `@`? There can be nothing in front of it, and then the `url` crate does not
/// show it.
fn names_a_user(text: &str) -> bool {
    text.split_once("://").is_some_and(|(_, rest)| {
        rest.split(['/', '?']).next().is_some_and(|authority| authority.contains('@'))
    })
}

/// A registered URI is compared as text, so host, port and path must be spelled as a browser would spell
/// them.
fn judge_spelling(text: &str, url: &Url) -> Result<(), RedirectUriRejected> {
    judge_host(text, url)?;
    let (_, rest) = text.split_once("://").ok_or(RedirectUriRejected::NotAbsolute)?;
    let path_and_query = rest.find(['/', '?']).map_or("", |end| &rest[end..]);
    let path = path_and_query.split('?').next().unwrap_or_default();
    if path.is_empty() || path == url.path() { Ok(()) } else { Err(RedirectUriRejected::NotCanonical) }
}

fn judge_host(text: &str, url: &Url) -> Result<(), RedirectUriRejected> {
    host::judge(text, url).map_err(|rejected| match rejected {
        HostRejected::Missing => RedirectUriRejected::NotAbsolute,
        HostRejected::Name => RedirectUriRejected::Host,
        HostRejected::NotCanonical => RedirectUriRejected::NotCanonical,
    })
}

/// What follows host and port; `None` if that is not a port.
fn without_port(rest: &str) -> Option<&str> {
    let Some(after_colon) = rest.strip_prefix(':') else {
        return (rest.is_empty() || rest.starts_with(['/', '?'])).then_some(rest);
    };
    let end = after_colon.find(['/', '?']).unwrap_or(after_colon.len());
    let (port, rest) = after_colon.split_at(end);
    host::is_port(port).then_some(rest)
}

/// The destination of a URI whose host and port a parser would leave as they are written. That is almost every
/// one, and each page asks; parsing takes twenty times as long. `None` if a parser has to decide.
fn plain_destination(text: &str) -> Option<Destination> {
    let (implied_port, rest) = match text.strip_prefix("https://") {
        Some(rest) => ("443", rest),
        None => ("80", text.strip_prefix("http://")?),
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    if port.is_some_and(|port| port == implied_port || !host::is_port(port)) {
        return None;
    }
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        let to = if address.is_loopback() { Destination::ThisComputer } else { Destination::Host };
        return Some(to(authority.to_owned()));
    }
    // A name whose last label begins with a letter is not an address, and punycode has to be decoded to be
    // believed.
    let is_plain = host::is_name(host)
        && !host.bytes().any(|byte| byte.is_ascii_uppercase())
        && !host.contains("xn--")
        && host.rsplit('.').next()?.starts_with(|first: char| first.is_ascii_lowercase());
    let to = if host == "localhost" { Destination::ThisComputer } else { Destination::Host };
    is_plain.then(|| to(authority.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn uri(text: &str) -> RedirectUri {
        RedirectUri::parse(text, UriOwner::Registered).unwrap()
    }

    #[test]
    fn the_error_about_a_wildcard_says_wildcard() {
        for uri in ["https://*.a.example/cb", "https://a.example/*", "com.example.app:/*"] {
            let rejected = RedirectUri::parse(uri, UriOwner::Registered).unwrap_err();
            assert_eq!(rejected, RedirectUriRejected::Wildcard);
            assert!(rejected.to_string().contains("wildcard"));
        }
    }

    #[test]
    fn the_answer_is_added_to_the_query_that_was_there() {
        assert_eq!(
            uri("https://a.example/cb").with_answer(&[("code", "x y")]),
            "https://a.example/cb?code=x+y"
        );
        assert_eq!(
            uri("https://a.example/cb?t=1").with_answer(&[("code", "x")]),
            "https://a.example/cb?t=1&code=x"
        );
        assert_eq!(
            uri("https://a.example").with_answer(&[("state", "&a=b")]),
            "https://a.example?state=%26a%3Db"
        );
        assert_eq!(uri("com.example.app:/cb").with_answer(&[("code", "x")]), "com.example.app:/cb?code=x");
    }

    #[test]
    fn people_read_where_they_are_going() {
        assert_eq!(uri("https://a.example:8443/cb").destination().to_string(), "a.example:8443");
        assert_eq!(
            uri("http://127.0.0.1:7777/cb").destination().to_string(),
            "a program on this computer (127.0.0.1:7777)"
        );
        assert_eq!(
            uri("com.example.app:/cb").destination().to_string(),
            "an application on this device (com.example.app)"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// What is read without parsing is what the parser finds, whoever wrote the URI.
        #[test]
        fn a_destination_is_the_same_whether_parsed_or_read(
            scheme in "https?://|HTTP://|https:/|https:|ftp://",
            host in "([a-zA-Z0-9-]{0,4}\\.?){0,4}|[0-9x.]{1,12}|127\\.0?\\.0\\.[01]|localhost|xn--[a-z0-9-]{0,6}|.{0,6}",
            port in "(:[0-9]{0,6})?|:0?443|:80|:.{0,3}",
            rest in "([/?#\\\\].{0,6})?",
        ) {
            let uri = RedirectUri::from_trusted(format!("{scheme}{host}{port}{rest}"));
            prop_assert_eq!(uri.destination(), uri.parsed_destination());
        }
    }

    #[test]
    fn destinations_as_they_are_registered_are_read_without_parsing() {
        for (uri, authority) in [
            ("https://app.example.com/callback", "app.example.com"),
            ("https://app.example.com:8443/callback?x=1", "app.example.com:8443"),
            ("http://127.0.0.1:7777/cb", "127.0.0.1:7777"),
            ("http://localhost:3000", "localhost:3000"),
        ] {
            let read = plain_destination(uri).unwrap();
            assert!(read.to_string().contains(authority), "{uri}: {read}");
        }
        for uri in
            ["https://a.example:443/", "http://[::1]/", "https://xn--bcher-kva.example/", "com.example:/"]
        {
            assert_eq!(plain_destination(uri), None, "{uri}");
        }
    }

    #[test]
    fn the_origin_of_every_kind_is_a_uri() {
        assert_eq!(uri("https://a.example/cb?x=1").origin(), "https://a.example");
        assert_eq!(uri("http://[::1]:80/cb").origin(), "http://[::1]");
        assert_eq!(uri("com.example.app:/cb").origin(), "com.example.app:/");
    }

    #[test]
    fn a_user_without_a_name_cannot_be_registered() {
        // Found by fuzzing: with a response added, the first of these is no longer a URL.
        for text in [
            "com.example.app://@",
            "com.example.app://@host/cb",
            "https://@a.example/cb",
            "https://:@a.example/cb",
        ] {
            assert_eq!(
                RedirectUri::parse(text, UriOwner::Registered),
                Err(RedirectUriRejected::UserInfo),
                "{text}"
            );
        }
        assert!(RedirectUri::parse("com.example.app:/cb/@name", UriOwner::Registered).is_ok());
        assert!(RedirectUri::parse("https://a.example/@name?mail=a@b.example", UriOwner::Registered).is_ok());
    }

    /// F-08: this also holds for a URI that an older release accepted.
    #[test]
    fn f_08_a_policy_names_what_was_parsed_and_nothing_else() {
        let source = |text: &str| RedirectUri::from_trusted(text.to_owned()).policy_source();
        for (text, expected) in [
            ("https://photos.example/cb?x=1", "https://photos.example"),
            ("https://photos.example:8443/cb", "https://photos.example:8443"),
            ("http://127.0.0.1:7777/cb", "http://127.0.0.1:7777"),
            ("http://localhost/cb", "http://localhost"),
            ("http://[::1]:7777/cb", "http:"),
            ("com.example.app:/cb", "com.example.app:"),
            ("com.example.app://a;b/cb", "com.example.app:"),
        ] {
            assert_eq!(source(text).as_deref(), Some(expected), "{text}");
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-+.:/".contains(&byte);
        for byte in (0..=0x7F_u8).filter(|byte| !byte.is_ascii_alphanumeric()) {
            let raw = char::from(byte);
            for text in [
                format!("https://a{raw}b.example/cb"),
                format!("https://{raw}a.example/cb"),
                format!("https://a.example{raw}/cb"),
                format!("https://a.example:{raw}443/cb"),
                format!("https://a%{byte:02x}b.example/cb"),
                format!("https://a%25{byte:02x}b.example/cb"),
                format!("http{raw}://a.example/cb"),
            ] {
                let source = source(&text).unwrap_or_default();
                assert!(source.bytes().all(is_plain), "{text:?}: {source}");
                assert!(source.matches("://").count() <= 1, "{text:?}: {source}");
            }
        }
        assert_eq!(source(&format!("https://{}.example/cb", "a".repeat(64))), None);
        assert_eq!(source(&format!("https://{}a/cb", "a.".repeat(127))), None);
    }

    #[test]
    fn f_08_a_host_that_no_dns_has_is_registered_nowhere() {
        for host in [
            "a;b.example",
            "a,b.example",
            "a(b).example",
            "a'b.example",
            "a!b.example",
            "a$b.example",
            "a_b.example",
        ] {
            for text in [format!("https://{host}/cb"), format!("com.example.app://{host}/cb")] {
                assert_eq!(
                    RedirectUri::parse(&text, UriOwner::Registered),
                    Err(RedirectUriRejected::Host),
                    "{text}"
                );
            }
        }
        for length in [64, 300] {
            let text = format!("https://{}.example/cb", "a".repeat(length));
            assert_eq!(RedirectUri::parse(&text, UriOwner::Registered), Err(RedirectUriRejected::Host));
        }
        assert!(
            RedirectUri::parse("https://a.example/cb;x,(y)'!$", UriOwner::Registered).is_ok(),
            "a path may hold what it wants"
        );
    }

    const OWNERS: [UriOwner; 3] = [UriOwner::Registered, UriOwner::Described, UriOwner::Public];

    #[test]
    fn a_private_use_scheme_without_a_dot_is_for_public_clients() {
        for text in [
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "vscode://saoudrizwan.claude-dev/mcp-auth/callback",
            "vscode-insiders://publisher.extension/cb",
            "goose:/cb",
        ] {
            let parsed = OWNERS.map(|owner| RedirectUri::parse(text, owner).map(|uri| uri.to_string()));
            let refused = Err(RedirectUriRejected::SchemeNeedsPkce);
            assert_eq!(parsed, [refused.clone(), refused, Ok(text.to_owned())], "{text}");
            // What another release stored is judged alike.
            let stored = OWNERS
                .map(|owner| RedirectUri::from_trusted(text.to_owned()).admitted(text, owner).is_some());
            assert_eq!(stored, [false, false, true], "{text}");
            let uri = RedirectUri::parse(text, UriOwner::Public).unwrap();
            for owner in OWNERS {
                assert_eq!(uri.admitted(text, owner).is_some(), owner == UriOwner::Public, "{text}");
            }
        }
        assert!(RedirectUri::parse("com.example.app:/cb", UriOwner::Registered).is_ok());
    }

    #[test]
    fn no_client_has_a_scheme_that_is_not_an_application_s_own() {
        for (taken, reason) in scheme::TAKEN {
            let scheme =
                taken.strip_suffix(['-', '+', '.']).map_or(taken.to_owned(), |_| format!("{taken}x"));
            for rest in ["://a.example/cb", ":/cb", "://cb", ":cb", ":alert(1)"] {
                for text in [format!("{scheme}{rest}"), format!("{}{rest}", scheme.to_uppercase())] {
                    for owner in OWNERS {
                        let is_web = ["http", "https"].contains(&taken);
                        let parsed = RedirectUri::parse(&text, owner);
                        assert!(is_web || parsed.is_err(), "{text} of {owner:?}: {reason}");
                        let stored = RedirectUri::from_trusted(text.clone());
                        assert!(is_web || stored.admitted(&text, owner).is_none(), "{text}");
                    }
                }
            }
        }
        for text in [
            "c://windows/cb",
            "C:/cb",
            "1a://cb",
            "-a://cb",
            "a b://cb",
            "://cb",
            "Cursor://cb",
            "curs\u{f6}r://cb",
        ] {
            assert!(RedirectUri::parse(text, UriOwner::Public).is_err(), "{text}");
        }
    }

    #[test]
    fn the_port_of_localhost_is_free_for_clients_that_cannot_know_it() {
        let admits = |registered: &str, requested: &str| {
            let uri = RedirectUri::from_trusted(registered.to_owned());
            OWNERS.map(|owner| uri.admits(requested, owner))
        };
        let (no, yes, free) = ([false; 3], [true; 3], [false, true, true]);
        for (registered, requested, expected) in [
            ("http://localhost/callback", "http://localhost:58135/callback", free),
            ("http://localhost:58135/callback", "http://localhost:1234/callback", free),
            ("http://localhost:58135/callback", "http://localhost/callback", free),
            ("http://localhost:58135/callback", "http://localhost:58135/callback", yes),
            ("http://127.0.0.1/callback", "http://127.0.0.1:58135/callback", yes),
            ("http://localhost", "http://localhost:1234", free),
            ("http://localhost", "http://localhost:1234/", no),
            ("http://localhost/callback", "http://localhost:1234/other", no),
            ("http://localhost/callback", "http://localhost:1234/callback?x=1", no),
            ("http://localhost/callback", "http://127.0.0.1:1234/callback", no),
            ("http://127.0.0.1/callback", "http://localhost:1234/callback", no),
            ("http://localhost/callback", "https://localhost:1234/callback", no),
            ("https://localhost/callback", "https://localhost:1234/callback", no),
            ("http://localhost/callback", "http://localhost.evil.example/callback", no),
            ("http://localhost/callback", "http://localhost:1234@evil.example/callback", no),
            ("http://localhost/callback", "http://localhost:1234.evil.example/callback", no),
            ("http://localhost/callback", "http://localhost:/callback", no),
            ("http://localhost/callback", "http://localhost:0123/callback", no),
            ("http://localhost/callback", "http://localhost:99999/callback", no),
            ("http://localhost/callback", "http://LOCALHOST:1234/callback", no),
            ("http://localhost/callback", "http://localhost.:1234/callback", no),
            ("http://app.localhost/callback", "http://app.localhost:1234/callback", no),
            ("https://a.example/callback", "https://a.example:1234/callback", no),
            ("cursor://a/cb", "cursor://a:1234/cb", no),
        ] {
            assert_eq!(admits(registered, requested), expected, "{registered}, asked for {requested}");
        }
    }

    #[test]
    fn other_spellings_of_a_host_or_path_cannot_be_registered() {
        for text in
            ["http://0x7f.0.0.1/cb", "http://127.1/cb", "https://a.example:/cb", "https://a.example/x/../cb"]
        {
            assert_eq!(
                RedirectUri::parse(text, UriOwner::Registered),
                Err(RedirectUriRejected::NotCanonical),
                "{text}"
            );
        }
    }
}
