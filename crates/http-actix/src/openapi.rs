//! The OpenAPI document. Types come from the code, through paperclip's derive on what the endpoints read and
//! write. Operations come from the `description.rs` beside each endpoint. The rules about values, which the
//! derive cannot express, are in `schemas`.
//!
//! The document is made at the first request and then kept. Tests compare it with the routes and the types;
//! schemathesis compares it with the server.

pub mod client_fields;
pub mod formats;
pub mod page;
pub(crate) mod schemas;
#[cfg(test)]
mod tests;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::public_url::PublicUrl;
use serde_json::{Map, Value, json};

use crate::browser::{login_cookie, session};
use crate::endpoint::account::{data, email, events, forms, naming, pictures, wallets};
use crate::endpoint::description::operation::Operation;
use crate::endpoint::description::scheme;
use crate::endpoint::sign_in::{
    answer, auth_page, authorize, challenge, continue_session, deny, device, device_authorization, join,
    login, logout, push, verify,
};
use crate::endpoint::site::{assets, discovery, health, home, metrics, playground, received};
use crate::endpoint::tokens::{introspect, revoke, token, userinfo};
use crate::endpoint::{account, clients};
use crate::page::templates::Asset;
use crate::state::AppState;

const INTRODUCTION: &str = "Countersign is an OAuth 2.0 authorization server: people sign in by signing a \
text with their wallet.\n\nErrors are `{error, error_description}`, or a page if the client prefers \
`text/html`. Every response carries `X-Request-Id`. Times are ISO 8601 in UTC, durations are whole seconds, \
and unknown values are left out. `HEAD` works wherever a document or a page can be read; `OPTIONS` answers \
preflights where pages of other sites may call. A body can have up to 64 KiB, the URL and the headers up to \
16 KiB each.";

/// Makes the document for a server at this address.
pub fn openapi_json(public_url: &PublicUrl) -> String {
    document(public_url).to_string()
}

/// `GET /openapi.json`: serves the document.
pub(crate) async fn show(state: Data<AppState>, request: HttpRequest) -> HttpResponse {
    let public_url = &state.context.policy.public_url;
    let made = || Asset::new("application/json", openapi_json(public_url).into());
    assets::answer(&request, state.openapi.get_or_init(made), "public, max-age=300")
}

/// The document of a server at this address.
pub(crate) fn document(public_url: &PublicUrl) -> Value {
    let mut paths = Map::new();
    for operation in operations(public_url) {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            path.insert(operation.method.to_lowercase(), operation.into_json());
        }
    }
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Countersign",
            "version": env!("CARGO_PKG_VERSION"),
            "description": INTRODUCTION,
            "license": {"name": "MIT"},
        },
        "servers": [{"url": public_url.as_str()}],
        "tags": [
            {"name": "Sign-in", "description": "The eight steps from a registration to a revoked token."},
            {"name": "Account", "description": "People see and change what is theirs."},
            {"name": "Wallets", "description": "One user, many wallets."},
            {"name": "Clients", "description": "A client manages its own registration (RFC 7592)."},
            {"name": "Discovery", "description": "What client libraries read first."},
            {"name": "Pages", "description": "Pages for people, and this description."},
            {"name": "Probes", "description": "For the operator of the server."},
        ],
        "paths": paths,
        "components": {
            "schemas": schemas::all(),
            "headers": headers(),
            "securitySchemes": security_schemes(public_url),
        },
    })
}

/// Every operation that the server has, in the order of the document.
fn operations(public_url: &PublicUrl) -> Vec<Operation> {
    vec![
        clients::description::register(public_url),
        authorize::description::get(),
        authorize::description::post(),
        auth_page::description::show(),
        challenge::description::issue(public_url),
        login::description::complete(public_url),
        continue_session::description::go_on(public_url),
        deny::description::deny(public_url),
        token::description::answer(public_url),
        userinfo::description::get(),
        userinfo::description::post(),
        revoke::description::revoke(),
        push::description::push(),
        device_authorization::description::begin(public_url),
        introspect::description::introspect(public_url),
        join::description::open(),
        device::description::show(),
        device::description::enter(),
        device::description::done(),
        answer::description::show(),
        logout::description::get(),
        logout::description::post(),
        pictures::description::show(),
        account::description::show(),
        events::description::show(),
        data::description::download(),
        account::description::sign_in_again(),
        forms::description::revoke(),
        forms::description::end(),
        email::description::put(),
        email::description::remove(),
        forms::description::delete(),
        email::description::ask(),
        email::description::confirm(),
        wallets::description::begin(public_url),
        wallets::description::link(public_url),
        wallets::description::unlink(public_url),
        naming::description::rename(),
        clients::description::read(public_url),
        clients::description::update(public_url),
        clients::description::delete(),
        discovery::description::authorization_server(public_url),
        discovery::description::openid_configuration(public_url),
        discovery::description::jwks(),
        home::description::show(),
        page::description::page(),
        playground::description::show(),
        received::description::show(),
        description(),
        assets::description::serve(),
        assets::description::favicon(),
        verify::description::show(),
        verify::description::verify(public_url),
        health::description::live(),
        health::description::ready(),
        metrics::description::show(),
    ]
}

/// The operation that serves the document.
fn description() -> Operation {
    Operation::new("GET", "/openapi.json", ("openapi", "This description, for tools"), "This document.")
        .answers_object(200, "The document.", json!({"openapi": "3.0.3"}))
}

fn headers() -> Value {
    let header = |description: &str, required: bool, example: &str| {
        json!({
            "description": description,
            "required": required,
            "schema": {"type": "string"},
            "example": example,
        })
    };
    json!({
        "RequestId": {
            "description": "Identifies this response in the log. If the request carries one, it is kept.",
            "required": true,
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
            "example": "3f0e6a0c5d8f4f0f9d0a7a2f0b9c4e11",
        },
        "CacheControl": header("How long the response may be cached; usually not at all.", true, "no-store"),
        "Location": header("Where the browser goes.", true, "/auth"),
        "SetCookie": header("The sealed session of the sign-in.", false, "oauth_session=…; Path=/; HttpOnly; SameSite=Lax"),
        "Allow": header("The methods that the path accepts.", true, "POST"),
        "RetryAfter": {
            "description": "Seconds to wait.",
            "required": true,
            "schema": {"type": "integer", "minimum": 0},
            "example": 2,
        },
        "DpopNonce": header("The nonce for the next proof. Only if the request had a proof.", false, "q0cYzYl5m0x3pT2kqM9cVw"),
        "BearerChallenge": header("The scheme of RFC 6750.", true, "Bearer realm=\"countersign\""),
        "BasicChallenge": header("Only if the client tried HTTP Basic.", false, "Basic realm=\"countersign\", charset=\"UTF-8\""),
    })
}

fn security_schemes(public_url: &PublicUrl) -> Value {
    let scopes = json!({
        "openid": "a user id that is yours here",
        "profile": "your wallet address and a user id",
        "email": "your e-mail address, if you gave one",
        "offline_access": "access while you are away",
        "wallets": "all wallets of the user",
        "groups": "the groups of the user that the operator releases to this client",
    });
    json!({
        (scheme::ACCESS_TOKEN): {
            "type": "oauth2",
            "description": "An access token from the token endpoint, sent as `Authorization: Bearer …`.",
            "flows": {"authorizationCode": {
                "authorizationUrl": public_url.join("/oauth/authorize"),
                "tokenUrl": public_url.join("/oauth/token"),
                "refreshUrl": public_url.join("/oauth/token"),
                "scopes": scopes,
            }},
        },
        (scheme::REGISTRATION_TOKEN): {
            "type": "http",
            "scheme": "bearer",
            "description": "The `registration_access_token` of the client. To register: the operator's \
                            initial access token, if one is required.",
        },
        (scheme::CLIENT_BASIC): {
            "type": "http",
            "scheme": "basic",
            "description": "`client_id` and `client_secret` in the `Authorization` header instead of the \
                            body.",
        },
        (scheme::SESSION): {
            "type": "apiKey",
            "in": "cookie",
            "name": session::cookie_name(public_url.is_https()),
            "description": "Set by `/oauth/authorize` and `/account/wallets/challenge`.",
        },
        (scheme::LOGIN): {
            "type": "apiKey",
            "in": "cookie",
            "name": login_cookie::name(public_url.is_https()),
            "description": "Set by `/oauth/login` if the browser should remember the sign-in, and for the \
                            account page.",
        },
    })
}
