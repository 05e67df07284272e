//! Requests to servers that other people run or name. The address that is connected to is checked, and there
//! are limits on the time and on how many run at once (B-048).
//!
//! Redirects are not followed. A proxy from the environment is not used, because it would resolve names
//! itself.

mod gate;
mod reach;

use std::time::Duration;

use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;

pub use gate::{Gate, Late};
pub use reach::{AddressKind, GuardedResolver, OutOfReach, Reach};

/// The longest headers that an answer can have, in bytes.
const MAX_HEADERS: usize = 16 * 1024;
/// How long a connection is kept for the next request. Servers close theirs after five seconds or more.
const MAX_IDLE: Duration = Duration::from_secs(4);

/// Makes an HTTP agent that connects only to addresses within this reach. The look-up of a name and the
/// connection can each take up to `connect`. The limit for a whole request is set with the request.
pub fn agent(reach: Reach, connect: Duration, idle_connections: usize) -> Agent {
    agent_that_trusts(RootCerts::WebPki, reach, connect, idle_connections)
}

/// Makes an agent as [`agent`] does, which trusts servers by these roots and not by Mozilla's.
pub fn agent_that_trusts(
    roots: RootCerts,
    reach: Reach,
    connect: Duration,
    idle_connections: usize,
) -> Agent {
    let config = Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_resolve(Some(connect))
        .timeout_connect(Some(connect))
        .max_response_header_size(MAX_HEADERS)
        .max_idle_connections_per_host(idle_connections)
        .max_idle_age(MAX_IDLE)
        .user_agent("countersign")
        .build();
    Agent::with_parts(config, DefaultConnector::default(), GuardedResolver { reach })
}
