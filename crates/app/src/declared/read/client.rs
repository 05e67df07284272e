//! A client in a file: the fields of a registration, and what else the operator says of it.

use countersign_domain::admission::ClientAccess;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::id::ClientId;
use countersign_domain::registration::RequestedMetadata;
use countersign_usecases::declared::{FileClient, FileSecret, Item};

use super::secret;
use super::{Kind, Node, Reader, Table};
use crate::cli::{NewRule, new_release, new_rule};
use crate::client_command::fields::{self, Fields};
use crate::failure::Failure;

/// The fields of a client: first those that only a file or a command says, then those of a registration.
pub(super) const FIELDS: [&str; 29] = [
    "id",
    "name",
    "access",
    "release",
    "resources",
    "secret_file",
    "secret_env",
    "keep_old",
    "redirect_uris",
    "scope",
    "scopes",
    "grant_types",
    "response_types",
    "subject_type",
    "token_endpoint_auth_method",
    "token_endpoint_auth_signing_alg",
    "jwks",
    "jwks_uri",
    "id_token_signed_response_alg",
    "require_pushed_authorization_requests",
    "dpop_bound_access_tokens",
    "post_logout_redirect_uris",
    "backchannel_logout_uri",
    "client_uri",
    "logo_uri",
    "tos_uri",
    "policy_uri",
    "contacts",
    "application_type",
];

/// Reads a client.
pub(super) fn read(reader: &mut Reader<'_>, mut table: Table<'_>) -> Option<Item<FileClient>> {
    let before = reader.mistakes.len();
    let id = table.text(reader, "id", |text| {
        ClientId::parse(text)
            .ok_or("is not a client's id: a UUID in small letters, as `client list` shows it")
    });
    let rule = table.text(reader, "access", new_rule);
    let release = table.text(reader, "release", new_release);
    let access =
        ClientAccess { rule: rule.and_then(|NewRule(rule)| rule), release: release.unwrap_or_default() };
    let resources = table.fields.contains_key("resources").then(|| {
        let nodes = table.list(reader, "resources");
        nodes.iter().filter_map(|node| text_of(reader, node, "client.resources")).collect()
    });
    let secret = read_secret(reader, &mut table);
    let name = table.text(reader, "name", |text| Ok::<_, String>(text.trim().to_owned()));
    if name.is_none() && !table.spots.contains_key("name") {
        table.missing(reader, "name");
    }
    let requested = read_registration(reader, &table, name.clone());
    if reader.mistakes.len() > before {
        return None;
    }
    let is_derived = id.is_none();
    let id = id.unwrap_or_else(|| ClientId::of_name(&name.unwrap_or_default()));
    Some(table.item(FileClient { id, is_derived, requested, access, resources, secret }))
}

/// Reads the fields that are left, each by itself, so that a wrong type is told at its place.
fn read_registration(reader: &mut Reader<'_>, table: &Table<'_>, name: Option<String>) -> RequestedMetadata {
    let mut all = Fields::new();
    all.extend(name.map(|name| ("client_name".to_owned(), name.into())));
    for (field, node) in &table.fields {
        if let Kind::Other(what) = node.value {
            reader.mistake(node.at, &format!("client.{field}"), format!("cannot be {what}"));
            continue;
        }
        let value = node.as_json();
        let alone = Fields::from_iter([((*field).to_owned(), value.clone())]);
        match fields::requested(alone) {
            Ok(_) => {
                all.insert((*field).to_owned(), value);
            }
            Err(failure) => reader.mistake(node.at, &format!("client.{field}"), rule_of(&failure, field)),
        }
    }
    fields::requested(all).unwrap_or_default()
}

/// What a field must be, without its name.
fn rule_of(failure: &Failure, field: &str) -> String {
    let text = match failure {
        Failure::Usage(text) | Failure::Failed(text) => text.as_str(),
        Failure::Settings(_) | Failure::AnswerIsNo => "cannot be this",
    };
    text.strip_prefix(field).unwrap_or(text).trim_start().to_owned()
}

fn read_secret(reader: &mut Reader<'_>, table: &mut Table<'_>) -> Option<FileSecret> {
    let spots = ["secret_file", "secret_env"].map(|field| table.spots.get(field).cloned());
    let keep_old = table.fields.remove("keep_old").map(|node| (node.at, keep_old(node)));
    let file = std::sync::Arc::clone(&reader.file);
    let from_file = table.text(reader, "secret_file", |path| secret::in_file(&file, path));
    let from_env = table.text(reader, "secret_env", secret::in_environment);
    match (spots, &keep_old) {
        ([Some(_), Some(at)], _) => {
            let what = "secret_file is there too: keep one of them".to_owned();
            let field = "client.secret_env".to_owned();
            reader.mistakes.push(countersign_usecases::declared::Mistake { at, field, what });
        }
        ([None, None], Some((at, _))) => {
            let what = "is about a new secret: it needs secret_file or secret_env".to_owned();
            reader.mistake(*at, "client.keep_old", what);
        }
        ([Some(_), None] | [None, Some(_) | None], _) => {}
    }
    let keep_old = match keep_old {
        Some((_, Some(keep_old))) => keep_old,
        Some((at, None)) => {
            let what = format!("must be a number of seconds, at most {}", KeepOld::LONGEST);
            reader.mistake(at, "client.keep_old", what);
            KeepOld::NOT
        }
        None => KeepOld::NOT,
    };
    from_file.or(from_env).map(|secret| FileSecret { secret, keep_old })
}

fn keep_old(node: &Node) -> Option<KeepOld> {
    match node.value {
        Kind::Number(number) => KeepOld::seconds(u32::try_from(number).ok()?),
        Kind::Text(_) | Kind::Truth(_) | Kind::List(_) | Kind::Table(_) | Kind::Other(_) => None,
    }
}

fn text_of(reader: &mut Reader<'_>, node: &Node, field: &str) -> Option<String> {
    match &node.value {
        Kind::Text(text) => Some(text.clone()),
        Kind::Number(_) | Kind::Truth(_) | Kind::List(_) | Kind::Table(_) | Kind::Other(_) => {
            reader.mistake(node.at, field, "must be a list of strings".to_owned());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_registration_is_a_field_of_a_file_by_the_same_name() {
        for field in fields::CLEARABLE {
            assert!(FIELDS.contains(&field), "{field}");
        }
        assert!(FIELDS.iter().skip(8).all(|field| fields::is_field(field)));
        assert!(!FIELDS.iter().take(8).any(|field| fields::is_field(field)));
    }
}
