//! Parses the text of each setting. An error is a fragment that says what is wrong and never repeats the
//! text.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use countersign_adapters_crypto::{Coin, OperatorSecret, RpcUrl, WalletRouter};
use countersign_adapters_smtp::{Sender, SmtpUrl};
use countersign_domain::admission::{AccessRule, AccessRuleRejected};
use countersign_domain::client_assertion::AssertionAudience;
use countersign_domain::contact::Contact;
use countersign_domain::desk::operators::Quorum;
use countersign_domain::group::{GroupName, GroupNameRejected};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::resource::{DeclaredResource, OpenTo};
use countersign_domain::secret::Secret;
use countersign_domain::wallet::AccountKind;
use countersign_domain::wallet_link::WalletLink;
use countersign_http_actix::DeskPlace;
use ipnet::IpNet;
use time::Duration;
use url::{Host, Url};

use super::admin_name::AdminName;
use super::{AddressDetail, LogFormat, RegistrationMode, duration};
use crate::wiring::DatabaseUrl;

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

/// The same text without the password.
pub(super) fn database_url_without_password(text: &str) -> String {
    DatabaseUrl::new(text).to_string()
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

/// The alphabet of a bearer token (RFC 6750 section 2.1), because it is sent as one.
pub(super) fn registration_token(text: &str) -> Result<Secret, String> {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if text.len() < MIN_REGISTRATION_TOKEN {
        return Err("too short".to_owned());
    }
    if !text.bytes().all(is_token_byte) {
        return Err("it contains a character that a bearer token may not contain".to_owned());
    }
    Ok(Secret::new(text))
}

/// Whether there are such groups is not known here: a group may be created later.
pub(super) fn access_rule(text: &str) -> Result<AccessRule, String> {
    AccessRule::parse(text).map_err(|rejected| match rejected {
        AccessRuleRejected::Unknown => "no such rule".to_owned(),
        AccessRuleRejected::Group(GroupNameRejected { given }) => {
            format!("{given:?} cannot be the name of a group")
        }
    })
}

/// Whether a wallet family knows each account is checked later, together with `coins`.
pub(super) fn admins(text: &str) -> Result<Vec<AdminName>, String> {
    let read = |entry: &str| {
        let (account, kind) = match entry.split_once(char::is_whitespace) {
            None => (entry, AccountKind::Key),
            Some((account, word)) if word.trim() == AccountKind::Contract.name() => {
                (account, AccountKind::Contract)
            }
            Some(_) => return Err(format!("{entry:?}: only the word contract may follow the account")),
        };
        Ok(AdminName { account: account.to_owned(), kind })
    };
    entries(text).map(read).collect()
}

pub(super) fn group(text: &str) -> Result<GroupName, String> {
    GroupName::parse(text).map_err(|_| "it cannot be the name of a group".to_owned())
}

pub(super) fn quorum(text: &str) -> Result<Quorum, String> {
    match text {
        "1" => Ok(Quorum::One),
        "2" => Ok(Quorum::Two),
        _ => Err("neither 1 nor 2".to_owned()),
    }
}

pub(super) fn desk_place(text: &str) -> Result<DeskPlace, String> {
    match text {
        "public" => Ok(DeskPlace::Public),
        "private" => Ok(DeskPlace::Private),
        _ => Err("neither public nor private".to_owned()),
    }
}

pub(super) fn contact(text: &str) -> Result<Contact, String> {
    Contact::parse(text).map_err(|rejected| rejected.to_string())
}

pub(super) fn seconds<const LEAST: i64, const MOST: i64>(text: &str) -> Result<Duration, String> {
    duration::parse_within(text, LEAST, MOST)
}

/// With less than two days a key would hardly sign before the next one is published.
pub(super) fn key_rotation(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(Duration::ZERO) } else { seconds::<172_800, 31_536_000>(text) }
}

/// With less than a day someone could still be in the middle of a sign-in.
pub(super) fn forget_unused_users(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(Duration::ZERO) } else { seconds::<86_400, 31_536_000>(text) }
}

/// With less than an hour no one could find out what happened this morning.
pub(super) fn event_retention(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(Duration::ZERO) } else { seconds::<3_600, 315_360_000>(text) }
}

/// What a page may link to.
pub(super) fn page_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|_| "not a URL".to_owned())?;
    if is_safe(&url) { Ok(url.into()) } else { Err("neither https nor http on a loopback host".to_owned()) }
}

/// Can no one between here and there read or change what is sent?
fn is_safe(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback)
}

/// Whether it leads to the public internet is checked when something is sent.
pub(super) fn push_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|_| "not a URL".to_owned())?;
    if text.len() > 2_048 {
        Err("too long".to_owned())
    } else if !is_safe(&url) {
        Err("neither https nor http on a loopback host".to_owned())
    } else if !url.username().is_empty() || url.password().is_some() {
        Err("it names a user; the receiver knows this server by event_push_secret".to_owned())
    } else if url.fragment().is_some() {
        Err("it has a fragment".to_owned())
    } else {
        Ok(url.into())
    }
}

/// The same text without the query, which can hold a key.
pub(super) fn push_url_without_query(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else { return "(secret)".to_owned() };
    if url.query().is_some() {
        url.set_query(Some("…"));
    }
    url.into()
}

pub(super) fn workers(text: &str) -> Result<usize, String> {
    let count = whole_number(text, 1, 512)?;
    usize::try_from(count).map_err(|_| "too large".to_owned())
}

pub(super) fn connections(text: &str) -> Result<usize, String> {
    let count = whole_number(text, 1, 100_000)?;
    usize::try_from(count).map_err(|_| "too large".to_owned())
}

pub(super) fn wallets(text: &str) -> Result<u32, String> {
    let count = whole_number(text, 1, 1_000)?;
    u32::try_from(count).map_err(|_| "too large".to_owned())
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

pub(super) fn assertion_audience(text: &str) -> Result<AssertionAudience, String> {
    let mut all = AssertionAudience::ALL.into_iter();
    all.find(|audience| audience.name() == text).ok_or_else(|| "not issuer, documents or endpoint".to_owned())
}

/// Whether each one can be a resource is checked later, together with the public URL.
pub(super) fn resources(text: &str) -> Result<Vec<DeclaredResource>, String> {
    let read = |entry: &str| {
        let (uri, open_to) = match entry.split_once(char::is_whitespace) {
            None => (entry, OpenTo::Everyone),
            Some((uri, word)) if word.trim() == "named" => (uri, OpenTo::Named),
            Some(_) => return Err(format!("{entry:?}: only the word named may follow the URI")),
        };
        Ok(DeclaredResource { uri: uri.to_owned(), open_to })
    };
    entries(text).map(read).collect()
}

pub(super) fn wallet_links(text: &str) -> Result<Vec<WalletLink>, String> {
    let mut found: Vec<WalletLink> = Vec::new();
    for (number, entry) in entries(text).enumerate() {
        let refused = |reason: &dyn Display| Err(format!("entry {}: {reason}", number + 1));
        let Some((name, template)) = entry.split_once('=') else {
            return refused(&"it does not begin with a name and an =");
        };
        let link = match WalletLink::new(name, template.trim()) {
            Ok(link) => link,
            Err(rejected) => return refused(&rejected),
        };
        if found.iter().any(|other| other.name() == link.name()) {
            return refused(&"the name is taken");
        }
        found.push(link);
    }
    if found.len() > WalletLink::MOST {
        return Err(format!("more than {} wallets", WalletLink::MOST));
    }
    Ok(found)
}

pub(super) fn networks(text: &str) -> Result<Vec<IpNet>, String> {
    entries(text).map(network).collect()
}

fn network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(IpNet::from).ok();
    text.parse::<IpNet>().ok().or_else(address).ok_or_else(|| format!("{text:?} is not a network"))
}

/// The error names the chain and never repeats the URL, which may contain a key.
pub(super) fn ethereum_rpc(text: &str) -> Result<Vec<(u64, RpcUrl)>, String> {
    let mut found: Vec<(u64, RpcUrl)> = Vec::new();
    for (number, entry) in entries(text).enumerate() {
        let chain =
            entry.split_once('=').and_then(|(chain, url)| Some((chain.trim().parse().ok()?, url.trim())));
        let Some((chain, url)) = chain else {
            return Err(format!("entry {} does not begin with a chain number and an =", number + 1));
        };
        let url = RpcUrl::parse(url).map_err(|rejected| format!("the URL for chain {chain}: {rejected}"))?;
        if found.iter().any(|(other, _)| *other == chain) {
            return Err(format!("there are two URLs for chain {chain}"));
        }
        found.push((chain, url));
    }
    Ok(found)
}

/// The same text without the keys that the URLs may contain.
pub(super) fn ethereum_rpc_without_keys(text: &str) -> String {
    match ethereum_rpc(text) {
        Ok(found) => {
            let shown: Vec<_> = found.iter().map(|(chain, url)| format!("{chain}={url}")).collect();
            shown.join(",")
        }
        Err(_) => "(secret)".to_owned(),
    }
}

pub(super) fn smtp_url(text: &str) -> Result<SmtpUrl, String> {
    SmtpUrl::parse(text).map_err(|rejected| rejected.to_string())
}

/// The same text without the password.
pub(super) fn smtp_url_without_password(text: &str) -> String {
    SmtpUrl::parse(text).map_or_else(|_| "(secret)".to_owned(), |url| url.to_string())
}

pub(super) fn mail_from(text: &str) -> Result<Sender, String> {
    Sender::parse(text).map_err(|rejected| rejected.to_string())
}

pub(super) fn coins(text: &str) -> Result<Vec<Coin>, String> {
    let mut found = Vec::new();
    let described = text.split([';', '\n']).map(str::trim).filter(|entry| !entry.is_empty());
    for (number, entry) in described.enumerate() {
        let coin = Coin::parse(entry).map_err(|rejected| format!("coin {}: {rejected}", number + 1))?;
        let refused = |reason: String| Err(format!("coin {}: {reason}", number + 1));
        let namespace = coin.chain().split_once(':').map_or("", |(namespace, _)| namespace);
        if WalletRouter::NAMESPACES.contains(&namespace) {
            return refused(format!("chains of {namespace} use another kind of signature"));
        }
        let known = Coin::standard().into_iter().chain(found.iter().cloned());
        for other in known {
            if other.chain() == coin.chain() {
                return refused(format!("the chain {} is already known", coin.chain()));
            }
            if coin.shares_hrp_with(&other) {
                return refused(format!("the hrp belongs to {}", other.name()));
            }
            if other.is_named_like(coin.name()) {
                return refused(format!("the name {} is taken", coin.name()));
            }
        }
        if WalletRouter::kinds().any(|kind| coin.is_named_like(kind)) {
            return refused(format!("the name {} is taken", coin.name()));
        }
        found.push(coin);
    }
    Ok(found)
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', '\n']).map(str::trim).filter(|entry| !entry.is_empty())
}

/// Whether each one can be read is found out when it is.
pub(super) fn paths(text: &str) -> Result<Vec<PathBuf>, String> {
    Ok(entries(text).map(PathBuf::from).collect())
}

/// Whether there is such a folder is found out when it is used.
pub(super) fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("it is empty".to_owned()) } else { Ok(PathBuf::from(text)) }
}

pub(super) fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("the folder does not exist".to_owned()) }
}

pub(super) fn log_directives(text: &str) -> Result<String, String> {
    const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
    // A single word that is not a level would be read as a target, so a misspelled level would silence the
    // whole log.
    let lone =
        text.split(',').map(str::trim).filter(|part| part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    for word in lone {
        if !LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level)) {
            return Err(format!("{word:?} is not a level"));
        }
    }
    countersign_log::judge(text)?;
    Ok(text.to_owned())
}

pub(super) fn address_detail(text: &str) -> Result<AddressDetail, String> {
    match text {
        "network" => Ok(AddressDetail::Network),
        "full" => Ok(AddressDetail::Full),
        _ => Err("no such amount".to_owned()),
    }
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "auto" => Ok(LogFormat::Auto),
        "pretty" => Ok(LogFormat::Pretty),
        "json" => Ok(LogFormat::Json),
        _ => Err("no such format".to_owned()),
    }
}
