//! Requests that are sent ahead, devices, and what a token is worth.

use countersign_domain::public_url::PublicUrl;
use serde_json::{Value, json};

use super::CLIENT_BASIC;
use super::account_operations::PAGE_FORM;
use super::examples::{
    self, CLIENT_ID, CLIENT_SECRET, DEVICE_CODE, REDIRECT_URI, REFRESH_TOKEN, STATE, USER_CODE,
};
use super::operation::{Example, FORM, HTML, JSON, Operation, parameter};

const PAGE: &str = "<!doctype html>…";
const NOT_AUTHENTICATED: (&str, &str) = ("invalid_client", "client authentication failed");
const NO_FORM: (&str, &str) = ("invalid_request", "Content-Type must be application/x-www-form-urlencoded");

pub(super) fn table(public_url: &PublicUrl) -> Vec<Operation> {
    let sign_in = [push(), device_authorization(public_url), introspect(public_url)];
    let mut table: Vec<Operation> = sign_in.into_iter().map(|operation| operation.tag("Sign-in")).collect();
    table.extend([device_page(), device_code(), device_done()]);
    table
}

fn push() -> Operation {
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
        ("pushAuthorization", "Send an authorization request ahead"),
        "RFC 9126: the parameters of `/oauth/authorize`, by a form, from a client that authenticates as at the token endpoint. \
         They are judged at once. The browser then brings `client_id` and `request_uri` in their place: once, within a minute.",
    )
    .takes(
        &[FORM],
        "PushedAuthorizationRequest",
        vec![Example { name: "code", summary: "A request for a code", value }],
    )
    .answers(201, "What the browser brings.", "Pushed", answer)
    .refuses(
        400,
        &[
            ("invalid_request", "Invalid redirect_uri"),
            ("invalid_request", "request_uri cannot be pushed"),
            ("invalid_scope", "scope holds a value that the client did not register"),
            ("invalid_request", "dpop_jkt is not the key of the DPoP proof"),
            ("use_dpop_nonce", "DPoP proof needs the nonce of the header DPoP-Nonce"),
            NO_FORM,
        ],
    )
    .refuses_with(401, &[NOT_AUTHENTICATED], &["BasicChallenge"])
    .counted()
    .stores()
    .proven()
    .opened_by(&["", CLIENT_BASIC])
}

fn device_authorization(public_url: &PublicUrl) -> Operation {
    let value = json!({"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "scope": "profile"});
    let answer = json!({
        "device_code": DEVICE_CODE,
        "user_code": USER_CODE,
        "verification_uri": public_url.join("/device"),
        "verification_uri_complete": public_url.join(&format!("/device?user_code={USER_CODE}")),
        "expires_in": 600,
        "interval": 5,
    });
    Operation::new(
        "POST",
        "/oauth/device_authorization",
        ("deviceAuthorization", "Have a device wait"),
        "RFC 8628, for what cannot show a page: it shows `user_code`, a person types that at `/device` and signs there, and the \
         device asks `/oauth/token` with `device_code` until it gets its tokens. The client must have registered the grant type.",
    )
    .takes(&[FORM], "DeviceRequest", vec![Example { name: "scope", summary: "One scope", value }])
    .answers(200, "The codes.", "Device", answer)
    .refuses(
        400,
        &[
            ("unauthorized_client", "the client did not register this grant type"),
            ("invalid_scope", "scope holds a value that the client did not register"),
            NO_FORM,
        ],
    )
    .refuses_with(401, &[NOT_AUTHENTICATED], &["BasicChallenge"])
    .counted()
    .stores()
    .opened_by(&["", CLIENT_BASIC])
}

fn introspect(public_url: &PublicUrl) -> Operation {
    let value =
        json!({"token": examples::ACCESS_TOKEN, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET});
    Operation::new(
        "POST",
        "/oauth/introspect",
        ("introspect", "Ask what a token is worth"),
        "RFC 7662, for clients with credentials: about their own tokens, and about access tokens whose `aud` holds the caller's id \
         or its `client_uri`. Of every other token, unknown, expired, revoked or foreign, the answer is `{\"active\": false}`.",
    )
    .takes(
        &[JSON, FORM],
        "IntrospectionRequest",
        vec![Example { name: "access_token", summary: "An access token", value }],
    )
    .answers(200, "What there is to know.", "Introspection", examples::introspection(public_url))
    .refuses(400, &[("invalid_request", "token is missing")])
    .refuses_with(
        401,
        &[NOT_AUTHENTICATED, ("invalid_client", "only clients with credentials may introspect")],
        &["BasicChallenge"],
    )
    .counted()
    .stores()
    .opened_by(&["", CLIENT_BASIC])
}

fn device_page() -> Operation {
    Operation::new(
        "GET",
        "/device",
        ("devicePage", "Type the code of a device"),
        "A page for people, with a form.",
    )
    .parameter(code_parameter())
    .shows(200, "The page.", HTML, PAGE)
}

fn code_parameter() -> Value {
    let texts = ("Stands in the field already; the person still has to go on.", USER_CODE);
    parameter("query", "user_code", false, texts, json!({"type": "string"}))
}

fn device_code() -> Operation {
    Operation::new(
        "POST",
        "/device",
        ("enterDeviceCode", "Go on to what waits under a code"),
        "The form of the page. What waits goes into the session, and `/auth` asks about it.",
    )
    .takes(
        &[FORM],
        "DeviceCode",
        vec![Example {
            name: "code",
            summary: "As the device shows it",
            value: json!({"user_code": USER_CODE, "form": PAGE_FORM}),
        }],
    )
    .answers_nothing(303, "To `/auth`.", &["Location", "SetCookie"])
    .refuses(400, &[("invalid_request", "user_code is missing"), NO_FORM])
    .kept_to_page_forms()
    .counted()
    .stores()
}

fn device_done() -> Operation {
    Operation::new(
        "GET",
        "/device/done",
        ("deviceDone", "Where people come to who answered for a device"),
        "A page for people: they can go back to their device.",
    )
    .shows(200, "The page.", HTML, PAGE)
}
