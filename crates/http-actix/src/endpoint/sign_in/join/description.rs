//! What the OpenAPI document says about `/join/{secret}`.

use serde_json::json;

use crate::endpoint::description::operation::{HTML, Operation, PAGE, parameter};

pub(crate) fn open() -> Operation {
    let texts = ("What the link of the invitation ends with.", "0".repeat(43));
    let secret = parameter("path", "secret", true, (texts.0, &texts.1), json!({"type": "string"}));
    Operation::new(
        "GET",
        "/join/{secret}",
        ("openInvitation", "The link of an invitation"),
        "A page for people. It says who invites them, into which group, and to which application. Nothing is spent before \
         they sign.",
    )
    .parameter(secret)
    .shows(200, "The page, if the invitation leads to an application.", HTML, PAGE)
    .answers_nothing(303, "To `/auth`, if it leads to none.", &["Location", "SetCookie"])
    .shows(404, "There is no such invitation.", HTML, PAGE)
    .shows(410, "The invitation was used or revoked, or its time is over.", HTML, PAGE)
    .counted()
    .stores()
}
