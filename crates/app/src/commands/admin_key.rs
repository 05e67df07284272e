//! `countersign admin-key …`: the operator creates, lists and revokes the keys of the admin interface.

use std::io::Write;

use countersign_domain::act::Act;
use countersign_domain::admin_key::{AdminKey, AdminScopes};
use countersign_operators::admin_keys::list_admin_keys::list_admin_keys;
use countersign_operators::admin_keys::revoke_admin_key::find_admin_key;
use countersign_operators::operate::{Effect, Operating};
use countersign_usecases::Management;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::cli::{AdminKeyCommand, Output};
use crate::commands::make::{effect_of, explained};
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::table;
use crate::output::terminal::{without_nulls, written};
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn admin_key(
    command: AdminKeyCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened.management(), out).await).await
}

async fn carry_out(
    command: AdminKeyCommand,
    management: Management<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let now = management.clock.now();
    match command {
        AdminKeyCommand::Create { name, scope, expires, output } => {
            let act = Act::CreateAdminKey { name, scopes: AdminScopes::of(scope), lives: expires };
            let effect = effect_of(Operating::new(management), act).await?;
            let Effect::AdminKeyCreated(created) = effect else { return Ok(()) };
            let mut shown = shown(&created.key, now);
            let text = created.text.expose();
            match output.output {
                Output::Json => {
                    shown["key"] = json!(text);
                    writeln!(out, "{shown:#}")?;
                }
                Output::Table => {
                    list(std::slice::from_ref(&created.key), now, Output::Table, out)?;
                    writeln!(out, "\n{text}\n\nThe key is shown only once: save it now.")?;
                }
            }
        }
        AdminKeyCommand::List { output } => {
            let keys = list_admin_keys(management).await.map_err(|error| store(&error))?;
            list(&keys, now, output.output, out)?;
        }
        AdminKeyCommand::Revoke { key, output } => {
            let found = find_admin_key(management, &key).await;
            let name = match found {
                Ok(found) => found.name,
                Err(refused) => return Err(explained(management, refused).await?),
            };
            let effect = effect_of(Operating::new(management), Act::RevokeAdminKey { name }).await?;
            let Effect::AdminKeyRevoked(revoked) = effect else { return Ok(()) };
            match output.output {
                Output::Json => writeln!(out, "{:#}", shown(&revoked, now))?,
                Output::Table => {
                    writeln!(out, "revoked {}: the next request with it is refused", revoked.name)?
                }
            }
        }
    }
    Ok(())
}

fn list(keys: &[AdminKey], now: OffsetDateTime, output: Output, out: &mut dyn Write) -> Result<(), Failure> {
    Ok(match output {
        Output::Json => {
            let keys: Vec<_> = keys.iter().map(|key| shown(key, now)).collect();
            writeln!(out, "{:#}", Value::Array(keys))
        }
        Output::Table if keys.is_empty() => writeln!(out, "no admin keys"),
        Output::Table => {
            let heading =
                ["NAME", "ID", "STATE", "CREATED", "EXPIRES", "LAST USED", "SCOPES"].map(str::to_owned);
            let time = |time: Option<OffsetDateTime>| time.map_or_else(|| "-".to_owned(), written);
            let rows = keys.iter().map(|key| {
                [
                    key.name.to_string(),
                    key.id.to_string(),
                    state(key, now).to_owned(),
                    written(key.created_at),
                    time(key.expires_at),
                    time(key.last_used_at),
                    key.scopes.to_string(),
                ]
            });
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }?)
}

fn state(key: &AdminKey, now: OffsetDateTime) -> &'static str {
    match (key.revoked_at.is_some(), key.is_live(now)) {
        (true, _) => "revoked",
        (false, true) => "live",
        (false, false) => "expired",
    }
}

fn shown(key: &AdminKey, now: OffsetDateTime) -> Value {
    let scopes: Vec<_> = key.scopes.iter().map(|scope| scope.to_string()).collect();
    without_nulls(json!({
        "id": key.id.to_string(),
        "name": key.name.as_str(),
        "scopes": scopes,
        "state": state(key, now),
        "created_at": written(key.created_at),
        "expires_at": key.expires_at.map(written),
        "revoked_at": key.revoked_at.map(written),
        "last_used_at": key.last_used_at.map(written),
    }))
}
