//! `countersign client create`.

use std::io::Write;

use countersign_domain::act::Act;
use countersign_domain::admission::ClientAccess;
use countersign_domain::public_url::PublicUrl;
use countersign_operators::operate::{Effect, Operating};
use countersign_ports::EntropyExt;
use countersign_usecases::Management;
use countersign_usecases::clients::register_client::RegisteredClient;

use super::fields::{self, Fields};
use super::{file, note_introspection};
use crate::applications::{self, Application, Configuration, Values};
use crate::cli::{NewClient, NewClientOutput, NewRule};
use crate::commands::make::effect_of;
use crate::commands::output::client_output;
use crate::commands::running;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::note;

/// Registers a client: what the application or the file says, and over it what the flags say.
pub(super) async fn create(
    client: NewClient,
    output: NewClientOutput,
    opened: &Opened<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let management = opened.management();
    let NewClient { name, application, url, from_file, redirect_uri, metadata, resource, access, release } =
        client;
    let known = known(application.as_deref(), url.as_deref())?;
    let read = from_file.as_deref().map(file::read_fields).transpose()?.unwrap_or_default();
    if !read.resources.is_empty() && resource.is_empty() {
        // The file may come from a stranger. What a client may use, the operator says.
        note("resources in the file are not opened to the client: name them with --resource")?;
    }
    note_introspection(management, &read.fields).await?;
    let mut registration =
        known.as_ref().map_or_else(Fields::new, |(application, app)| application.registration(app));
    fields::change(&mut registration, read.fields);
    fields::change(&mut registration, fields::of_flags(name, redirect_uri, metadata)?);
    let requested = fields::requested(&registration)?;
    let metadata = Box::new(requested);
    let access = access.map(|NewRule(rule)| ClientAccess { rule, release: release.unwrap_or_default() });
    let (id, fields) = (None, Vec::new());
    let act = Act::RegisterClient { id, metadata, resources: resource, fields, access };
    let effect = effect_of(Operating::new(management), act).await?;
    let Effect::Registered(created) = effect else { return Ok(()) };
    let issuer = running::issuer(opened).await.map_err(|error| store(&error))?;
    let configuration =
        known.and_then(|(application, app)| configuration(management, &issuer, &created, &application, &app));
    client_output::created(&created, &issuer, configuration.as_ref(), output, out)?;
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
    issuer: &PublicUrl,
    created: &RegisteredClient,
    application: &Application,
    app: &PublicUrl,
) -> Option<Configuration> {
    let passphrase: [u8; 32] = management.entropy.bytes();
    application.configuration(&Values {
        issuer,
        app,
        client_id: &created.client.id.to_string(),
        client_secret: created.secret.as_ref().map_or("", |secret| secret.expose()),
        passphrase: &hex::encode(passphrase),
    })
}
