//! How clients are shown: aligned text for people, JSON with the names of RFC 7591 for scripts.

use std::io::{self, Write};

use countersign_domain::admission::AccessRule;
use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::redirect_uri::Destination;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_ports::SecretRecord;
use countersign_usecases::clients::client_view::ClientView;
use countersign_usecases::clients::register_client::RegisteredClient;
use countersign_usecases::clients::rotate_client_secret::RotatedSecret;
use serde_json::{Map, Value, json};

use crate::applications::Configuration;
use crate::cli::{NewClientOutput, Output};
use crate::commands::output::people_output::{release_name, release_text, rule_text};
use crate::output::table;
use crate::output::terminal::{iso8601, visible, without_nulls};

/// What is shown of a client, in order. `None` if a field has no value.
type Shown = Vec<(&'static str, Option<Value>)>;

/// Shows a new client with its secrets. They are shown only this once.
pub(crate) fn created(
    created: &RegisteredClient,
    issuer: &PublicUrl,
    configuration: Option<&Configuration>,
    output: NewClientOutput,
    out: &mut dyn Write,
) -> io::Result<()> {
    let output = match output {
        NewClientOutput::Env => return environment(created, issuer, configuration, out),
        NewClientOutput::Table => Output::Table,
        NewClientOutput::Json => Output::Json,
    };
    let mut shown = ClientView::of(&created.client);
    if let Some(secret) = &created.secret {
        shown.push(("client_secret", Some(json!(secret.expose()))));
    }
    shown.push(("registration_access_token", Some(json!(created.registration_token.expose()))));
    match (configuration, output) {
        (Some(Configuration { file, text, .. }), Output::Json) => {
            shown.push(("configuration", Some(json!({"file": file, "text": text}))));
        }
        (Some(_), Output::Table) | (None, _) => {}
    }
    // What is there, so that the secrets are not overlooked. `client show` has the rest.
    shown.retain(|(_, value)| value.is_some());
    show(shown, output, out)?;
    note_if_table("The secrets are shown only once: save them now.", output, out)?;
    match configuration {
        Some(Configuration { title, file, text }) => {
            note_if_table(&format!("\nSettings of {title}, {file}:\n\n{}", text.trim_end()), output, out)
        }
        None => Ok(()),
    }
}

/// Writes the lines of an application's `.env` file. Without settings of its own, these are the variables that the
/// examples in docs/clients read. No value needs quotes: a redirect URI only gives its origin.
fn environment(
    created: &RegisteredClient,
    issuer: &PublicUrl,
    configuration: Option<&Configuration>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(own) = configuration.filter(|configuration| configuration.is_environment()) {
        return write!(out, "{}", own.text);
    }
    writeln!(out, "ISSUER={}\nCLIENT_ID={}", issuer.as_str(), created.client.id)?;
    if let Some(secret) = &created.secret {
        writeln!(out, "CLIENT_SECRET={}", secret.expose())?;
    }
    match created.client.metadata.redirect_uris.first() {
        Some(uri) if matches!(uri.destination(), Destination::Host(_) | Destination::ThisComputer(_)) => {
            writeln!(out, "APP_URL={}", uri.origin())
        }
        Some(_) | None => Ok(()),
    }
}

/// Shows a client's new secret, only this once, and says what became of those before it.
pub(crate) fn rotated(
    id: ClientId,
    rotated: &RotatedSecret,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let RotatedSecret { secret, old_expires_at, cut_short } = rotated;
    let [old_expires_at, cut_short] = [old_expires_at, cut_short].map(|time| time.map(iso8601));
    let shown = vec![
        ("client_id", Some(json!(id.to_string()))),
        ("client_secret", Some(json!(secret.expose()))),
        ("old_secret_expires_at", old_expires_at.as_ref().map(|time| json!(time))),
        ("older_secret_cut_short", cut_short.as_ref().map(|time| json!(time))),
    ];
    match output {
        Output::Json => show(shown, output, out),
        Output::Table => {
            show(shown.into_iter().take(2).collect(), output, out)?;
            let old = match old_expires_at {
                Some(end) => format!("The old one works until {end}."),
                None => "The old one no longer works.".to_owned(),
            };
            writeln!(out, "The secret is shown only once: save it now. {old}")?;
            match cut_short {
                Some(end) => writeln!(out, "The one before that, kept until {end}, no longer works."),
                None => Ok(()),
            }
        }
    }
}

/// Shows every field of a client.
pub(crate) fn client(client: &Client, output: Output, out: &mut dyn Write) -> io::Result<()> {
    show(ClientView::of(client), output, out)
}

/// Shows every field of a client, who can sign in to it, and what is known about its secrets, the newest
/// first. The fields about access have the names that `access show` gives them.
pub(crate) fn client_with_secrets(
    client: &Client,
    default_access: &AccessRule,
    secrets: &[SecretRecord],
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut shown = ClientView::of(client);
    let access = &client.access;
    match output {
        Output::Json => {
            shown.push(("access", Some(json!(access.rule_or(default_access).to_string()))));
            shown.push(("rule", access.rule.as_ref().map(|rule| json!(rule.to_string()))));
            shown.push(("release", Some(json!(release_name(&access.release)))));
            let secrets: Vec<_> = secrets.iter().map(secret_for_programs).collect();
            shown.push(("secrets", (!secrets.is_empty()).then(|| json!(secrets))));
        }
        Output::Table => {
            shown.push(("access", Some(json!(rule_text(access, default_access)))));
            shown.push(("release", Some(json!(release_text(access)))));
            let mut secrets = secrets.iter().map(|secret| json!(secret_for_people(secret)));
            shown.push(("secret", secrets.next()));
            shown.push(("old_secret", secrets.next()));
        }
    }
    show(shown, output, out)
}

/// Says where a trial server shows what the client received.
pub(crate) fn received_at(
    client: &Client,
    public_url: &PublicUrl,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    // The tokens of a document's client name its address, which is not in this query: the page lists all.
    let one = client.document.is_none().then(|| format!("?client_id={}", client.id));
    let page = public_url.join(&format!("/playground/received{}", one.unwrap_or_default()));
    note_if_table(&format!("What it received last, while the server runs: {page}"), output, out)
}

fn secret_for_programs(secret: &SecretRecord) -> Value {
    let SecretRecord { created_at, expires_at, last_used_at } = *secret;
    json!({
        "created_at": created_at.map(iso8601),
        "expires_at": expires_at.map(iso8601),
        "last_used_at": last_used_at.map(iso8601),
    })
}

fn secret_for_people(secret: &SecretRecord) -> String {
    let SecretRecord { created_at, expires_at, last_used_at } = *secret;
    let made = created_at
        .map_or_else(|| "made by an earlier release".to_owned(), |time| format!("made {}", iso8601(time)));
    let end = expires_at.map(|time| format!(", works until {}", iso8601(time))).unwrap_or_default();
    let used =
        last_used_at.map_or_else(|| "never used".to_owned(), |time| format!("last used {}", iso8601(time)));
    format!("{made}{end}, {used}")
}

/// Shows which fields of a client changed.
pub(crate) fn updated(
    before: &Client,
    after: &Client,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut shown = ClientView::of(after);
    let pairs = ClientView::of(before).into_iter().zip(&shown);
    let changed = pairs.filter(|((_, before), (_, after))| before != after);
    let changed: Vec<_> = changed
        .map(|((name, before), (_, after))| (name, value(name, before.as_ref()), value(name, after.as_ref())))
        .collect();
    match output {
        Output::Json => {
            let names: Vec<_> = changed.iter().map(|(name, ..)| name).collect();
            shown.push(("changed", Some(json!(names))));
            show(shown, output, out)
        }
        Output::Table if changed.is_empty() => writeln!(out, "nothing changed"),
        Output::Table => {
            let heading = ["CHANGED", "BEFORE", "NOW"].map(str::to_owned);
            let rows = changed.into_iter().map(|(name, before, after)| [name.to_owned(), before, after]);
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// Says that a client was deleted.
pub(crate) fn deleted(id: ClientId, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Table => writeln!(out, "deleted {id}"),
        Output::Json => writeln!(out, "{}", json!({"client_id": id.to_string(), "removed": true})),
    }
}

/// Shows all clients.
pub(crate) fn list(clients: &[Client], output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let clients = clients.iter().map(|client| object(ClientView::of(client))).collect();
            writeln!(out, "{}", visible(&format!("{:#}", Value::Array(clients))))
        }
        Output::Table if clients.is_empty() => writeln!(out, "no clients"),
        Output::Table => {
            let heading = ["CLIENT ID", "NAME", "METHOD", "BY", "CREATED"].map(str::to_owned);
            let rows: Vec<_> = std::iter::once(heading).chain(clients.iter().map(row)).collect();
            table::write(&rows, out)
        }
    }
}

fn row(client: &Client) -> [String; 5] {
    [
        client.id.to_string(),
        client.shown_name().into_owned(),
        client.authentication.method().to_owned(),
        client.origin.name().to_owned(),
        iso8601(client.created_at),
    ]
}

fn show(mut shown: Shown, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => writeln!(out, "{}", visible(&format!("{:#}", without_nulls(object(shown))))),
        Output::Table => {
            // It is for programs that compare.
            shown.retain(|(name, _)| *name != "secret_mark");
            let width = shown.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            let mut lines = shown.iter().map(|(name, of)| (name, value(name, of.as_ref())));
            lines.try_for_each(|(name, value)| writeln!(out, "{name:width$}  {value}"))
        }
    }
}

/// A JSON object of the fields that have a value.
fn object(shown: Shown) -> Value {
    let fields = shown.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// A value in a table.
fn value(name: &str, value: Option<&Value>) -> String {
    let text = value.map(plain).filter(|text| !text.is_empty());
    text.map_or_else(|| absent(name), |text| visible(&text).replace('\n', "\\n"))
}

/// What people see of a field without a value.
fn absent(name: &str) -> String {
    match name {
        "id_token_signed_response_alg" => format!("{} (default)", SigningAlgorithm::Rs256.name()),
        _ => "-".to_owned(),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Scripts read standard output, so notes for people appear only in the table format.
fn note_if_table(text: &str, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Table => writeln!(out, "{text}"),
        Output::Json => Ok(()),
    }
}

#[cfg(test)]
mod tests;
