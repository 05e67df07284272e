//! What the OpenAPI document says about `/metrics`.

use crate::endpoint::description::operation::{NOTHING_HERE, Operation};

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/metrics",
        ("metrics", "Metrics, in the format of Prometheus"),
        "docs/metrics.md lists them. Only if the operator has turned metrics on and has not given them a \
         listener of their own.",
    )
    .tag("Probes")
    .shows(200, "The page.", "text/plain", "countersign_challenge_issued_total 1")
    .refuses(404, &[NOTHING_HERE])
}
