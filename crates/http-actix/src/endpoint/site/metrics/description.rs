//! What the OpenAPI document says of `/metrics`.

use crate::endpoint::description::operation::{NOTHING_HERE, Operation};

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/metrics",
        ("metrics", "What was counted, as Prometheus reads it"),
        "docs/metrics.md has the table. There only while the operator has it on, and has given it no listener of its own.",
    )
    .tag("Probes")
    .shows(200, "The page.", "text/plain", "countersign_challenge_issued_total 1")
    .refuses(404, &[NOTHING_HERE])
}
