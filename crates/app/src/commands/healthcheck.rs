//! `countersign healthcheck`: asks a server whether it is ready. It opens no database and needs no secret, so that a
//! container can run it every few seconds.

use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use countersign_adapters_http::OwnServer;
use url::Url;

use crate::cli::HealthcheckFlags;
use crate::config::{Config, Sources};
use crate::failure::{Failure, chain};
use crate::output::words::in_words;

/// How long the server may take. It answers by itself after two seconds.
const LIMIT: Duration = Duration::from_secs(5);

/// Where a server says whether it is ready.
const READY: &str = "health/ready";

/// Asks, and prints one line if the server is ready. Everything else is a failure.
pub(crate) async fn healthcheck(
    flags: &HealthcheckFlags,
    sources: &Sources,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let url = match &flags.url {
        Some(url) => probe_at(url)?,
        None => {
            format!("http://{}/{READY}", reachable(Config::listens_at(sources).map_err(Failure::Settings)?))
        }
    };
    let server = asker(LIMIT, flags.ca_file.as_deref())?;
    match server.get(&url).await {
        Ok(answer) if answer.status == 200 => Ok(writeln!(out, "ready: {url}")?),
        Ok(answer) => Err(Failure::Failed(format!("not ready: {url} answered {}", answer.status))),
        Err(error) => Err(Failure::Failed(format!("not ready: {url}: {}", in_words(&chain(&error))))),
    }
}

/// What asks servers, and trusts the certificates in this file, if there is one.
pub(crate) fn asker(limit: Duration, ca_file: Option<&Path>) -> Result<OwnServer, Failure> {
    let unusable = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::Usage(format!("--ca-file {}: {error}", path.display()))
    };
    let roots = match ca_file {
        Some(path) => Some((path, fs::read(path).map_err(|error| unusable(path, &error))?)),
        None => None,
    };
    OwnServer::new(limit, roots.as_ref().map(|(_, pem)| pem.as_slice()))
        .map_err(|error| unusable(ca_file.unwrap_or(Path::new("")), &error))
}

/// The address to ask. One without a path is that of a server.
fn probe_at(text: &str) -> Result<String, Failure> {
    let wrong = || Failure::Usage(format!("--url takes an http or https address, not {text:?}"));
    let mut url = Url::parse(text).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong());
    }
    if url.path() == "/" {
        url.set_path(READY);
    }
    Ok(url.into())
}

/// Where a server that listens to every address can be reached from this machine.
fn reachable(bind: SocketAddr) -> SocketAddr {
    let ip = match bind.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, bind.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_asked_where_it_listens() {
        for (bind, at) in [
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:8080", "[::1]:8080"),
            ("10.1.2.3:443", "10.1.2.3:443"),
        ] {
            assert_eq!(reachable(bind.parse().unwrap()).to_string(), at);
        }
    }

    #[test]
    fn an_address_without_a_path_is_that_of_a_server() {
        for (given, asked) in [
            ("https://auth.example.com", Some("https://auth.example.com/health/ready")),
            ("http://127.0.0.1:8080/", Some("http://127.0.0.1:8080/health/ready")),
            ("http://127.0.0.1/health/live", Some("http://127.0.0.1/health/live")),
            ("https://example.com/auth/health/ready", Some("https://example.com/auth/health/ready")),
            ("auth.example.com", None),
            ("ftp://auth.example.com", None),
            ("", None),
        ] {
            assert_eq!(probe_at(given).ok().as_deref(), asked, "{given}");
        }
    }
}
