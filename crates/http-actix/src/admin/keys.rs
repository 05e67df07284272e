//! `/keys`: the signing keys.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::KeyState;
use countersign_ports::{KeyRingError, KeyRotation, ListedKey};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use super::AdminState;
use super::admit::Caller;
use super::problem::Problem;
use super::read::{Json, Query};

/// A signing key.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct KeyBody {
    /// Its id.
    kid: String,
    /// What it signs with.
    algorithm: String,
    /// `next`, `active`, `retired` or `withdrawn`.
    state: String,
    /// When it was made.
    created_at: String,
    /// From when on it signs.
    active_from: String,
    /// When it was withdrawn, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn_at: Option<String>,
    /// When it may be forgotten, if it no longer signs.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten_after: Option<String>,
}

/// All signing keys.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct KeyList {
    /// The keys, by algorithm, oldest first.
    items: Vec<KeyBody>,
}

/// Asks for new keys.
#[derive(Default, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRotationRequest {
    /// In an emergency: the new keys sign at once, and everything that the old ones signed becomes invalid.
    now: Option<bool>,
    /// Only the keys of this algorithm.
    algorithm: Option<String>,
}

/// A key was withdrawn.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct KeyWithdrawn {
    /// Its id.
    kid: String,
    /// `withdrawn`.
    state: String,
}

pub(super) async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let keys = state.settings.keys.list(state.management().clock.now()).await?;
    Ok(HttpResponse::Ok().json(KeyList { items: keys.into_iter().map(KeyBody::of).collect() }))
}

pub(super) async fn rotate(
    state: Data<AdminState>,
    request: HttpRequest,
    caller: Caller,
    body: Json<KeyRotationRequest>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let KeyRotationRequest { now, algorithm } = body.value;
    let algorithms = match algorithm.as_deref() {
        None => SigningAlgorithm::ALL.to_vec(),
        Some(name) => vec![SigningAlgorithm::parse(name).ok_or_else(|| {
            let names = SigningAlgorithm::ALL.map(SigningAlgorithm::name).join(", ");
            Problem::invalid("algorithm", format!("it is one of {names}"))
        })?],
    };
    let rotation = if now.unwrap_or_default() { KeyRotation::AtOnce } else { KeyRotation::InADay };
    let keys = &state.settings.keys;
    let now = state.management().clock.now();
    keys.rotate(now, &caller.cause, rotation, &algorithms).await.map_err(refused)?;
    let listed = keys.list(now).await?;
    Ok(HttpResponse::Ok().json(KeyList { items: listed.into_iter().map(KeyBody::of).collect() }))
}

pub(super) async fn withdraw(
    state: Data<AdminState>,
    request: HttpRequest,
    caller: Caller,
    kid: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let now = state.management().clock.now();
    state.settings.keys.withdraw(now, &caller.cause, &kid).await.map_err(refused)?;
    let state = KeyState::Withdrawn.name().to_owned();
    Ok(HttpResponse::Ok().json(KeyWithdrawn { kid: kid.into_inner(), state }))
}

fn refused(error: KeyRingError) -> Problem {
    match error {
        KeyRingError::Unknown(_) => Problem::not_found("no signing key has this id").about("kid"),
        KeyRingError::NextExist => {
            Problem::conflict("the next keys already exist; now=true replaces all keys at once")
        }
        KeyRingError::OnlyOne { algorithm, .. } => Problem::conflict(format!(
            "it is the only key that can sign with {algorithm}: rotate with now=true replaces it"
        )),
        KeyRingError::RotatedMeanwhile(_)
        | KeyRingError::AlreadyWithdrawn(_)
        | KeyRingError::WithdrawnMeanwhile(_) => Problem::conflict(error.to_string()),
        KeyRingError::Unusable(_) => Problem::internal(error),
        KeyRingError::Store(error) => error.into(),
    }
}

impl KeyBody {
    fn of(key: ListedKey) -> Self {
        Self {
            kid: key.kid,
            algorithm: key.algorithm,
            state: key.state.name().to_owned(),
            created_at: iso8601(key.created_at),
            active_from: iso8601(key.active_from),
            withdrawn_at: key.withdrawn_at.map(iso8601),
            forgotten_after: key.forget_after.map(iso8601),
        }
    }
}
