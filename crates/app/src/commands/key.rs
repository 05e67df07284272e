//! `countersign key …`: the operator lists the signing keys, rotates them ahead of schedule, and withdraws
//! one.

use std::io::{self, IsTerminal, Write};

use countersign_domain::act::Act;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::{KeyState, SealedKey};
use countersign_operators::operate::Operating;
use countersign_ports::{KeyStore, ListedKey};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::cli::{KeyCommand, Output};
use crate::commands::make::effect_of;
use crate::config::Config;
use crate::database::opened::Opened;
use crate::database::operator_secret;
use crate::failure::{Failure, store};
use crate::keys::key_ring::{self, good_keys};
use crate::output::table;
use crate::output::terminal::{is_confirmed, without_nulls, written};
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn key(
    command: KeyCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened, out).await).await
}

async fn carry_out(command: KeyCommand, opened: &Opened<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let (keys, now) = (opened.keys(), opened.wiring.clock.now());
    match command {
        KeyCommand::List { output } => list(keys, now, output.output, out).await,
        KeyCommand::Rotate { now: at_once, yes, algorithm, output } => {
            let algorithms = match algorithm.as_deref().and_then(SigningAlgorithm::parse) {
                Some(one) => vec![one],
                None => SigningAlgorithm::ALL.to_vec(),
            };
            rotate(opened, at_once, yes, algorithms).await?;
            list(keys, now, output.output, out).await
        }
        KeyCommand::Withdraw { kid, output } => {
            let ring = opened.key_ring(None);
            let operating = Operating { keys: Some(&ring), ..Operating::new(opened.management()) };
            effect_of(operating, Act::WithdrawKey { kid: kid.clone() }).await?;
            Ok(match output.output {
                Output::Table => writeln!(out, "withdrew {kid}"),
                Output::Json => {
                    writeln!(out, "{}", json!({ "kid": kid, "state": KeyState::Withdrawn.name() }))
                }
            }?)
        }
    }
}

async fn list(
    keys: &dyn KeyStore,
    now: OffsetDateTime,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let keys = key_ring::list(keys, now).await.map_err(|error| store(&error))?;
    Ok(show(&keys, output, out)?)
}

/// Rotates the keys, unless the operator reads what that does and does not agree.
async fn rotate(
    opened: &Opened<'_>,
    at_once: bool,
    is_agreed: bool,
    algorithms: Vec<SigningAlgorithm>,
) -> Result<(), Failure> {
    let secret = operator_secret::load(opened.config, opened.wiring)
        .map_err(|error| Failure::because("get the secret (secret)", &error))?;
    let stored = opened.keys().signing_keys().await.map_err(|error| store(&error))?;
    let asks = at_once && !is_agreed && io::stdin().is_terminal() && io::stderr().is_terminal();
    if let Some(question) = question(&stored, &algorithms).filter(|_| asks)
        && !is_confirmed(&question)?
    {
        return Err(Failure::Failed("nothing was rotated".to_owned()));
    }
    let ring = opened.key_ring(Some(secret));
    let operating = Operating { keys: Some(&ring), ..Operating::new(opened.management()) };
    effect_of(operating, Act::RotateKeys { at_once, algorithms }).await.map(drop)
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
    without_nulls(json!({
        "kid": key.kid,
        "algorithm": key.algorithm,
        "state": key.state.name(),
        "created_at": written(key.created_at),
        "active_from": written(key.active_from),
        "withdrawn_at": key.withdrawn_at.map(written),
        "forgotten_after": key.forget_after.map(written),
    }))
}
