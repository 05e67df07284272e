//! What the OpenAPI document says about the scripts, styles and pictures of the pages.

use serde_json::json;

use crate::endpoint::description::operation::{NOTHING_HERE, Operation, parameter};

pub(crate) fn serve() -> Operation {
    Operation::new(
        "GET",
        "/assets/{name}",
        ("asset", "Scripts and styles of the pages"),
        "Their names change with their content, so browsers can keep them forever.",
    )
    .parameter(parameter(
        "path",
        "name",
        true,
        ("The name that a page links to.", "countersign.0123456789abcdef.css"),
        json!({"type": "string"}),
    ))
    .shows(200, "The asset.", "text/css", "body {}")
    .shows(200, "", "text/javascript", "export {};")
    .shows(200, "", "image/svg+xml", "<svg/>")
    .refuses(404, &[NOTHING_HERE])
}

pub(crate) fn favicon() -> Operation {
    Operation::new("GET", "/favicon.ico", ("favicon", "The logo"), "Browsers request it by themselves.")
        .shows(200, "The logo.", "image/svg+xml", "<svg/>")
}
