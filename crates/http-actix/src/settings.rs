//! The operator's settings for HTTP.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use countersign_domain::contact::Contact;
use countersign_domain::form_key::FormKey;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::SecretHash;
use countersign_domain::wallet_link::WalletLink;
use countersign_metrics::Metrics;
use countersign_ports::{Clock, KeyRing};
use ipnet::IpNet;

use crate::limits::connection::ConnectionLimits;

/// The operator's settings for HTTP.
#[derive(Clone)]
pub struct HttpSettings {
    /// Who can register clients.
    pub registration: Registration,
    /// Is the number of requests from one address limited?
    pub rate_limits: bool,
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Does the log show whole addresses of those who ask? Otherwise only their networks.
    pub logs_whole_addresses: bool,
    /// The key that seals the session cookie.
    pub session_key: [u8; 64],
    /// The key for the secrets in the forms of our pages.
    pub form_key: FormKey,
    /// A folder whose templates and assets replace the embedded ones.
    pub template_directory: Option<PathBuf>,
    /// The wallets that open an application on a phone.
    pub wallet_links: Vec<WalletLink>,
    /// Whom people who are not let in can ask, if the operator says so.
    pub contact: Option<Contact>,
    /// Is there a playground?
    pub playground: bool,
    /// Is this a development server, which throws its data away at the end? Every page then says so.
    pub dev: bool,
    /// Counts what `/metrics` shows.
    pub metrics: Arc<Metrics>,
    /// Is `/metrics` served beside the other endpoints?
    pub shows_metrics: bool,
    /// How many worker threads serve requests.
    pub workers: usize,
    /// How many connections are allowed.
    pub connections: ConnectionLimits,
    /// This machine's own clock. The `Context` may use another one.
    pub own_clock: Arc<dyn Clock>,
    /// The desk, if there is one. Who its operators are says the `Policy`.
    pub desk: Option<DeskSettings>,
}

/// What the desk's pages need besides what the server has.
#[derive(Clone)]
pub struct DeskSettings {
    /// The signing keys.
    pub keys: Arc<dyn KeyRing>,
    /// Which listener serves it.
    pub place: DeskPlace,
    /// What is doubtful about the settings, in sentences for operators.
    pub warnings: Vec<String>,
    /// The applications whose registration and settings are known.
    pub applications: Arc<dyn Applications>,
}

/// Which listener serves the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeskPlace {
    /// The one that serves everything else.
    Public,
    /// That of the admin interface, and no other.
    Private,
}

/// Applications whose registration and settings are known.
pub trait Applications: Send + Sync {
    /// Their names, each with its title.
    fn list(&self) -> Vec<(String, String)>;

    /// The registration of an application at an address; `None` if none has this name.
    fn registration(&self, name: &str, at: &PublicUrl) -> Option<RequestedMetadata>;

    /// The settings of an application at an address, with the credentials of its client.
    fn settings(
        &self,
        name: &str,
        at: &PublicUrl,
        client_id: &str,
        client_secret: &str,
    ) -> Option<ApplicationSettings>;
}

/// The settings of an application.
#[derive(Clone, PartialEq, Eq)]
pub struct ApplicationSettings {
    /// The usual name of the file.
    pub file: String,
    /// What stands in it.
    pub text: String,
}

/// The text has a secret.
impl fmt::Debug for ApplicationSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplicationSettings").field("file", &self.file).finish_non_exhaustive()
    }
}

impl fmt::Debug for DeskSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeskSettings").field("place", &self.place).finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("registration", &self.registration)
            .field("rate_limits", &self.rate_limits)
            .field("trusted_proxies", &self.trusted_proxies)
            .finish_non_exhaustive()
    }
}

/// Who can register clients over HTTP.
#[derive(Clone, Debug)]
pub enum Registration {
    /// Anyone.
    Open,
    /// Holders of the initial access token. If there is no token, no one.
    Token(Option<SecretHash>),
    /// No one.
    Closed,
}
