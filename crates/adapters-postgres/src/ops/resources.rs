//! Resources are declared, changed and deleted at the terminal.

use countersign_domain::resource::Resource;
use countersign_domain::scope::ScopeName;
use countersign_ports::{
    CreateResource, DeleteResource, FindUses, ResourceCreated, ResourceUpdated, ResourceUses, UpdateResource,
};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
use time::OffsetDateTime;

use super::record_event::record;
use super::transaction::{Undone, all_or_nothing};
use crate::error::OpResult;
use crate::rows::resource::{ListedRow, ListedSql, ResourceRow, ScopeRow, resources};
use crate::schema::{resource_scopes, resources as table};
use crate::statement::statement;

pub(crate) fn create_resource(
    connection: &mut PgConnection,
    command: &CreateResource,
) -> OpResult<ResourceCreated> {
    let resource = &command.resource;
    in_turn(connection, |connection| {
        if let Some(present) = find(connection, &resource.uri)? {
            return Ok(if present == *resource {
                ResourceCreated::Stored
            } else {
                ResourceCreated::UriTaken
            });
        }
        if let Some(name) = taken(connection, resource)? {
            return Ok(ResourceCreated::ScopeTaken(name));
        }
        StoreResource { resource: ResourceRow::from(resource) }.execute(connection)?;
        store_scopes(connection, resource)?;
        record(connection, command.event.as_deref())?;
        Ok(ResourceCreated::Stored)
    })
}

pub(crate) fn update_resource(
    connection: &mut PgConnection,
    command: &UpdateResource,
) -> OpResult<ResourceUpdated> {
    let resource = &command.resource;
    in_turn(connection, |connection| {
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
    })
}

pub(crate) fn delete_resource(connection: &mut PgConnection, command: &DeleteResource) -> OpResult<bool> {
    in_turn(connection, |connection| {
        delete_scopes(connection, &command.uri)?;
        let is_deleted = diesel::delete(table::table.find(&command.uri)).execute(connection)? == 1;
        if is_deleted {
            record(connection, command.event.as_deref())?;
        }
        Ok(is_deleted)
    })
}

pub(crate) fn list_resources(connection: &mut PgConnection) -> OpResult<Vec<Resource>> {
    let rows: Vec<ListedRow> = ListResources {}.load(connection)?;
    Ok(resources(rows)?)
}

pub(crate) fn find_uses(connection: &mut PgConnection, question: &FindUses) -> OpResult<ResourceUses> {
    let count = CountUses {
        names: question.scopes.iter().map(ScopeName::as_str).collect(),
        resource: question.resource.as_deref(),
        now: question.now,
    };
    let (clients, grants): (i64, i64) = count.get_result(connection)?;
    let number = |count: i64| u64::try_from(count).unwrap_or_default();
    Ok(ResourceUses { clients: number(clients), grants: number(grants) })
}

/// Carries out one change of resources after another: a name that does not exist yet cannot be locked.
pub(super) fn in_turn<T>(
    connection: &mut PgConnection,
    steps: impl FnOnce(&mut PgConnection) -> OpResult<T>,
) -> OpResult<T> {
    all_or_nothing(connection, |connection| {
        WaitForTurn {}.execute(connection)?;
        // A statement of its own: it sees what the operation stored that had the lock before.
        steps(connection).map_err(Undone::Failed)
    })
}

pub(super) fn find(connection: &mut PgConnection, uri: &str) -> OpResult<Option<Resource>> {
    Ok(list_resources(connection)?.into_iter().find(|resource| resource.uri == uri))
}

/// A scope of this resource whose name another resource has.
fn taken(connection: &mut PgConnection, resource: &Resource) -> OpResult<Option<ScopeName>> {
    let others = list_resources(connection)?.into_iter().filter(|other| other.uri != resource.uri);
    let names: Vec<ScopeName> = others.flat_map(|other| other.scopes).map(|scope| scope.name).collect();
    let taken = resource.scopes.iter().map(|scope| &scope.name).find(|name| names.contains(name));
    Ok(taken.cloned())
}

fn store_scopes(connection: &mut PgConnection, resource: &Resource) -> OpResult<()> {
    for scope in &resource.scopes {
        StoreScope { scope: ScopeRow::of(resource, scope) }.execute(connection)?;
    }
    Ok(())
}

fn delete_scopes(connection: &mut PgConnection, uri: &str) -> OpResult<()> {
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
    /// The number spells "rsrc", so that no other lock is the same.
    WaitForTurn {} = "SELECT pg_advisory_xact_lock(1920168547, 0)"
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
        names: Vec<&'a str> as Array<Text>,
        resource: Option<&'a str> as Nullable<Text>,
        now: OffsetDateTime as Timestamptz,
    } -> (BigInt, BigInt) = "\
        WITH named AS MATERIALIZED (SELECT ' ' || given || ' ' AS name FROM unnest(:names) AS given) \
        SELECT (SELECT count(*) FROM clients WHERE EXISTS (SELECT FROM named WHERE strpos(' ' || scopes || ' ', name) > 0) \
            OR coalesce(strpos(chr(10) || resources || chr(10), chr(10) || :resource || chr(10)), 0) > 0), \
          (SELECT count(*) FROM grants WHERE revoked_at IS NULL AND forget_after > :now AND ( \
            EXISTS (SELECT FROM named WHERE strpos(' ' || scope || ' ', name) > 0) \
            OR coalesce(strpos(chr(10) || particulars || chr(10), chr(10) || 'resource ' || :resource || chr(10)), 0) > 0))"
}
