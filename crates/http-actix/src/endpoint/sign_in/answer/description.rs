//! What the OpenAPI document says of `/oauth/answer`.

use crate::endpoint::description::operation::{HTML, NO_SESSION, Operation, PAGE};
use crate::endpoint::description::scheme;

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/oauth/answer",
        ("answerByForm", "Post the answer to the client"),
        "Where a client wants its answer by `response_mode=form_post`, the page's script is led here: the form with the answer is \
         shown once, and the browser posts it.",
    )
    .shows(200, "The page with the form.", HTML, PAGE)
    .refuses(400, &[NO_SESSION])
    .opened_by(&[scheme::SESSION])
}
