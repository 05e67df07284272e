//! Resources are declared, changed and deleted at the terminal.

use countersign_domain::resource::Resource;
use countersign_domain::scope::ScopeName;
use countersign_ports::{
    CreateResource, DeleteResource, FindUses, ResourceCreated, ResourceUpdated, ResourceUses, UpdateResource,
};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::rows::resource::{ListedRow, ListedSql, ResourceRow, ScopeRow, resources};
use crate::schema::{resource_scopes, resources as table};
use crate::statement::statement;

/// Guards: the URI is free, and so are the names. They are checked before anything is written, because a refusal
/// does not roll back. The single writer keeps them true until the commit.
pub(crate) fn create_resource(
    connection: &mut SqliteConnection,
    command: &CreateResource,
) -> Result<ResourceCreated, SqliteError> {
    let resource = &command.resource;
    if let Some(present) = find(connection, &resource.uri)? {
        return Ok(if present == *resource { ResourceCreated::Stored } else { ResourceCreated::UriTaken });
    }
    if let Some(name) = taken(connection, resource)? {
        return Ok(ResourceCreated::ScopeTaken(name));
    }
    StoreResource { resource: ResourceRow::from(resource) }.execute(connection)?;
    store_scopes(connection, resource)?;
    record(connection, command.event.as_deref())?;
    Ok(ResourceCreated::Stored)
}

/// Guards: the resource exists, and no other resource has one of the names.
pub(crate) fn update_resource(
    connection: &mut SqliteConnection,
    command: &UpdateResource,
) -> Result<ResourceUpdated, SqliteError> {
    let resource = &command.resource;
    if find(connection, &resource.uri)?.is_none() {
        return Ok(ResourceUpdated::Unknown);
    }
    if let Some(name) = taken(connection, resource)? {
        return Ok(ResourceUpdated::ScopeTaken(name));
    }
    OpenResource { open_to: resource.open_to.name(), uri: &resource.uri }.execute(connection)?;
    delete_scopes(connection, &resource.uri)?;
    store_scopes(connection, resource)?;
    record(connection, command.event.as_deref())?;
    Ok(ResourceUpdated::Stored)
}

/// Returns whether the resource existed.
pub(crate) fn delete_resource(
    connection: &mut SqliteConnection,
    command: &DeleteResource,
) -> Result<bool, SqliteError> {
    delete_scopes(connection, &command.uri)?;
    if diesel::delete(table::table.find(&command.uri)).execute(connection)? == 0 {
        return Ok(false);
    }
    record(connection, command.event.as_deref())?;
    Ok(true)
}

/// All resources with their scopes.
pub(crate) fn list_resources(connection: &mut SqliteConnection) -> Result<Vec<Resource>, SqliteError> {
    let rows: Vec<ListedRow> = ListResources {}.load(connection)?;
    resources(rows)
}

pub(crate) fn find_uses(
    connection: &mut SqliteConnection,
    question: &FindUses,
) -> Result<ResourceUses, SqliteError> {
    let names: Vec<&str> = question.scopes.iter().map(ScopeName::as_str).collect();
    let count = CountUses {
        names: &names.join(" "),
        resource: question.resource.as_deref(),
        now: micros(question.now),
    };
    let (clients, grants): (i64, i64) = count.get_result(connection)?;
    let number = |count: i64| u64::try_from(count).unwrap_or_default();
    Ok(ResourceUses { clients: number(clients), grants: number(grants) })
}

pub(super) fn find(connection: &mut SqliteConnection, uri: &str) -> Result<Option<Resource>, SqliteError> {
    Ok(list_resources(connection)?.into_iter().find(|resource| resource.uri == uri))
}

/// A scope of this resource whose name another resource has.
fn taken(connection: &mut SqliteConnection, resource: &Resource) -> Result<Option<ScopeName>, SqliteError> {
    let others = list_resources(connection)?.into_iter().filter(|other| other.uri != resource.uri);
    let names: Vec<ScopeName> = others.flat_map(|other| other.scopes).map(|scope| scope.name).collect();
    let taken = resource.scopes.iter().map(|scope| &scope.name).find(|name| names.contains(name));
    Ok(taken.cloned())
}

fn store_scopes(connection: &mut SqliteConnection, resource: &Resource) -> Result<(), SqliteError> {
    for scope in &resource.scopes {
        StoreScope { scope: ScopeRow::of(resource, scope) }.execute(connection)?;
    }
    Ok(())
}

fn delete_scopes(connection: &mut SqliteConnection, uri: &str) -> Result<(), SqliteError> {
    diesel::delete(resource_scopes::table.filter(resource_scopes::resource.eq(uri))).execute(connection)?;
    Ok(())
}

statement! {
    StoreResource<'a> {
        ..resource: ResourceRow<'a>,
    } = "INSERT INTO resources (:resource.columns) VALUES (:resource.values)"
}

statement! {
    StoreScope<'a> {
        ..scope: ScopeRow<'a>,
    } = "INSERT INTO resource_scopes (:scope.columns) VALUES (:scope.values)"
}

statement! {
    OpenResource<'a> {
        open_to: &'a str as Text,
        uri: &'a str as Text,
    } = "UPDATE resources SET open_to = :open_to WHERE uri = :uri"
}

statement! {
    ListResources {} -> ListedSql = "\
        SELECT uri, open_to, created_at, name, title, titles, needs \
        FROM resources LEFT JOIN resource_scopes ON resource = uri ORDER BY uri, name"
}

statement! {
    /// Clients have scopes with spaces between them and resources as lines; grants have their resources as lines
    /// that begin with a word.
    CountUses<'a> {
        names: &'a str as Text,
        resource: Option<&'a str> as Nullable<Text>,
        now: i64 as BigInt,
    } -> (BigInt, BigInt) = "\
        WITH named AS MATERIALIZED ( \
          SELECT ' ' || value || ' ' AS name FROM json_each('[\"' || replace(:names, ' ', '\",\"') || '\"]') WHERE value <> '' \
        ) \
        SELECT (SELECT count(*) FROM clients WHERE EXISTS (SELECT 1 FROM named WHERE instr(' ' || scopes || ' ', name) > 0) \
            OR coalesce(instr(char(10) || resources || char(10), char(10) || :resource || char(10)), 0) > 0), \
          (SELECT count(*) FROM grants WHERE revoked_at IS NULL AND forget_after > :now AND ( \
            EXISTS (SELECT 1 FROM named WHERE instr(' ' || scope || ' ', name) > 0) \
            OR coalesce(instr(char(10) || particulars || char(10), char(10) || 'resource ' || :resource || char(10)), 0) > 0))"
}
