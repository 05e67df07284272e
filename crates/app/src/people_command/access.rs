//! `countersign access …`.

use std::io::Write;

use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_usecases::Management;
use countersign_usecases::people::change_access::{ChangeAccessError, change_access};
use countersign_usecases::people::look_up_client::{LookUpClientError, look_up_client};
use countersign_usecases::people::read_access::{AccessRead, read_access};

use super::group;
use crate::change_log;
use crate::cli::{AccessCommand, NewRule, Output};
use crate::client_command::{all_clients, store};
use crate::config::Config;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::people_output;
use crate::terminal::{nearest, note, visible};
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn access(
    command: AccessCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened.management(), out).await).await
}

async fn carry_out(
    command: AccessCommand,
    management: Management<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match command {
        AccessCommand::Show { client, output } => {
            let client = find(management, &client).await?;
            let read = read_access(management, client).await.map_err(|error| store(&error))?;
            let default = &management.policy.default_access;
            people_output::access(&read, default, output.output, out)?;
            warn(&read)
        }
        AccessCommand::Set { client, rule: NewRule(rule), release, output } => {
            let client = find(management, &client).await?;
            set(management, client, rule, release, output.output, out).await
        }
    }
}

async fn set(
    management: Management<'_>,
    client: Client,
    rule: Option<AccessRule>,
    release: Option<Release>,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let id = client.id;
    let changed = match change_access(management, client, rule, release).await {
        Ok(changed) => changed,
        Err(ChangeAccessError::GroupUnknown(name)) => return Err(group::unknown(management, &name).await?),
        Err(ChangeAccessError::ClientUnknown) => return Err(no_client(id)),
        Err(ChangeAccessError::Store(error)) => return Err(store(&error)),
    };
    if changed.before != changed.now.client.access {
        change_log::access(&changed.now.client);
    }
    people_output::changed_access(&changed, &management.policy.default_access, output, out)?;
    warn(&changed.now)
}

/// Says what may surprise: nobody gets in, or a group is not there.
fn warn(read: &AccessRead) -> Result<(), Failure> {
    let client = people_output::client_name(&read.client);
    for (name, _) in read.groups.iter().filter(|(_, counted)| counted.is_none()) {
        note(&format!("there is no group {name}: nobody gets in by it"))?;
    }
    if read.lets_somebody_in() {
        return Ok(());
    }
    // What is said of groups that are not there is enough.
    match read.groups.iter().find(|(_, counted)| counted.is_some()) {
        None if !read.groups.is_empty() => Ok(()),
        None => note(&format!("nobody can sign in to {client} now")),
        Some((name, _)) => note(&format!(
            "no group of the rule has members, so nobody can sign in to {client} now: see `countersign group add \
             {name} WHO`"
        )),
    }
}

async fn find(management: Management<'_>, text: &str) -> Result<Client, Failure> {
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
        return Ok(no_client(id));
    }
    let names = all_clients(management.clients).await?.into_iter().map(|client| client.metadata.name);
    let hint = match nearest(text, names) {
        Some(meant) => format!("; did you mean {:?}?", visible(&meant)),
        None => ": `countersign client list` shows all".to_owned(),
    };
    Ok(Failure::Failed(format!("no client has the id or the name {text:?}{hint}")))
}

fn no_client(id: ClientId) -> Failure {
    Failure::Failed(format!("no client has the id {id}"))
}
