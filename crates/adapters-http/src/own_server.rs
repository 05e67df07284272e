//! Asks the operator's own server, wherever it is: on this machine, in a private network, or behind a proxy on the
//! public internet. Only commands do that, with addresses from the operator. What clients name goes through
//! [`HttpFetcher`](crate::HttpFetcher).

use std::io;
use std::time::{Duration, Instant};

use countersign_outbound::{Gate, Late, OutOfReach, Reach, agent, agent_that_trusts};
use ureq::Agent;
use ureq::http::header::LOCATION;
use ureq::tls::{PemItem, RootCerts, parse_pem};

/// How many requests run at a time.
const IN_FLIGHT: usize = 4;
/// The most bytes of an answer that are read.
const MAX_ANSWER: u64 = 256 * 1024;
/// How rustls begins what it says of a certificate.
const CERTIFICATE: &str = "invalid peer certificate: ";
/// How the standard library begins what it says of a name.
const LOOK_UP: &str = "failed to lookup address information";

/// Asks the operator's own server. Redirects are not followed.
#[derive(Debug)]
pub struct OwnServer {
    agent: Agent,
    gate: Gate,
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Where a redirect leads.
    pub location: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// The address cannot be asked.
    #[error("it is not an address of a server")]
    Url,
    /// The name is not in DNS.
    #[error("its name does not resolve")]
    Name,
    /// The name resolves to addresses where no server can be.
    #[error(transparent)]
    Reach(OutOfReach),
    /// Nothing listens there, or the connection broke.
    #[error("no connection")]
    Connection(#[source] io::Error),
    /// The certificate is for another name, has expired, or is from an untrusted issuer.
    #[error("its certificate is not accepted: {0}")]
    Certificate(String),
    /// It took too long.
    #[error("it does not answer in time")]
    Late,
    /// Something else than HTTP came, or too much of it.
    #[error("what it answers cannot be read: {0}")]
    Unreadable(String),
}

/// A file of certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("there is no certificate in it (PEM)")]
pub struct NoRoots;

impl OwnServer {
    /// Each request takes at most this long. With `roots`, certificates as PEM, only servers that they vouch for are
    /// trusted; otherwise Mozilla's roots decide.
    pub fn new(limit: Duration, roots: Option<&[u8]>) -> Result<Self, NoRoots> {
        let agent = match roots {
            Some(pem) => agent_that_trusts(certificates(pem)?, Reach::Private, limit, 0),
            None => agent(Reach::Private, limit, 0),
        };
        Ok(Self { agent, gate: Gate::new(IN_FLIGHT, limit) })
    }

    /// Asks for an address, and returns the answer, whatever its status.
    pub async fn get(&self, url: &str) -> Result<Answer, NoAnswer> {
        let (agent, url) = (self.agent.clone(), url.to_owned());
        let asked = self.gate.pass(move |deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() { Err(NoAnswer::Late) } else { ask(&agent, &url, left) }
        });
        asked.await.unwrap_or_else(|late| {
            Err(match late {
                Late::Busy | Late::Time => NoAnswer::Late,
                Late::Ended(error) => NoAnswer::Unreadable(error.to_string()),
            })
        })
    }
}

fn ask(agent: &Agent, url: &str, left: Duration) -> Result<Answer, NoAnswer> {
    let request = agent.get(url).config().timeout_global(Some(left)).build();
    let mut answer = request.header("accept", "application/json").call().map_err(reason_of)?;
    let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    Ok(Answer {
        status: answer.status().as_u16(),
        location: location.map(ToOwned::to_owned),
        body: answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(reason_of)?,
    })
}

fn certificates(pem: &[u8]) -> Result<RootCerts, NoRoots> {
    let certificates: Vec<_> = parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            Ok(_) | Err(_) => None,
        })
        .collect();
    if certificates.is_empty() { Err(NoRoots) } else { Ok(RootCerts::new_with_certs(&certificates)) }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the library may add errors")]
fn reason_of(error: ureq::Error) -> NoAnswer {
    match error {
        ureq::Error::Timeout(_) => NoAnswer::Late,
        ureq::Error::HostNotFound => NoAnswer::Name,
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => NoAnswer::Url,
        ureq::Error::Io(error) => {
            let text = error.to_string();
            if let Some(reason) = text.strip_prefix(CERTIFICATE) {
                NoAnswer::Certificate(reason.to_owned())
            } else if text.starts_with(LOOK_UP) {
                NoAnswer::Name
            } else if error.kind() == io::ErrorKind::InvalidData {
                NoAnswer::Unreadable(text)
            } else {
                NoAnswer::Connection(error)
            }
        }
        ureq::Error::Other(error) => match error.downcast::<OutOfReach>() {
            Ok(out) => NoAnswer::Reach(*out),
            Err(error) => NoAnswer::Unreadable(error.to_string()),
        },
        error => match error.to_string().split_once(CERTIFICATE) {
            Some((_, reason)) => NoAnswer::Certificate(reason.to_owned()),
            None => NoAnswer::Unreadable(error.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// What somebody who says this is understood to have said.
    async fn said(answer: &'static str) -> Result<Answer, NoAnswer> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let saying = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let _ = connection.read(&mut [0; 1024]);
            // Somebody who heard enough may have closed the connection.
            let _ = connection.write_all(answer.as_bytes());
            if answer.is_empty() {
                thread::sleep(Duration::from_millis(700));
            }
        });
        let answer = OwnServer::new(Duration::from_millis(400), None).unwrap().get(&url).await;
        saying.join().unwrap();
        answer
    }

    #[tokio::test]
    async fn every_status_is_an_answer_and_a_redirect_is_not_followed() {
        let moved =
            said("HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\nno").await;
        let moved = moved.unwrap();
        assert_eq!((moved.status, &*moved.body), (301, &b"no"[..]));
        assert_eq!(moved.location.as_deref(), Some("http://127.0.0.1:1/"));
        assert_eq!(said("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n").await.unwrap().status, 503);
    }

    #[tokio::test]
    async fn what_is_no_answer_says_why() {
        assert!(matches!(said("").await, Err(NoAnswer::Late)));
        assert!(matches!(said("220 mail.example ESMTP\r\n").await, Err(NoAnswer::Unreadable(_))));
        let server = OwnServer::new(Duration::from_secs(2), None).unwrap();
        let refused = server.get("http://127.0.0.1:1/").await;
        assert!(matches!(refused, Err(NoAnswer::Connection(_))), "{refused:?}");
        for url in ["", "localhost", "ftp://localhost/", "http://", "http://[::1/"] {
            assert!(server.get(url).await.is_err(), "{url}");
        }
        let nowhere = server.get("http://169.254.169.254/latest").await;
        assert!(matches!(nowhere, Err(NoAnswer::Reach(_))), "{nowhere:?}");
        assert!(OwnServer::new(Duration::from_secs(2), Some(b"no certificate")).is_err());
    }
}
