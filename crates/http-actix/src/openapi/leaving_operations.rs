//! How people leave: with an answer in a form, and signed out. And the picture that stays of them.

use countersign_domain::id_token::AMR;
use serde_json::{Value, json};

use super::examples::{CLIENT_ID, STATE};
use super::operation::{Example, FORM, HTML, NO_SESSION, Operation, UNKNOWN_CLIENT, parameter};

const PAGE: &str = "<!doctype html>…";
const AFTERWARDS: &str = "https://photos.example.com/goodbye";
/// The name of a picture.
const PICTURE: &str = "7f1b6c0a9c3d4a0f9f0e2f1b6f0a9c3d";
const ID_TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIwZTZhNGJkNiJ9.c2lnbmF0dXJl";

pub(super) fn table() -> Vec<Operation> {
    vec![answer(), logout("GET"), logout("POST"), picture()]
}

fn answer() -> Operation {
    Operation::new(
        "GET",
        "/oauth/answer",
        ("answerByForm", "Post the answer to the client"),
        "Where a client wants its answer by `response_mode=form_post`, the page's script is led here: the form with the answer is \
         shown once, and the browser posts it.",
    )
    .shows(200, "The page with the form.", HTML, PAGE)
    .refuses(400, &[NO_SESSION])
    .opened_by(&[super::SESSION])
}

/// A parameter of the sign-out: name, description, example.
const LOGOUT_PARAMETERS: [(&str, &str, &str); 6] = [
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
pub(super) fn logout_request() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    let mut properties: serde_json::Map<String, Value> = LOGOUT_PARAMETERS
        .iter()
        .map(|(name, description, _)| ((*name).to_owned(), text(description)))
        .collect();
    properties.insert("confirm".to_owned(), text("Sent by the button of our own page."));
    json!({"type": "object", "description": "A person shall be signed out.", "properties": properties})
}

fn logout(method: &'static str) -> Operation {
    let description = "OpenID Connect RP-Initiated Logout. A good `id_token_hint` of whoever is signed in here signs them out at \
                       once; otherwise a page asks. The session ends, and with it what was granted in it without \
                       `offline_access`; clients with a `backchannel_logout_uri` that got something in it are told.";
    let operation = if method == "GET" {
        LOGOUT_PARAMETERS.iter().fold(
            Operation::new(method, "/oauth/logout", ("signOut", "Send the person to sign out"), description),
            |operation, (name, description, example)| {
                let schema = json!({"type": "string"});
                operation.parameter(parameter("query", name, false, (description, example), schema))
            },
        )
    } else {
        let value = json!({
            "client_id": CLIENT_ID, "post_logout_redirect_uri": AFTERWARDS, "state": STATE,
        });
        let names = ("signOutByForm", "The same by a form");
        Operation::new(method, "/oauth/logout", names, "Also the answer of the page that asks.")
            .takes(
                &[FORM],
                "LogoutRequest",
                vec![Example { name: "named", summary: "A client that has no ID token any more", value }],
            )
            .or_nothing()
            .kept_to_our_pages()
    };
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
        .opened_by(&["", super::LOGIN])
}

fn picture() -> Operation {
    Operation::new(
        "GET",
        "/pictures/{name}.svg",
        ("picture", "The picture of a user"),
        "Drawn from its name, for `picture` of userinfo. Every name has a picture, and none tells whose it is.",
    )
    .parameter(parameter(
        "path",
        "name",
        true,
        ("As `picture` names it.", PICTURE),
        json!({"type": "string"}),
    ))
    .shows(200, "The picture.", "image/svg+xml", "<svg/>")
    .refuses(404, &[("invalid_request", "there is nothing at this path")])
}
