//! From the code to the end of its tokens.

use std::rc::Rc;

use actix_web::http::StatusCode;
use actix_web::http::header::AUTHORIZATION;
use actix_web::web::{Data, Form, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::authenticate;
use crate::floor::Floor;
use crate::floor::answer::{self, Refused};
use crate::floor::clock::{now_micros, ordered_id};
use crate::floor::store::{ACCESS_LIFE, Access, Command, Exchange, NewToken, Reader, Refresh, SCOPE, SECOND};
use crate::floor::token::{id_in, secret_of};

#[derive(Deserialize)]
#[serde(tag = "grant_type", rename_all = "snake_case")]
pub(super) enum TokenForm {
    AuthorizationCode { code: String, redirect_uri: String, client_id: Uuid, client_secret: String },
    RefreshToken { refresh_token: String, client_id: Uuid, client_secret: String },
}

#[derive(Serialize)]
struct TokenBody<'a> {
    access_token: &'a str,
    token_type: &'a str,
    expires_in: i64,
    refresh_token: &'a str,
    scope: &'a str,
}

#[derive(Serialize)]
struct UserInfo<'a> {
    sub: Uuid,
    address: &'a str,
    preferred_username: String,
    wallet_address: &'a str,
    wallet_account: String,
}

#[derive(Deserialize)]
pub(super) struct TokenAndClient {
    token: String,
    client_id: Uuid,
    client_secret: String,
}

#[derive(Serialize)]
struct Introspection<'a> {
    active: bool,
    scope: &'a str,
    client_id: Uuid,
    username: String,
    sub: Uuid,
    exp: i64,
    iat: i64,
    iss: &'a str,
    aud: &'a str,
    token_type: &'a str,
    jti: Uuid,
}

/// One shared durable write, then one signature.
pub(super) async fn token(floor: Data<Floor>, form: Form<TokenForm>) -> Result<HttpResponse, Refused> {
    let now = now_micros();
    let id = ordered_id(now)?;
    let refresh_token = secret_of(id)?;
    let refresh_hash = Sha256::digest(&refresh_token).into();
    let token = |client| NewToken { id, access_hash: floor.issuer.mac(id, client), refresh_hash };
    let (command, client) = match form.into_inner() {
        TokenForm::AuthorizationCode { code, redirect_uri, client_id: client, client_secret } => {
            authenticate(&floor, client, &client_secret)?;
            let grant = id_in(&code).ok_or(Refused::Unknown)?;
            let code_hash = Sha256::digest(&code).into();
            (
                Command::Exchange(Exchange { grant, client, code_hash, redirect_uri, token: token(client) }),
                client,
            )
        }
        TokenForm::RefreshToken { refresh_token, client_id: client, client_secret } => {
            authenticate(&floor, client, &client_secret)?;
            let expected = id_in(&refresh_token).ok_or(Refused::Unknown)?;
            let refresh_hash = Sha256::digest(&refresh_token).into();
            (Command::Refresh(Refresh { expected, client, refresh_hash, token: token(client) }), client)
        }
    };
    let user = floor.store.write(command).await?.ok_or(Refused::Unknown)?;
    let access_token = floor.issuer.sign(id, user, client, now)?;
    Ok(answer::start_shared(StatusCode::OK).json(TokenBody {
        access_token: &access_token,
        token_type: "Bearer",
        expires_in: ACCESS_LIFE / SECOND,
        refresh_token: &refresh_token,
        scope: SCOPE,
    }))
}

pub(super) async fn user_info(
    floor: Data<Floor>,
    reader: Data<Reader>,
    request: HttpRequest,
) -> Result<HttpResponse, Refused> {
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = header.and_then(|value| value.strip_prefix("Bearer ")).ok_or(Refused::Unknown)?;
    let access = find(&floor, &reader, token).await?;
    Ok(answer::start_shared(StatusCode::OK).json(UserInfo {
        sub: access.user,
        address: &access.address,
        preferred_username: name_of(access.user),
        wallet_address: &access.address,
        wallet_account: format!("{}:{}", access.chain, access.address),
    }))
}

pub(super) async fn introspect(
    floor: Data<Floor>,
    reader: Data<Reader>,
    form: Form<TokenAndClient>,
) -> Result<HttpResponse, Refused> {
    authenticate(&floor, form.client_id, &form.client_secret)?;
    let access = find(&floor, &reader, &form.token).await?;
    if access.client != form.client_id {
        return Err(Refused::Unknown);
    }
    Ok(answer::start(StatusCode::OK).json(Introspection {
        active: true,
        scope: &access.scope,
        client_id: access.client,
        username: name_of(access.user),
        sub: access.user,
        exp: access.expires_at / SECOND,
        iat: access.issued_at / SECOND,
        iss: &floor.issuer.url,
        aud: &floor.issuer.url,
        token_type: "Bearer",
        jti: access.id,
    }))
}

pub(super) async fn revoke(floor: Data<Floor>, sent: Json<TokenAndClient>) -> Result<HttpResponse, Refused> {
    authenticate(&floor, sent.client_id, &sent.client_secret)?;
    let (id, client) = floor.issuer.open(&sent.token).ok_or(Refused::Unknown)?;
    if client != sent.client_id {
        return Err(Refused::Unknown);
    }
    floor.store.write(Command::Revoke(id)).await?.ok_or(Refused::Unknown)?;
    Ok(answer::start_shared(StatusCode::OK).insert_header(("content-type", "application/json")).body("{}"))
}

async fn find(floor: &Floor, reader: &Reader, token: &str) -> Result<Rc<Access>, Refused> {
    let (id, _) = floor.issuer.open(token).ok_or(Refused::Unknown)?;
    floor.store.access(reader, id, now_micros()).await?.ok_or(Refused::Unknown)
}

fn name_of(user: Uuid) -> String {
    let mut name = format!("User_{user}");
    name.truncate("User_".len() + 8);
    name
}
