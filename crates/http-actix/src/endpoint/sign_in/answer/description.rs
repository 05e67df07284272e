//! What the OpenAPI document says about `/oauth/answer`.

use crate::endpoint::description::operation::{HTML, NO_SESSION, Operation, PAGE};
use crate::endpoint::description::scheme;

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/oauth/answer",
        ("answerByForm", "Post the response to the client"),
        "For a client that wants `response_mode=form_post`. The script of the sign-in page sends the browser \
         here; this page shows, once, the form with the response, and the browser posts it to the client.",
    )
    .shows(200, "The page with the form.", HTML, PAGE)
    .refuses(400, &[NO_SESSION])
    .opened_by(&[scheme::SESSION])
}
