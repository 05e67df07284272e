//! What the OpenAPI document says about the home page.

use crate::endpoint::description::operation::{HTML, Operation, PAGE};

pub(crate) fn show() -> Operation {
    Operation::new("GET", "/", ("home", "What this server is"), "A page for people.").shows(
        200,
        "The page.",
        HTML,
        PAGE,
    )
}
