//! What the OpenAPI document says of the playground.

use crate::endpoint::description::operation::{HTML, NOTHING_HERE, Operation, PAGE};

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/playground",
        ("playground", "The whole flow, with a throw-away wallet"),
        "A page for developers; there only while the operator has it on.",
    )
    .shows(200, "The page.", HTML, PAGE)
    .refuses(404, &[NOTHING_HERE])
}
