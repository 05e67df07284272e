//! `countersign client …`: the operator registers, shows, changes and deletes clients.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use countersign_domain::client::{AuthenticationMethod, Client, DisplayMetadata};
use countersign_domain::id::ClientId;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_ports::{EntropyExt, Storage, StoreError};
use countersign_usecases::Management;
use countersign_usecases::clients::open_resource::{
    OpenResourceError, close_resources, judge_opened, open_resources,
};
use countersign_usecases::clients::register_client::{
    RegisterClientError, RegisteredClient, register_with_resources,
};
use countersign_usecases::clients::rotate_client_secret::rotate_client_secret;
use countersign_usecases::context::clients::Clients;

use crate::applications::{self, Application, Configuration, Values};
use crate::change_log::{self, ClientChange};
use crate::cli::{ClientCommand, NewClient};
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
    let management = Management {
        clients: &clients,
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
            let known = known(&client)?;
            let resources = client.resource.clone();
            judge_opened(&management.policy.resources, &resources).map_err(refused)?;
            let requested = match &known {
                Some((application, app)) => application.requested(client.name, app),
                None => requested(*client)?,
            };
            let created = register_with_resources(management, requested, resources).await;
            let created = created.map_err(|error| match error {
                RegisterClientError::Rejected(rejected) => Failure::Usage(rejected.to_string()),
                RegisterClientError::Store(_) | RegisterClientError::IdTaken => {
                    Failure::because("register the client", &error)
                }
            })?;
            change_log::client(created.client.id, ClientChange::Registered);
            let configuration =
                known.and_then(|(application, app)| configuration(management, &created, &application, &app));
            output::created(&created, configuration.as_ref(), output.output, out)?;
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

/// The application that `--for` names, and its address.
fn known(client: &NewClient) -> Result<Option<(Application, PublicUrl)>, Failure> {
    let Some(application) = client.application.as_deref().and_then(applications::find) else {
        return Ok(None);
    };
    let url = client.url.as_deref().unwrap_or_default();
    let app = PublicUrl::parse(url.trim_end_matches('/'))
        .map_err(|rejected| Failure::Usage(format!("--url {url:?}: {rejected}")))?;
    Ok(Some((application, app)))
}

/// The application's settings, with the credentials of the client that was just registered.
fn configuration(
    management: Management<'_>,
    created: &RegisteredClient,
    application: &Application,
    app: &PublicUrl,
) -> Option<Configuration> {
    let passphrase: [u8; 32] = management.entropy.bytes();
    application.configuration(&Values {
        issuer: &management.policy.public_url,
        app,
        client_id: &created.client.id.to_string(),
        client_secret: created.secret.as_ref().map_or("", |secret| secret.expose()),
        passphrase: &hex::encode(passphrase),
    })
}

fn requested(client: NewClient) -> Result<RequestedMetadata, Failure> {
    let method =
        if client.public { Some(AuthenticationMethod::None.name().to_owned()) } else { client.auth_method };
    let jwks = client.jwks_file.map(|path| {
        let read = std::fs::read_to_string(&path);
        read.map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", path.display())))
    });
    Ok(RequestedMetadata {
        client_name: Some(client.name),
        redirect_uris: Some(client.redirect_uri).filter(|uris| !uris.is_empty()),
        grant_types: Some(client.grant_type).filter(|names| !names.is_empty()),
        scope: (!client.scope.is_empty()).then(|| client.scope.join(" ")),
        token_endpoint_auth_method: method,
        display: DisplayMetadata {
            jwks: jwks.transpose()?,
            jwks_uri: client.jwks_uri,
            client_uri: client.client_uri,
            ..DisplayMetadata::default()
        },
        ..RequestedMetadata::default()
    })
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

fn unknown(client_id: &str) -> Failure {
    Failure::Failed(format!("no client has the id {client_id}"))
}

fn store(error: &StoreError) -> Failure {
    Failure::because("work with the database", error)
}
