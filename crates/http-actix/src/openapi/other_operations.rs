//! What libraries, people and operators read.

use countersign_domain::challenge::ReadText;
use countersign_domain::public_url::PublicUrl;
use serde_json::{Value, json};

use super::examples::{self, SIGNATURE, WALLET};
use super::operation::{Example, FORM, HTML, JSON, Operation, parameter};
use crate::endpoint::site::discovery::{self, Offers};

const PAGE: &str = "<!doctype html>…";

pub(super) fn table(public_url: &PublicUrl) -> Vec<Operation> {
    let everything = Offers { registration: true, client_documents: true };
    let metadata: Value =
        serde_json::from_str(&discovery::metadata(public_url, everything)).unwrap_or_else(|_| json!({}));
    let mut table = discovery(&metadata);
    table.extend(pages());
    table.extend(verification(public_url));
    table.extend(probes());
    table
}

fn discovery(metadata: &Value) -> Vec<Operation> {
    let keys = json!({"keys": [{
        "kty": "EC",
        "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        "kid": "PNi2TZ6vR6cQAHp2lB3nPCXVZrYtLTQjA1Vq3F9dW5o",
        "alg": "ES256",
        "use": "sig",
    }]});
    let described = "Names the endpoints, and only what works.";
    vec![
        Operation::new(
            "GET",
            "/.well-known/oauth-authorization-server",
            ("authorizationServerMetadata", "The server's metadata (RFC 8414)"),
            described,
        )
        .tag("Discovery")
        .answers(200, "The metadata.", "Metadata", metadata.clone()),
        Operation::new(
            "GET",
            "/.well-known/openid-configuration",
            ("openidConfiguration", "The same where OpenID Connect looks for it"),
            described,
        )
        .tag("Discovery")
        .answers(200, "The metadata.", "Metadata", metadata.clone()),
        Operation::new(
            "GET",
            "/oauth/jwks",
            ("jwks", "The public keys (RFC 7517)"),
            "The keys that tokens are signed with.",
        )
        .tag("Discovery")
        .answers(200, "The keys.", "Jwks", keys),
    ]
}

fn pages() -> Vec<Operation> {
    vec![
        Operation::new("GET", "/", ("home", "What this server is"), "A page for people.").shows(
            200,
            "The page.",
            HTML,
            PAGE,
        ),
        Operation::new("GET", "/docs", ("docs", "This description, to try out"), "A page for developers.")
            .shows(200, "The page.", HTML, PAGE),
        Operation::new(
            "GET",
            "/playground",
            ("playground", "The whole flow, with a throw-away wallet"),
            "A page for developers; there only while the operator has it on.",
        )
        .shows(200, "The page.", HTML, PAGE)
        .refuses(404, &[("invalid_request", "there is nothing at this path")]),
        Operation::new("GET", "/openapi.json", ("openapi", "This description, for tools"), "This document.")
            .answers_object(200, "The document.", json!({"openapi": "3.0.3"})),
        Operation::new(
            "GET",
            "/assets/{name}",
            ("asset", "Scripts and styles of the pages"),
            "Their names change with their content, so that browsers may keep them for ever.",
        )
        .parameter(parameter(
            "path",
            "name",
            true,
            ("The name as a page has it.", "countersign.0123456789abcdef.css"),
            json!({"type": "string"}),
        ))
        .shows(200, "The asset.", "text/css", "body {}")
        .shows(200, "", "text/javascript", "export {};")
        .shows(200, "", "image/svg+xml", "<svg/>")
        .refuses(404, &[("invalid_request", "there is nothing at this path")]),
        Operation::new("GET", "/favicon.ico", ("favicon", "The logo"), "Browsers ask for it by themselves.")
            .shows(200, "The logo.", "image/svg+xml", "<svg/>"),
    ]
}

fn verification(public_url: &PublicUrl) -> Vec<Operation> {
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
    vec![
        Operation::new("GET", "/verify", ("verifyPage", "What did I sign?"), "A page for people, with a form.").shows(
            200,
            "The page.",
            HTML,
            PAGE,
        ),
        Operation::new(
            "POST",
            "/verify",
            ("verifyText", "Find out what a text says, who wrote it and who signed it"),
            "For support, and for people who wonder what they signed. Nothing is stored, nothing is spent, and nobody is signed \
             in by it. That this server wrote a text does not say who asked for it. Sent as a form, it answers with the page.",
        )
        .takes(
            &[JSON, FORM],
            "VerifyRequest",
            vec![
                Example { name: "signed", summary: "A text that names its account", value: signed },
                Example { name: "any", summary: "Any text, and the account that should have signed", value: any_text },
            ],
        )
        .answers(200, "What there is to know. A signature that is not valid is an answer too.", "Verified", answer)
        .shows(200, "", HTML, PAGE)
        .refuses(400, &[("invalid_request", "text is missing")])
        .kept_to_our_pages()
        .counted(),
    ]
}

fn probes() -> Vec<Operation> {
    let ok = || json!({"status": "ok"});
    vec![
        Operation::new("GET", "/health/live", ("live", "Does the process run?"), "It says so.")
            .tag("Probes")
            .answers(200, "It does.", "Health", ok()),
        Operation::new(
            "GET",
            "/health/ready",
            ("ready", "May requests be sent here?"),
            "No while the store is away, and from the moment when the server is told to stop.",
        )
        .tag("Probes")
        .answers(200, "They may.", "Health", ok())
        .stores(),
        Operation::new(
            "GET",
            "/metrics",
            ("metrics", "What was counted, as Prometheus reads it"),
            "docs/metrics.md has the table. There only while the operator has it on, and has given it no listener of its own.",
        )
        .tag("Probes")
        .shows(200, "The page.", "text/plain", "countersign_challenge_issued_total 1")
        .refuses(404, &[("invalid_request", "there is nothing at this path")]),
    ]
}
