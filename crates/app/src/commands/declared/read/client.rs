//! A client in a file: the fields of a registration, and what else the operator says of it.

use std::sync::LazyLock;

use countersign_domain::admission::ClientAccess;
use countersign_domain::client_field::ClientField;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::id::ClientId;
use countersign_domain::registration::RequestedMetadata;
use countersign_operators::declared::{FileClient, FileSecret, Item};

use super::secret;
use super::{Node, NodeKind, Reader, Table};
use crate::cli::{self, NewRule, new_release, new_rule};
use crate::commands::client::fields::{self, Fields};
use crate::failure::Failure;

/// The fields that only a file or a command says.
const OWN_FIELDS: [&str; 8] =
    ["id", "name", "access", "release", "resources", "secret_file", "secret_env", "keep_old"];

/// The fields of a client: those, and the registration's but for `client_name`, which is `name` here.
pub(super) static FIELDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let registered = ClientField::ALL.iter().filter(|field| **field != ClientField::Name);
    OWN_FIELDS.into_iter().chain(registered.map(|field| field.name())).collect()
});

/// Reads a client.
pub(super) fn read(reader: &mut Reader<'_>, mut table: Table<'_>) -> Option<Item<FileClient>> {
    let before = reader.mistakes.len();
    let id = table.text(reader, "id", |text| {
        ClientId::parse(text).ok_or(
            "is not a client's id: a UUID in small letters, as `client list` shows it, and not the nil UUID",
        )
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

/// Reads the fields that are left, each by itself, so that a wrong type is reported at its place.
fn read_registration(reader: &mut Reader<'_>, table: &Table<'_>, name: Option<String>) -> RequestedMetadata {
    let mut all = Fields::new();
    all.extend(name.map(|name| ("client_name".to_owned(), name.into())));
    for (field, node) in &table.fields {
        if let NodeKind::Other(what) = node.value {
            reader.mistake(node.at, &format!("client.{field}"), format!("cannot be {what}"));
            continue;
        }
        let value = node.as_json();
        let alone = Fields::from_iter([((*field).to_owned(), value.clone())]);
        match fields::requested(&alone) {
            Ok(_) => {
                all.insert((*field).to_owned(), value);
            }
            Err(failure) => reader.mistake(node.at, &format!("client.{field}"), rule_of(&failure, field)),
        }
    }
    fields::requested(&all).unwrap_or_default()
}

/// What a field must be, without its name.
fn rule_of(failure: &Failure, field: &str) -> String {
    let text = match failure {
        Failure::Usage(text) | Failure::Failed(text) => text.as_str(),
        Failure::Settings(_) | Failure::AnswerIsNo | Failure::Unread => "cannot be this",
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
            reader.mistakes.push(countersign_operators::declared::Mistake { at, field, what });
        }
        ([None, None], Some((at, _))) => {
            let what = "is about a new secret: it needs secret_file or secret_env".to_owned();
            reader.mistake(*at, "client.keep_old", what);
        }
        ([Some(_), None] | [None, Some(_) | None], _) => {}
    }
    let keep_old = match keep_old {
        Some((_, Ok(keep_old))) => keep_old,
        Some((at, Err(what))) => {
            reader.mistake(at, "client.keep_old", what);
            KeepOld::USUAL
        }
        None => KeepOld::USUAL,
    };
    from_file.or(from_env).map(|secret| FileSecret { secret, keep_old })
}

fn keep_old(node: &Node) -> Result<KeepOld, String> {
    match &node.value {
        NodeKind::Number(number) => cli::keep_old(&number.to_string()),
        NodeKind::Text(text) => cli::keep_old(text),
        NodeKind::Truth(_) | NodeKind::List(_) | NodeKind::Table(_) | NodeKind::Other(_) => {
            Err("must be a time such as \"1d\", or a number of seconds".to_owned())
        }
    }
}

fn text_of(reader: &mut Reader<'_>, node: &Node, field: &str) -> Option<String> {
    match &node.value {
        NodeKind::Text(text) => Some(text.clone()),
        NodeKind::Number(_)
        | NodeKind::Truth(_)
        | NodeKind::List(_)
        | NodeKind::Table(_)
        | NodeKind::Other(_) => {
            reader.mistake(node.at, field, "must be a list of strings".to_owned());
            None
        }
    }
}
