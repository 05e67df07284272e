//! `countersign client …`: the operator registers, shows, changes and deletes clients.

mod create;
pub(crate) mod fields;
mod file;
mod update;

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_ports::{Storage, StoreError};
use countersign_usecases::Management;
use countersign_usecases::clients::open_resource::{OpenResourceError, close_resources, open_resources};
use countersign_usecases::clients::rotate_client_secret::rotate_client_secret;
use countersign_usecases::context::clients::Clients;
use countersign_usecases::context::resources::Resources;
use serde_json::Value;

use self::fields::Fields;
use crate::change_log::{self, ClientChange};
use crate::cli::ClientCommand;
use crate::client_output as output;
use crate::config::Config;
use crate::failure::Failure;
use crate::server::opening;
use crate::wiring::{Wiring, policy};

/// The number of clients to read at once.
const PAGE: u32 = 500;

/// Opens the database, runs the command and closes the database.
pub(crate) async fn client(
    command: ClientCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let opened = opening::at_once(config, wiring).await?;
    let clients = Clients::new(Arc::<dyn Storage>::clone(&opened.storage), Arc::clone(&wiring.clock));
    let resources = Resources::new(Arc::<dyn Storage>::clone(&opened.storage), Arc::clone(&wiring.clock));
    let management = Management {
        clients: &clients,
        resources: &resources,
        jws: &*wiring.jws,
        clock: &*wiring.clock,
        entropy: &*wiring.entropy,
        policy: &policy(config),
    };
    let done = carry_out(command, management, out).await;
    opened.close().await;
    done
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
            output::client(&find(management.clients, &client_id).await?, output.output, out)?;
        }
        ClientCommand::RotateSecret { client_id, output } => {
            let id = client_id_of(&client_id)?;
            let secret = rotate_client_secret(management, id)
                .await
                .map_err(|error| Failure::because("give the client a new secret", &error))?;
            change_log::client(id, ClientChange::SecretRotated);
            output::rotated(id, &secret, output.output, out)?;
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
            if !yes && !is_confirmed(&client)? {
                return Err(Failure::Failed("nothing was deleted".to_owned()));
            }
            let removed = management.clients.delete(client.id).await.map_err(|error| store(&error))?;
            if !removed {
                return Err(unknown(&client_id));
            }
            change_log::client(client.id, ClientChange::Deleted);
            output::deleted(client.id, output.output, out)?;
        }
    }
    Ok(())
}

async fn all_clients(clients: &Clients) -> Result<Vec<Client>, Failure> {
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

fn is_confirmed(client: &Client) -> Result<bool, Failure> {
    write!(
        io::stderr().lock(),
        "Delete {:?} ({}) and everything that users allowed it? Type yes: ",
        client.metadata.name,
        client.id
    )?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.map_err(|error| Failure::because("read the answer", &error))?;
    Ok(matches!(answer.trim(), "y" | "yes"))
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

/// Tells people something beside the output.
fn note(text: &str) -> Result<(), Failure> {
    Ok(writeln!(io::stderr().lock(), "countersign: {text}")?)
}

fn unknown(client_id: &str) -> Failure {
    Failure::Failed(format!("no client has the id {client_id}"))
}

fn store(error: &StoreError) -> Failure {
    Failure::because("work with the database", error)
}
