//! What libraries, people and operators read.

use countersign_domain::public_url::PublicUrl;
use serde_json::{Value, json};

use super::operation::{HTML, Operation, parameter};
use crate::endpoint::discovery;

const PAGE: &str = "<!doctype html>…";

pub(super) fn table(public_url: &PublicUrl) -> Vec<Operation> {
    let metadata: Value =
        serde_json::from_str(&discovery::metadata(public_url, true)).unwrap_or_else(|_| json!({}));
    let mut table = discovery(&metadata);
    table.extend(pages());
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
            "The keys that access tokens are signed with.",
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
    ]
}
