//! Which tables an archive has, as SQLite itself knows them.

use countersign_domain::archive::{Column, Kind, Table, in_order_of_references};
use countersign_ports::ArchiveError;
use countersign_ports::archive::OF_PROCESSES;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::look::MIGRATIONS_TABLE;

/// Tables that only SQLite has. They are made again of what the others hold, or of the clock of the machine.
const OF_SQLITE: [&str; 2] = ["access_tokens", "time_mark"];

/// The column that only SQLite has, with its table: where the row of a token stands among the `access_tokens`.
const PLACE: (&str, &str) = ("tokens", "place");

/// How the tables begin that Litestream puts into a database which it replicates.
const LITESTREAM: &str = "_litestream";

/// The tables of an archive, each after those it refers to.
pub(super) fn tables(connection: &mut SqliteConnection) -> Result<Vec<Table>, ArchiveError> {
    let columns: Vec<ColumnRow> = diesel::sql_query(
        "SELECT t.name AS of, c.name AS name, c.type AS declared \
         FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY t.name, c.name",
    )
    .load(connection)
    .map_err(ArchiveError::failed("tables could not be listed"))?;
    let mut tables: Vec<Table> = Vec::new();
    for column in columns.into_iter().filter(is_archived) {
        let kind = kind(&column.declared).ok_or_else(|| {
            ArchiveError::Unsound(format!("{}.{} has a type that no archive has", column.of, column.name))
        })?;
        let described = Column { name: column.name, kind };
        match tables.last_mut() {
            Some(table) if table.name == column.of => table.columns.push(described),
            Some(_) | None => tables.push(Table { name: column.of, columns: vec![described] }),
        }
    }
    let references: Vec<ReferenceRow> = diesel::sql_query(
        "SELECT t.name AS of, f.\"table\" AS \"to\" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f \
         WHERE t.type = 'table'",
    )
    .load(connection)
    .map_err(ArchiveError::failed("tables could not be listed"))?;
    let references: Vec<_> = references.into_iter().map(|row| (row.of, row.to)).collect();
    in_order_of_references(tables, &references)
        .ok_or_else(|| ArchiveError::Unsound("tables refer to each other in a circle".to_owned()))
}

/// The columns of a table's key, in their order.
pub(super) fn key(connection: &mut SqliteConnection, table: &str) -> Result<Vec<String>, ArchiveError> {
    let key: Vec<NameRow> =
        diesel::sql_query("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk")
            .bind::<Text, _>(table)
            .load(connection)
            .map_err(ArchiveError::failed("tables could not be listed"))?;
    Ok(key.into_iter().map(|row| row.name).collect())
}

fn is_archived(column: &ColumnRow) -> bool {
    let of = column.of.as_str();
    !of.starts_with("sqlite_")
        && !of.starts_with(LITESTREAM)
        && of != MIGRATIONS_TABLE
        && !OF_PROCESSES.contains(&of)
        && !OF_SQLITE.contains(&of)
        && (of, column.name.as_str()) != PLACE
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
pub(super) fn quoted(name: &str) -> String {
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
pub(super) struct NumberRow {
    /// The number.
    #[diesel(sql_type = BigInt)]
    pub(super) number: i64,
}
