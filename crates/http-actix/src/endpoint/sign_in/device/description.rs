//! What the OpenAPI document says about `/device` and the page after it.

use serde_json::{Value, json};

use crate::endpoint::description::examples::{PAGE_FORM, USER_CODE};
use crate::endpoint::description::operation::{Example, FORM, HTML, NO_FORM, Operation, PAGE, parameter};

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/device",
        ("devicePage", "The page to type a device's code"),
        "A page for people, with a form.",
    )
    .parameter(code_parameter())
    .shows(200, "The page.", HTML, PAGE)
}

fn code_parameter() -> Value {
    let texts = ("Filled into the field. The person still has to press the button.", USER_CODE);
    parameter("query", "user_code", false, texts, json!({"type": "string"}))
}

pub(crate) fn enter() -> Operation {
    Operation::new(
        "POST",
        "/device",
        ("enterDeviceCode", "Send a device's code"),
        "The form of the page. The device's request goes into the session, and `/auth` asks the person about \
         it.",
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
        ("deviceDone", "The page after answering a device's request"),
        "A page for people. It says that they can go back to their device.",
    )
    .shows(200, "The page.", HTML, PAGE)
}
