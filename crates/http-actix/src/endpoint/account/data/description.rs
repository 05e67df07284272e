//! What the OpenAPI document says about `/account/data`.

use serde_json::json;

use crate::endpoint::account::description::{NO_BODY, NOT_SIGNED_IN, TOO_OLD, plain};
use crate::endpoint::description::examples::{self, CLIENT_ID, USER};
use crate::endpoint::description::operation::{FORM, JSON, Operation};
use crate::endpoint::description::scheme;

const SESSION_ID: &str = "0197c2a4-6f00-7d3e-9b1a-4f6c2f0e8d11";

pub(crate) fn download() -> Operation {
    let account = examples::ethereum_account().caip10();
    let (then, now) = ("2026-07-01T09:30:00Z", "2026-07-02T18:05:12Z");
    let body = json!({
        "sub": USER,
        "preferred_username": format!("User_{}", USER.split('-').next().unwrap_or_default()),
        "created_at": then,
        "wallets": [
            {"account": account, "kind": "key", "name": "MetaMask", "linked_at": then},
            {"account": examples::solana_account().caip10(), "linked_at": now},
        ],
        "apps": [{
            "client_id": CLIENT_ID,
            "client_name": "Photo Album",
            "client_uri": "https://photos.example",
            "self_registered": false,
            "sub": USER,
            "knows_wallet": true,
            "destination": "https://photos.example",
            "audiences": ["https://auth.example.com"],
            "scope": "profile email",
            "granted_at": then,
            "last_used_at": now,
        }],
        "invitations": [{
            "group": "staff",
            "from": "The Millers",
            "wallet_account": account,
            "accepted_at": then,
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
        ("accountData", "The account as a file"),
        "Everything that the server knows about the person, as JSON; what happened is at `/account/events`. \
         It needs a signature that is at most ten minutes old.",
    )
    .tag("Account")
    .takes(&[FORM, JSON], "PlainForm", vec![plain()])
    .refuses(400, &[NO_BODY])
    .answers(200, "The file.", "Account", body)
    .answers_nothing(
        303,
        "For a browser without a session: to the account page, which asks the person to sign in.",
        &["Location"],
    )
    .refuses(401, &[NOT_SIGNED_IN, TOO_OLD])
    .kept_to_page_forms()
    .stores()
    .opened_by(&[scheme::LOGIN])
}
