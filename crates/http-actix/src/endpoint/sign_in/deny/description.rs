//! What the OpenAPI document says about `/oauth/deny`.

use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use crate::endpoint::description::examples::{self, CLIENT_ID, PAGE_FORM, REDIRECT_URI, STATE};
use crate::endpoint::description::operation::{Example, FORM, HTML, JSON, NO_SESSION, Operation, PAGE};
use crate::endpoint::description::scheme;

pub(crate) fn deny(public_url: &PublicUrl) -> Operation {
    let value = json!({
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT_URI,
        "state": STATE,
        "form": PAGE_FORM,
    });
    let denied = json!({"redirect_to": examples::denial(public_url)});
    Operation::new(
        "POST",
        "/oauth/deny",
        ("deny", "Deny the request"),
        "The Deny button: the client gets `error=access_denied`, `state` and `iss`. `form` is the secret of \
         the page that showed the request.",
    )
    .tag("Sign-in")
    .takes(
        &[JSON, FORM],
        "DenyRequest",
        vec![Example { name: "named", summary: "One of several requests", value }],
    )
    .answers(200, "Where the browser goes, as after the login.", "Redirect", denied)
    .shows(200, "", HTML, PAGE)
    .answers_nothing(303, "To the redirect URI, with `error`, `state` and `iss`.", &["Location", "SetCookie"])
    .refuses(400, &[NO_SESSION])
    .kept_to_page_forms()
    .opened_by(&[scheme::SESSION])
}
