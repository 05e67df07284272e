//! What the OpenAPI document says of the account page, and what the descriptions of its forms share. The forms are those of
//! the page; a program that keeps the cookie can send them too.

use serde_json::{Value, json};

use crate::endpoint::description::examples::PAGE_FORM;
use crate::endpoint::description::operation::{
    Example, FORM, HTML, JSON, Operation, PAGE, Refusal, parameter,
};
use crate::endpoint::description::scheme;

pub(super) const TOO_OLD: Refusal =
    ("access_denied", "this needs a signature that is not older than ten minutes");
pub(super) const NOT_SIGNED_IN: Refusal = ("access_denied", "nobody is signed in here");
pub(super) const BACK: &str = "To the account page, which says what was done, or asks to sign in.";

/// How a form without a body is refused.
pub(super) const NO_BODY: Refusal =
    ("invalid_request", "Content-Type must be application/json or application/x-www-form-urlencoded");

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/account",
        ("account", "What a person has here"),
        "A page: wallets, applications with access, sessions, the e-mail address, and the way out. Whoever is not signed in \
         is sent to the sign-in page, and comes back.",
    )
    .tag("Account")
    .parameter(parameter(
        "query",
        "done",
        false,
        ("What was just done; the page says so where it led here itself.", "signed_out"),
        json!({"type": "string"}),
    ))
    .shows(200, "The page.", HTML, PAGE)
    .answers_nothing(302, "To the sign-in page.", &["Location", "SetCookie"])
    .stores()
    .opened_by(&[scheme::LOGIN, ""])
}

pub(crate) fn sign_in_again() -> Operation {
    Operation::new(
        "POST",
        "/account/sign-in",
        ("signInAgain", "Sign in to the account page with a new signature"),
        "What cannot be undone needs a signature that is not older than ten minutes.",
    )
    .tag("Account")
    .takes(&[FORM, JSON], "PlainForm", vec![plain()])
    .refuses(400, &[NO_BODY])
    .answers_nothing(303, "To the sign-in page.", &["Location", "SetCookie"])
    .kept_to_page_forms()
}

/// A form that says nothing but which one it is.
pub(super) fn plain() -> Example {
    Example { name: "form", summary: "The form of the page", value: json!({"form": PAGE_FORM}) }
}

pub(super) fn change(operation: Operation, schema: &str, value: Value) -> Operation {
    operation
        .tag("Account")
        .takes(&[FORM, JSON], schema, vec![Example { name: "change", summary: "A change", value }])
        .answers_nothing(303, BACK, &["Location", "SetCookie"])
        .refuses(401, &[NOT_SIGNED_IN])
        .kept_to_page_forms()
        .stores()
        .opened_by(&[scheme::LOGIN])
}
