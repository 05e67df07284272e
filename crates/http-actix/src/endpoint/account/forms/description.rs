//! What the OpenAPI document says about the forms for access, sessions and the account itself.

use serde_json::json;

use crate::endpoint::account::description::{NOT_SIGNED_IN, TOO_OLD, change};
use crate::endpoint::description::examples::{CLIENT_ID, PAGE_FORM};
use crate::endpoint::description::operation::Operation;

pub(crate) fn revoke() -> Operation {
    change(
        Operation::new(
            "POST",
            "/account/apps/revoke",
            ("revokeAccess", "Revoke an application's access"),
            "All of its tokens for this person are revoked, and the next sign-in there needs a signature.",
        ),
        "RevokeAccessRequest",
        json!({"client_id": CLIENT_ID, "form": PAGE_FORM}),
    )
    .refuses(400, &[("invalid_request", "client_id is missing")])
}

pub(crate) fn end() -> Operation {
    change(
        Operation::new(
            "POST",
            "/account/sessions/end",
            ("endSessions", "Sign out"),
            "In this browser, in another one, or everywhere. Applications keep their tokens.",
        ),
        "EndSessionsRequest",
        json!({"session": "this", "form": PAGE_FORM}),
    )
    .refuses(400, &[("invalid_request", "session must be the id of a session, this or all")])
}

pub(crate) fn delete() -> Operation {
    change(
        Operation::new(
            "POST",
            "/account/delete",
            ("deleteAccount", "Delete the account"),
            "The wallets, the access of applications, the sessions and the e-mail address are deleted at \
             once. This cannot be undone.",
        ),
        "DeleteAccountRequest",
        json!({"confirm": "yes", "form": PAGE_FORM}),
    )
    .refuses(400, &[("invalid_request", "confirm must be yes")])
    .refuses(401, &[NOT_SIGNED_IN, TOO_OLD])
    .counted()
}
