//! The endpoints.

mod login;
mod tokens;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, ServiceConfig, get, post};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::PoisonError;
use uuid::Uuid;

use super::Floor;
use super::answer::{self, Refused};
use super::clock::{now_micros, ordered_id, random};
use super::store::{Command, Register, SECOND};

pub(super) fn configure(config: &mut ServiceConfig) {
    config
        .route("/oauth/authorize", get().to(login::authorize))
        .route("/auth", get().to(login::page))
        .route("/oauth/challenge", post().to(login::challenge))
        .route("/oauth/login", post().to(login::login))
        .route("/oauth/token", post().to(tokens::token))
        .route("/oauth/userinfo", get().to(tokens::user_info))
        .route("/oauth/introspect", post().to(tokens::introspect))
        .route("/oauth/revoke", post().to(tokens::revoke))
        .route("/oauth/clients", post().to(register))
        .route("/.well-known/openid-configuration", get().to(discovery))
        .route("/oauth/jwks", get().to(keys));
}

#[derive(Deserialize)]
struct Registration {
    client_name: String,
    redirect_uris: Vec<String>,
}

#[derive(Serialize)]
struct Registered<'a> {
    client_id: Uuid,
    client_secret: &'a str,
    client_name: &'a str,
    redirect_uris: &'a [String],
    scopes: [&'a str; 1],
    scope: &'a str,
    response_types: [&'a str; 1],
    grant_types: [&'a str; 2],
    token_endpoint_auth_method: &'a str,
    created_at: &'a str,
    client_id_issued_at: i64,
    client_secret_expires_at: i64,
    registration_client_uri: String,
    registration_access_token: &'a str,
}

async fn register(floor: Data<Floor>, sent: Json<Registration>) -> Result<HttpResponse, Refused> {
    let now = now_micros();
    if sent.redirect_uris.is_empty() || sent.client_name.is_empty() {
        return Err(Refused::Request("a field is empty"));
    }
    let id = ordered_id(now)?;
    let [secret, token] = [random::<32>()?, random::<32>()?].map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
    let secret_hash = Sha256::digest(&secret).into();
    let client = Register {
        id,
        secret_hash,
        token_hash: Sha256::digest(&token).into(),
        name: sent.client_name.clone(),
        redirect_uris: sent.redirect_uris.join("\n"),
    };
    floor.store.write(Command::Register(client)).await?.ok_or(Refused::Unknown)?;
    floor.clients.write().unwrap_or_else(PoisonError::into_inner).insert(id, secret_hash);
    Ok(answer::start(StatusCode::CREATED).json(Registered {
        client_id: id,
        client_secret: &secret,
        client_name: &sent.client_name,
        redirect_uris: &sent.redirect_uris,
        scopes: ["profile"],
        scope: "profile",
        response_types: ["code"],
        grant_types: ["authorization_code", "refresh_token"],
        token_endpoint_auth_method: "client_secret_post",
        created_at: &written(now),
        client_id_issued_at: now / SECOND,
        client_secret_expires_at: 0,
        registration_client_uri: format!("{}/oauth/clients/{id}", floor.issuer.url),
        registration_access_token: &token,
    }))
}

async fn discovery(floor: Data<Floor>) -> HttpResponse {
    answer::document(&floor.bodies.discovery)
}

async fn keys(floor: Data<Floor>) -> HttpResponse {
    answer::document(&floor.bodies.keys)
}

/// Checks that this is the client's secret.
fn authenticate(floor: &Floor, client: Uuid, secret: &str) -> Result<(), Refused> {
    let presented: [u8; 32] = Sha256::digest(secret).into();
    let clients = floor.clients.read().unwrap_or_else(PoisonError::into_inner);
    // The time that it takes to compare hashes reveals nothing useful about the secret.
    if clients.get(&client) == Some(&presented) { Ok(()) } else { Err(Refused::Unknown) }
}

/// A time in ISO 8601.
fn written(micros: i64) -> String {
    let time = super::clock::at(micros / SECOND * SECOND);
    time.format(&time::format_description::well_known::Rfc3339).unwrap_or_default()
}
