//! `countersign client …`: the operator registers, shows, changes and deletes clients.

mod create;
pub(crate) mod fields;
mod file;
mod update;

use std::io::Write;

use countersign_domain::client::Client;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::id::ClientId;
use countersign_ports::StoreError;
use countersign_usecases::Management;
use countersign_usecases::clients::delete_client::remove_client;
use countersign_usecases::clients::open_resource::{OpenResourceError, close_resources, open_resources};
use countersign_usecases::clients::rotate_client_secret::{read_secrets, rotate_client_secret};
use countersign_usecases::context::clients::Clients;
use serde_json::Value;

use self::fields::Fields;
use crate::change_log::{self, ClientChange};
use crate::cli::ClientCommand;
use crate::client_output as output;
use crate::config::Config;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::terminal::{is_confirmed, note};
use crate::wiring::Wiring;

/// The number of clients to read at once.
const PAGE: u32 = 500;

/// Runs the command on the database of the settings.
pub(crate) async fn client(
    command: ClientCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened.management(), out).await).await
}

async fn carry_out(
    command: ClientCommand,
    management: Management<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match command {
        ClientCommand::Create { client, output } => {
            create::create(*client, output.output, management, out).await?;
        }
        ClientCommand::Update { client, output } => {
            update::update(*client, output.output, management, out).await?;
        }
        ClientCommand::List { output } => {
            output::list(&all_clients(management.clients).await?, output.output, out)?
        }
        ClientCommand::Show { client_id, output } => {
            let client = find(management.clients, &client_id).await?;
            let secrets = read_secrets(management, client.id).await.map_err(|error| store(&error))?;
            let default_access = &management.policy.default_access;
            output::client_with_secrets(&client, default_access, &secrets, output.output, out)?;
        }
        ClientCommand::RotateSecret { client_id, keep_old, output } => {
            let id = client_id_of(&client_id)?;
            let keep_old = KeepOld::seconds(keep_old).ok_or_else(|| {
                Failure::Usage(format!("--keep-old is at most {} seconds", KeepOld::LONGEST))
            })?;
            let rotated = rotate_client_secret(management, id, keep_old)
                .await
                .map_err(|error| Failure::because("give the client a new secret", &error))?;
            change_log::client(id, ClientChange::SecretRotated { old_expires_at: rotated.old_expires_at });
            output::rotated(id, &rotated, output.output, out)?;
        }
        ClientCommand::OpenResource { client_id, resource, output } => {
            let changed = open_resources(management, client_id_of(&client_id)?, &resource).await;
            let changed = changed.map_err(refused)?;
            change_log::client(changed.id, ClientChange::ResourcesOpened);
            output::client(&changed, output.output, out)?;
        }
        ClientCommand::CloseResource { client_id, resource, output } => {
            let changed = close_resources(management, client_id_of(&client_id)?, &resource).await;
            let changed = changed.map_err(refused)?;
            change_log::client(changed.id, ClientChange::ResourcesClosed);
            output::client(&changed, output.output, out)?;
        }
        ClientCommand::Delete { client_id, yes, output } => {
            let client = find(management.clients, &client_id).await?;
            if !yes && !is_confirmed(&question(&client))? {
                return Err(Failure::Failed("nothing was deleted".to_owned()));
            }
            let removed = remove_client(management, client.id).await.map_err(|error| store(&error))?;
            if !removed {
                return Err(unknown(&client_id));
            }
            change_log::client(client.id, ClientChange::Deleted);
            output::deleted(client.id, output.output, out)?;
        }
    }
    Ok(())
}

pub(crate) async fn all_clients(clients: &Clients) -> Result<Vec<Client>, Failure> {
    let mut listed: Vec<Client> = Vec::new();
    loop {
        let after = listed.last().map(|client| client.id);
        let page = clients.list(after, PAGE).await.map_err(|error| store(&error))?;
        if page.is_empty() {
            return Ok(listed);
        }
        listed.extend(page);
    }
}

async fn find(clients: &Clients, client_id: &str) -> Result<Client, Failure> {
    let found = clients.find_fresh(client_id_of(client_id)?).await;
    found.map_err(|error| store(&error))?.ok_or_else(|| unknown(client_id))
}

fn client_id_of(text: &str) -> Result<ClientId, Failure> {
    ClientId::parse(text).ok_or_else(|| Failure::Usage(format!("{text:?} is not a client id")))
}

fn question(client: &Client) -> String {
    format!("Delete {:?} ({}) and everything that users allowed it?", client.metadata.name, client.id)
}

/// Explains why a resource was not opened or closed.
fn refused(error: OpenResourceError) -> Failure {
    match error {
        OpenResourceError::Unfit { .. } | OpenResourceError::NotDeclared(_) => {
            Failure::Usage(error.to_string())
        }
        OpenResourceError::ClientUnknown => Failure::Failed("no client has this id".to_owned()),
        OpenResourceError::Store(error) => store(&error),
    }
}

/// Says what a `client_uri` in a file gives the client, if that is a resource: the file may be a stranger's.
async fn note_introspection(management: Management<'_>, fields: &Fields) -> Result<(), Failure> {
    let Some(Value::String(uri)) = fields.get("client_uri") else { return Ok(()) };
    let rules = management.resource_rules().await.map_err(|error| store(&error))?;
    let is_resource = !management.policy.public_url.is_loopback() && rules.may_be_opened(uri) == Ok(true);
    if is_resource {
        note(&format!("by its client_uri, the client may introspect all tokens for {uri}"))
    } else {
        Ok(())
    }
}

fn unknown(client_id: &str) -> Failure {
    Failure::Failed(format!("no client has the id {client_id}"))
}

pub(crate) fn store(error: &StoreError) -> Failure {
    Failure::because("work with the database", error)
}
