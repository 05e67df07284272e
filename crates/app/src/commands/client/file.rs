//! The files that `client create` and `client update` read: a registration, and the keys of a client.

use std::io::{self, Read};
use std::path::Path;

use countersign_domain::client_field::ClientField;
use countersign_usecases::clients::registration::Fields;
use serde_json::Value;

use crate::failure::Failure;
use crate::output::terminal::note;

/// What the server says of a client that is there. A file can hold it, and it registers nothing.
const OURS: [&str; 16] = [
    "client_id",
    "client_id_issued_at",
    "client_secret_expires_at",
    "created_at",
    "registered_by",
    "document",
    "resources",
    "access",
    "rule",
    "release",
    "secrets",
    "secret_mark",
    "registration_access_token",
    "registration_client_uri",
    "backchannel_logout_session_required",
    "configuration",
];

/// A name this similar to that of a field is a misspelling.
const SIMILAR: f64 = 0.85;

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct FromFile {
    /// The fields of the registration.
    pub(super) fields: Fields,
    /// The client that it is about, if it says so.
    pub(super) client_id: Option<String>,
    /// What was open to that client.
    pub(super) resources: Vec<String>,
}

/// Reads a file, or standard input if its name is `-`. Says on standard error which of its fields are left out.
pub(super) fn read_fields(path: &Path) -> Result<FromFile, Failure> {
    let name = file_name(path);
    let refuse = |why: &str| Failure::Usage(format!("{name} {why}"));
    let text = read(path)?;
    let object =
        serde_json::from_str::<Value>(&text).map_err(|error| refuse(&format!("is not JSON: {error}")))?;
    let Value::Object(mut fields) = object else {
        return Err(refuse("is not a JSON object with the fields of a registration"));
    };
    let client_id = take(&mut fields, "client_id", as_text)?;
    let resources = take(&mut fields, "resources", as_texts)?.unwrap_or_default();
    let mut left_out = Vec::new();
    let mut kept = Fields::new();
    for (field, value) in fields {
        if ClientField::named(&field).is_some() {
            kept.insert(field, value);
        } else if field == "client_secret" {
            left_out.push("client_secret (the server makes secrets)".to_owned());
        } else if !OURS.contains(&field.as_str()) {
            if let Some(meant) = misspelled(&field) {
                return Err(refuse(&format!(
                    "names {field:?}: there is no such field; did you mean {meant}?"
                )));
            }
            left_out.push(format!("{field:?}"));
        }
    }
    if !left_out.is_empty() {
        // RFC 7591 has servers ignore what they do not know. Its author should learn of it.
        let left_out = left_out.join(", ");
        note(&format!("{name} says more than this server knows; ignored: {left_out}"))?;
    }
    Ok(FromFile { fields: kept, client_id, resources })
}

/// Reads a key set.
pub(super) fn read_keys(path: &Path) -> Result<Value, Failure> {
    let keys = serde_json::from_str::<Value>(&read(path)?).ok().filter(Value::is_object);
    keys.ok_or_else(|| Failure::Usage(format!("{} is not a JSON Web Key Set", file_name(path))))
}

fn misspelled(name: &str) -> Option<&'static str> {
    let mut fields = ClientField::NAMES.iter().copied();
    fields.find(|field| strsim::normalized_damerau_levenshtein(name, field) >= SIMILAR)
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    read.map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", file_name(path))))
}

fn file_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Takes a field out, if it is there and not null.
fn take<T>(
    fields: &mut Fields,
    name: &str,
    read: impl FnOnce(Value) -> Result<T, &'static str>,
) -> Result<Option<T>, Failure> {
    let value = fields.remove(name).filter(|value| !value.is_null());
    value.map(read).transpose().map_err(|rule| Failure::Usage(format!("{name} must be {rule}")))
}

fn as_text(value: Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err("a string")
        }
    }
}

fn as_texts(value: Value) -> Result<Vec<String>, &'static str> {
    const RULE: &str = "a list of strings";
    match value {
        Value::Array(entries) => entries.into_iter().map(|entry| as_text(entry).map_err(|_| RULE)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => Err(RULE),
    }
}
