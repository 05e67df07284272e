//! Which tables an archive has, and what else there is: what our migrations make, compared with what SQLite itself knows.

use countersign_domain::archive::{Column, ForeignPart, Kind, Layout, Table, in_order_of_references};
use countersign_ports::ArchiveError;
use countersign_ports::archive::OF_PROCESSES;
use countersign_sql::setup::migrate::{MIGRATIONS_TABLE, made_here};
use countersign_statement::made::Made;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

/// Tables that only SQLite has. They are made again of what the others hold, or of the clock of the machine.
const OF_SQLITE: [&str; 2] = ["access_tokens", "time_mark"];

/// The column that only SQLite has, with its table: the position of a token's row among the `access_tokens`.
const PLACE: (&str, &str) = ("tokens", "place");

/// How the tables begin that Litestream puts into a database which it replicates.
const LITESTREAM: &str = "_litestream";

/// The tables of an archive, each after those it refers to. Fails if one of them, or one of their columns, is not there.
pub(crate) fn tables(connection: &mut SqliteConnection) -> Result<Vec<Table>, ArchiveError> {
    let made = made_here(connection).map_err(not_listed)?;
    let mut tables: Vec<Table> = Vec::new();
    for (of, ours) in layout(&made).0 {
        let columns = columns(connection, &of).map_err(not_listed)?;
        let mut table = Table { name: of, columns: Vec::new() };
        for name in ours {
            let Some(column) = columns.iter().find(|column| column.name == name) else {
                return Err(ArchiveError::Unsound(format!(
                    "{}.{name} is missing in the database: another program removed it, or the whole table",
                    table.name
                )));
            };
            let kind = kind(&column.declared).ok_or_else(|| {
                ArchiveError::Unsound(format!("{}.{name} has a type that no archive has", table.name))
            })?;
            table.columns.push(Column { name, kind });
        }
        tables.push(table);
    }
    let mut references = Vec::new();
    for table in &tables {
        let referred = referred(connection, &table.name).map_err(not_listed)?;
        references.extend(referred.into_iter().map(|to| (table.name.clone(), to)));
    }
    in_order_of_references(tables, &references)
        .ok_or_else(|| ArchiveError::Unsound("tables refer to each other in a circle".to_owned()))
}

/// The columns of a table's key, in their order.
pub(crate) fn key(connection: &mut SqliteConnection, table: &str) -> Result<Vec<String>, ArchiveError> {
    let key: Vec<NameRow> =
        diesel::sql_query("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk")
            .bind::<Text, _>(table)
            .load(connection)
            .map_err(ArchiveError::failed("tables could not be listed"))?;
    Ok(key.into_iter().map(|row| row.name).collect())
}

/// What an archive has of what migrations made.
pub(crate) fn layout(made: &Made) -> Layout {
    let mut tables = made.tables.clone();
    tables.retain(|table, _| !OF_PROCESSES.contains(&table.as_str()) && !OF_SQLITE.contains(&table.as_str()));
    if let Some(columns) = tables.get_mut(PLACE.0) {
        columns.remove(PLACE.1);
    }
    Layout(tables)
}

/// The tables and columns of ours that are not there.
pub(crate) fn missing(connection: &mut SqliteConnection, made: &Made) -> QueryResult<Vec<String>> {
    let mut missing = Vec::new();
    for (table, ours) in &made.tables {
        let there = columns(connection, table)?;
        if there.is_empty() {
            missing.push(table.clone());
            continue;
        }
        let is_gone = |column: &&String| !there.iter().any(|row| row.name == **column);
        missing.extend(ours.iter().filter(is_gone).map(|column| format!("{table}.{column}")));
    }
    Ok(missing)
}

/// What is not ours. Tables that SQLite itself and Litestream keep are not named.
pub(crate) fn foreign(connection: &mut SqliteConnection, made: &Made) -> QueryResult<Vec<ForeignPart>> {
    let mut parts = Vec::new();
    let named: Vec<SchemaRow> = diesel::sql_query(
        "SELECT type AS kind, name, tbl_name AS of, coalesce(sql, '') AS sql FROM sqlite_schema",
    )
    .load(connection)?;
    for SchemaRow { kind, name, of, .. } in named {
        match kind.as_str() {
            "table" if !is_of_the_database(&name) && !made.tables.contains_key(&name) => {
                parts.extend(
                    referred(connection, &name)?
                        .into_iter()
                        .filter(|to| made.tables.contains_key(to))
                        .map(|table| ForeignPart::Reference { from: name.clone(), table }),
                );
                parts.push(ForeignPart::Table { name });
            }
            "view" if !made.views.contains(&name) => parts.push(ForeignPart::View { name }),
            "trigger" if is_foreign_trigger(made, &of, &name) => {
                parts.push(ForeignPart::Trigger { table: of, name });
            }
            _ => {}
        }
    }
    for (table, ours) in &made.tables {
        for column in columns(connection, table)?.into_iter().filter(|column| !ours.contains(&column.name)) {
            parts.push(ForeignPart::Column {
                table: table.clone(),
                name: column.name,
                is_required: column.is_required != 0,
            });
        }
    }
    parts.sort();
    parts.dedup();
    Ok(parts)
}

/// The foreign triggers on our tables: their names, and the statements that make them.
pub(crate) fn triggers(connection: &mut SqliteConnection, made: &Made) -> QueryResult<Vec<(String, String)>> {
    let triggers: Vec<SchemaRow> = diesel::sql_query(
        "SELECT type AS kind, name, tbl_name AS of, coalesce(sql, '') AS sql FROM sqlite_schema WHERE type = 'trigger'",
    )
    .load(connection)?;
    let foreign = triggers.into_iter().filter(|row| is_foreign_trigger(made, &row.of, &row.name));
    Ok(foreign.map(|row| (row.name, row.sql)).collect())
}

/// The columns of a table that hold values of other programs, by our table.
pub(crate) fn foreign_columns(
    connection: &mut SqliteConnection,
    made: &Made,
) -> QueryResult<Vec<(String, Vec<String>)>> {
    let mut found = Vec::new();
    for (table, ours) in &made.tables {
        let others: Vec<String> = columns(connection, table)?
            .into_iter()
            .filter(|column| !ours.contains(&column.name) && column.is_generated == 0)
            .map(|column| column.name)
            .collect();
        if !others.is_empty() {
            found.push((table.clone(), others));
        }
    }
    Ok(found)
}

fn is_foreign_trigger(made: &Made, table: &str, name: &str) -> bool {
    made.tables.contains_key(table) && made.triggers.get(name).is_none_or(|of| of != table)
}

fn is_of_the_database(table: &str) -> bool {
    table.starts_with("sqlite_") || table.starts_with(LITESTREAM) || table == MIGRATIONS_TABLE
}

/// The tables that this table refers to. A virtual table whose module is not in this program has none.
fn referred(connection: &mut SqliteConnection, table: &str) -> QueryResult<Vec<String>> {
    let found: Vec<NameRow> =
        diesel::sql_query("SELECT DISTINCT \"table\" AS name FROM pragma_foreign_key_list(?)")
            .bind::<Text, _>(table)
            .load(connection)
            .unwrap_or_default();
    Ok(found.into_iter().map(|row| row.name).collect())
}

/// The columns of a table; none if there is no such table.
fn columns(connection: &mut SqliteConnection, table: &str) -> QueryResult<Vec<ColumnRow>> {
    diesel::sql_query(
        "SELECT name, type AS declared, \"notnull\" = 1 AND dflt_value IS NULL AND hidden = 0 AND pk = 0 AS is_required, \
           hidden <> 0 AS is_generated \
         FROM pragma_table_xinfo(?) ORDER BY name",
    )
    .bind::<Text, _>(table)
    .load(connection)
}

fn not_listed(error: diesel::result::Error) -> ArchiveError {
    ArchiveError::failed("tables could not be listed")(error)
}

fn kind(declared: &str) -> Option<Kind> {
    match declared {
        "BIGINT" | "INTEGER" | "BOOLEAN" => Some(Kind::Integer),
        "TEXT" => Some(Kind::Text),
        "BLOB" => Some(Kind::Bytes),
        _ => None,
    }
}

/// A name as SQL takes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[derive(QueryableByName)]
struct ColumnRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    declared: String,
    #[diesel(sql_type = BigInt)]
    is_required: i64,
    #[diesel(sql_type = BigInt)]
    is_generated: i64,
}

#[derive(QueryableByName)]
struct SchemaRow {
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    of: String,
    #[diesel(sql_type = Text)]
    sql: String,
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

    use super::*;

    #[test]
    fn s_14_what_migrations_say_is_what_the_catalog_has_after_each_of_them_up_and_down() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        for script in SqliteConnection::SCRIPTS.iter().chain(SqliteConnection::SCRIPTS.iter().rev()) {
            to(&mut connection, script.version).unwrap();
            let made = made_here(&mut connection).unwrap();
            assert!(made.tables.contains_key("clients"), "{}", script.name);
            assert_eq!(missing(&mut connection, &made).unwrap(), Vec::<String>::new(), "{}", script.name);
            assert_eq!(foreign(&mut connection, &made).unwrap(), [], "{}", script.name);
        }
    }
}
