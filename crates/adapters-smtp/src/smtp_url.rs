//! The address of the mail server, our credentials there, and how the connection is protected.

use std::fmt;
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use url::{Host, Url};

/// Why a text cannot be used as the URL of the mail server. No error repeats anything that can be a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SmtpUrlRejected {
    /// Not a URL.
    #[error(
        "not a URL such as smtp://user:password@mail.example.com:587; write : / ? # @ and % in a password as %3A %2F %3F %23 %40 and %25"
    )]
    NotAUrl,
    /// The scheme is neither smtp nor smtps.
    #[error("the scheme must be smtp or smtps")]
    Scheme,
    /// A user without a password, or a password without a user.
    #[error("a user needs a password and a password a user")]
    HalfCredentials,
    /// User or password is not UTF-8 or contains control characters.
    #[error("user and password must be UTF-8 without control characters")]
    Credentials,
    /// The path is not a name for this machine.
    #[error("the path must be empty or the name with which we greet the server")]
    Name,
    /// An unknown parameter, or one that is given twice.
    #[error("only the parameters tls and ca_file are allowed, each at most once, and no fragment")]
    Parameter,
    /// `tls` has an unknown value, or is given where it has no meaning.
    #[error(
        "tls must be required, opportunistic or none; smtps:// takes no tls, and tls=none takes no ca_file"
    )]
    Tls,
    /// The credentials would cross a network unencrypted.
    #[error("the password would be sent without encryption: leave tls out, or say tls=required")]
    PasswordInTheClear,
    /// The certificate file cannot be used.
    #[error("ca_file cannot be used: {0}")]
    CaFile(String),
}

/// How the connection to the server is protected.
#[derive(Clone)]
pub(crate) enum Protection {
    /// TLS from the first byte.
    Wrapped(TlsParameters),
    /// STARTTLS. Without it nothing is sent.
    Required(TlsParameters),
    /// STARTTLS if the server offers it. Someone in between can hide that it does.
    Opportunistic(TlsParameters),
    /// No protection.
    Plain,
}

/// `smtp://user:password@host:port/our-name?tls=…&ca_file=…` or `smtps://…`. It prints only scheme, host and
/// port, because some services use a key as the user name.
#[derive(Clone)]
pub struct SmtpUrl {
    scheme: String,
    host: Host<String>,
    port: u16,
    name: Option<String>,
    credentials: Option<(String, String)>,
    protection: Protection,
}

impl SmtpUrl {
    /// Parses the operator's setting, and reads the file that it names, if any.
    pub fn parse(text: &str) -> Result<Self, SmtpUrlRejected> {
        let url = Url::parse(text).map_err(|_| SmtpUrlRejected::NotAUrl)?;
        let wrapped = match url.scheme() {
            "smtps" => true,
            "smtp" => false,
            _ => return Err(SmtpUrlRejected::Scheme),
        };
        // Browsers do not know these schemes, so the URL parser leaves the host as it was written.
        let host = url.host_str().and_then(|host| Host::parse(host).ok()).ok_or(SmtpUrlRejected::NotAUrl)?;
        let name = own_name(url.path())?;
        let parameters = Parameters::of(&url)?;
        let credentials = credentials(&url)?;
        let tls = || tls_parameters(&host, parameters.ca_file.as_deref());
        let (protection, usual_port) = match (wrapped, parameters.tls.as_deref()) {
            (true, None) => (Protection::Wrapped(tls()?), 465),
            (false, Some("required")) => (Protection::Required(tls()?), 587),
            (false, Some("opportunistic")) => (Protection::Opportunistic(tls()?), 587),
            (false, Some("none")) if parameters.ca_file.is_none() => (Protection::Plain, 25),
            (false, None) if is_loopback(&host) && parameters.ca_file.is_none() => (Protection::Plain, 25),
            (false, None) => (Protection::Required(tls()?), 587),
            (_, Some(_)) => return Err(SmtpUrlRejected::Tls),
        };
        let in_the_clear = matches!(protection, Protection::Plain | Protection::Opportunistic(_));
        if in_the_clear && credentials.is_some() && !is_loopback(&host) {
            return Err(SmtpUrlRejected::PasswordInTheClear);
        }
        let port = url.port().unwrap_or(usual_port);
        Ok(Self { scheme: url.scheme().to_owned(), host, port, name, credentials, protection })
    }

    /// Host and port to connect to.
    pub(crate) fn address(&self) -> (String, u16) {
        (bare(&self.host), self.port)
    }

    pub(crate) const fn protection(&self) -> &Protection {
        &self.protection
    }

    pub(crate) fn credentials(&self) -> Option<Credentials> {
        self.credentials.clone().map(Credentials::from)
    }

    /// The name with which we greet the server: the one in the URL, or the sender's domain.
    pub(crate) fn client_id(&self, domain: &str) -> ClientId {
        ClientId::Domain(self.name.clone().unwrap_or_else(|| domain.to_owned()))
    }

    /// The credentials in every encoding in which a server could send them back.
    pub(crate) fn spellings_of_credentials(&self) -> Vec<String> {
        let Some((user, password)) = &self.credentials else { return Vec::new() };
        let plain = STANDARD.encode(format!("\0{user}\0{password}"));
        vec![plain, STANDARD.encode(password), STANDARD.encode(user), password.clone(), user.clone()]
    }
}

impl fmt::Display for SmtpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = if self.credentials.is_some() { "…@" } else { "" };
        write!(f, "{}://{user}{}:{}", self.scheme, self.host, self.port)
    }
}

impl fmt::Debug for SmtpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SmtpUrl({self})")
    }
}

#[derive(Default)]
struct Parameters {
    tls: Option<String>,
    ca_file: Option<String>,
}

impl Parameters {
    fn of(url: &Url) -> Result<Self, SmtpUrlRejected> {
        if url.fragment().is_some() {
            return Err(SmtpUrlRejected::Parameter);
        }
        let mut found = Self::default();
        for (name, value) in url.query_pairs() {
            let place = match name.as_ref() {
                "tls" => &mut found.tls,
                "ca_file" => &mut found.ca_file,
                _ => return Err(SmtpUrlRejected::Parameter),
            };
            if place.replace(value.into_owned()).is_some() {
                return Err(SmtpUrlRejected::Parameter);
            }
        }
        Ok(found)
    }
}

fn own_name(path: &str) -> Result<Option<String>, SmtpUrlRejected> {
    let name = path.strip_prefix('/').unwrap_or(path);
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    match name {
        "" => Ok(None),
        name if name.len() <= 253 && name.bytes().all(is_of_name) => Ok(Some(name.to_owned())),
        _ => Err(SmtpUrlRejected::Name),
    }
}

fn credentials(url: &Url) -> Result<Option<(String, String)>, SmtpUrlRejected> {
    let user = decoded(url.username())?;
    let password = decoded(url.password().unwrap_or_default())?;
    match (user.is_empty(), password.is_empty()) {
        (true, true) => Ok(None),
        (false, false) => Ok(Some((user, password))),
        _ => Err(SmtpUrlRejected::HalfCredentials),
    }
}

/// Percent-decodes a part of a URL.
fn decoded(text: &str) -> Result<String, SmtpUrlRejected> {
    // A form is decoded by the same rules, except for the plus sign.
    let pair = format!("={}", text.replace('+', "%2B").replace('&', "%26"));
    let mut pairs = url::form_urlencoded::parse(pair.as_bytes());
    let value = pairs.next().map(|(_, value)| value.into_owned()).unwrap_or_default();
    if value.contains(|character: char| character.is_control() || character == char::REPLACEMENT_CHARACTER) {
        return Err(SmtpUrlRejected::Credentials);
    }
    Ok(value)
}

fn tls_parameters(host: &Host<String>, ca_file: Option<&str>) -> Result<TlsParameters, SmtpUrlRejected> {
    let unusable = |error: &dyn fmt::Display| SmtpUrlRejected::CaFile(error.to_string());
    let mut builder = TlsParameters::builder(bare(host));
    if let Some(path) = ca_file {
        let pem = fs::read(path).map_err(|error| unusable(&error))?;
        if !String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE-----") {
            return Err(unusable(&"it contains no PEM certificate"));
        }
        let certificates = Certificate::from_pem(&pem).map_err(|error| unusable(&error))?;
        builder = builder.add_root_certificate(certificates);
    }
    builder.build().map_err(|error| unusable(&error))
}

fn is_loopback(host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => Ipv4Addr::is_loopback(address),
        Host::Ipv6(address) => Ipv6Addr::is_loopback(address),
    }
}

/// The host in the form used for look-ups and certificates: without the brackets of a URL.
fn bare(host: &Host<String>) -> String {
    match host {
        Host::Domain(name) => name.clone(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    }
}

#[cfg(test)]
mod tests;
