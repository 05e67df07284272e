//! Asking servers of others, whoever named them: with a judgement on the address that is connected to, a bound on the time
//! and a bound on how many are asked at once (B-048).
//!
//! Redirects are not followed and a proxy of the environment is not used: it would look names up itself.

mod gate;
mod reach;

use std::time::Duration;

use ureq::Agent;
use ureq::unversioned::transport::DefaultConnector;

pub use gate::{Gate, Late};
pub use reach::{GuardedResolver, Kind, OutOfReach, Reach};

/// How long the headers of an answer may be.
const MAX_HEADERS: usize = 16 * 1024;
/// How long a connection is kept for the next question. Servers close theirs after five seconds or more.
const MAX_IDLE: Duration = Duration::from_secs(4);

/// A caller whose names reach this far. Looking a name up and connecting may each take this long; a limit for the whole is the
/// request's.
pub fn agent(reach: Reach, connect: Duration, idle_connections: usize) -> Agent {
    let config = Agent::config_builder()
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
