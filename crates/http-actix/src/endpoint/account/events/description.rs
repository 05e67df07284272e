//! What the OpenAPI document says about `/account/events`.

use serde_json::json;

use crate::endpoint::account::description::NOT_SIGNED_IN;
use crate::endpoint::description::examples::{self, CLIENT_ID};
use crate::endpoint::description::operation::{HTML, Operation, PAGE, parameter};
use crate::endpoint::description::scheme;

const EVENT_ID: &str = "0197c2a4-6f00-7d3e-9b1a-4f6c2f0e8d12";
const EARLIER_EVENT_ID: &str = "0197be1b-8a00-7c11-8f02-91c3a7d5e604";

pub(crate) fn show() -> Operation {
    let account = examples::ethereum_account().caip10();
    let body = json!({
        "kept": true,
        "since": "2026-06-02T18:05:12Z",
        "events": [
            {
                "id": EVENT_ID,
                "at": "2026-07-01T09:30:00Z",
                "what": "sign_in",
                "client_id": CLIENT_ID,
                "client_name": "Photo Album",
                "wallet_account": account,
                "wallet_name": "MetaMask",
                "address": "192.0.2.0/24",
            },
            {"id": EARLIER_EVENT_ID, "at": "2026-06-30T12:22:03Z", "what": "email_confirmed"},
        ],
        "next": EARLIER_EVENT_ID,
    });
    Operation::new(
        "GET",
        "/account/events",
        ("accountEvents", "Where the person signed in, and what else happened"),
        "The person's own events of the last 30 days, or of a shorter time if the operator keeps them less long; \
         50 on a page. A page if the client prefers `text/html`; then a person who is not signed in goes to \
         the sign-in page first.",
    )
    .tag("Account")
    .parameter(parameter(
        "query",
        "after",
        false,
        ("Only events that are older than this one: `next` of the answer before.", EVENT_ID),
        json!({"type": "string", "format": "uuid"}),
    ))
    .answers(200, "The events.", "OwnEvents", body)
    .shows(200, "The page.", HTML, PAGE)
    .answers_nothing(302, "For a browser without a session: to the sign-in page.", &["Location", "SetCookie"])
    .refuses(400, &[("invalid_request", "after is not an id")])
    .refuses(401, &[NOT_SIGNED_IN])
    .stores()
    .opened_by(&[scheme::LOGIN])
}
