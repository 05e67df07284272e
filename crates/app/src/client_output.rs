//! How clients are shown: aligned text for people, JSON with the names of RFC 7591 for scripts.

use std::io::{self, Write};

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_domain::secret::Secret;
use countersign_usecases::clients::register_client::RegisteredClient;
use serde_json::{Map, Value, json};
use time::format_description::well_known::Rfc3339;

use crate::applications::Configuration;
use crate::cli::Output;
use crate::table;

/// Shows a new client with its secrets. They are shown only this once.
pub(crate) fn created(
    created: &RegisteredClient,
    configuration: Option<&Configuration>,
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut fields = fields(&created.client);
    if let Some(secret) = &created.secret {
        fields.insert("client_secret".to_owned(), json!(secret.expose()));
    }
    fields.insert("registration_access_token".to_owned(), json!(created.registration_token.expose()));
    match (configuration, output) {
        (Some(Configuration { file, text, .. }), Output::Json) => {
            fields.insert("configuration".to_owned(), json!({"file": file, "text": text}));
        }
        (Some(_), Output::Table) | (None, _) => {}
    }
    show(&fields, output, out)?;
    note_if_table("The secrets are shown only once: save them now.", output, out)?;
    match configuration {
        Some(Configuration { title, file, text }) => {
            note_if_table(&format!("\nSettings of {title}, {file}:\n\n{}", text.trim_end()), output, out)
        }
        None => Ok(()),
    }
}

/// Shows a client's new secret. It is shown only this once.
pub(crate) fn rotated(id: ClientId, secret: &Secret, output: Output, out: &mut dyn Write) -> io::Result<()> {
    let mut fields = Map::new();
    fields.insert("client_id".to_owned(), json!(id.to_string()));
    fields.insert("client_secret".to_owned(), json!(secret.expose()));
    show(&fields, output, out)?;
    note_if_table("The secret is shown only once: save it now. The old one no longer works.", output, out)
}

/// Shows a client.
pub(crate) fn client(client: &Client, output: Output, out: &mut dyn Write) -> io::Result<()> {
    show(&fields(client), output, out)
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
            let clients: Vec<_> = clients.iter().map(fields).map(Value::Object).collect();
            writeln!(out, "{:#}", Value::Array(clients))
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
        created_at(client),
    ]
}

fn fields(client: &Client) -> Map<String, Value> {
    let metadata = &client.metadata;
    let redirect_uris: Vec<_> = metadata.redirect_uris.iter().map(|uri| uri.as_str()).collect();
    let grant_types: Vec<_> = metadata.grant_types.iter().map(|grant_type| grant_type.name()).collect();
    let fields = [
        ("client_id", json!(client.id.to_string())),
        ("client_name", json!(metadata.name)),
        ("redirect_uris", json!(redirect_uris)),
        ("scope", json!(metadata.scopes.to_string())),
        ("grant_types", json!(grant_types)),
        ("token_endpoint_auth_method", json!(client.authentication.method())),
        ("registered_by", json!(client.origin.name())),
        ("created_at", json!(created_at(client))),
    ];
    let document = client.document.iter().map(|document| ("document", json!(document)));
    let address = metadata.display.client_uri.iter().map(|address| ("client_uri", json!(address)));
    let resources = Some(&client.resources).filter(|open| !open.is_empty());
    let resources = resources.map(|open| ("resources", json!(open)));
    let more = address.chain(document).chain(resources);
    fields.into_iter().chain(more).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn show(fields: &Map<String, Value>, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => writeln!(out, "{:#}", Value::Object(fields.clone())),
        Output::Table => {
            let width = fields.keys().map(String::len).max().unwrap_or(0);
            fields.iter().try_for_each(|(name, value)| writeln!(out, "{name:width$}  {}", plain(value)))
        }
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

fn created_at(client: &Client) -> String {
    client.created_at.format(&Rfc3339).unwrap_or_else(|_| client.created_at.to_string())
}
