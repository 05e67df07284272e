//! Rows of `resources` and `resource_scopes`.

use std::collections::BTreeMap;

use countersign_domain::group::GroupName;
use countersign_domain::resource::{OpenTo, Resource, ResourceName, ResourceScope, ScopeTitle};
use countersign_domain::scope::{ScopeName, ScopeSet};

use crate::SqlError;
use crate::columns::{At, Moment, Nullable, Row, StoredTime, Text, from_lines, lines};
use crate::statement::row;

row! {
    /// A resource without its scopes.
    pub ResourceRow<'a> {
        uri: &'a str as Text,
        name: Option<&'a str> as Nullable<Text>,
        open_to: &'a str as Text,
        created_at: At as Moment,
    }
}

row! {
    /// A scope of a resource. The titles in other languages are lines, each after its language.
    pub ScopeRow<'a> {
        name: &'a str as Text,
        resource: &'a str as Text,
        title: &'a str as Text,
        titles: String as Text,
        needs: Option<&'a str> as Nullable<Text>,
    }
}

impl<'a> From<&'a Resource> for ResourceRow<'a> {
    fn from(resource: &'a Resource) -> Self {
        Self {
            uri: &resource.uri,
            name: resource.name.as_ref().map(ResourceName::as_str),
            open_to: resource.open_to.name(),
            created_at: At(resource.created_at),
        }
    }
}

impl<'a> ScopeRow<'a> {
    /// The row of a scope.
    pub fn of(resource: &'a Resource, scope: &'a ResourceScope) -> Self {
        let titles = scope.titles.iter().map(|(language, title)| format!("{language} {}", title.as_str()));
        let titles: Vec<String> = titles.collect();
        Self {
            name: scope.name.as_str(),
            resource: &resource.uri,
            title: scope.title.as_str(),
            titles: lines(titles.iter().map(String::as_str)),
            needs: scope.needs.as_ref().map(GroupName::as_str),
        }
    }
}

/// The SQL types of [`ListedRow`].
pub type ListedSql =
    (Text, Nullable<Text>, Text, Moment, Nullable<Text>, Nullable<Text>, Nullable<Text>, Nullable<Text>);

/// A resource with one of its scopes, or with none if it has none: its URI, its name, who it is open to, its
/// time; the scope's name, its titles, and the group that it needs.
pub type ListedRow = (
    String,
    Option<String>,
    String,
    StoredTime,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
);

/// Puts the resources together from rows that are sorted by URI.
pub fn resources(rows: Vec<ListedRow>) -> Result<Vec<Resource>, SqlError> {
    let mut resources: Vec<Resource> = Vec::new();
    for (uri, name, open_to, created_at, of_scope, title, titles, needs) in rows {
        let scope = match (of_scope, title) {
            (Some(of_scope), Some(title)) => {
                Some(scope(&of_scope, &title, titles.as_deref(), needs.as_deref())?)
            }
            (None, _) | (_, None) => None,
        };
        if let Some(resource) = resources.last_mut().filter(|resource| resource.uri == uri) {
            resource.scopes.extend(scope);
            continue;
        }
        let at = Row { table: "resources", key: &uri };
        resources.push(Resource {
            // One that today's rules refuse counts as none: people then read the URI alone.
            name: name.and_then(|name| ResourceName::parse(&name).ok()),
            open_to: OpenTo::parse(&open_to).ok_or_else(|| at.impossible("open_to"))?,
            created_at: at.time("created_at", created_at)?,
            scopes: scope.into_iter().collect(),
            uri,
        });
    }
    Ok(resources)
}

/// A title that today's rules refuse counts as none: people then read the name.
fn scope(
    stored: &str,
    title: &str,
    titles: Option<&str>,
    needs: Option<&str>,
) -> Result<ResourceScope, SqlError> {
    let impossible = |column| Row { table: "resource_scopes", key: &stored }.impossible(column);
    let name = name_of(stored).ok_or_else(|| impossible("name"))?;
    let in_language = |line: &str| {
        let (language, title) = line.split_once(' ')?;
        Some((language.to_owned(), ScopeTitle::parse(title).ok()?))
    };
    let titles: BTreeMap<_, _> = from_lines(titles.unwrap_or_default()).filter_map(in_language).collect();
    let needs = needs.map(GroupName::parse).transpose().map_err(|_| impossible("needs"))?;
    let title = ScopeTitle::parse(title).unwrap_or_else(|_| ScopeTitle::of_name(&name));
    Ok(ResourceScope { name, title, titles, needs })
}

/// The name of a scope as it was declared, even if it is reserved since then.
fn name_of(stored: &str) -> Option<ScopeName> {
    match ScopeSet::from_stored(stored).ok()?.own() {
        [name] => Some(name.clone()),
        _ => None,
    }
}
