//! How the text of each setting is read. An error is a fragment that says what is wrong and never repeats the text.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use countersign_adapters_crypto::OperatorSecret;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::secret::Secret;
use ipnet::IpNet;
use time::Duration;
use tracing_subscriber::EnvFilter;

use super::{DatabaseUrl, LogFormat, RegistrationMode};

const MIN_REGISTRATION_TOKEN: usize = 16;

pub(super) fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "not an IP address with a port".to_owned())
}

pub(super) fn public_url(text: &str) -> Result<PublicUrl, String> {
    PublicUrl::parse(text).map_err(|rejected| rejected.to_string())
}

pub(super) fn database_url(text: &str) -> Result<DatabaseUrl, String> {
    DatabaseUrl::parse(text)
}

pub(super) fn secret(text: &str) -> Result<OperatorSecret, String> {
    OperatorSecret::parse(text).map_err(|rejected| rejected.to_string())
}

pub(super) fn registration(text: &str) -> Result<RegistrationMode, String> {
    [RegistrationMode::Open, RegistrationMode::Token, RegistrationMode::Closed]
        .into_iter()
        .find(|mode| mode.name() == text)
        .ok_or_else(|| "no such mode".to_owned())
}

/// The alphabet is that of a bearer token (RFC 6750 section 2.1), because it is sent as one.
pub(super) fn registration_token(text: &str) -> Result<Secret, String> {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if text.len() < MIN_REGISTRATION_TOKEN {
        return Err("too short".to_owned());
    }
    if !text.bytes().all(is_token_byte) {
        return Err("it holds a character that a bearer token may not hold".to_owned());
    }
    Ok(Secret::new(text))
}

pub(super) fn seconds<const LEAST: i64, const MOST: i64>(text: &str) -> Result<Duration, String> {
    whole_number(text, LEAST, MOST).map(Duration::seconds)
}

pub(super) fn workers(text: &str) -> Result<usize, String> {
    let count = whole_number(text, 1, 512)?;
    usize::try_from(count).map_err(|_| "too large".to_owned())
}

fn whole_number(text: &str, least: i64, most: i64) -> Result<i64, String> {
    let number: i64 = text.parse().map_err(|_| "not a whole number".to_owned())?;
    if number < least {
        Err("too small".to_owned())
    } else if number > most {
        Err("too large".to_owned())
    } else {
        Ok(number)
    }
}

pub(super) fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("neither on nor off".to_owned()),
    }
}

pub(super) fn networks(text: &str) -> Result<Vec<IpNet>, String> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(network).collect()
}

fn network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(IpNet::from).ok();
    text.parse::<IpNet>().ok().or_else(address).ok_or_else(|| format!("{text:?} is no network"))
}

pub(super) fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such folder".to_owned()) }
}

pub(super) fn log_directives(text: &str) -> Result<String, String> {
    const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
    // A lone word that is no level would be taken for a target, and a misspelled level would silence everything.
    let lone =
        text.split(',').map(str::trim).filter(|part| part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    for word in lone {
        if !LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level)) {
            return Err(format!("{word:?} is no level"));
        }
    }
    EnvFilter::builder().parse(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "auto" => Ok(LogFormat::Auto),
        "pretty" => Ok(LogFormat::Pretty),
        "json" => Ok(LogFormat::Json),
        _ => Err("no such format".to_owned()),
    }
}
