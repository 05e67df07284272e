//! What the OpenAPI document says of `/device` and of the page after it.

use serde_json::{Value, json};

use crate::endpoint::description::examples::{PAGE_FORM, USER_CODE};
use crate::endpoint::description::operation::{Example, FORM, HTML, NO_FORM, Operation, PAGE, parameter};

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/device",
        ("devicePage", "Type the code of a device"),
        "A page for people, with a form.",
    )
    .parameter(code_parameter())
    .shows(200, "The page.", HTML, PAGE)
}

fn code_parameter() -> Value {
    let texts = ("Stands in the field already; the person still has to go on.", USER_CODE);
    parameter("query", "user_code", false, texts, json!({"type": "string"}))
}

pub(crate) fn enter() -> Operation {
    Operation::new(
        "POST",
        "/device",
        ("enterDeviceCode", "Go on to what waits under a code"),
        "The form of the page. What waits goes into the session, and `/auth` asks about it.",
    )
    .takes(
        &[FORM],
        "DeviceCode",
        vec![Example {
            name: "code",
            summary: "As the device shows it",
            value: json!({"user_code": USER_CODE, "form": PAGE_FORM}),
        }],
    )
    .answers_nothing(303, "To `/auth`.", &["Location", "SetCookie"])
    .refuses(400, &[("invalid_request", "user_code is missing"), NO_FORM])
    .kept_to_page_forms()
    .counted()
    .stores()
}

pub(crate) fn done() -> Operation {
    Operation::new(
        "GET",
        "/device/done",
        ("deviceDone", "Where people come to who answered for a device"),
        "A page for people: they can go back to their device.",
    )
    .shows(200, "The page.", HTML, PAGE)
}
