//! What the OpenAPI document says about the probes.

use serde_json::json;

use crate::endpoint::description::operation::Operation;

pub(crate) fn live() -> Operation {
    Operation::new(
        "GET",
        "/health/live",
        ("live", "Does the process run?"),
        "Answers as long as the process \
                                                                              runs.",
    )
    .tag("Probes")
    .answers(200, "The process runs.", "Health", json!({"status": "ok"}))
}

pub(crate) fn ready() -> Operation {
    Operation::new(
        "GET",
        "/health/ready",
        ("ready", "Can this server serve requests?"),
        "No, if the store is unavailable or the server is stopping.",
    )
    .tag("Probes")
    .answers(200, "The server can serve requests.", "Health", json!({"status": "ok"}))
    .stores()
}
