//! How many file descriptors the process may have, and how many of them are for connections (F-06).

use countersign_http_actix::ConnectionLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Config;

/// Descriptors kept back for the database, for outgoing requests and for the log.
const RESERVE: usize = 256;
/// More connections than this would take too much memory.
const MOST_CONNECTIONS: usize = 16_384;
/// With fewer descriptors than this, a server that others can reach gets a warning.
const FEW: usize = 4_096;

/// Raises the limit as far as the process is allowed to, and returns the new limit.
pub(crate) fn raise() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    if current != maximum && setrlimit(Resource::Nofile, raised).is_err() {
        return count(current);
    }
    count(maximum)
}

/// How many connections fit into this many descriptors.
pub(crate) fn connections(config: &Config, descriptors: usize) -> ConnectionLimits {
    let total = descriptors.saturating_sub(RESERVE.min(descriptors / 4)).clamp(1, MOST_CONNECTIONS);
    ConnectionLimits { total, of_one_address: config.connections_per_address }
}

/// The warning for a limit that is low even after it was raised as far as possible.
pub(crate) fn warning() -> Option<String> {
    let descriptors = count(getrlimit(Resource::Nofile).maximum);
    (descriptors < FEW).then(|| {
        format!(
            "the process may only have {descriptors} open files, and every connection needs one; allow {FEW} \
             or more (`ulimit -n`, LimitNOFILE= of systemd, --ulimit nofile= of docker)"
        )
    })
}

/// `None` means that there is no limit.
fn count(limit: Option<u64>) -> usize {
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}
