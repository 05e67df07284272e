//! `countersign admin-key …`: the operator creates, lists and revokes the keys of the admin interface.

use std::io::Write;

use countersign_domain::admin_key::{AdminKey, AdminScopes};
use countersign_usecases::Management;
use countersign_usecases::admin_keys::create_admin_key::{CreateAdminKeyError, create_admin_key};
use countersign_usecases::admin_keys::list_admin_keys::list_admin_keys;
use countersign_usecases::admin_keys::revoke_admin_key::{RevokeAdminKeyError, revoke_admin_key};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use crate::change_log::{self, AdminKeyChange};
use crate::cli::{AdminKeyCommand, Output};
use crate::client_command::store;
use crate::config::Config;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::table;
use crate::terminal::written;
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
            let scopes = AdminScopes::of(scope);
            let created = create_admin_key(management, name, scopes, expires.map(Duration::seconds)).await;
            let created = created.map_err(|error| match error {
                CreateAdminKeyError::NoScope | CreateAdminKeyError::NameTaken => {
                    Failure::Failed(error.to_string())
                }
                CreateAdminKeyError::Store(error) => store(&error),
            })?;
            change_log::admin_key(&created.key, AdminKeyChange::Created);
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
            let revoked = revoke_admin_key(management, &key).await.map_err(|error| match error {
                RevokeAdminKeyError::Unknown => {
                    Failure::Failed(format!("no admin key has the name or the id {key:?}"))
                }
                RevokeAdminKeyError::AlreadyRevoked => Failure::Failed(error.to_string()),
                RevokeAdminKeyError::Store(error) => store(&error),
            })?;
            change_log::admin_key(&revoked, AdminKeyChange::Revoked);
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
    json!({
        "id": key.id.to_string(),
        "name": key.name.as_str(),
        "scopes": scopes,
        "state": state(key, now),
        "created_at": written(key.created_at),
        "expires_at": key.expires_at.map(written),
        "revoked_at": key.revoked_at.map(written),
        "last_used_at": key.last_used_at.map(written),
    })
}
