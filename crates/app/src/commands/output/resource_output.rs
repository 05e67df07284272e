//! How resources are shown: aligned text for people, JSON for scripts.

use std::io::{self, Write};

use countersign_domain::challenge::iso8601;
use countersign_domain::group::GroupName;
use countersign_domain::resource::{DeclaredResource, OpenTo, Resource, ResourceName};
use serde_json::{Map, Value, json};

use crate::cli::Output;
use crate::output::table;

/// Shows all resources, those in the settings first.
pub(crate) fn list(
    of_settings: &[DeclaredResource],
    declared: &[Resource],
    output: Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            let of_settings = of_settings.iter().map(|DeclaredResource { uri, open_to }| {
                json!({"uri": uri, "open_to": open_to.name(), "declared_in": "settings", "scopes": []})
            });
            let all: Vec<Value> = of_settings.chain(declared.iter().map(object)).collect();
            writeln!(out, "{:#}", Value::Array(all))
        }
        Output::Table if of_settings.is_empty() && declared.is_empty() => writeln!(out, "no resources"),
        Output::Table => {
            let heading = ["RESOURCE", "NAME", "OPEN TO", "SCOPE", "TITLE", "NEEDS"].map(str::to_owned);
            let of_settings = of_settings.iter().map(|resource| first(&resource.uri, None, resource.open_to));
            let rows = of_settings.chain(declared.iter().flat_map(rows));
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }
}

/// Shows one resource.
pub(crate) fn resource(resource: &Resource, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => writeln!(out, "{:#}", object(resource)),
        Output::Table => list(&[], std::slice::from_ref(resource), output, out),
    }
}

/// Says that a resource was deleted.
pub(crate) fn deleted(uri: &str, output: Output, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Table => writeln!(out, "deleted {uri}"),
        Output::Json => writeln!(out, "{}", json!({"uri": uri, "removed": true})),
    }
}

/// A row for the resource alone.
fn first(uri: &str, name: Option<&ResourceName>, open_to: OpenTo) -> [String; 6] {
    let nothing = || "-".to_owned();
    [uri.to_owned(), name_or_dash(name), open_to.name().to_owned(), nothing(), nothing(), nothing()]
}

fn name_or_dash(name: Option<&ResourceName>) -> String {
    name.map_or("-", ResourceName::as_str).to_owned()
}

/// A row for each scope. The resource is in the first.
fn rows(resource: &Resource) -> Vec<[String; 6]> {
    let mut rows = Vec::new();
    let name = name_or_dash(resource.name.as_ref());
    for scope in &resource.scopes {
        let is_first = rows.is_empty();
        let only_first = |text: &str| if is_first { text.to_owned() } else { String::new() };
        rows.push([
            only_first(&resource.uri),
            only_first(&name),
            only_first(resource.open_to.name()),
            scope.name.to_string(),
            scope.title.as_str().to_owned(),
            scope.needs.as_ref().map_or("-", GroupName::as_str).to_owned(),
        ]);
    }
    if rows.is_empty() { vec![first(&resource.uri, resource.name.as_ref(), resource.open_to)] } else { rows }
}

/// The scopes of a resource for scripts.
pub(crate) fn scopes(resource: &Resource) -> Vec<Value> {
    let scopes = resource.scopes.iter().map(|scope| {
        let titles = scope.titles.iter().map(|(language, title)| (language.clone(), json!(title.as_str())));
        let mut shown = json!({
            "name": scope.name.as_str(),
            "title": scope.title.as_str(),
            "titles": Value::Object(titles.collect::<Map<_, _>>()),
        });
        if let Some(group) = &scope.needs {
            shown["needs"] = json!(group.as_str());
        }
        shown
    });
    scopes.collect()
}

fn object(resource: &Resource) -> Value {
    let mut shown = json!({
        "uri": resource.uri,
        "open_to": resource.open_to.name(),
        "declared_in": "database",
        "scopes": scopes(resource),
        "created_at": iso8601(resource.created_at),
    });
    if let Some(name) = &resource.name {
        shown["name"] = json!(name.as_str());
    }
    shown
}
