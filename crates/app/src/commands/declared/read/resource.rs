//! A resource in a file, with its scopes.

use std::collections::BTreeMap;

use countersign_domain::group::GroupName;
use countersign_domain::resource::{OpenTo, ResourceName, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_http_actix::page_languages;
use countersign_operators::declared::{FileResource, Item};

use super::{Entry, Node, NodeKind, Reader, Table};

/// The fields of a resource.
pub(super) const FIELDS: [&str; 4] = ["uri", "name", "open_to", "scopes"];
/// The fields of a scope.
const OF_SCOPE: [&str; 4] = ["name", "title", "titles", "needs"];

/// Reads a resource.
pub(super) fn read(reader: &mut Reader<'_>, mut table: Table<'_>) -> Option<Item<FileResource>> {
    let before = reader.mistakes.len();
    let uri = table.text(reader, "uri", |text| Ok::<_, String>(text.to_owned()));
    if !table.spots.contains_key("uri") {
        table.missing(reader, "uri");
    }
    let name = table.text(reader, "name", ResourceName::parse);
    let open_to =
        table.text(reader, "open_to", |text| OpenTo::parse(text).ok_or("must be \"everyone\" or \"named\""));
    let mut scopes: Vec<ResourceScope> = Vec::new();
    for node in table.list(reader, "scopes") {
        let Some(scope) = scope(reader, &node) else { continue };
        if scopes.iter().any(|before| before.name == scope.name) {
            reader.mistake(node.at, "resource.scopes.name", format!("{} is named twice", scope.name));
            continue;
        }
        table.spots.insert(format!("scopes {}", scope.name), reader.spot(node.at));
        scopes.push(scope);
    }
    scopes.sort_by(|one, other| one.name.cmp(&other.name));
    if reader.mistakes.len() > before {
        return None;
    }
    let open_to = open_to.unwrap_or(OpenTo::Everyone);
    Some(table.item(FileResource { uri: uri?, name, open_to, scopes }))
}

fn scope(reader: &mut Reader<'_>, node: &Node) -> Option<ResourceScope> {
    let mut table = reader.table(node, "resource.scopes", &OF_SCOPE)?;
    let name = table.text(reader, "name", ScopeName::parse);
    if !table.spots.contains_key("name") {
        table.missing(reader, "name");
    }
    let title = table.text(reader, "title", ScopeTitle::parse);
    let needs = table.text(reader, "needs", GroupName::parse);
    let titles = table.fields.remove("titles").map(|node| titles(reader, node)).unwrap_or_default();
    let name = name?;
    let title = title.unwrap_or_else(|| ScopeTitle::of_name(&name));
    Some(ResourceScope { name, title, titles, needs })
}

fn titles(reader: &mut Reader<'_>, node: &Node) -> BTreeMap<String, ScopeTitle> {
    const FIELD: &str = "resource.scopes.titles";
    let NodeKind::Table(entries) = &node.value else {
        reader.mistake(node.at, FIELD, "must be a table of languages".to_owned());
        return BTreeMap::new();
    };
    let mut titles = BTreeMap::new();
    for Entry { at, key, node } in entries {
        let field = format!("{FIELD}.{key}");
        if !page_languages().any(|known| known == key) {
            let known = page_languages().collect::<Vec<_>>().join(", ");
            reader.mistake(*at, &field, format!("the languages of the pages are {known}"));
            continue;
        }
        let title = match &node.value {
            NodeKind::Text(text) => ScopeTitle::parse(text).map_err(|rejected| rejected.to_string()),
            NodeKind::Number(_)
            | NodeKind::Truth(_)
            | NodeKind::List(_)
            | NodeKind::Table(_)
            | NodeKind::Other(_) => Err("must be a string".to_owned()),
        };
        match title {
            Ok(title) => {
                titles.insert(key.clone(), title);
            }
            Err(what) => reader.mistake(node.at, &field, what),
        }
    }
    titles
}
