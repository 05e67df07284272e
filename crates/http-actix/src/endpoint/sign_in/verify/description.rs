//! What the OpenAPI document says about `/verify`.

use countersign_domain::challenge::ReadText;
use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use crate::endpoint::description::examples::{self, SIGNATURE, WALLET};
use crate::endpoint::description::operation::{Example, FORM, HTML, JSON, Operation, PAGE};

pub(crate) fn show() -> Operation {
    Operation::new("GET", "/verify", ("verifyPage", "What did I sign?"), "A page for people, with a form.")
        .shows(200, "The page.", HTML, PAGE)
}

pub(crate) fn verify(public_url: &PublicUrl) -> Operation {
    let text = examples::challenge(public_url);
    let read = ReadText::read(&text).unwrap_or_default();
    let answer = json!({
        "signature": "valid",
        "wallet_account": examples::ethereum_account().caip10(),
        "writer": "this_server",
        "issued_here": true,
        "expired": true,
        "domain": read.domain,
        "account_kind": read.account_kind,
        "address": read.address,
        "statement": read.statement,
        "uri": read.uri,
        "version": read.version,
        "chain_id": read.chain_id,
        "nonce": read.nonce,
        "issued_at": read.issued_at,
        "expiration_time": read.expiration_time,
        "request_id": read.request_id,
        "resources": read.resources,
    });
    let signed = json!({"text": text, "signature": SIGNATURE});
    let any_text =
        json!({"text": "I agree", "signature": SIGNATURE, "wallet_address": WALLET, "chain": "eip155:1"});
    Operation::new(
        "POST",
        "/verify",
        ("verifyText", "Find out what a text says, who wrote it and who signed it"),
        "For support, and for people who wonder what they signed. Nothing is stored, no text is used up, \
         and no one is signed in. If this server wrote a text, that does not say who asked for it. The \
         response to a form is the page.",
    )
    .takes(
        &[JSON, FORM],
        "VerifyRequest",
        vec![
            Example { name: "signed", summary: "A text that names its account", value: signed },
            Example {
                name: "any",
                summary: "Any text, and the account that should have signed",
                value: any_text,
            },
        ],
    )
    .answers(
        200,
        "What the server found out. If the signature is not valid, the status is still 200.",
        "Verified",
        answer,
    )
    .shows(200, "", HTML, PAGE)
    .refuses(400, &[("invalid_request", "text is missing")])
    .kept_to_our_pages()
    .counted()
}
