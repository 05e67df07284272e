//! What the OpenAPI document says about the page that shows it.

use crate::endpoint::description::operation::{HTML, Operation, PAGE};

pub(crate) fn page() -> Operation {
    Operation::new("GET", "/docs", ("docs", "This description, to try out"), "A page for developers.").shows(
        200,
        "The page.",
        HTML,
        PAGE,
    )
}
