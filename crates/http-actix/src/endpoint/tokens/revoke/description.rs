//! What the OpenAPI document says about `/oauth/revoke`.

use serde_json::json;

use crate::endpoint::description::examples::{CLIENT_ID, CLIENT_SECRET, REFRESH_TOKEN};
use crate::endpoint::description::operation::{Example, FORM, JSON, NOT_AUTHENTICATED, Operation};
use crate::endpoint::description::scheme;

pub(crate) fn revoke() -> Operation {
    let value = json!({"token": REFRESH_TOKEN, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET});
    Operation::new(
        "POST",
        "/oauth/revoke",
        ("revoke", "Revoke a token"),
        "Revoking a refresh token ends its whole grant, including the access tokens. Revoking an access \
         token ends only that token. The response is the same for tokens that are unknown or no longer \
         valid. After the response, no replica accepts the token anymore.",
    )
    .tag("Sign-in")
    .steps(&[8])
    .takes(
        &[JSON, FORM],
        "RevocationRequest",
        vec![Example { name: "refresh_token", summary: "A refresh token", value }],
    )
    .answers(200, "The token is not valid anymore.", "Revoked", json!({}))
    .refuses(
        400,
        &[
            ("invalid_request", "token is missing"),
            ("unauthorized_client", "token belongs to another client"),
        ],
    )
    .refuses_with(401, &[NOT_AUTHENTICATED], &["BasicChallenge"])
    .counted()
    .stores()
    .opened_by(&["", scheme::CLIENT_BASIC])
}
