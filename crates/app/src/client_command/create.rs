//! `countersign client create`.

use std::io::Write;

use countersign_domain::grant_type::GrantType;
use countersign_domain::public_url::PublicUrl;
use countersign_ports::EntropyExt;
use countersign_usecases::Management;
use countersign_usecases::clients::open_resource::judge_opened;
use countersign_usecases::clients::register_client::{
    RegisterClientError, RegisteredClient, register_with_resources,
};

use super::fields::{self, Fields};
use super::{file, note_introspection, refused, store};
use crate::applications::{self, Application, Configuration, Values};
use crate::change_log::{self, ClientChange};
use crate::cli::{NewClient, Output};
use crate::client_output;
use crate::failure::Failure;
use crate::terminal::note;

/// Registers a client: what the application or the file says, and over it what the flags say.
pub(super) async fn create(
    client: NewClient,
    output: Output,
    management: Management<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let NewClient { name, application, url, from_file, redirect_uri, metadata, resource } = client;
    let known = known(application.as_deref(), url.as_deref())?;
    let read = from_file.as_deref().map(file::read_fields).transpose()?.unwrap_or_default();
    if !read.resources.is_empty() && resource.is_empty() {
        // Whoever wrote the file may be a stranger. What a client may use, the operator says.
        note("resources in the file are not opened to the client: name them with --resource")?;
    }
    note_introspection(management, &read.fields).await?;
    let mut registration =
        known.as_ref().map_or_else(Fields::new, |(application, app)| application.registration(app));
    fields::change(&mut registration, read.fields);
    fields::change(&mut registration, fields::of_flags(name, redirect_uri, metadata)?);
    let rules = management.resource_rules().await.map_err(|error| store(&error))?;
    judge_opened(&rules, &resource).map_err(refused)?;
    let requested = fields::requested(registration)?;
    let says_scopes = requested.scope.is_some() || requested.scopes.is_some();
    let created = register_with_resources(management, requested, resource).await;
    let created = created.map_err(|error| match error {
        RegisterClientError::Rejected(rejected) => Failure::Usage(rejected.to_string()),
        RegisterClientError::Store(_) | RegisterClientError::IdTaken => {
            Failure::because("register the client", &error)
        }
    })?;
    change_log::client(created.client.id, ClientChange::Registered);
    let is_redirected = created.client.may_use(GrantType::AuthorizationCode);
    let configuration =
        known.and_then(|(application, app)| configuration(management, &created, &application, &app));
    client_output::created(&created, configuration.as_ref(), output, out)?;
    if !says_scopes && is_redirected && output == Output::Table {
        note(&format!(
            "without --scope, a client can ask for the scope profile only. Most OpenID Connect libraries want \
             more: `countersign client update {} --scope 'openid profile email offline_access'`",
            created.client.id
        ))?;
    }
    Ok(())
}

/// The application that `--for` names, and its address.
fn known(application: Option<&str>, url: Option<&str>) -> Result<Option<(Application, PublicUrl)>, Failure> {
    let Some(application) = application.and_then(applications::find) else {
        return Ok(None);
    };
    let url = url.unwrap_or_default();
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
