//! Which tables an archive has, and what else there is: what our migrations make, compared with what the database itself knows.

use std::collections::BTreeMap;

use countersign_domain::archive::{Column, ForeignPart, Kind, Layout, Table, in_order_of_references};
use countersign_ports::ArchiveError;
use countersign_ports::archive::OF_PROCESSES;
use countersign_statement::made::Made;
use diesel::prelude::{QueryResult, Queryable};
use diesel::result::Error;

use super::migrate::{MIGRATIONS_TABLE, Migrated, made_here};
use crate::Database;
use crate::columns::{Bool, Text};
use crate::statement::statement;

/// The types of columns as they were declared, by table and column.
pub type Types = BTreeMap<(String, String), String>;

/// The tables of an archive, each after those it refers to.
pub fn tables<D: Migrated>(db: &mut D) -> Result<Vec<Table>, ArchiveError> {
    let mut tables: Vec<Table> = Vec::new();
    for ((of, name), declared) in types(db)? {
        let kind = kind(&declared)
            .ok_or_else(|| ArchiveError::Unsound(format!("{of}.{name} has a type that no archive has")))?;
        let column = Column { name, kind };
        match tables.last_mut() {
            Some(table) if table.name == of => table.columns.push(column),
            Some(_) | None => tables.push(Table { name: of, columns: vec![column] }),
        }
    }
    in_order_of_references(tables, &references(db).map_err(not_listed)?)
        .ok_or_else(|| ArchiveError::Unsound("tables refer to each other in a circle".to_owned()))
}

/// The types of all columns of an archive. Fails if one of them is not there.
pub fn types<D: Migrated>(db: &mut D) -> Result<Types, ArchiveError> {
    let layout = layout::<D>(&made_here(db).map_err(not_listed)?);
    let there = columns(db).map_err(not_listed)?.into_iter();
    let mut there: Types = there.map(|column| ((column.of, column.name), column.declared)).collect();
    let mut types = Types::new();
    for (table, columns) in layout.0 {
        for column in columns {
            let of_column = (table.clone(), column);
            let Some(declared) = there.remove(&of_column) else {
                return Err(ArchiveError::Unsound(format!(
                    "{table}.{} is missing in the database: another program removed it, or the whole table",
                    of_column.1
                )));
            };
            types.insert(of_column, declared);
        }
    }
    Ok(types)
}

/// What an archive has of what migrations made.
pub fn layout<D: Migrated>(made: &Made) -> Layout {
    let mut tables = made.tables.clone();
    tables.retain(|table, _| {
        !OF_PROCESSES.contains(&table.as_str()) && !D::TABLES_OF_ITS_OWN.contains(&table.as_str())
    });
    for (table, columns) in &mut tables {
        columns.retain(|column| !D::COLUMNS_OF_ITS_OWN.contains(&(table.as_str(), column.as_str())));
    }
    Layout(tables)
}

/// The tables and columns of ours that are not there.
pub fn absent(db: &mut impl Database, made: &Made) -> QueryResult<Vec<String>> {
    let there = columns(db)?;
    let has = |table: &str, column: &str| there.iter().any(|row| row.of == table && row.name == column);
    let absent = made.tables.iter().flat_map(|(table, columns)| {
        if !there.iter().any(|row| row.of == *table) {
            return vec![table.clone()];
        }
        columns
            .iter()
            .filter(|column| !has(table, column))
            .map(|column| format!("{table}.{column}"))
            .collect()
    });
    Ok(absent.collect())
}

/// What is not ours. What SQLite itself, Litestream and Diesel keep is not named.
pub fn foreign(db: &mut impl Database, made: &Made) -> QueryResult<Vec<ForeignPart>> {
    let mut parts = Vec::new();
    let named: Vec<(String, String, String)> = db.load(Named {})?;
    for (kind, name, of) in named {
        match kind.as_str() {
            "table" if !made.tables.contains_key(&name) && name != MIGRATIONS_TABLE => {
                parts.push(ForeignPart::Table { name });
            }
            "view" if !made.views.contains(&name) => parts.push(ForeignPart::View { name }),
            "trigger" if is_foreign_trigger(made, &of, &name) => {
                parts.push(ForeignPart::Trigger { table: of, name });
            }
            "extension" => parts.push(ForeignPart::Extension { name }),
            _ => {}
        }
    }
    parts.extend(
        foreign_columns(db, made)?.into_iter().map(|ColumnRow { of, name, is_required, .. }| {
            ForeignPart::Column { table: of, name, is_required }
        }),
    );
    let references = references(db)?.into_iter();
    parts.extend(
        references
            .filter(|(from, to)| made.tables.contains_key(to) && !made.tables.contains_key(from))
            .map(|(from, table)| ForeignPart::Reference { from, table }),
    );
    parts.sort();
    parts.dedup();
    Ok(parts)
}

/// Is this a trigger on one of our tables that our migrations did not make?
pub fn is_foreign_trigger(made: &Made, table: &str, name: &str) -> bool {
    made.tables.contains_key(table) && made.triggers.get(name).is_none_or(|of| of != table)
}

/// The columns of our tables that our migrations did not make.
pub fn foreign_columns(db: &mut impl Database, made: &Made) -> QueryResult<Vec<ColumnRow>> {
    let mut columns = columns(db)?;
    columns.retain(|row| made.tables.get(&row.of).is_some_and(|ours| !ours.contains(&row.name)));
    Ok(columns)
}

/// The references between tables: the table that refers, in whatever schema, and the one that it refers to.
pub fn references(db: &mut impl Database) -> QueryResult<Vec<(String, String)>> {
    db.load(References {})
}

/// The columns of a table's key, in their order.
pub fn key(db: &mut impl Database, table: &str) -> Result<Vec<String>, ArchiveError> {
    db.load(KeyOf { table }).map_err(not_listed)
}

/// A name as SQL takes it.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A column of a table.
#[derive(Clone, Debug, Queryable)]
pub struct ColumnRow {
    /// Its table.
    pub of: String,
    /// Its name.
    pub name: String,
    declared: String,
    is_required: bool,
    /// Is its value made of other columns?
    pub is_generated: bool,
}

/// All columns of all tables.
fn columns(db: &mut impl Database) -> QueryResult<Vec<ColumnRow>> {
    db.load(EveryColumn {})
}

/// What an archive has of a type of SQLite, in capital letters, or of PostgreSQL.
fn kind(declared: &str) -> Option<Kind> {
    match declared {
        "BIGINT" | "INTEGER" | "BOOLEAN" => Some(Kind::Integer),
        "boolean" | "date" | "integer" | "bigint" | "timestamp with time zone" => Some(Kind::Integer),
        "TEXT" | "text" => Some(Kind::Text),
        "BLOB" | "bytea" | "uuid" => Some(Kind::Bytes),
        _ => None,
    }
}

fn not_listed(error: Error) -> ArchiveError {
    ArchiveError::failed("tables could not be listed")(error)
}

statement! {
    /// What there is beside columns and references: its kind, its name, and its table. What an extension of PostgreSQL made is named by the
    /// extension.
    Named {} -> (Text, Text, Text),
    sqlite = "\
        SELECT type, name, tbl_name FROM sqlite_schema \
        WHERE type <> 'table' OR substr(name, 1, 7) <> 'sqlite_' AND substr(name, 1, 11) <> '_litestream'",
    postgres = "\
        SELECT CASE WHEN relkind IN ('v', 'm') THEN 'view' ELSE 'table' END, CAST(relname AS TEXT), CAST(relname AS TEXT) \
        FROM pg_class \
        WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p', 'f', 'v', 'm') \
          AND NOT EXISTS (SELECT FROM pg_depend \
            WHERE classid = CAST('pg_class' AS regclass) AND objid = pg_class.oid AND deptype = 'e') \
        UNION ALL \
        SELECT 'trigger', CAST(t.tgname AS TEXT), CAST(c.relname AS TEXT) \
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
        WHERE NOT t.tgisinternal AND c.relnamespace = CAST(current_schema() AS regnamespace) \
        UNION ALL \
        SELECT 'extension', CAST(extname AS TEXT), CAST(extname AS TEXT) FROM pg_extension \
        WHERE extnamespace = CAST(current_schema() AS regnamespace)"
}

statement! {
    /// A virtual table of SQLite has no root page, and its module may not be in this program.
    EveryColumn {} -> (Text, Text, Text, Bool, Bool),
    sqlite = "\
        SELECT t.name, c.name, c.type, c.\"notnull\" = 1 AND c.dflt_value IS NULL AND c.hidden = 0 AND c.pk = 0, c.hidden <> 0 \
        FROM sqlite_schema AS t CROSS JOIN pragma_table_xinfo(t.name) AS c \
        WHERE t.type = 'table' AND t.rootpage > 0 ORDER BY 1, 2",
    postgres = "\
        SELECT CAST(t.relname AS TEXT), CAST(a.attname AS TEXT), format_type(a.atttypid, a.atttypmod), \
          a.attnotnull AND NOT a.atthasdef AND a.attidentity = '', a.attgenerated <> '' \
        FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped \
        WHERE t.relkind = 'r' AND t.relnamespace = CAST(current_schema() AS regnamespace)"
}

statement! {
    References {} -> (Text, Text),
    sqlite = "\
        SELECT DISTINCT t.name, r.\"table\" FROM sqlite_schema AS t CROSS JOIN pragma_foreign_key_list(t.name) AS r \
        WHERE t.type = 'table' AND t.rootpage > 0",
    postgres = "\
        SELECT DISTINCT CASE WHEN a.relnamespace = b.relnamespace THEN CAST(a.relname AS TEXT) \
            ELSE CAST(CAST(a.oid AS regclass) AS TEXT) END, \
          CAST(b.relname AS TEXT) \
        FROM pg_constraint c JOIN pg_class a ON a.oid = c.conrelid JOIN pg_class b ON b.oid = c.confrelid \
        WHERE c.contype = 'f' AND b.relnamespace = CAST(current_schema() AS regnamespace)"
}

statement! {
    KeyOf<'a> { table: &'a str as Text } -> Text,
    sqlite = "SELECT name FROM pragma_table_info(:table) WHERE pk > 0 ORDER BY pk",
    postgres = "\
        SELECT CAST(a.attname AS TEXT) FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary \
        CROSS JOIN LATERAL unnest(CAST(i.indkey AS int[])) WITH ORDINALITY AS k (number, place) \
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number \
        WHERE t.relname = :table AND t.relnamespace = CAST(current_schema() AS regnamespace) ORDER BY k.place"
}
