//! Which tables an archive has, as PostgreSQL itself knows them.

use std::collections::BTreeMap;

use countersign_domain::archive::{Column, Kind, Table, in_order_of_references};
use countersign_ports::ArchiveError;
use countersign_ports::archive::OF_PROCESSES;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::look::MIGRATIONS_TABLE;

/// The types of PostgreSQL that an archive knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
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
pub(super) type Types = BTreeMap<(String, String), Type>;

/// The tables of an archive, each after those it refers to.
pub(super) fn tables(connection: &mut PgConnection) -> Result<Vec<Table>, ArchiveError> {
    let types = types(connection)?;
    let mut tables: Vec<Table> = Vec::new();
    for ((of, name), its) in types {
        let column = Column { name, kind: its.kind() };
        match tables.last_mut() {
            Some(table) if table.name == of => table.columns.push(column),
            Some(_) | None => tables.push(Table { name: of, columns: vec![column] }),
        }
    }
    let references: Vec<ReferenceRow> = diesel::sql_query(
        "SELECT a.relname::text AS of, b.relname::text AS \"to\" FROM pg_constraint c \
         JOIN pg_class a ON a.oid = c.conrelid JOIN pg_class b ON b.oid = c.confrelid \
         WHERE c.contype = 'f' AND a.relnamespace = current_schema()::regnamespace",
    )
    .load(connection)
    .map_err(ArchiveError::failed("tables could not be listed"))?;
    let references: Vec<_> = references.into_iter().map(|row| (row.of, row.to)).collect();
    in_order_of_references(tables, &references)
        .ok_or_else(|| ArchiveError::Unsound("tables refer to each other in a circle".to_owned()))
}

/// The types of all columns of an archive.
pub(super) fn types(connection: &mut PgConnection) -> Result<Types, ArchiveError> {
    let columns: Vec<ColumnRow> = diesel::sql_query(
        "SELECT t.relname::text AS of, a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS declared \
         FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped \
         WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace",
    )
    .load(connection)
    .map_err(ArchiveError::failed("tables could not be listed"))?;
    let archived = columns
        .into_iter()
        .filter(|column| column.of != MIGRATIONS_TABLE && !OF_PROCESSES.contains(&column.of.as_str()));
    archived
        .map(|column| match Type::named(&column.declared) {
            Some(its) => Ok(((column.of, column.name), its)),
            None => Err(ArchiveError::Unsound(format!(
                "{}.{} has a type that no archive has",
                column.of, column.name
            ))),
        })
        .collect()
}

/// The columns of a table's key, in their order.
pub(super) fn key(connection: &mut PgConnection, table: &str) -> Result<Vec<String>, ArchiveError> {
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
