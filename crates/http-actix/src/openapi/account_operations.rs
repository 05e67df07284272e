//! What people see and change of what is theirs. The forms are those of the page; a program that keeps the cookie can send
//! them too.

use serde_json::{Value, json};

use super::examples::{self, CLIENT_ID, USER};
use super::operation::{Example, FORM, HTML, JSON, Operation, parameter};

const PAGE: &str = "<!doctype html>…";
const SESSION_ID: &str = "0197c2a4-6f00-7d3e-9b1a-4f6c2f0e8d11";
/// The secret of a form of the page.
pub(super) const PAGE_FORM: &str = "8qY0r5l9Qw3n1T6uZbXcVg";
const TOO_OLD: (&str, &str) = ("access_denied", "this needs a signature that is not older than ten minutes");
/// The secret of a link in a mail.
const TOKEN: &str = "AZeitrYfBHvijD1aHp18Swq1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxCvBnM123456";
const NOT_SIGNED_IN: (&str, &str) = ("access_denied", "nobody is signed in here");
const BACK: &str = "To the account page, which says what was done, or asks to sign in.";

pub(super) fn table() -> Vec<Operation> {
    let mut table = vec![page(), data(), sign_in()];
    table.extend([revoke(), end(), put_email(), remove_email(), delete()]);
    table.extend([link_page(), confirm_email()]);
    table.into_iter().map(|operation| operation.tag("Account")).collect()
}

fn page() -> Operation {
    Operation::new(
        "GET",
        "/account",
        ("account", "What a person has here"),
        "A page: wallets, applications with access, sessions, the e-mail address, and the way out. Whoever is not signed in \
         is sent to the sign-in page, and comes back.",
    )
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
    .opened_by(&[super::LOGIN, ""])
}

fn data() -> Operation {
    let account = examples::ethereum_account().caip10();
    let (then, now) = ("2026-07-01T09:30:00Z", "2026-07-02T18:05:12Z");
    let body = json!({
        "sub": USER,
        "preferred_username": format!("User_{}", USER.split('-').next().unwrap_or_default()),
        "created_at": then,
        "wallets": [
            {"account": account, "linked_at": then},
            {"account": examples::solana_account().caip10(), "linked_at": now},
        ],
        "apps": [{
            "client_id": CLIENT_ID,
            "client_name": "Photo Album",
            "client_uri": "https://photos.example",
            "self_registered": false,
            "destination": "https://photos.example",
            "audiences": ["https://auth.example.com"],
            "scope": "profile email",
            "granted_at": then,
            "last_used_at": now,
        }],
        "sessions": [{
            "id": SESSION_ID,
            "wallet_account": account,
            "browser": "Firefox on Linux",
            "authenticated_at": then,
            "last_used_at": now,
            "expires_at": "2026-07-02T09:30:00Z",
            "is_this_one": true,
        }],
        "email": {"address": "ada@example.com", "added_at": then, "verified_at": now},
    });
    Operation::new(
        "POST",
        "/account/data",
        ("accountData", "The same as a file"),
        "Everything that the server knows of the person, for programs. It needs a signature that is not older than ten minutes.",
    )
    .takes(&[FORM, JSON], "PlainForm", vec![plain()])
    .refuses(400, &[NO_BODY])
    .answers(200, "The file.", "Account", body)
    .answers_nothing(
        303,
        "For browsers without a session: to the account page, which asks to sign in.",
        &["Location"],
    )
    .refuses(401, &[NOT_SIGNED_IN, TOO_OLD])
    .kept_to_page_forms()
    .stores()
    .opened_by(&[super::LOGIN])
}

/// A form that says nothing but which one it is.
fn plain() -> Example {
    Example { name: "form", summary: "The form of the page", value: json!({"form": PAGE_FORM}) }
}

/// How a form without a body is refused.
const NO_BODY: (&str, &str) =
    ("invalid_request", "Content-Type must be application/json or application/x-www-form-urlencoded");

fn sign_in() -> Operation {
    Operation::new(
        "POST",
        "/account/sign-in",
        ("signInAgain", "Sign in to the account page with a new signature"),
        "What cannot be undone needs a signature that is not older than ten minutes.",
    )
    .takes(&[FORM, JSON], "PlainForm", vec![plain()])
    .refuses(400, &[NO_BODY])
    .answers_nothing(303, "To the sign-in page.", &["Location", "SetCookie"])
    .kept_to_page_forms()
}

fn revoke() -> Operation {
    change(
        Operation::new(
            "POST",
            "/account/apps/revoke",
            ("revokeAccess", "Take an application's access away"),
            "All of its tokens for this person end, and the next sign-in there needs a signature.",
        ),
        "RevokeAccessRequest",
        json!({"client_id": CLIENT_ID, "form": PAGE_FORM}),
    )
    .refuses(400, &[("invalid_request", "client_id is missing")])
}

fn end() -> Operation {
    change(
        Operation::new(
            "POST",
            "/account/sessions/end",
            ("endSessions", "Sign out"),
            "Here, at another browser, or everywhere. Tokens that applications hold stay theirs.",
        ),
        "EndSessionsRequest",
        json!({"session": "this", "form": PAGE_FORM}),
    )
    .refuses(400, &[("invalid_request", "session must be the id of a session, this or all")])
}

fn put_email() -> Operation {
    change(
        Operation::new(
            "POST",
            "/account/email",
            ("putEmail", "Put an e-mail address on file"),
            "In place of another one. Where the server sends mail, a link goes to it; the same address again is sent a new \
             link.",
        ),
        "EmailRequest",
        json!({"email": "ada@example.com", "form": PAGE_FORM}),
    )
    .refuses(401, &[NOT_SIGNED_IN, TOO_OLD])
    .refuses(400, &[("invalid_request", "email is not an e-mail address such as ada@example.com")])
    .counted()
}

fn remove_email() -> Operation {
    Operation::new(
        "POST",
        "/account/email/remove",
        ("removeEmail", "Take the e-mail address off file"),
        "Applications that ask for it get none from then on.",
    )
    .takes(&[FORM, JSON], "PlainForm", vec![plain()])
    .refuses(400, &[NO_BODY])
    .answers_nothing(303, BACK, &["Location"])
    .refuses(401, &[NOT_SIGNED_IN, TOO_OLD])
    .kept_to_page_forms()
    .stores()
    .opened_by(&[super::LOGIN])
}

fn delete() -> Operation {
    change(
        Operation::new(
            "POST",
            "/account/delete",
            ("deleteAccount", "Delete the account"),
            "Wallets, access of applications, sessions and the e-mail address go at once, and for good.",
        ),
        "DeleteAccountRequest",
        json!({"confirm": "yes", "form": PAGE_FORM}),
    )
    .refuses(400, &[("invalid_request", "confirm must be yes")])
    .refuses(401, &[NOT_SIGNED_IN, TOO_OLD])
    .counted()
}

fn change(operation: Operation, schema: &str, value: Value) -> Operation {
    operation
        .takes(&[FORM, JSON], schema, vec![Example { name: "change", summary: "A change", value }])
        .answers_nothing(303, BACK, &["Location", "SetCookie"])
        .refuses(401, &[NOT_SIGNED_IN])
        .kept_to_page_forms()
        .stores()
        .opened_by(&[super::LOGIN])
}

fn link_page() -> Operation {
    Operation::new(
        "GET",
        "/account/email/confirm",
        ("confirmEmailPage", "The page behind the link in a mail"),
        "It changes nothing, because mail scanners follow links too; its button does.",
    )
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
        ("There after the button was pressed.", "email_confirmed"),
        json!({"type": "string"}),
    ))
    .parameter(parameter(
        "query",
        "sign_in",
        false,
        ("Goes on to sign in, where the link is for another account than the one that is signed in.", "1"),
        json!({"type": "string"}),
    ))
    .shows(200, "The page.", HTML, PAGE)
    .answers_nothing(302, "To the sign-in page.", &["Location", "SetCookie"])
    .shows(400, "The link is not one of ours.", HTML, PAGE)
}

fn confirm_email() -> Operation {
    Operation::new(
        "POST",
        "/account/email/confirm",
        ("confirmEmail", "Confirm an e-mail address"),
        "By the secret of the link, once, by whoever is signed in as the user who gave the address. One that another account here has \
         confirmed is confirmed only with `shared=yes`; the other account keeps it.",
    )
    .takes(
        &[FORM, JSON],
        "ConfirmEmailRequest",
        vec![Example {
            name: "link",
            summary: "The link that was mailed",
            value: json!({"token": TOKEN, "form": PAGE_FORM}),
        }],
    )
    .answers_nothing(303, "To the page, which says that it worked.", &["Location"])
    .refuses(400, &[("invalid_request", "this link is not valid any more")])
    .refuses(
        401,
        &[(
            "access_denied",
            "whom the link was mailed to is not signed in here: sign in with their wallet first",
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
