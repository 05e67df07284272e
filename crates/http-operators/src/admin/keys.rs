//! `/keys`: the signing keys.

use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::{Act, ActName};
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::challenge::iso8601;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::KeyState;
use countersign_operators::operate::Operating;
use countersign_ports::ListedKey;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::AdminState;
use super::admit::Caller;
use super::make::make;
use super::operations::{Operation, act, operation};
use super::problem::Problem;
use super::read::{Json, Query};
use super::schemas::{self, Schema, request};

pub(super) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/keys",
        ("listKeys", "key list"),
        (AdminArea::Keys, AdminRight::Read),
        ("List signing keys", "By algorithm, oldest first."),
        || web::get().to(list),
    )
    .answers(200, KEY_LIST),
    act(
        ActName::RotateKeys,
        (
            "Make the next signing keys",
            "They are published now and sign in 24 hours, or at once in an emergency.",
        ),
        || web::post().to(rotate),
    )
    .takes(Schema::body::<KeyRotationRequest>(
        "KeyRotation",
        || {
            request::<KeyRotationRequest>(
                &[],
                &[("algorithm", json!({"enum": ["RS256", "ES256", "EdDSA", null]}))],
            )
        },
        || json!({}),
    ))
    .answers(200, KEY_LIST)
    .conflicts(),
    act(
        ActName::WithdrawKey,
        (
            "Withdraw a signing key",
            "It is no longer published, and everything that it signed becomes invalid.",
        ),
        || web::post().to(withdraw),
    )
    .answers(
        200,
        Schema::answer("KeyWithdrawn", || {
            schemas::answer::<KeyWithdrawn>(&[("state", json!({"enum": ["withdrawn"]}))])
        }),
    )
    .conflicts(),
];

const KEY_LIST: Schema =
    Schema::answer("KeyList", || schemas::list::<KeyList>(schemas::answer::<KeyBody>(&[])));

/// A signing key.
#[derive(Serialize, Apiv2Schema)]
struct KeyBody {
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
struct KeyList {
    /// The keys, by algorithm, oldest first.
    items: Vec<KeyBody>,
}

/// Asks for new keys.
#[derive(Default, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct KeyRotationRequest {
    /// In an emergency: the new keys sign at once, and everything that the old ones signed becomes invalid.
    now: Option<bool>,
    /// Only the keys of this algorithm.
    algorithm: Option<String>,
}

/// A key was withdrawn.
#[derive(Serialize, Apiv2Schema)]
struct KeyWithdrawn {
    /// Its id.
    kid: String,
    /// `withdrawn`.
    state: String,
}

async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    listed(&state).await
}

async fn rotate(
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
    let act = Act::RotateKeys { at_once: now.unwrap_or_default(), algorithms };
    make(&state, Operating::new(state.management_for(&caller)), act, false).await?;
    listed(&state).await
}

async fn withdraw(
    state: Data<AdminState>,
    request: HttpRequest,
    caller: Caller,
    kid: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let kid = kid.into_inner();
    let act = Act::WithdrawKey { kid: kid.clone() };
    make(&state, Operating::new(state.management_for(&caller)), act, false).await?;
    let state = KeyState::Withdrawn.name().to_owned();
    Ok(HttpResponse::Ok().json(KeyWithdrawn { kid, state }))
}

async fn listed(state: &AdminState) -> Result<HttpResponse, Problem> {
    let keys = state.settings.keys.list(state.management().clock.now()).await?;
    Ok(HttpResponse::Ok().json(KeyList { items: keys.into_iter().map(KeyBody::of).collect() }))
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
