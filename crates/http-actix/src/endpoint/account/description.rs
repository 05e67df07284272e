//! What the OpenAPI document says about the account page, and what the descriptions of its forms share. A
//! program that keeps the cookie can send the forms of the page too.

use serde_json::{Value, json};

use crate::endpoint::description::examples::PAGE_FORM;
use crate::endpoint::description::operation::{
    Example, FORM, HTML, JSON, Operation, PAGE, Refusal, parameter,
};
use crate::endpoint::description::scheme;

pub(super) const TOO_OLD: Refusal =
    ("access_denied", "this needs a signature that is not older than ten minutes");
pub(super) const NOT_SIGNED_IN: Refusal = ("access_denied", "no one is signed in here");
pub(super) const BACK: &str = "To the account page, which says what was done or asks the person to sign in.";

/// The refusal of a form without a body.
pub(super) const NO_BODY: Refusal =
    ("invalid_request", "Content-Type must be application/json or application/x-www-form-urlencoded");

pub(crate) fn show() -> Operation {
    Operation::new(
        "GET",
        "/account",
        ("account", "What a person has here"),
        "A page with the person's wallets, applications, sessions and e-mail address, where they can also \
         sign out and delete the account. A person who is not signed in goes to the sign-in page first and \
         then comes back.",
    )
    .tag("Account")
    .parameter(parameter(
        "query",
        "done",
        false,
        ("What was just done. The page says so if our own page led here.", "signed_out"),
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
        "Actions that cannot be undone need a signature that is at most ten minutes old.",
    )
    .tag("Account")
    .takes(&[FORM, JSON], "PlainForm", vec![plain()])
    .refuses(400, &[NO_BODY])
    .answers_nothing(303, "To the sign-in page.", &["Location", "SetCookie"])
    .kept_to_page_forms()
}

/// A form with no fields except its secret.
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
