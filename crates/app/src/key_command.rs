//! `countersign key …`: the operator lists the signing keys, rotates them ahead of schedule, and withdraws
//! one.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::{KeyState, SealedKey};
use countersign_ports::{KeyRing, KeyRingError, KeyRotation, KeyStore, ListedKey, Storage, StoreError};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::change_log::{self, KeyChange};
use crate::cli::{KeyCommand, Output};
use crate::config::Config;
use crate::failure::Failure;
use crate::key_events::EventsOfKeys;
use crate::key_ring::{self, SealedRing, good_keys};
use crate::operator::Operator;
use crate::server::opening;
use crate::terminal::{is_confirmed, written};
use crate::wiring::Wiring;
use crate::{operator_secret, table};

/// Opens the database, runs the command and closes the database.
pub(crate) async fn key(
    command: KeyCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let opened = opening::at_once(config, wiring).await?;
    let store: &dyn KeyStore = opened.storage.as_ref();
    let events = EventsOfKeys {
        policy: config.events,
        clock: Arc::clone(&wiring.clock),
        entropy: Arc::clone(&wiring.entropy),
        cause: Operator::of_this_process().cause(),
    };
    let done = match command {
        KeyCommand::List { output } => list(store, wiring.clock.now(), output.output, out).await,
        KeyCommand::Rotate { now, yes, algorithm, output } => {
            let algorithms = match algorithm.as_deref().and_then(SigningAlgorithm::parse) {
                Some(one) => vec![one],
                None => SigningAlgorithm::ALL.to_vec(),
            };
            let rotation = if now { KeyRotation::AtOnce } else { KeyRotation::InADay };
            let options = Options { rotation, is_agreed: yes, algorithms };
            match rotate(&opened.storage, options, events, config, wiring).await {
                Ok(()) => list(store, wiring.clock.now(), output.output, out).await,
                Err(failure) => Err(failure),
            }
        }
        KeyCommand::Retire { kid, output } => {
            retire(store, &kid, &events, wiring.clock.now(), output.output, out).await
        }
    };
    opened.close().await;
    done
}

async fn list(
    store: &dyn KeyStore,
    now: OffsetDateTime,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let keys = key_ring::list(store, now).await.map_err(|error| failed(&error))?;
    Ok(show(&keys, output, out)?)
}

/// Options of a rotation.
struct Options {
    rotation: KeyRotation,
    /// Has the operator agreed beforehand?
    is_agreed: bool,
    algorithms: Vec<SigningAlgorithm>,
}

async fn rotate(
    store: &Arc<dyn Storage>,
    options: Options,
    events: EventsOfKeys,
    config: &Config,
    wiring: &Wiring,
) -> Result<(), Failure> {
    let secret = operator_secret::load(config, wiring)
        .map_err(|error| Failure::because("get the secret (secret)", &error))?;
    let stored = store.signing_keys().await.map_err(|error| failed(&error))?;
    let asks = options.rotation == KeyRotation::AtOnce
        && !options.is_agreed
        && io::stdin().is_terminal()
        && io::stderr().is_terminal();
    if let Some(question) = question(&stored, &options.algorithms).filter(|_| asks)
        && !is_confirmed(&question)?
    {
        return Err(Failure::Failed("nothing was rotated".to_owned()));
    }
    let ring = SealedRing {
        store: Arc::<dyn Storage>::clone(store),
        secret,
        entropy: Arc::clone(&wiring.entropy),
        events: events.clone(),
    };
    let rotated = ring.rotate(wiring.clock.now(), &events.cause, options.rotation, &options.algorithms).await;
    let rotated = rotated.map_err(refused)?;
    for (kid, algorithm) in &rotated.made {
        change_log::key(kid, algorithm, KeyChange::Made);
    }
    for (kid, algorithm) in &rotated.withdrawn {
        change_log::key(kid, algorithm, KeyChange::Withdrawn);
    }
    Ok(())
}

/// Says what a rotation at once does. `None` if it withdraws nothing.
fn question(stored: &[SealedKey], algorithms: &[SigningAlgorithm]) -> Option<String> {
    let old: Vec<_> = algorithms
        .iter()
        .flat_map(|algorithm| good_keys(stored, *algorithm))
        .map(|key| format!("  {}  {}\n", key.kid, key.algorithm))
        .collect();
    if old.is_empty() {
        return None;
    }
    Some(format!(
        "New keys sign at once, and these are withdrawn for good:\n{}Tokens that they signed no longer verify anywhere \
         that checks them with /oauth/jwks, within minutes.\nNobody is signed out: applications get new tokens with their \
         refresh tokens. Without --now the new keys sign in 24 hours, and nothing breaks.\nRotate now?",
        old.concat(),
    ))
}

async fn retire(
    store: &dyn KeyStore,
    kid: &str,
    events: &EventsOfKeys,
    now: OffsetDateTime,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let algorithm = key_ring::withdraw(store, events, now, kid).await.map_err(refused)?;
    change_log::key(kid, &algorithm, KeyChange::Withdrawn);
    Ok(match output {
        Output::Table => writeln!(out, "withdrew {kid}"),
        Output::Json => writeln!(out, "{}", json!({ "kid": kid, "state": KeyState::Withdrawn.name() })),
    }?)
}

fn refused(error: KeyRingError) -> Failure {
    match error {
        KeyRingError::Unusable(cause) => Failure::because("make or open the signing keys", &*cause),
        KeyRingError::Store(error) => failed(&error),
        KeyRingError::RotatedMeanwhile(_)
        | KeyRingError::NextExist
        | KeyRingError::Unknown(_)
        | KeyRingError::AlreadyWithdrawn(_)
        | KeyRingError::OnlyOne { .. }
        | KeyRingError::WithdrawnMeanwhile(_) => Failure::Failed(error.to_string()),
    }
}

fn failed(error: &StoreError) -> Failure {
    Failure::because("work with the database", error)
}

fn show(keys: &[ListedKey], output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let keys: Vec<_> = keys.iter().map(fields).collect();
            writeln!(out, "{:#}", Value::Array(keys))
        }
        Output::Table if keys.is_empty() => writeln!(out, "no keys: the first server creates them"),
        Output::Table => {
            let heading = ["KEY ID", "ALGORITHM", "STATE", "SIGNS FROM"].map(str::to_owned);
            let row = |key: &ListedKey| {
                let ListedKey { kid, algorithm, state, active_from, .. } = key;
                [kid.clone(), algorithm.clone(), state.name().to_owned(), written(*active_from)]
            };
            let rows: Vec<_> = std::iter::once(heading).chain(keys.iter().map(row)).collect();
            table::write(&rows, out)
        }
    }
}

fn fields(key: &ListedKey) -> Value {
    json!({
        "kid": key.kid,
        "algorithm": key.algorithm,
        "state": key.state.name(),
        "created_at": written(key.created_at),
        "active_from": written(key.active_from),
        "withdrawn_at": key.withdrawn_at.map(written),
        "forgotten_after": key.forget_after.map(written),
    })
}
