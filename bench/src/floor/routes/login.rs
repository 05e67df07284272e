//! From the client's request to the code.

use std::sync::{LazyLock, PoisonError};

use actix_web::http::StatusCode;
use actix_web::http::header::SET_COOKIE;
use actix_web::web::{Data, Json, Query};
use actix_web::{HttpRequest, HttpResponse};
use bitcoin::secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use bitcoin::secp256k1::{Message, Secp256k1, VerifyOnly};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sha3::Keccak256;
use uuid::{Builder, Uuid};

use super::written;
use crate::floor::Floor;
use crate::floor::answer::{self, Refused};
use crate::floor::clock::{now_micros, ordered_id, random};
use crate::floor::session::{self, Session};
use crate::floor::store::{Command, Login, SCOPE, SECOND};
use crate::floor::token::secret_of;

static RECOVERY: LazyLock<Secp256k1<VerifyOnly>> = LazyLock::new(Secp256k1::verification_only);

const SESSION_LIFE: i64 = 1_800 * SECOND;
const CHALLENGE_LIFE: i64 = 600 * SECOND;

#[derive(Deserialize)]
pub(super) struct Authorization {
    client_id: Uuid,
    response_type: String,
    redirect_uri: String,
    scope: String,
    state: String,
}

#[derive(Deserialize)]
pub(super) struct ChallengeRequest {
    wallet_address: String,
}

#[derive(Serialize)]
struct Challenge<'a> {
    challenge: &'a str,
    wallet_address: &'a str,
    chain: &'a str,
    expires_at: &'a str,
    how_to_sign: [HowToSign<'a>; 1],
}

#[derive(Serialize)]
struct HowToSign<'a> {
    tool: &'a str,
    how: &'a str,
}

#[derive(Deserialize)]
pub(super) struct SignedChallenge {
    wallet_address: String,
    challenge: String,
    signature: String,
    client_id: Uuid,
    redirect_uri: String,
    state: String,
}

pub(super) async fn authorize(
    floor: Data<Floor>,
    query: Query<Authorization>,
) -> Result<HttpResponse, Refused> {
    let Authorization { client_id, response_type, redirect_uri, scope, state } = query.into_inner();
    let is_known = floor.clients.read().unwrap_or_else(PoisonError::into_inner).contains_key(&client_id);
    if !is_known || response_type != "code" || scope != SCOPE {
        return Err(Refused::Unknown);
    }
    let expires_at = now_micros() + SESSION_LIFE;
    let session = Session { client: client_id, redirect_uri, state, expires_at, scope, challenge: None };
    let cookie = session.seal(&floor).ok_or(Refused::Request("a field is too long"))?;
    Ok(answer::redirect(StatusCode::FOUND, "/auth", &cookie))
}

pub(super) async fn page(floor: Data<Floor>, request: HttpRequest) -> Result<HttpResponse, Refused> {
    Session::open(&floor, &request, now_micros()).ok_or(Refused::Unknown)?;
    Ok(answer::page(&floor.bodies.page))
}

pub(super) async fn challenge(
    floor: Data<Floor>,
    request: HttpRequest,
    sent: Json<ChallengeRequest>,
) -> Result<HttpResponse, Refused> {
    let now = now_micros();
    let mut session = Session::open(&floor, &request, now).ok_or(Refused::Unknown)?;
    let (id, expires_at) = (ordered_id(now)?, now + CHALLENGE_LIFE);
    let (url, address, end) = (&floor.issuer.url, &sent.wallet_address, written(expires_at));
    let text = format!(
        "{} wants you to sign in with your Ethereum account:\n{address}\n\nSign in to a program on this computer \
         (127.0.0.1:7777). This costs nothing and cannot move funds.\n\nURI: {url}/oauth/login\nVersion: 1\nChain ID: 1\n\
         Nonce: {}\nIssued At: {}\nExpiration Time: {end}\nRequest ID: {id}\nResources:\n- http://127.0.0.1:7777\n\
         - urn:countersign:client:{}\n- urn:countersign:scope:{SCOPE}",
        url.trim_start_matches("http://"),
        hex::encode(random::<28>()?),
        written(now),
        session.client,
    );
    session.challenge = Some((id, hex::encode(Sha256::digest(&text)), expires_at));
    let cookie = session.seal(&floor).ok_or(Refused::Request("a field is too long"))?;
    let how = r#"cast wallet sign --interactive "$(cat sign-in.txt)""#;
    Ok(answer::start(StatusCode::OK).insert_header((SET_COOKIE, cookie)).json(Challenge {
        challenge: &text,
        wallet_address: address,
        chain: "eip155:1",
        expires_at: &end,
        how_to_sign: [HowToSign { tool: "Foundry", how }],
    }))
}

pub(super) async fn login(
    floor: Data<Floor>,
    request: HttpRequest,
    sent: Json<SignedChallenge>,
) -> Result<HttpResponse, Refused> {
    let now = now_micros();
    let session = Session::open(&floor, &request, now).ok_or(Refused::Unknown)?;
    let sent = sent.into_inner();
    let is_this = (session.client, &session.redirect_uri, &session.state)
        == (sent.client_id, &sent.redirect_uri, &sent.state);
    let is_theirs = sent.challenge.lines().nth(1) == Some(&sent.wallet_address);
    let (id, digest, expires_at) =
        session.challenge.filter(|_| is_this && is_theirs).ok_or(Refused::Unknown)?;
    if now >= expires_at || digest != hex::encode(Sha256::digest(&sent.challenge)) {
        return Err(Refused::Unknown);
    }
    let signer = recover(&sent.challenge, &sent.signature).ok_or(Refused::Unknown)?;
    if !sent.wallet_address.get(2..).is_some_and(|digits| digits.eq_ignore_ascii_case(&hex::encode(signer))) {
        return Err(Refused::Unknown);
    }
    let code = secret_of(id)?;
    let mut user = [0; 16];
    user.copy_from_slice(&signer[..16]);
    let login = Login {
        id,
        client: session.client,
        address: sent.wallet_address,
        new_user: Builder::from_random_bytes(user).into_uuid(),
        redirect_uri: session.redirect_uri,
        code_hash: Sha256::digest(&code).into(),
    };
    let to = format!(
        "{}?code={code}&state={}&iss={}",
        login.redirect_uri,
        session.state,
        floor.issuer.url.replace(':', "%3A").replace('/', "%2F")
    );
    floor.store.write(Command::Login(login)).await?.ok_or(Refused::Unknown)?;
    Ok(answer::redirect(StatusCode::SEE_OTHER, &to, session::GONE))
}

/// The twenty bytes of the address that signed a text with `personal_sign`.
fn recover(text: &str, signature: &str) -> Option<[u8; 20]> {
    let mut bytes = [0; 65];
    hex::decode_to_slice(signature.strip_prefix("0x")?, &mut bytes).ok()?;
    let (recovery, scalars) = bytes.split_last()?;
    let mut hash = Keccak256::new();
    hash.update(b"\x19Ethereum Signed Message:\n");
    hash.update(text.len().to_string());
    hash.update(text);
    let recovery = RecoveryId::from_i32(i32::from(recovery.checked_sub(27)?)).ok()?;
    let signature = RecoverableSignature::from_compact(scalars, recovery).ok()?;
    let key = RECOVERY.recover_ecdsa(&Message::from_digest(hash.finalize().into()), &signature).ok()?;
    let point = Keccak256::digest(&key.serialize_uncompressed()[1..]);
    point[12..].try_into().ok()
}
