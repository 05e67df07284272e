//! A single request to a server that someone else named.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use countersign_outbound::{AddressKind, Gate, Late, OutOfReach, Reach, agent};
use countersign_ports::{FetchError, Fetched, Fetcher, Post, Posted};
use ureq::http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use ureq::http::{HeaderMap, HeaderName, Response};
use ureq::{Agent, Body};
use url::{Host, Url};

/// How long a request can take, including the wait for other requests.
const TOTAL: Duration = Duration::from_secs(5);
/// How long resolving a name can take, and how long connecting can take.
const CONNECT: Duration = Duration::from_secs(3);
/// How many requests run at a time for each purpose: strangers name documents, registered clients name keys,
/// registered clients are notified of sign-outs, and events are pushed. None of the four waits for the others
/// (F-12).
const IN_FLIGHT: usize = 8;
/// The most bytes that an answer can have.
const MAX_ANSWER: u64 = 64 * 1024;
/// The most bytes of an answer that says why something was refused.
const MAX_REASON: u64 = 4 * 1024;
/// The longest URL, in bytes.
const MAX_URL: usize = 2_048;

/// Fetches over HTTPS.
#[derive(Debug)]
pub struct HttpFetcher {
    agent: Agent,
    /// Keeps connections, because a receiver of events gets many.
    pusher: Agent,
    documents: Gate,
    keys: Gate,
    notices: Gate,
    pushes: Gate,
    reach: Reach,
    allow_loopback: bool,
}

impl HttpFetcher {
    /// Makes a fetcher that reaches the public internet. With `allow_loopback` it also reaches this machine,
    /// over http too. That is for a server that is itself tried out on a loopback address.
    pub fn new(allow_loopback: bool) -> Self {
        let reach = if allow_loopback { Reach::ThisMachine } else { Reach::Public };
        // Connections are not kept, because no other server is asked often.
        let gate = || Gate::new(IN_FLIGHT, TOTAL);
        let pusher = agent(reach, CONNECT, IN_FLIGHT);
        let (documents, keys, notices, pushes) = (gate(), gate(), gate(), gate());
        Self {
            agent: agent(reach, CONNECT, 0),
            pusher,
            documents,
            keys,
            notices,
            pushes,
            reach,
            allow_loopback,
        }
    }

    /// Can a request to this URL ever leave? Addresses that must not be contacted, and this machine unless it may be,
    /// are seen here. Where a name leads is seen when it is asked for.
    pub fn may_contact(&self, url: &str) -> bool {
        let Ok(url) = self.judge(url) else { return false };
        match url.host() {
            Some(Host::Ipv4(address)) => self.reach.includes(address.into()),
            Some(Host::Ipv6(address)) => self.reach.includes(address.into()),
            Some(Host::Domain(name)) => self.allow_loopback || !is_this_machine(name),
            None => false,
        }
    }

    /// Parses and checks a URL: https, or http on this machine if that is allowed, with neither user nor
    /// fragment.
    fn judge(&self, text: &str) -> Result<Url, FetchError> {
        let url = Some(text).filter(|text| text.len() <= MAX_URL).and_then(|text| Url::parse(text).ok());
        let url = url.ok_or(FetchError::Url)?;
        let is_bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        let kind = match url.host().ok_or(FetchError::Url)? {
            Host::Ipv4(address) => Some(AddressKind::of(address.into())),
            Host::Ipv6(address) => Some(AddressKind::of(address.into())),
            Host::Domain(_) => None,
        };
        let is_here = kind == Some(AddressKind::Loopback) || url.host_str() == Some("localhost");
        let is_good = is_bare
            && match url.scheme() {
                "https" => true,
                "http" => self.allow_loopback && is_here,
                _ => false,
            };
        // The HTTP library parses the URL again, by its own rules.
        if is_good && ureq::http::Uri::try_from(url.as_str()).is_ok() {
            Ok(url)
        } else {
            Err(FetchError::Url)
        }
    }

    async fn fetch(&self, gate: &Gate, url: &str) -> Result<Fetched, FetchError> {
        self.ask(&self.agent, gate, self.judge(url)?, |agent, url, left| {
            let request = agent.get(url).config().timeout_global(Some(left)).build();
            let request = request.header("accept", "application/json, application/jwk-set+json");
            read(request.call().map_err(|error| reason_of(&error))?)
        })
        .await
    }

    async fn ask<T: Send + 'static>(
        &self,
        agent: &Agent,
        gate: &Gate,
        url: Url,
        question: impl FnOnce(&Agent, &str, Duration) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<T, FetchError> {
        let agent = agent.clone();
        let asked = gate.pass(move |deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() { Err(FetchError::Late) } else { question(&agent, url.as_str(), left) }
        });
        asked.await.unwrap_or_else(|late| {
            Err(match late {
                Late::Busy => FetchError::Busy,
                Late::Time => FetchError::Late,
                Late::Ended(_) => FetchError::Unreachable,
            })
        })
    }
}

/// Is this a name of this machine, on every machine?
fn is_this_machine(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

#[async_trait]
impl Fetcher for HttpFetcher {
    async fn get(&self, url: &str) -> Result<Fetched, FetchError> {
        self.fetch(&self.documents, url).await
    }

    async fn get_keys(&self, url: &str) -> Result<Fetched, FetchError> {
        self.fetch(&self.keys, url).await
    }

    async fn post_form(&self, url: &str, form: &[(&str, &str)]) -> Result<u16, FetchError> {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.ask(&self.agent, &self.notices, self.judge(url)?, move |agent, url, left| {
            let request = agent.post(url).config().timeout_global(Some(left)).build();
            let request = request.content_type("application/x-www-form-urlencoded");
            let answer = request.send(body).map_err(|error| reason_of(&error))?;
            Ok(answer.status().as_u16())
        })
        .await
    }

    async fn post(&self, post: Post<'_>) -> Result<Posted, FetchError> {
        let Post { url, content_type, accept, bearer, body } = post;
        let bearer = bearer.map(|secret| format!("Bearer {}", secret.expose()));
        let body = body.to_owned();
        self.ask(&self.pusher, &self.pushes, self.judge(url)?, move |agent, url, left| {
            let mut request = agent.post(url).config().timeout_global(Some(left)).build();
            request = request.content_type(content_type).header(ACCEPT, accept);
            if let Some(bearer) = bearer {
                request = request.header(AUTHORIZATION, bearer);
            }
            let mut answer = request.send(body).map_err(|error| reason_of(&error))?;
            let status = answer.status().as_u16();
            let is_refused = status == 400;
            // A reason that cannot be read is none.
            let reason = is_refused.then(|| answer.body_mut().with_config().limit(MAX_REASON).read_to_vec());
            Ok(Posted { status, reason: reason.and_then(Result::ok).unwrap_or_default() })
        })
        .await
    }
}

fn read(mut answer: Response<Body>) -> Result<Fetched, FetchError> {
    let status = answer.status().as_u16();
    if status != 200 {
        return Err(FetchError::Status(status));
    }
    let content_type = header(answer.headers(), &CONTENT_TYPE).map(ToOwned::to_owned);
    let max_age = header(answer.headers(), &CACHE_CONTROL).and_then(max_age);
    // The library fails when the limit is reached, not when it is exceeded, hence the extra byte.
    let body = answer.body_mut().with_config().limit(MAX_ANSWER + 1).read_to_vec();
    Ok(Fetched { content_type, max_age, body: body.map_err(|error| reason_of(&error))? })
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// How long an answer can be kept (RFC 9111). Directives that forbid keeping it give zero.
fn max_age(cache_control: &str) -> Option<Duration> {
    let mut directives = cache_control.split(',').map(str::trim);
    if directives.clone().any(|word| ["no-store", "no-cache"].iter().any(|no| no.eq_ignore_ascii_case(word)))
    {
        return Some(Duration::ZERO);
    }
    directives
        .find_map(|directive| {
            let (name, seconds) = directive.split_once('=')?;
            name.eq_ignore_ascii_case("max-age").then(|| seconds.trim_matches('"').parse().ok())?
        })
        .map(Duration::from_secs)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the library may add errors")]
fn reason_of(error: &ureq::Error) -> FetchError {
    match error {
        ureq::Error::Timeout(_) => FetchError::Late,
        ureq::Error::BodyExceedsLimit(_) | ureq::Error::LargeResponseHeader(..) => FetchError::TooLong,
        ureq::Error::Other(error) if error.is::<OutOfReach>() => FetchError::Address,
        _ => FetchError::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b_048_only_https_is_asked_and_http_at_home_where_that_is_allowed() {
        for (text, anywhere, at_home) in [
            ("https://client.example/jwks", true, true),
            ("https://client.example:8443/jwks?a=b", true, true),
            ("http://client.example/jwks", false, false),
            ("http://localhost:8080/jwks", false, true),
            ("http://127.0.0.1:8080/jwks", false, true),
            ("http://[::1]:8080/jwks", false, true),
            ("http://0x7f.1/jwks", false, true),
            ("http://10.0.0.1/jwks", false, false),
            ("http://169.254.169.254/latest", false, false),
            ("http://localhost.client.example/", false, false),
            ("https://user@client.example/", false, false),
            ("https://:secret@client.example/", false, false),
            ("https://client.example/#a", false, false),
            ("file:///etc/passwd", false, false),
            ("gopher://client.example/", false, false),
            ("data:application/json,{}", false, false),
            ("//client.example/", false, false),
            ("", false, false),
        ] {
            assert_eq!(HttpFetcher::new(false).judge(text).is_ok(), anywhere, "{text}");
            assert_eq!(HttpFetcher::new(true).judge(text).is_ok(), at_home, "{text}");
        }
        let long = format!("https://client.example/{}", "a".repeat(MAX_URL));
        assert_eq!(HttpFetcher::new(true).judge(&long), Err(FetchError::Url));
    }

    #[tokio::test]
    async fn b_048_e_31_special_addresses_are_refused_however_they_are_written() {
        for host in [
            "127.0.0.1",
            "localhost",
            "[::1]",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[fe80::1]",
            "[fc00::1]",
            "[ff02::1]",
            "[2001:db8::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:10.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[64:ff9b::a00:1]",
            "[::]",
            "0x7f000001",
            "2130706433",
            "0177.1",
            "127.1",
        ] {
            let got = HttpFetcher::new(false).get(&format!("https://{host}/jwks")).await;
            assert_eq!(got, Err(FetchError::Address), "{host}");
        }
        let posted = HttpFetcher::new(false).post_form("https://10.0.0.1/", &[("a", "b")]).await;
        assert_eq!(posted, Err(FetchError::Address));
    }

    #[test]
    fn how_long_an_answer_may_be_kept_is_read() {
        for (text, seconds) in [
            ("max-age=60", Some(60)),
            ("public, Max-Age=\"300\" ", Some(300)),
            ("no-store", Some(0)),
            ("max-age=60, no-cache", Some(0)),
            ("", None),
            ("max-age", None),
            ("max-age=-1", None),
            ("max-age=99999999999999999999", None),
        ] {
            assert_eq!(max_age(text), seconds.map(Duration::from_secs), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in ".{0,200}", header in ".{0,100}") {
            let _ = HttpFetcher::new(true).judge(&text);
            let _ = max_age(&header);
        }
    }
}
