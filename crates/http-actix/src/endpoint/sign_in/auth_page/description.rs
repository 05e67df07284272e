//! What the OpenAPI document says about the sign-in page.

use serde_json::json;

use crate::endpoint::description::operation::{HTML, NO_SESSION, Operation, PAGE, UNKNOWN_CLIENT, parameter};
use crate::endpoint::description::scheme;

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/auth",
        ("signInPage", "The page where the person signs"),
        "Shows which client asks for what, connects a wallet and asks it for a signature. The page also \
         works without scripts.",
    )
    .tag("Sign-in")
    .steps(&[3])
    .parameter(parameter(
        "query",
        "request",
        false,
        ("Which of several pending requests is meant. By default the newest.", "5f3a9c"),
        json!({"type": "string"}),
    ))
    .parameter(parameter(
        "query",
        "another",
        false,
        ("Set if the person wants to use a wallet other than the one that is signed in.", "1"),
        json!({"type": "string"}),
    ))
    .parameter(parameter(
        "query",
        "lang",
        false,
        (
            "The language that the person chose. A cookie remembers it. Every page accepts this parameter.",
            "de",
        ),
        json!({"type": "string"}),
    ))
    .shows(200, "The page.", HTML, PAGE)
    .refuses(400, &[NO_SESSION, UNKNOWN_CLIENT])
    .stores()
    .opened_by(&[scheme::SESSION])
}
