//! Which tables an archive has, and what else there is: what our migrations make, compared with what PostgreSQL itself knows.

use std::collections::BTreeMap;

use countersign_domain::archive::{Column, ForeignPart, Kind, Layout, Table, in_order_of_references};
use countersign_ports::ArchiveError;
use countersign_ports::archive::OF_PROCESSES;
use countersign_sql::setup::migrate::{MIGRATIONS_TABLE, made_here};
use countersign_statement::made::Made;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};

/// The types of PostgreSQL that an archive knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Boolean,
    Bytes,
    Day,
    Id,
    Integer,
    Long,
    Text,
    Time,
}

impl Type {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "boolean" => Self::Boolean,
            "bytea" => Self::Bytes,
            "date" => Self::Day,
            "uuid" => Self::Id,
            "integer" => Self::Integer,
            "bigint" => Self::Long,
            "text" => Self::Text,
            "timestamp with time zone" => Self::Time,
            _ => return None,
        })
    }

    const fn kind(self) -> Kind {
        match self {
            Self::Boolean | Self::Day | Self::Integer | Self::Long | Self::Time => Kind::Integer,
            Self::Bytes | Self::Id => Kind::Bytes,
            Self::Text => Kind::Text,
        }
    }
}

/// The types of columns, by table and column.
pub(crate) type Types = BTreeMap<(String, String), Type>;

/// The tables of an archive, each after those it refers to.
pub(crate) fn tables(connection: &mut PgConnection) -> Result<Vec<Table>, ArchiveError> {
    let types = types(connection)?;
    let mut tables: Vec<Table> = Vec::new();
    for ((of, name), its) in types {
        let column = Column { name, kind: its.kind() };
        match tables.last_mut() {
            Some(table) if table.name == of => table.columns.push(column),
            Some(_) | None => tables.push(Table { name: of, columns: vec![column] }),
        }
    }
    let references = own_references(connection)?;
    in_order_of_references(tables, &references)
        .ok_or_else(|| ArchiveError::Unsound("tables refer to each other in a circle".to_owned()))
}

/// The references between tables of the schema: the table that refers, and the one that it refers to.
pub(crate) fn own_references(connection: &mut PgConnection) -> Result<Vec<(String, String)>, ArchiveError> {
    let references: Vec<ReferenceRow> = diesel::sql_query(
        "SELECT a.relname::text AS of, b.relname::text AS \"to\" FROM pg_constraint c \
         JOIN pg_class a ON a.oid = c.conrelid JOIN pg_class b ON b.oid = c.confrelid \
         WHERE c.contype = 'f' AND a.relnamespace = current_schema()::regnamespace \
           AND b.relnamespace = current_schema()::regnamespace",
    )
    .load(connection)
    .map_err(not_listed)?;
    Ok(references.into_iter().map(|row| (row.of, row.to)).collect())
}

/// The types of all columns of an archive. Fails if one of them is not there.
pub(crate) fn types(connection: &mut PgConnection) -> Result<Types, ArchiveError> {
    let layout = layout(&made_here(connection).map_err(not_listed)?);
    let mut types = Types::new();
    for ColumnRow { of, name, declared, .. } in columns(connection).map_err(not_listed)? {
        if !layout.columns(&of).is_some_and(|columns| columns.contains(&name)) {
            continue;
        }
        let its = Type::named(&declared)
            .ok_or_else(|| ArchiveError::Unsound(format!("{of}.{name} has a type that no archive has")))?;
        types.insert((of, name), its);
    }
    for (table, columns) in &layout.0 {
        let missing = columns.iter().find(|column| !types.contains_key(&(table.clone(), (*column).clone())));
        if let Some(column) = missing {
            return Err(ArchiveError::Unsound(format!(
                "{table}.{column} is missing in the database: another program removed it, or the whole table"
            )));
        }
    }
    Ok(types)
}

/// What an archive has of it.
pub(crate) fn layout(made: &Made) -> Layout {
    let mut tables = made.tables.clone();
    tables.retain(|table, _| !OF_PROCESSES.contains(&table.as_str()));
    Layout(tables)
}

/// The tables and columns of ours that are not there.
pub(crate) fn missing(connection: &mut PgConnection, made: &Made) -> QueryResult<Vec<String>> {
    let there = columns(connection)?;
    let has = |table: &str, column: &str| there.iter().any(|row| row.of == table && row.name == column);
    let missing = made.tables.iter().flat_map(|(table, columns)| {
        if !there.iter().any(|row| row.of == *table) {
            return vec![table.clone()];
        }
        columns
            .iter()
            .filter(|column| !has(table, column))
            .map(|column| format!("{table}.{column}"))
            .collect()
    });
    Ok(missing.collect())
}

/// What is not ours.
pub(crate) fn foreign(connection: &mut PgConnection, made: &Made) -> QueryResult<Vec<ForeignPart>> {
    let mut parts = Vec::new();
    // What an extension made is named by the extension.
    let relations: Vec<NameOfRow> = diesel::sql_query(
        "SELECT relname::text AS name, relkind::text AS of FROM pg_class \
         WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'f', 'v', 'm') \
           AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')",
    )
    .load(connection)?;
    for NameOfRow { name, of } in relations {
        if of == "v" || of == "m" {
            if !made.views.contains(&name) {
                parts.push(ForeignPart::View { name });
            }
        } else if !made.tables.contains_key(&name) && name != MIGRATIONS_TABLE {
            parts.push(ForeignPart::Table { name });
        }
    }
    for ColumnRow { of, name, is_required, .. } in columns(connection)? {
        if made.tables.get(&of).is_some_and(|columns| !columns.contains(&name)) {
            parts.push(ForeignPart::Column { table: of, name, is_required });
        }
    }
    let triggers = triggers(connection, made)?;
    parts.extend(
        triggers.into_iter().map(|trigger| ForeignPart::Trigger { table: trigger.of, name: trigger.name }),
    );
    parts.extend(
        references(connection, made)?.into_iter().map(|(from, table)| ForeignPart::Reference { from, table }),
    );
    let extensions: Vec<NameRow> = diesel::sql_query(
        "SELECT extname::text AS name FROM pg_extension WHERE extnamespace = current_schema()::regnamespace",
    )
    .load(connection)?;
    parts.extend(extensions.into_iter().map(|row| ForeignPart::Extension { name: row.name }));
    parts.sort();
    parts.dedup();
    Ok(parts)
}

/// The foreign triggers on our tables.
pub(crate) fn triggers(connection: &mut PgConnection, made: &Made) -> QueryResult<Vec<TriggerRow>> {
    let is_foreign =
        |row: &TriggerRow| made.tables.contains_key(&row.of) && made.triggers.get(&row.name) != Some(&row.of);
    Ok(every_trigger(connection)?.into_iter().filter(is_foreign).collect())
}

/// Our triggers.
pub(crate) fn own_triggers(connection: &mut PgConnection, made: &Made) -> QueryResult<Vec<TriggerRow>> {
    let is_ours = |row: &TriggerRow| made.triggers.get(&row.name) == Some(&row.of);
    Ok(every_trigger(connection)?.into_iter().filter(is_ours).collect())
}

fn every_trigger(connection: &mut PgConnection) -> QueryResult<Vec<TriggerRow>> {
    diesel::sql_query(
        "SELECT t.tgname::text AS name, c.relname::text AS of, t.tgenabled::text AS enabled, \
           pg_has_role(c.relowner, 'USAGE') AS is_owner \
         FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
         WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace ORDER BY 2, 1",
    )
    .load(connection)
}

/// The references of foreign tables to ours: the foreign table, in whatever schema, and ours.
fn references(connection: &mut PgConnection, made: &Made) -> QueryResult<Vec<(String, String)>> {
    let references: Vec<ReferenceRow> = diesel::sql_query(
        "SELECT DISTINCT CASE WHEN a.relnamespace = b.relnamespace THEN a.relname::text ELSE a.oid::regclass::text END AS of, \
           b.relname::text AS \"to\" \
         FROM pg_constraint c JOIN pg_class a ON a.oid = c.conrelid JOIN pg_class b ON b.oid = c.confrelid \
         WHERE c.contype = 'f' AND b.relnamespace = current_schema()::regnamespace",
    )
    .load(connection)?;
    let foreign = references
        .into_iter()
        .filter(|row| made.tables.contains_key(&row.to) && !made.tables.contains_key(&row.of))
        .map(|row| (row.of, row.to));
    Ok(foreign.collect())
}

/// All columns of all tables.
fn columns(connection: &mut PgConnection) -> QueryResult<Vec<ColumnRow>> {
    diesel::sql_query(
        "SELECT t.relname::text AS of, a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS declared, \
           a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS is_required \
         FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped \
         WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace",
    )
    .load(connection)
}

fn not_listed(error: diesel::result::Error) -> ArchiveError {
    ArchiveError::failed("tables could not be listed")(error)
}

/// The columns of a table's key, in their order.
pub(crate) fn key(connection: &mut PgConnection, table: &str) -> Result<Vec<String>, ArchiveError> {
    let key: Vec<NameRow> = diesel::sql_query(
        "SELECT a.attname::text AS name FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary \
         CROSS JOIN LATERAL unnest(i.indkey::int[]) WITH ORDINALITY AS k (number, place) \
         JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number \
         WHERE t.relname = $1 AND t.relnamespace = current_schema()::regnamespace ORDER BY k.place",
    )
    .bind::<Text, _>(table)
    .load(connection)
    .map_err(ArchiveError::failed("tables could not be listed"))?;
    Ok(key.into_iter().map(|row| row.name).collect())
}

/// A name as SQL takes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[derive(QueryableByName)]
struct ColumnRow {
    #[diesel(sql_type = Text)]
    of: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    declared: String,
    #[diesel(sql_type = Bool)]
    is_required: bool,
}

#[derive(QueryableByName)]
struct NameOfRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    of: String,
}

/// A trigger.
#[derive(QueryableByName)]
pub(crate) struct TriggerRow {
    #[diesel(sql_type = Text)]
    pub(crate) name: String,
    /// Its table.
    #[diesel(sql_type = Text)]
    pub(crate) of: String,
    /// When it fires, as PostgreSQL writes it: `O`, `D` (never), `R` or `A`.
    #[diesel(sql_type = Text)]
    pub(crate) enabled: String,
    /// May this role switch it off?
    #[diesel(sql_type = Bool)]
    pub(crate) is_owner: bool,
}

#[derive(QueryableByName)]
struct ReferenceRow {
    #[diesel(sql_type = Text)]
    of: String,
    #[diesel(sql_type = Text)]
    to: String,
}

#[derive(QueryableByName)]
struct NameRow {
    #[diesel(sql_type = Text)]
    name: String,
}

/// A number.
#[derive(QueryableByName)]
pub(crate) struct NumberRow {
    /// The number.
    #[diesel(sql_type = BigInt)]
    pub(crate) number: i64,
}

#[cfg(test)]
mod tests {
    use countersign_sql::setup::migrate::{Migrated, to};
    use countersign_test_postgres::Cluster;

    use super::*;
    use crate::connect::connection::ConnectionUrl;

    #[test]
    fn s_14_what_migrations_say_is_what_the_catalog_has_after_each_of_them_up_and_down() {
        let url = ConnectionUrl::parse(&Cluster::shared().create_database()).unwrap();
        let mut connection = url.open().unwrap();
        for script in PgConnection::SCRIPTS.iter().chain(PgConnection::SCRIPTS.iter().rev()) {
            to(&mut connection, script.version).unwrap();
            let made = made_here(&mut connection).unwrap();
            assert!(made.tables.contains_key("clients"), "{}", script.name);
            assert_eq!(missing(&mut connection, &made).unwrap(), Vec::<String>::new(), "{}", script.name);
            assert_eq!(foreign(&mut connection, &made).unwrap(), [], "{}", script.name);
        }
    }
}
