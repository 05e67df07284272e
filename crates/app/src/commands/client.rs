//! `countersign client …`: the operator registers, shows, changes and deletes clients.

mod create;
pub(crate) mod fields;
mod file;
mod update;

use std::io::Write;

use countersign_domain::act::Act;
use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_operators::operate::Effect;
use countersign_operators::people::look_up_client::{LookUpClientError, look_up_client};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::clients::rotate_client_secret::read_secrets;
use countersign_usecases::context::clients::Clients;
use serde_json::Value;

use self::fields::Fields;
use crate::cli::{ClientCommand, Output};
use crate::commands::make::make;
use crate::commands::output::client_output as output;
use crate::commands::running;
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::{is_confirmed, nearest, note, visible};
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
    let shows_received = config.playground && (config.dev || config.public_url.is_loopback());
    Opened::during(config, wiring, async |opened| carry_out(command, opened, shows_received, out).await).await
}

async fn carry_out(
    command: ClientCommand,
    opened: &Opened<'_>,
    shows_received: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let management = opened.management();
    match command {
        ClientCommand::Create { client, output } => {
            create::create(*client, output, opened, out).await?;
        }
        ClientCommand::Update { client, output } => {
            update::update(*client, output.output, opened, out).await?;
        }
        ClientCommand::List { output } => {
            output::list(&all_clients(management.clients).await?, output.output, out)?
        }
        ClientCommand::Show { client_id, output } => {
            let client = find(management, &client_id).await?;
            let secrets = read_secrets(management, client.id).await.map_err(|error| store(&error))?;
            let default_access = &management.policy.default_access;
            output::client_with_secrets(&client, default_access, &secrets, output.output, out)?;
            if shows_received {
                let issuer = running::issuer(opened).await.map_err(|error| store(&error))?;
                output::received_at(&client, &issuer, output.output, out)?;
            }
        }
        ClientCommand::RotateSecret { client_id, keep_old, output } => {
            let client = find(management, &client_id).await?.id.into();
            show_effect(&make(opened, Act::RotateSecret { client, keep_old }).await?, output.output, out)?;
        }
        ClientCommand::OpenResource { client_id, resource, output } => {
            let client = find(management, &client_id).await?.id.into();
            show_effect(
                &make(opened, Act::OpenResources { client, resources: resource }).await?,
                output.output,
                out,
            )?;
        }
        ClientCommand::CloseResource { client_id, resource, output } => {
            let client = find(management, &client_id).await?.id.into();
            show_effect(
                &make(opened, Act::CloseResources { client, resources: resource }).await?,
                output.output,
                out,
            )?;
        }
        ClientCommand::Delete { client_id, yes, output } => {
            let client = find(management, &client_id).await?;
            if !yes && !is_confirmed(&question(&client))? {
                return Err(Failure::Failed("nothing was deleted".to_owned()));
            }
            show_effect(
                &make(opened, Act::DeleteClient { client: client.id.into() }).await?,
                output.output,
                out,
            )?;
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

/// Finds a client by its id, its document or its name, if only one has it.
pub(crate) async fn find(management: Management<'_>, text: &str) -> Result<Client, Failure> {
    match look_up_client(management, text).await {
        Ok(client) => Ok(client),
        Err(LookUpClientError::Unknown) => Err(unknown(management, text).await?),
        Err(LookUpClientError::Several(clients)) => {
            let ids: Vec<_> =
                clients.iter().map(|client| format!("{} (by {})", client.id, client.origin.name())).collect();
            Err(Failure::Failed(format!(
                "several clients are called {text:?}: name one by its id: {}",
                ids.join(", ")
            )))
        }
        Err(LookUpClientError::Store(error)) => Err(store(&error)),
    }
}

/// There is no such client. Suggests the one whose name was probably meant.
async fn unknown(management: Management<'_>, text: &str) -> Result<Failure, Failure> {
    if let Some(id) = ClientId::parse(text) {
        return Ok(Failure::Failed(ActRefused::ClientUnknown(id).to_string()));
    }
    let names = all_clients(management.clients).await?.into_iter().map(|client| client.metadata.name);
    let hint = match nearest(text, names) {
        Some(meant) => format!("; did you mean {:?}?", visible(&meant)),
        None => ": `countersign client list` shows all".to_owned(),
    };
    Ok(Failure::Failed(format!("no client has the id or the name {text:?}{hint}")))
}

/// Shows what an act on a client did.
fn show_effect(effect: &Effect, out_as: Output, out: &mut dyn Write) -> Result<(), Failure> {
    if let Effect::ClientChanged { before, now } = effect {
        output::updated(before, now, out_as, out)?;
    }
    if let Effect::ClientResources { now, .. } = effect {
        if effect.is_nothing() {
            note("nothing changed")?;
        }
        output::client(now, out_as, out)?;
    }
    if let Effect::ClientDeleted(id) = effect {
        output::deleted(*id, out_as, out)?;
    }
    if let Effect::Rotated(id, rotated) = effect {
        output::rotated(*id, rotated, out_as, out)?;
    }
    Ok(())
}

fn question(client: &Client) -> String {
    format!("Delete {:?} ({}) and everything that users allowed it?", client.metadata.name, client.id)
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
