//! What the OpenAPI document says about `/oauth/logout`.

use countersign_domain::id_token::AMR;
use serde_json::{Map, Value, json};

use crate::endpoint::description::examples::{CLIENT_ID, STATE};
use crate::endpoint::description::operation::{
    Example, FORM, HTML, Operation, PAGE, UNKNOWN_CLIENT, parameter,
};
use crate::endpoint::description::scheme;

const PATH: &str = "/oauth/logout";
const AFTERWARDS: &str = "https://photos.example.com/goodbye";
const ID_TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIwZTZhNGJkNiJ9.c2lnbmF0dXJl";

pub(crate) fn get() -> Operation {
    let description = "OpenID Connect RP-Initiated Logout. If `id_token_hint` is valid and names the person \
                       who is signed in here, they are signed out at once; otherwise a page asks. The \
                       session ends, and with it every grant from it without `offline_access`. Clients with \
                       a `backchannel_logout_uri` that got a grant from it are notified.";
    let names = ("signOut", "Send the person to sign out");
    let operation = Operation::new("GET", PATH, names, description);
    answers(PARAMETERS.iter().fold(operation, |operation, (name, description, example)| {
        let schema = json!({"type": "string"});
        operation.parameter(parameter("query", name, false, (description, example), schema))
    }))
}

pub(crate) fn post() -> Operation {
    let value = json!({
        "client_id": CLIENT_ID, "post_logout_redirect_uri": AFTERWARDS, "state": STATE,
    });
    let names = ("signOutByForm", "Sign out, by a form");
    let operation = Operation::new("POST", PATH, names, "Also the form of the page that asks.")
        .takes(
            &[FORM],
            "LogoutRequest",
            vec![Example { name: "named", summary: "A client that no longer has an ID token", value }],
        )
        .or_nothing()
        .kept_to_our_pages();
    answers(operation)
}

fn answers(operation: Operation) -> Operation {
    operation
        .shows(200, "The page that asks, or the page that says that no one is signed in anymore.", HTML, PAGE)
        .answers_nothing(303, "To `post_logout_redirect_uri`, with `state`.", &["Location", "SetCookie"])
        .refuses(
            400,
            &[
                ("invalid_request", "id_token_hint is not an ID token of this server"),
                ("invalid_request", "id_token_hint was issued to another client"),
                ("invalid_request", "post_logout_redirect_uri is not registered"),
                UNKNOWN_CLIENT,
            ],
        )
        .stores()
        .opened_by(&["", scheme::LOGIN])
}

/// The parameters of the sign-out: name, description, example.
const PARAMETERS: [(&str, &str, &str); 6] = [
    ("id_token_hint", "An ID token that the client got for this person. It can be expired.", ID_TOKEN),
    (
        "client_id",
        "The client. With `id_token_hint`, it must be the client that got the ID token.",
        CLIENT_ID,
    ),
    (
        "post_logout_redirect_uri",
        "Where the person goes afterwards: one of the URIs that the client registered, byte for byte. \
         Without a client there is no redirect.",
        AFTERWARDS,
    ),
    ("state", "The redirect repeats it.", STATE),
    ("ui_locales", "The languages that the person reads, the preferred one first.", "pt-BR en"),
    ("logout_hint", "Accepted, but has no effect.", AMR),
];

/// The same parameters as a form.
pub(crate) fn logout_request() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    let mut properties: Map<String, Value> =
        PARAMETERS.iter().map(|(name, description, _)| ((*name).to_owned(), text(description))).collect();
    properties.insert("confirm".to_owned(), text("Sent by the button of our own page."));
    json!({"type": "object", "description": "A request to sign a person out.", "properties": properties})
}
