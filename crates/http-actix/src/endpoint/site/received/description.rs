//! What the OpenAPI document says about the page of what applications received.

use crate::endpoint::description::operation::{HTML, NOTHING_HERE, Operation, PAGE};

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/playground/received",
        ("received", "What applications received"),
        "A page for developers: the claims, scopes and audiences that each application received last, and what it can ask \
         for to get more. `client_id` shows one application. Only on a trial server with a playground.",
    )
    .shows(200, "The page.", HTML, PAGE)
    .refuses(404, &[NOTHING_HERE])
}
