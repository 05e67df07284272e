//! What the OpenAPI document says about the playground.

use crate::endpoint::description::operation::{HTML, NOTHING_HERE, Operation, PAGE};

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/playground",
        ("playground", "The whole flow, with a throwaway wallet"),
        "A page for developers. Only if the operator has turned it on.",
    )
    .shows(200, "The page.", HTML, PAGE)
    .refuses(404, &[NOTHING_HERE])
}
