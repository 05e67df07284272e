//! Resources are declared, changed and deleted at the terminal.

use countersign_domain::resource::{Resource, ResourceName};
use countersign_domain::scope::ScopeName;
use countersign_ports::{
    CreateResource, DeclarationChange, DeleteResource, FindUses, IfResourceUnchanged, ResourceCreated,
    ResourceUpdated, ResourceUses, UpdateResource,
};

use crate::columns::{At, BigInt, Moment, Nullable, Text};
use crate::database::Statement;
use crate::ops::events::record_event::{is_recorded, record};
use crate::rows::resource::{ListedRow, ListedSql, ResourceRow, ScopeRow, resources};
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn create_resource(
    db: &mut impl Database,
    command: &CreateResource,
) -> Result<ResourceCreated, SqlError> {
    let resource = &command.resource;
    in_turn(db, |db| {
        if let Some(present) = find(db, &resource.uri)? {
            // Without an event, a repeated command is recognized by what it declares.
            let is_recorded = is_recorded(db, command.event.as_deref())?;
            let is_repeated = is_recorded.unwrap_or(present == *resource);
            return Ok(if is_repeated { ResourceCreated::Stored } else { ResourceCreated::UriTaken });
        }
        if let Some(name) = taken(db, resource)? {
            return Ok(ResourceCreated::ScopeTaken(name));
        }
        StoreResource { resource: ResourceRow::from(resource) }.run(db)?;
        store_scopes(db, resource)?;
        record(db, command.event.as_deref())?;
        Ok(ResourceCreated::Stored)
    })
}

pub fn update_resource(
    db: &mut impl Database,
    command: &UpdateResource,
) -> Result<ResourceUpdated, SqlError> {
    let resource = &command.resource;
    in_turn(db, |db| {
        let Some(present) = find(db, &resource.uri)? else { return Ok(ResourceUpdated::Unknown) };
        if present.is_declared_as(resource) {
            return Ok(ResourceUpdated::Stored);
        }
        if let Some(name) = taken(db, resource)? {
            return Ok(ResourceUpdated::ScopeTaken(name));
        }
        let name = resource.name.as_ref().map(ResourceName::as_str);
        ChangeResource { name, open_to: resource.open_to.name(), uri: &resource.uri }.run(db)?;
        delete_scopes(db, &resource.uri)?;
        store_scopes(db, resource)?;
        record(db, command.event.as_deref())?;
        Ok(ResourceUpdated::Stored)
    })
}

pub fn delete_resource(db: &mut impl Database, command: &DeleteResource) -> Result<bool, SqlError> {
    in_turn(db, |db| {
        delete_scopes(db, &command.uri)?;
        let is_deleted = DeleteResourceRow { uri: &command.uri }.run(db)? == 1;
        if is_deleted {
            record(db, command.event.as_deref())?;
        }
        Ok(is_deleted)
    })
}

/// Guard: the resource is as it was read.
pub fn if_resource_unchanged(
    db: &mut impl Database,
    command: &IfResourceUnchanged,
) -> Result<ResourceUpdated, SqlError> {
    in_turn(db, |db| {
        if find(db, &command.read.uri)?.as_ref() != Some(&command.read) {
            return Ok(ResourceUpdated::Unknown);
        }
        match &command.change {
            DeclarationChange::Update(change) => update_resource(db, change),
            DeclarationChange::Delete(change) => Ok(match delete_resource(db, change)? {
                true => ResourceUpdated::Stored,
                false => ResourceUpdated::Unknown,
            }),
        }
    })
}

/// All resources with their scopes.
pub fn list_resources(db: &mut impl Database) -> Result<Vec<Resource>, SqlError> {
    let rows: Vec<ListedRow> = ListResources {}.all(db)?;
    resources(rows)
}

pub fn find_uses(db: &mut impl Database, question: &FindUses) -> Result<ResourceUses, SqlError> {
    let names: Vec<&str> = question.scopes.iter().map(ScopeName::as_str).collect();
    let count =
        CountUses { names: &names.join(" "), resource: question.resource.as_deref(), now: At(question.now) };
    let (clients, grants): (i64, i64) = count.one(db)?;
    let number = |count: i64| u64::try_from(count).unwrap_or_default();
    Ok(ResourceUses { clients: number(clients), grants: number(grants) })
}

/// Carries out one change of resources after another: among several writers, a name that does not exist yet cannot be
/// locked.
pub fn in_turn<D: Database, T>(
    db: &mut D,
    steps: impl FnOnce(&mut D) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    db.all_or_nothing(|db| {
        if D::HAS_SEVERAL_WRITERS {
            WaitForTurn {}.run(db)?;
        }
        // A statement of its own: it sees what the operation stored that had the lock before.
        Ok(steps(db)?)
    })
}

pub fn find(db: &mut impl Database, uri: &str) -> Result<Option<Resource>, SqlError> {
    Ok(list_resources(db)?.into_iter().find(|resource| resource.uri == uri))
}

/// A scope of this resource whose name another resource has.
fn taken(db: &mut impl Database, resource: &Resource) -> Result<Option<ScopeName>, SqlError> {
    let others = list_resources(db)?.into_iter().filter(|other| other.uri != resource.uri);
    let names: Vec<ScopeName> = others.flat_map(|other| other.scopes).map(|scope| scope.name).collect();
    let taken = resource.scopes.iter().map(|scope| &scope.name).find(|name| names.contains(name));
    Ok(taken.cloned())
}

fn store_scopes(db: &mut impl Database, resource: &Resource) -> Result<(), SqlError> {
    for scope in &resource.scopes {
        StoreScope { scope: ScopeRow::of(resource, scope) }.run(db)?;
    }
    Ok(())
}

fn delete_scopes(db: &mut impl Database, uri: &str) -> Result<(), SqlError> {
    DeleteScopes { uri }.run(db)?;
    Ok(())
}

statement! {
    pub StoreResource<'a> {
        ..resource: ResourceRow<'a>,
    } = "INSERT INTO resources (:resource.columns) VALUES (:resource.values)"
}

statement! {
    pub StoreScope<'a> {
        ..scope: ScopeRow<'a>,
    } = "INSERT INTO resource_scopes (:scope.columns) VALUES (:scope.values)"
}

statement! {
    pub ChangeResource<'a> {
        name: Option<&'a str> as Nullable<Text>,
        open_to: &'a str as Text,
        uri: &'a str as Text,
    } = "UPDATE resources SET name = :name, open_to = :open_to WHERE uri = :uri"
}

statement! {
    /// The number spells "rsrc", so that no other lock is the same. One writer has its turn.
    pub WaitForTurn {},
    sqlite = "SELECT 1",
    postgres = "SELECT pg_advisory_xact_lock(1920168547, 0)"
}

statement! {
    pub ListResources {} -> ListedSql = "\
        SELECT uri, resources.name, open_to, created_at, resource_scopes.name, title, titles, needs \
        FROM resources LEFT JOIN resource_scopes ON resource = uri ORDER BY uri, resource_scopes.name"
}

statement! {
    /// Clients have scopes with spaces between them and resources as lines; grants have their resources as lines
    /// that begin with a word.
    pub CountUses<'a> {
        names: &'a str as Text,
        resource: Option<&'a str> as Nullable<Text>,
        now: At as Moment,
    } -> (BigInt, BigInt),
    sqlite = "\
        WITH named AS MATERIALIZED ( \
          SELECT ' ' || value || ' ' AS name FROM json_each('[\"' || replace(:names, ' ', '\",\"') || '\"]') WHERE value <> '' \
        ) \
        SELECT (SELECT count(*) FROM clients WHERE EXISTS (SELECT 1 FROM named WHERE instr(' ' || scopes || ' ', name) > 0) \
            OR coalesce(instr(char(10) || resources || char(10), char(10) || :resource || char(10)), 0) > 0), \
          (SELECT count(*) FROM grants WHERE revoked_at IS NULL AND forget_after > :now AND ( \
            EXISTS (SELECT 1 FROM named WHERE instr(' ' || scope || ' ', name) > 0) \
            OR coalesce(instr(char(10) || particulars || char(10), char(10) || 'resource ' || :resource || char(10)), 0) > 0))",
    postgres = "\
        WITH named AS MATERIALIZED (SELECT ' ' || given || ' ' AS name FROM unnest(string_to_array(:names, ' ')) AS given) \
        SELECT (SELECT count(*) FROM clients WHERE EXISTS (SELECT FROM named WHERE strpos(' ' || scopes || ' ', name) > 0) \
            OR coalesce(strpos(chr(10) || resources || chr(10), chr(10) || :resource || chr(10)), 0) > 0), \
          (SELECT count(*) FROM grants WHERE revoked_at IS NULL AND forget_after > :now AND ( \
            EXISTS (SELECT FROM named WHERE strpos(' ' || scope || ' ', name) > 0) \
            OR coalesce(strpos(chr(10) || particulars || chr(10), chr(10) || 'resource ' || :resource || chr(10)), 0) > 0))"
}

statement! {
    pub DeleteResourceRow<'a> { uri: &'a str as Text } = "DELETE FROM resources WHERE uri = :uri"
}

statement! {
    pub DeleteScopes<'a> { uri: &'a str as Text } = "DELETE FROM resource_scopes WHERE resource = :uri"
}
