//! The operator's settings for HTTP.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use actix_web::Scope;
use countersign_domain::contact::Contact;
use countersign_domain::form_key::FormKey;
use countersign_domain::secret::SecretHash;
use countersign_domain::wallet_link::WalletLink;
use countersign_metrics::Metrics;
use countersign_ports::Clock;
use countersign_usecases::context::footing::Footing;
use countersign_usecases::events::waiting_events::SealWatch;
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
    /// Where people who are turned away can ask, if the operator says so.
    pub contact: Option<Contact>,
    /// Where the operator serves the documentation, to which `/docs` links.
    pub documentation: Option<String>,
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
    /// Knows whether the database is still the one with which the server started.
    pub footing: Arc<Footing>,
    /// Knows whether events are sealed in time.
    pub seals: Arc<SealWatch>,
    /// The desk, if there is one. Who its operators are says the `Policy`.
    pub desk: Option<DeskRoutes>,
}

/// The desk, as a listener serves it.
#[derive(Clone)]
pub struct DeskRoutes {
    /// Which listener serves it.
    pub place: DeskPlace,
    /// Makes its routes below a path. Requests that reach a page carry the number, by which they are counted.
    pub scope: Arc<MakeScope>,
}

/// Makes routes below a path.
pub type MakeScope = dyn Fn(&str, RouteNumber) -> Scope + Send + Sync;

/// The index of an endpoint in the list of all. With it, the edge counts a request after it was answered.
#[derive(Clone, Copy, Debug)]
pub struct RouteNumber(pub(crate) usize);

/// Which listener serves the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeskPlace {
    /// The one that serves everything else.
    Public,
    /// That of the admin interface, and no other.
    Private,
}

impl fmt::Debug for DeskRoutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeskRoutes").field("place", &self.place).finish_non_exhaustive()
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
