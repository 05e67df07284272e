//! What the OpenAPI document says about `/oauth/continue`.

use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use crate::endpoint::description::examples::{self, CLIENT_ID, PAGE_FORM, REDIRECT_URI, STATE};
use crate::endpoint::description::operation::{
    Example, FOREIGN_FORM, FOREIGN_PAGE, FORM, HTML, JSON, NO_SESSION, NOT_ADMITTED, Operation, PAGE,
};
use crate::endpoint::description::scheme;

pub(crate) fn go_on(public_url: &PublicUrl) -> Operation {
    let account = examples::ethereum_account().caip10();
    let value = json!({
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT_URI,
        "state": STATE,
        "wallet_account": account,
        "form": PAGE_FORM,
    });
    Operation::new(
        "POST",
        "/oauth/continue",
        ("continueSession", "Continue without a signature"),
        "A person who is signed in, and who signed for this client and these scopes before, continues with \
         one click. `form` is the secret of the page that showed the request.",
    )
    .tag("Sign-in")
    .takes(
        &[JSON, FORM],
        "ContinueRequest",
        vec![Example { name: "named", summary: "One of several requests", value }],
    )
    .answers(
        200,
        "Where the browser goes, as after the login.",
        "Redirect",
        json!({"redirect_to": examples::callback(public_url)}),
    )
    .shows(200, "", HTML, PAGE)
    .answers_nothing(303, "To the redirect URI, with `code`, `state` and `iss`.", &["Location", "SetCookie"])
    .refuses(400, &[NO_SESSION])
    .refuses(401, &[("access_denied", "this request needs a signature")])
    .refuses(403, &[NOT_ADMITTED, FOREIGN_PAGE, FOREIGN_FORM])
    .counted()
    .stores()
    .opened_by(&[scheme::SESSION])
}
