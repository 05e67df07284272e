//! What the OpenAPI document says of the probes.

use serde_json::json;

use crate::endpoint::description::operation::Operation;

pub(crate) fn live() -> Operation {
    Operation::new("GET", "/health/live", ("live", "Does the process run?"), "It says so.")
        .tag("Probes")
        .answers(200, "It does.", "Health", json!({"status": "ok"}))
}

pub(crate) fn ready() -> Operation {
    Operation::new(
        "GET",
        "/health/ready",
        ("ready", "May requests be sent here?"),
        "No while the store is away, and from the moment when the server is told to stop.",
    )
    .tag("Probes")
    .answers(200, "They may.", "Health", json!({"status": "ok"}))
    .stores()
}
