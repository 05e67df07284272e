//! The OpenAPI document: types from the code (paperclip's derive on what the endpoints read and write), operations from one
//! table. What the derive cannot say, statuses, headers, forms, redirects and rules of values, is completed here.
//!
//! The document is made once at start. Tests hold it against the routes and the types, schemathesis against the server.

mod account_operations;
mod client_operations;
mod examples;
mod flow_operations;
mod leaving_operations;
mod operation;
mod other_operations;
mod request_operations;
mod schemas;
#[cfg(test)]
mod tests;
mod wallet_operations;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::public_url::PublicUrl;
use serde_json::{Map, Value, json};

use crate::browser::{login_cookie, session};
use crate::endpoint::site::assets;
use crate::page::templates::Asset;
use crate::state::AppState;
use operation::Operation;

/// The scheme of access tokens.
const ACCESS_TOKEN: &str = "accessToken";
/// The scheme of registration access tokens.
const REGISTRATION_TOKEN: &str = "registrationToken";
/// The scheme of clients that send their secret in a header.
const CLIENT_BASIC: &str = "clientBasic";
/// The scheme of the cookie between `/oauth/authorize` and the login.
const SESSION: &str = "session";
/// The scheme of the cookie of a remembered sign-in.
const LOGIN: &str = "login";

const INTRODUCTION: &str = "Countersign is an OAuth 2.0 authorization server: people sign in by signing a text with their \
wallet.\n\nErrors are `{error, error_description}`, or a page where the client prefers `text/html`. Every answer carries \
`X-Request-Id`. Times are ISO 8601 in UTC, durations are whole seconds, and what is not known is left out. `HEAD` works \
wherever a document or a page can be read; `OPTIONS` answers preflights where pages of other sites may call. Bodies may \
have 64 KiB, addresses and headers 16 KiB each.";

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

fn document(public_url: &PublicUrl) -> Value {
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
            {"name": "Account", "description": "What people see and change of what is theirs."},
            {"name": "Wallets", "description": "One user, many wallets."},
            {"name": "Clients", "description": "What a client does with its own registration (RFC 7592)."},
            {"name": "Discovery", "description": "What libraries read first."},
            {"name": "Pages", "description": "What people see, and this description."},
            {"name": "Probes", "description": "For whoever runs the server."},
        ],
        "paths": paths,
        "components": {
            "schemas": schemas::all(),
            "headers": headers(),
            "securitySchemes": security_schemes(public_url),
        },
    })
}

/// The table: everything that the server answers.
fn operations(public_url: &PublicUrl) -> Vec<Operation> {
    let mut all = flow_operations::table(public_url);
    all.extend(request_operations::table(public_url));
    all.extend(leaving_operations::table());
    all.extend(account_operations::table());
    all.extend(wallet_operations::table(public_url));
    all.extend(client_operations::table(public_url));
    all.extend(other_operations::table(public_url));
    all
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
            "description": "Names this answer in the log. One that was sent along is kept.",
            "required": true,
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
            "example": "3f0e6a0c5d8f4f0f9d0a7a2f0b9c4e11",
        },
        "CacheControl": header("How long the answer may be kept; mostly not at all.", true, "no-store"),
        "Location": header("Where the browser goes.", true, "/auth"),
        "SetCookie": header("The sealed session of the sign-in.", false, "oauth_session=…; Path=/; HttpOnly; SameSite=Lax"),
        "Allow": header("The methods that the path takes.", true, "POST"),
        "RetryAfter": {
            "description": "Seconds to wait.",
            "required": true,
            "schema": {"type": "integer", "minimum": 0},
            "example": 2,
        },
        "DpopNonce": header("Only where a proof came: the nonce of the next one.", false, "q0cYzYl5m0x3pT2kqM9cVw"),
        "BearerChallenge": header("The scheme of RFC 6750.", true, "Bearer realm=\"countersign\""),
        "BasicChallenge": header("Only where HTTP Basic was tried.", false, "Basic realm=\"countersign\", charset=\"UTF-8\""),
    })
}

fn security_schemes(public_url: &PublicUrl) -> Value {
    let scopes = json!({
        "openid": "a user id that is yours here",
        "profile": "your wallet address and a user id",
        "email": "your e-mail address, if you gave one",
        "offline_access": "access while you are away",
        "wallets": "all wallets of the user",
    });
    json!({
        (ACCESS_TOKEN): {
            "type": "oauth2",
            "description": "An access token of the token endpoint, as `Authorization: Bearer …`.",
            "flows": {"authorizationCode": {
                "authorizationUrl": public_url.join("/oauth/authorize"),
                "tokenUrl": public_url.join("/oauth/token"),
                "refreshUrl": public_url.join("/oauth/token"),
                "scopes": scopes,
            }},
        },
        (REGISTRATION_TOKEN): {
            "type": "http",
            "scheme": "bearer",
            "description": "The `registration_access_token` of the registration; at the registration itself the operator's \
                            initial access token, where one is needed.",
        },
        (CLIENT_BASIC): {
            "type": "http",
            "scheme": "basic",
            "description": "`client_id` and `client_secret` in a header instead of the body.",
        },
        (SESSION): {
            "type": "apiKey",
            "in": "cookie",
            "name": session::cookie_name(public_url.is_https()),
            "description": "Set by `/oauth/authorize` and `/account/wallets/challenge`.",
        },
        (LOGIN): {
            "type": "apiKey",
            "in": "cookie",
            "name": login_cookie::name(public_url.is_https()),
            "description": "Set by `/oauth/login` where the browser shall remember the sign-in, and for the account page.",
        },
    })
}
