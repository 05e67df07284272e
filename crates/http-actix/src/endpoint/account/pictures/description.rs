//! What the OpenAPI document says about the pictures.

use serde_json::json;

use crate::endpoint::description::operation::{NOTHING_HERE, Operation, parameter};

const PICTURE: &str = "7f1b6c0a9c3d4a0f9f0e2f1b6f0a9c3d";

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/pictures/{name}.svg",
        ("picture", "The picture of a user"),
        "Drawn from its name, for the claim `picture` of userinfo. Every possible name has a picture, and \
         none shows whose it is.",
    )
    .parameter(parameter(
        "path",
        "name",
        true,
        ("The name, from the claim `picture`.", PICTURE),
        json!({"type": "string"}),
    ))
    .shows(200, "The picture.", "image/svg+xml", "<svg/>")
    .refuses(404, &[NOTHING_HERE])
}
