//! The registration of a client as the flags of a command say it. The rest is
//! [`countersign_usecases::clients::registration`].

use countersign_domain::client_field::ClientField;
use countersign_domain::registration::RequestedMetadata;
use countersign_usecases::clients::registration;
use serde_json::{Value, json};

pub(crate) use countersign_usecases::clients::registration::{Fields, change, clear, fields_of as of};

use super::file;
use crate::cli::MetadataFlags;
use crate::failure::Failure;

/// What a registration asks for. Checks the types of the fields and nothing else.
pub(crate) fn requested(fields: &Fields) -> Result<RequestedMetadata, Failure> {
    registration::requested(fields).map_err(|wrong| Failure::Usage(wrong.to_string()))
}

/// What the flags say. A flag that was not given says nothing.
pub(crate) fn of_flags(
    name: Option<String>,
    redirect_uri: Vec<String>,
    flags: MetadataFlags,
) -> Result<Fields, Failure> {
    let MetadataFlags { scope, grant_type, public, auth_method, jwks_file, others } = flags;
    let method = if public { Some("none".to_owned()) } else { auth_method };
    let said = [
        (ClientField::Name, name.map(Value::from)),
        (ClientField::RedirectUris, list(&redirect_uri)),
        (ClientField::Scopes, list(&scope).map(|_| json!(scope.join(" ")))),
        (ClientField::GrantTypes, list(&grant_type)),
        (ClientField::Method, method.map(Value::from)),
        (ClientField::Jwks, jwks_file.as_deref().map(file::read_keys).transpose()?),
    ];
    let mut fields = others.0;
    fields.extend(said.into_iter().filter_map(|(field, value)| Some((field.name().to_owned(), value?))));
    Ok(fields)
}

fn list(entries: &[String]) -> Option<Value> {
    (!entries.is_empty()).then(|| json!(entries))
}

#[cfg(test)]
mod tests;
