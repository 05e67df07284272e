//! What the OpenAPI document says about `/oauth/introspect`.

use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use crate::endpoint::description::examples::{self, CLIENT_ID, CLIENT_SECRET};
use crate::endpoint::description::operation::{Example, FORM, JSON, NOT_AUTHENTICATED, Operation};
use crate::endpoint::description::scheme;

pub(crate) fn introspect(public_url: &PublicUrl) -> Operation {
    let value =
        json!({"token": examples::ACCESS_TOKEN, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET});
    Operation::new(
        "POST",
        "/oauth/introspect",
        ("introspect", "Check a token"),
        "RFC 7662, for clients with credentials. A client can ask about its own tokens, and about access \
         tokens whose `aud` contains its id or its `client_uri`. For every other token, unknown, expired, \
         revoked or another client's, the response is `{\"active\": false}`.",
    )
    .tag("Sign-in")
    .takes(
        &[JSON, FORM],
        "IntrospectionRequest",
        vec![Example { name: "access_token", summary: "An access token", value }],
    )
    .answers(
        200,
        "What the server knows about the token.",
        "Introspection",
        examples::introspection(public_url),
    )
    .refuses(400, &[("invalid_request", "token is missing")])
    .refuses_with(
        401,
        &[NOT_AUTHENTICATED, ("invalid_client", "only clients with credentials may introspect")],
        &["BasicChallenge"],
    )
    .counted()
    .stores()
    .opened_by(&["", scheme::CLIENT_BASIC])
}
