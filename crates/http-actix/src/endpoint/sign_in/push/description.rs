//! What the OpenAPI document says about `/oauth/par`.

use serde_json::json;

use crate::endpoint::description::examples::{CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, REFRESH_TOKEN, STATE};
use crate::endpoint::description::operation::{Example, FORM, NO_FORM, NOT_AUTHENTICATED, Operation};
use crate::endpoint::description::scheme;

pub(crate) fn push() -> Operation {
    let value = json!({
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "redirect_uri": REDIRECT_URI,
        "response_type": "code",
        "scope": "profile",
        "state": STATE,
    });
    let answer = json!({
        "request_uri": format!("urn:ietf:params:oauth:request_uri:{REFRESH_TOKEN}"),
        "expires_in": 60,
    });
    Operation::new(
        "POST",
        "/oauth/par",
        ("pushAuthorization", "Push an authorization request"),
        "RFC 9126: the parameters of `/oauth/authorize` in a form, from a client that authenticates as at \
         the token endpoint. The server checks them at once. The browser then sends only `client_id` and \
         `request_uri` to `/oauth/authorize`: once, within a minute.",
    )
    .tag("Sign-in")
    .takes(
        &[FORM],
        "PushedAuthorizationRequest",
        vec![Example { name: "code", summary: "A request for a code", value }],
    )
    .answers(201, "What the browser sends.", "Pushed", answer)
    .refuses(
        400,
        &[
            ("invalid_request", "Invalid redirect_uri"),
            ("invalid_request", "request_uri cannot be pushed"),
            ("invalid_scope", "scope holds openid, which the client did not register; it registered profile"),
            ("invalid_request", "dpop_jkt is not the key of the DPoP proof"),
            ("use_dpop_nonce", "DPoP proof needs the nonce of the header DPoP-Nonce"),
            NO_FORM,
        ],
    )
    .refuses_with(401, &[NOT_AUTHENTICATED], &["BasicChallenge"])
    .counted()
    .stores()
    .proven()
    .opened_by(&["", scheme::CLIENT_BASIC])
}
