//! What the OpenAPI document says about the e-mail address and the link that confirms it.

use serde_json::json;

use crate::endpoint::account::description::{BACK, NO_BODY, NOT_SIGNED_IN, TOO_OLD, change, plain};
use crate::endpoint::description::examples::PAGE_FORM;
use crate::endpoint::description::operation::{Example, FORM, HTML, JSON, Operation, PAGE, parameter};
use crate::endpoint::description::scheme;

/// The secret of a link in a mail.
const TOKEN: &str = "AZeitrYfBHvijD1aHp18Swq1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxCvBnM123456";

pub(crate) fn put() -> Operation {
    change(
        Operation::new(
            "POST",
            "/account/email",
            ("putEmail", "Put an e-mail address on file"),
            "Replaces the address on file. If the server sends mail, the address gets a link to confirm it; \
             sending the same address again sends a new link.",
        ),
        "EmailRequest",
        json!({"email": "ada@example.com", "form": PAGE_FORM}),
    )
    .refuses(401, &[NOT_SIGNED_IN, TOO_OLD])
    .refuses(400, &[("invalid_request", "email is not an e-mail address such as ada@example.com")])
    .counted()
}

pub(crate) fn remove() -> Operation {
    Operation::new(
        "POST",
        "/account/email/remove",
        ("removeEmail", "Take the e-mail address off file"),
        "From then on, applications that ask for it get none.",
    )
    .tag("Account")
    .takes(&[FORM, JSON], "PlainForm", vec![plain()])
    .refuses(400, &[NO_BODY])
    .answers_nothing(303, BACK, &["Location"])
    .refuses(401, &[NOT_SIGNED_IN, TOO_OLD])
    .kept_to_page_forms()
    .stores()
    .opened_by(&[scheme::LOGIN])
}

pub(crate) fn ask() -> Operation {
    Operation::new(
        "GET",
        "/account/email/confirm",
        ("confirmEmailPage", "The page behind the link in a mail"),
        "Opening the page changes nothing, because mail scanners follow links too. Its button confirms the \
         address.",
    )
    .tag("Account")
    .parameter(parameter(
        "query",
        "token",
        false,
        ("The secret of the link.", TOKEN),
        json!({"type": "string"}),
    ))
    .parameter(parameter(
        "query",
        "done",
        false,
        ("Set after the button was pressed.", "email_confirmed"),
        json!({"type": "string"}),
    ))
    .parameter(parameter(
        "query",
        "sign_in",
        false,
        ("Goes on to the sign-in page if the link is for an account that is not signed in.", "1"),
        json!({"type": "string"}),
    ))
    .shows(200, "The page.", HTML, PAGE)
    .answers_nothing(302, "To the sign-in page.", &["Location", "SetCookie"])
    .shows(400, "The link is not valid.", HTML, PAGE)
}

pub(crate) fn confirm() -> Operation {
    Operation::new(
        "POST",
        "/account/email/confirm",
        ("confirmEmail", "Confirm an e-mail address"),
        "Takes the secret of the link. It works once, and only if the user who gave the address is signed \
         in. If another account here has confirmed the same address, `shared=yes` is needed; the other \
         account keeps the address.",
    )
    .tag("Account")
    .takes(
        &[FORM, JSON],
        "ConfirmEmailRequest",
        vec![Example {
            name: "link",
            summary: "The link that was mailed",
            value: json!({"token": TOKEN, "form": PAGE_FORM}),
        }],
    )
    .answers_nothing(303, "To the page, which says that the address is confirmed.", &["Location"])
    .refuses(400, &[("invalid_request", "this link is no longer valid")])
    .refuses(
        401,
        &[(
            "access_denied",
            "the person that the link was mailed to is not signed in here: sign in with their wallet first",
        )],
    )
    .refuses(
        409,
        &[(
            "invalid_request",
            "another account here has confirmed this address: confirm it for this one too with shared=yes",
        )],
    )
    .kept_to_page_forms()
    .counted()
    .stores()
}
