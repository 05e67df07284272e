//! `countersign key …`: the operator lists the signing keys, rotates them ahead of schedule, and withdraws
//! one.

use std::io::{self, IsTerminal, Write};

use countersign_adapters_crypto::{KeyError, OperatorSecret, SigningKey, make_key};
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::{
    KeyState, SealedKey, StandingKey, key_wanted, key_wanted_at_once, standing_keys,
};
use countersign_ports::{KeyStore, StoreError, WithdrawSigningKey};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::change_log::{self, KeyChange};
use crate::cli::{KeyCommand, Output};
use crate::config::Config;
use crate::failure::Failure;
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
    let done = match command {
        KeyCommand::List { output } => list(store, wiring.clock.now(), output.output, out).await,
        KeyCommand::Rotate { now, yes, algorithm, output } => {
            let algorithms = match algorithm.as_deref().and_then(SigningAlgorithm::parse) {
                Some(one) => vec![one],
                None => SigningAlgorithm::ALL.to_vec(),
            };
            let when = match (now, yes) {
                (false, _) => When::InADay,
                (true, false) => When::AtOnceIfConfirmed,
                (true, true) => When::AtOnce,
            };
            let rotation = Rotation { when, algorithms };
            match rotate(store, rotation, config, wiring).await {
                Ok(()) => list(store, wiring.clock.now(), output.output, out).await,
                Err(failure) => Err(failure),
            }
        }
        KeyCommand::Retire { kid, output } => {
            retire(store, &kid, wiring.clock.now(), output.output, out).await
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
    let stored = stored_keys(store).await?;
    let keys = SigningAlgorithm::ALL.into_iter().flat_map(|algorithm| standing_keys(&stored, algorithm, now));
    Ok(show(&keys.collect::<Vec<_>>(), output, out)?)
}

/// Options of a rotation.
struct Rotation {
    when: When,
    algorithms: Vec<SigningAlgorithm>,
}

/// When the new keys sign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// After everyone who caches the key set has them.
    InADay,
    /// Now, and the old keys are withdrawn.
    AtOnce,
    /// The same, after a person at a terminal has agreed.
    AtOnceIfConfirmed,
}

async fn rotate(
    store: &dyn KeyStore,
    rotation: Rotation,
    config: &Config,
    wiring: &Wiring,
) -> Result<(), Failure> {
    let secret = operator_secret::load(config, wiring)
        .map_err(|error| Failure::because("get the secret (secret)", &error))?;
    let stored = stored_keys(store).await?;
    check_secret(&secret, &stored)?;
    let asks =
        rotation.when == When::AtOnceIfConfirmed && io::stdin().is_terminal() && io::stderr().is_terminal();
    if let Some(question) = question(&stored, &rotation.algorithms).filter(|_| asks)
        && !is_confirmed(&question)?
    {
        return Err(Failure::Failed("nothing was rotated".to_owned()));
    }
    let now = wiring.clock.now();
    let at_once = rotation.when != When::InADay;
    let mut made = false;
    for algorithm in rotation.algorithms {
        let wanted = if at_once {
            Some(key_wanted_at_once(&stored, algorithm, now))
        } else {
            key_wanted(&stored, algorithm, now)
        };
        let Some(wanted) = wanted else { continue };
        let key = make_key(store, &secret, wiring.entropy.as_ref(), now, (algorithm, wanted)).await;
        let key = key.map_err(|error| Failure::because("make the key", &error))?;
        let Some(key) = key else {
            let name = algorithm.name();
            return Err(Failure::Failed(format!(
                "{name} was rotated by someone else in the meantime: nothing was done"
            )));
        };
        change_log::key(&key, KeyChange::Made);
        made = true;
        if at_once {
            // Only after the new key exists: at every moment some key must be able to sign.
            for old in good_keys(&stored, algorithm) {
                if store
                    .withdraw_signing_key(WithdrawSigningKey { kid: old.kid.clone(), now, event: None })
                    .await
                    .map_err(|error| failed(&error))?
                {
                    change_log::key(old, KeyChange::Withdrawn);
                }
            }
        }
    }
    if made {
        Ok(())
    } else {
        Err(Failure::Failed(
            "the next keys already exist; `countersign key rotate --now` replaces all keys at once"
                .to_owned(),
        ))
    }
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

/// Refuses a secret other than the one that sealed the stored keys. No server could open a key sealed with
/// it.
fn check_secret(secret: &OperatorSecret, stored: &[SealedKey]) -> Result<(), Failure> {
    let ours = stored.iter().filter(|key| SigningAlgorithm::parse(&key.algorithm).is_some());
    let checked: Result<Vec<SigningKey>, KeyError> =
        ours.filter(|key| key.withdrawn_at.is_none()).map(|key| SigningKey::open(secret, key)).collect();
    checked.map(drop).map_err(|error| Failure::because("open the signing keys", &error))
}

async fn retire(
    store: &dyn KeyStore,
    kid: &str,
    now: OffsetDateTime,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let stored = stored_keys(store).await?;
    let Some(key) = stored.iter().find(|key| key.kid == kid) else {
        return Err(Failure::Failed(format!("no signing key has the id {kid}")));
    };
    if key.withdrawn_at.is_some() {
        return Err(Failure::Failed(format!("the key {kid} is already withdrawn")));
    }
    if let Some(algorithm) = SigningAlgorithm::parse(&key.algorithm)
        && good_keys(&stored, algorithm).count() == 1
    {
        let name = algorithm.name();
        return Err(Failure::Failed(format!(
            "the key {kid} is the only one that can sign with {name}: `countersign key rotate --now --algorithm {name}` \
             replaces it"
        )));
    }
    if !store
        .withdraw_signing_key(WithdrawSigningKey { kid: kid.to_owned(), now, event: None })
        .await
        .map_err(|error| failed(&error))?
    {
        return Err(Failure::Failed(format!("the key {kid} was withdrawn by someone else in the meantime")));
    }
    change_log::key(key, KeyChange::Withdrawn);
    Ok(match output {
        Output::Table => writeln!(out, "withdrew {kid}"),
        Output::Json => writeln!(out, "{}", json!({ "kid": kid, "state": KeyState::Withdrawn.name() })),
    }?)
}

fn good_keys(stored: &[SealedKey], algorithm: SigningAlgorithm) -> impl Iterator<Item = &SealedKey> {
    stored.iter().filter(move |key| key.algorithm == algorithm.name() && key.withdrawn_at.is_none())
}

async fn stored_keys(store: &dyn KeyStore) -> Result<Vec<SealedKey>, Failure> {
    store.signing_keys().await.map_err(|error| failed(&error))
}

fn failed(error: &StoreError) -> Failure {
    Failure::because("work with the database", error)
}

fn show(keys: &[StandingKey<'_>], output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let keys: Vec<_> = keys.iter().map(fields).collect();
            writeln!(out, "{:#}", Value::Array(keys))
        }
        Output::Table if keys.is_empty() => writeln!(out, "no keys: the first server creates them"),
        Output::Table => {
            let heading = ["KEY ID", "ALGORITHM", "STATE", "SIGNS FROM"].map(str::to_owned);
            let row = |standing: &StandingKey<'_>| {
                let SealedKey { kid, algorithm, active_from, .. } = standing.key;
                [kid.clone(), algorithm.clone(), standing.state.name().to_owned(), written(*active_from)]
            };
            let rows: Vec<_> = std::iter::once(heading).chain(keys.iter().map(row)).collect();
            table::write(&rows, out)
        }
    }
}

fn fields(standing: &StandingKey<'_>) -> Value {
    let key = standing.key;
    json!({
        "kid": key.kid,
        "algorithm": key.algorithm,
        "state": standing.state.name(),
        "created_at": written(key.created_at),
        "active_from": written(key.active_from),
        "withdrawn_at": key.withdrawn_at.map(written),
        "forgotten_after": standing.forget_after.map(written),
    })
}
