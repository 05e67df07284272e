//! What the OpenAPI document says about `/oauth/login`.

use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use crate::endpoint::description::examples::{self, CLIENT_ID, REDIRECT_URI, SIGNATURE, STATE, WALLET};
use crate::endpoint::description::operation::{
    Example, FOREIGN_PAGE, FORM, HTML, JSON, NO_SESSION, NOT_ADMITTED, Operation, PAGE, UNKNOWN_CLIENT,
};
use crate::endpoint::description::scheme;

pub(crate) fn complete(public_url: &PublicUrl) -> Operation {
    let value = json!({
        "wallet_address": WALLET,
        "challenge": examples::challenge(public_url),
        "signature": SIGNATURE,
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT_URI,
        "state": STATE,
    });
    let mut remembered = value.clone();
    remembered["remember"] = json!(true);
    remembered["email"] = json!("ada@example.com");
    remembered["wallet_name"] = json!("MetaMask");
    Operation::new(
        "POST",
        "/oauth/login",
        ("login", "Sign in with the signed text"),
        "Redirects to the client with `code`, `state` and `iss`. With `Accept: application/json` the URL \
         comes as JSON, because scripts cannot follow a redirect to another site. With \
         `response_mode=form_post` the response is a page that posts the answer, or for scripts the URL of \
         that page. A failed signature does not use the text up (there are five tries); a valid one does. If \
         the browser should remember the sign-in, a second cookie is set.",
    )
    .tag("Sign-in")
    .steps(&[4])
    .takes(
        &[JSON, FORM],
        "LoginRequest",
        vec![
            Example { name: "signed", summary: "A signed text", value },
            Example { name: "remembered", summary: "The browser remembers the sign-in", value: remembered },
        ],
    )
    .answers(
        200,
        "Where the browser goes: as JSON, or for a form in a browser as a page that goes there.",
        "Redirect",
        json!({"redirect_to": examples::callback(public_url)}),
    )
    .shows(200, "", HTML, PAGE)
    .answers_nothing(303, "To the redirect URI, with `code`, `state` and `iss`.", &["Location", "SetCookie"])
    .refuses(400, &[NO_SESSION, UNKNOWN_CLIENT, ("invalid_request", "signature is missing")])
    .refuses(
        401,
        &[
            ("access_denied", "Failed to verify signature"),
            ("access_denied", "Challenge is not valid or has expired"),
        ],
    )
    .refuses(403, &[NOT_ADMITTED, FOREIGN_PAGE])
    .counted()
    .stores()
    .opened_by(&[scheme::SESSION])
}
