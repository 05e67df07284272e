//! Rows of any table, read and written.

use countersign_domain::archive::{Column, Row, Table, Value};
use countersign_ports::{ArchiveError, TakeRow};
use countersign_sql::setup::catalog::quoted;
use diesel::connection::DefaultLoadingMode;
use diesel::deserialize::{self, QueryableByName};
use diesel::prelude::*;
use diesel::row::{Field, NamedRow};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::sqlite::{Sqlite, SqliteType};

/// How many values are bound in one statement. SQLite takes at most 32,766.
const BOUND: usize = 8_000;

/// How many rows are inserted by one statement.
const ROWS: usize = 200;

/// Gives each row that this text finds.
pub(super) fn read(
    connection: &mut SqliteConnection,
    text: &str,
    take: &mut TakeRow<'_>,
) -> Result<(), ArchiveError> {
    let rows = diesel::sql_query(text)
        .load_iter::<AnyRow, DefaultLoadingMode>(connection)
        .map_err(ArchiveError::failed("rows could not be read"))?;
    for row in rows {
        let AnyRow(row) = row.map_err(ArchiveError::failed("rows could not be read"))?;
        take(row)?;
    }
    Ok(())
}

/// How many rows of this table one statement takes.
pub(super) fn at_once(table: &Table) -> usize {
    (BOUND / table.columns.len().max(1)).clamp(1, ROWS)
}

/// Inserts rows.
pub(super) fn write(
    connection: &mut SqliteConnection,
    table: &Table,
    rows: &[Row],
) -> Result<(), ArchiveError> {
    let names: Vec<String> = table.columns.iter().map(|Column { name, .. }| quoted(name)).collect();
    let places = format!("({})", vec!["?"; names.len()].join(", "));
    let text = format!(
        "INSERT INTO {} ({}) VALUES {}",
        quoted(&table.name),
        names.join(", "),
        vec![places.as_str(); rows.len()].join(", ")
    );
    let mut insert = diesel::sql_query(text).into_boxed::<Sqlite>();
    for value in rows.iter().flatten() {
        insert = match value {
            Value::Null => insert.bind::<Nullable<BigInt>, _>(None::<i64>),
            Value::Integer(number) => insert.bind::<BigInt, _>(number),
            Value::Text(text) => insert.bind::<Text, _>(text.as_str()),
            Value::Bytes(bytes) => insert.bind::<Binary, _>(bytes.as_slice()),
        };
    }
    insert.execute(connection).map(drop).map_err(ArchiveError::failed("rows could not be stored"))
}

/// A row of whatever columns were asked for.
struct AnyRow(Row);

impl QueryableByName<Sqlite> for AnyRow {
    fn build<'a>(row: &impl NamedRow<'a, Sqlite>) -> deserialize::Result<Self> {
        let mut values = Vec::with_capacity(row.field_count());
        for index in 0..row.field_count() {
            let field = diesel::row::Row::get(row, index).ok_or("a column is missing")?;
            values.push(match field.value() {
                None => Value::Null,
                Some(mut value) => match value.value_type() {
                    None => Value::Null,
                    Some(SqliteType::Text) => Value::Text(value.read_text().to_owned()),
                    Some(SqliteType::Binary) => Value::Bytes(value.read_blob().to_vec()),
                    Some(SqliteType::Long | SqliteType::Integer | SqliteType::SmallInt) => {
                        Value::Integer(value.read_long())
                    }
                    Some(SqliteType::Double | SqliteType::Float) => {
                        return Err("a number that is not whole".into());
                    }
                },
            });
        }
        Ok(Self(values))
    }
}
