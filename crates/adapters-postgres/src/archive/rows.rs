//! Rows of any table, read and written.
//!
//! An archive has times as microseconds since 1970, truths as 0 and 1, and days as Julian day numbers. PostgreSQL
//! counts times and days from the year 2000. Its `-infinity`, "before all times", is 0 in an archive.

use countersign_domain::archive::{Column, Row, Table, Value};
use countersign_ports::{ArchiveError, TakeRow};
use countersign_sql::setup::catalog::{Types, key, quoted};
use diesel::data_types::{PgDate, PgTimestamp};
use diesel::deserialize::{self, QueryableByName};
use diesel::pg::{Pg, PgRowByRowLoadingMode};
use diesel::prelude::*;
use diesel::row::{Field, NamedRow};
use diesel::sql_types::{Array, BigInt, Binary, Bool, Date, Integer, Nullable, Text, Timestamptz, Uuid};

/// From 1970 to 2000, in microseconds.
const MICROS_TO_2000: i64 = 946_684_800_000_000;

/// The Julian day number of the first day of 2000.
const JULIAN_2000: i32 = 2_451_545;

/// How many rows are inserted by one statement.
pub(super) const ROWS: usize = 1_000;

/// Gives each row that this text finds.
pub(super) fn read(
    connection: &mut PgConnection,
    text: &str,
    take: &mut TakeRow<'_>,
) -> Result<(), ArchiveError> {
    let rows = diesel::sql_query(text)
        .load_iter::<AnyRow, PgRowByRowLoadingMode>(connection)
        .map_err(ArchiveError::failed("rows could not be read"))?;
    for row in rows {
        let AnyRow(row) = row.map_err(ArchiveError::failed("rows could not be read"))?;
        take(row)?;
    }
    Ok(())
}

/// Inserts rows: one array for each column. Rows of a table that keeps its rows until the end take the place of those with the same key.
pub(super) fn write(
    connection: &mut PgConnection,
    types: &Types,
    table: &Table,
    is_kept: bool,
    rows: &[Row],
) -> Result<(), ArchiveError> {
    let names: Vec<String> = table.columns.iter().map(|Column { name, .. }| quoted(name)).collect();
    let places: Vec<String> = (1..=names.len()).map(|place| format!("${place}")).collect();
    let mut text = format!(
        "INSERT INTO {} ({}) SELECT * FROM unnest({})",
        quoted(&table.name),
        names.join(", "),
        places.join(", ")
    );
    if is_kept {
        let key: Vec<String> = key(connection, &table.name)?.iter().map(|name| quoted(name)).collect();
        let set: Vec<String> = names.iter().map(|name| format!("{name} = excluded.{name}")).collect();
        text.push_str(&format!(" ON CONFLICT ({}) DO UPDATE SET {}", key.join(", "), set.join(", ")));
    }
    let mut insert = diesel::sql_query(text).into_boxed::<Pg>();
    for (place, column) in table.columns.iter().enumerate() {
        let unknown = || ArchiveError::Unsound(format!("there is no {}.{} here", table.name, column.name));
        let wrong =
            || ArchiveError::Unsound(format!("{}.{} has an impossible value", table.name, column.name));
        let its = types.get(&(table.name.clone(), column.name.clone())).ok_or_else(unknown)?;
        let values = rows.iter().map(|row| row.get(place).unwrap_or(&Value::Null));
        macro_rules! array {
            ($sql:ty, $convert:expr) => {{
                let values: Option<Vec<_>> = values.map($convert).collect();
                insert.bind::<Array<Nullable<$sql>>, _>(values.ok_or_else(wrong)?)
            }};
        }
        insert = match its.as_str() {
            "boolean" => array!(Bool, |value| optional(integer(value)?, |number| match number {
                0 => Some(false),
                1 => Some(true),
                _ => None,
            })),
            "bytea" => array!(Binary, bytes),
            "date" => array!(Date, |value| optional(integer(value)?, |number| {
                i32::try_from(number).ok()?.checked_sub(JULIAN_2000).map(PgDate)
            })),
            "uuid" => {
                array!(Uuid, |value| optional(bytes(value)?, |bytes| uuid::Uuid::from_slice(bytes).ok()))
            }
            "integer" => {
                array!(Integer, |value| optional(integer(value)?, |number| i32::try_from(number).ok()))
            }
            "bigint" => array!(BigInt, integer),
            "text" => array!(Text, text_of),
            "timestamp with time zone" => array!(Timestamptz, |value| optional(integer(value)?, |number| {
                number.checked_sub(MICROS_TO_2000).map(PgTimestamp)
            })),
            _ => return Err(unknown()),
        };
    }
    insert.execute(connection).map(drop).map_err(ArchiveError::failed("rows could not be stored"))
}

/// `None` if the value is of another kind, as in the functions below.
fn integer(value: &Value) -> Option<Option<i64>> {
    match value {
        Value::Null => Some(None),
        Value::Integer(number) => Some(Some(*number)),
        Value::Text(_) | Value::Bytes(_) => None,
    }
}

fn bytes(value: &Value) -> Option<Option<&[u8]>> {
    match value {
        Value::Null => Some(None),
        Value::Bytes(bytes) => Some(Some(bytes)),
        Value::Text(_) | Value::Integer(_) => None,
    }
}

fn text_of(value: &Value) -> Option<Option<&str>> {
    match value {
        Value::Null => Some(None),
        Value::Text(text) => Some(Some(text)),
        Value::Bytes(_) | Value::Integer(_) => None,
    }
}

fn optional<A, B>(value: Option<A>, convert: impl FnOnce(A) -> Option<B>) -> Option<Option<B>> {
    match value {
        None => Some(None),
        Some(value) => convert(value).map(Some),
    }
}

/// A row of whatever columns were asked for.
struct AnyRow(Row);

impl QueryableByName<Pg> for AnyRow {
    fn build<'a>(row: &impl NamedRow<'a, Pg>) -> deserialize::Result<Self> {
        let mut values = Vec::with_capacity(row.field_count());
        for index in 0..row.field_count() {
            let field = diesel::row::Row::get(row, index).ok_or("a column is missing")?;
            values.push(match field.value() {
                None => Value::Null,
                Some(value) => read_value(value.get_oid().get(), value.as_bytes())?,
            });
        }
        Ok(Self(values))
    }
}

/// Reads a value as PostgreSQL sends it.
fn read_value(oid: u32, sent: &[u8]) -> deserialize::Result<Value> {
    Ok(match oid {
        oid::BOOL => Value::Integer(i64::from(sent.first().is_some_and(|byte| *byte != 0))),
        oid::BYTEA | oid::UUID => Value::Bytes(sent.to_vec()),
        oid::INT8 => Value::Integer(i64::from_be_bytes(sent.try_into()?)),
        oid::INT4 => Value::Integer(i64::from(i32::from_be_bytes(sent.try_into()?))),
        oid::TEXT => Value::Text(std::str::from_utf8(sent)?.to_owned()),
        oid::DATE => {
            let day = i32::from_be_bytes(sent.try_into()?).checked_add(JULIAN_2000);
            Value::Integer(i64::from(day.ok_or("a day is out of range")?))
        }
        oid::TIMESTAMPTZ => match i64::from_be_bytes(sent.try_into()?) {
            i64::MIN => Value::Integer(0),
            micros => Value::Integer(micros.checked_add(MICROS_TO_2000).ok_or("a time is out of range")?),
        },
        _ => return Err(format!("type {oid} is in no archive").into()),
    })
}

/// The numbers of PostgreSQL's types.
mod oid {
    pub(super) const BOOL: u32 = 16;
    pub(super) const BYTEA: u32 = 17;
    pub(super) const INT8: u32 = 20;
    pub(super) const INT4: u32 = 23;
    pub(super) const TEXT: u32 = 25;
    pub(super) const DATE: u32 = 1082;
    pub(super) const TIMESTAMPTZ: u32 = 1184;
    pub(super) const UUID: u32 = 2950;
}
