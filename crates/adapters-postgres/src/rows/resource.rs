//! Rows of `resources` and `resource_scopes`.

use std::collections::BTreeMap;

use countersign_domain::group::GroupName;
use countersign_domain::resource::{OpenTo, Resource, ResourceScope, ScopeTitle};
use countersign_domain::scope::{ScopeName, ScopeSet};
use countersign_ports::StoreError;
use diesel::sql_types::{Nullable, Text, Timestamptz};
use time::OffsetDateTime;

use super::field::{from_lines, lines};
use crate::statement::row;

row! {
    /// A resource without its scopes.
    ResourceRow<'a> {
        uri: &'a str as Text,
        open_to: &'a str as Text,
        created_at: OffsetDateTime as Timestamptz,
    }
}

row! {
    /// A scope of a resource. The titles in other languages are lines, each after its language.
    ScopeRow<'a> {
        name: &'a str as Text,
        resource: &'a str as Text,
        title: &'a str as Text,
        titles: String as Text,
        needs: Option<&'a str> as Nullable<Text>,
    }
}

impl<'a> From<&'a Resource> for ResourceRow<'a> {
    fn from(resource: &'a Resource) -> Self {
        Self { uri: &resource.uri, open_to: resource.open_to.name(), created_at: resource.created_at }
    }
}

impl<'a> ScopeRow<'a> {
    pub(crate) fn of(resource: &'a Resource, scope: &'a ResourceScope) -> Self {
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
pub(crate) type ListedSql =
    (Text, Text, Timestamptz, Nullable<Text>, Nullable<Text>, Nullable<Text>, Nullable<Text>);

/// A resource with one of its scopes, or with none if it has none: its URI, whom it is open to, its time; the
/// scope's name, its titles, and the group that it needs.
pub(crate) type ListedRow =
    (String, String, OffsetDateTime, Option<String>, Option<String>, Option<String>, Option<String>);

/// Puts the resources together from rows that are sorted by URI.
pub(crate) fn resources(rows: Vec<ListedRow>) -> Result<Vec<Resource>, StoreError> {
    let mut resources: Vec<Resource> = Vec::new();
    for (uri, open_to, created_at, name, title, titles, needs) in rows {
        let scope = match (name, title) {
            (Some(name), Some(title)) => Some(scope(&name, &title, titles.as_deref(), needs.as_deref())?),
            (None, _) | (_, None) => None,
        };
        if let Some(resource) = resources.last_mut().filter(|resource| resource.uri == uri) {
            resource.scopes.extend(scope);
            continue;
        }
        let impossible = |column| StoreError::Corrupt { table: "resources", column, row: uri.clone() };
        resources.push(Resource {
            open_to: OpenTo::parse(&open_to).ok_or_else(|| impossible("open_to"))?,
            created_at,
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
) -> Result<ResourceScope, StoreError> {
    let name = stored.to_owned();
    let impossible = |column| StoreError::Corrupt { table: "resource_scopes", column, row: name.clone() };
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
