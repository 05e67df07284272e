//! What the operator decided about HTTP.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use countersign_domain::form_key::FormKey;
use countersign_domain::secret::SecretHash;
use countersign_metrics::Metrics;
use countersign_ports::Clock;
use ipnet::IpNet;

use crate::limits::connection::ConnectionLimits;

/// What the operator decided about HTTP.
#[derive(Clone)]
pub struct HttpSettings {
    /// Who may register clients.
    pub registration: Registration,
    /// Are requests counted for each address?
    pub rate_limits: bool,
    /// The proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// What seals the session cookie.
    pub session_key: [u8; 64],
    /// What makes the forms of our pages known again.
    pub form_key: FormKey,
    /// A folder whose templates and assets replace the embedded ones.
    pub template_directory: Option<PathBuf>,
    /// Is there a playground?
    pub playground: bool,
    /// Is everything thrown away at the end? Every page then says so.
    pub dev: bool,
    /// Where everything is counted.
    pub metrics: Arc<Metrics>,
    /// Is there a page that shows it?
    pub shows_metrics: bool,
    /// How many workers serve.
    pub workers: usize,
    /// How many connections there may be.
    pub connections: ConnectionLimits,
    /// This machine's clock, which may not be the one that the server goes by.
    pub own_clock: Arc<dyn Clock>,
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

/// Who may register clients over HTTP.
#[derive(Clone, Debug)]
pub enum Registration {
    /// Everybody.
    Open,
    /// Whoever has the initial access token; without one, nobody.
    Token(Option<SecretHash>),
    /// Nobody.
    Closed,
}
