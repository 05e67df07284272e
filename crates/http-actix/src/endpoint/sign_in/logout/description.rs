//! What the OpenAPI document says of `/oauth/logout`.

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
    let description = "OpenID Connect RP-Initiated Logout. A good `id_token_hint` of whoever is signed in here signs them out at \
                       once; otherwise a page asks. The session ends, and with it what was granted in it without \
                       `offline_access`; clients with a `backchannel_logout_uri` that got something in it are told.";
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
    let names = ("signOutByForm", "The same by a form");
    let operation = Operation::new("POST", PATH, names, "Also the answer of the page that asks.")
        .takes(
            &[FORM],
            "LogoutRequest",
            vec![Example { name: "named", summary: "A client that has no ID token any more", value }],
        )
        .or_nothing()
        .kept_to_our_pages();
    answers(operation)
}

fn answers(operation: Operation) -> Operation {
    operation
        .shows(200, "The page that asks, or that says that nobody is signed in any more.", HTML, PAGE)
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

/// A parameter of the sign-out: name, description, example.
const PARAMETERS: [(&str, &str, &str); 6] = [
    ("id_token_hint", "An ID token that the client got for this person, expired or not.", ID_TOKEN),
    ("client_id", "The client; with a hint, the one that it was issued to.", CLIENT_ID),
    (
        "post_logout_redirect_uri",
        "Where the person goes afterwards: one of the client's, byte for byte. Without a client nothing is redirected.",
        AFTERWARDS,
    ),
    ("state", "Comes back with the redirect.", STATE),
    ("ui_locales", "The languages that the person reads, the best first.", "pt-BR en"),
    ("logout_hint", "Taken, and not needed.", AMR),
];

/// The same parameters as a form.
pub(crate) fn logout_request() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    let mut properties: Map<String, Value> =
        PARAMETERS.iter().map(|(name, description, _)| ((*name).to_owned(), text(description))).collect();
    properties.insert("confirm".to_owned(), text("Sent by the button of our own page."));
    json!({"type": "object", "description": "A person shall be signed out.", "properties": properties})
}
