//! What the OpenAPI document says of the forms for access, sessions and the account itself.

use serde_json::json;

use crate::endpoint::account::description::{NOT_SIGNED_IN, TOO_OLD, change};
use crate::endpoint::description::examples::{CLIENT_ID, PAGE_FORM};
use crate::endpoint::description::operation::Operation;

pub(crate) fn revoke() -> Operation {
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

pub(crate) fn end() -> Operation {
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

pub(crate) fn delete() -> Operation {
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
