//! The lines of a backup.

use std::fmt;

use countersign_domain::archive::{
    Column, CountedTable, FORMAT, Header, Kind, Row, SecretFingerprint, Table, TableSum, Value,
};
use countersign_domain::checkpoint::Digest256;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// What is wrong with a line, as a fragment.
pub(crate) type Wrong = String;

/// The first line of JSON.
#[derive(Serialize, Deserialize)]
struct HeaderLine {
    format: u32,
    version: String,
    schema: String,
    issuer: String,
    made_at: String,
    secret_fingerprint: Option<String>,
    tables: Vec<TableLine>,
}

#[derive(Serialize, Deserialize)]
struct TableLine {
    name: String,
    rows: u64,
    columns: Vec<ColumnLine>,
}

#[derive(Serialize, Deserialize)]
struct ColumnLine {
    name: String,
    kind: String,
}

/// A line that is not a row.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mark {
    /// The rows of this table follow.
    Begin { table: String },
    /// The rows of this table were these.
    End { table: String, rows: u64, sha256: String },
    /// Nothing follows. The hash is that of all lines before.
    Complete { rows: u64, sha256: String },
}

impl Mark {
    pub(crate) fn end_of(sum: &TableSum) -> Self {
        Self::End { table: sum.name.clone(), rows: sum.rows, sha256: sum.hash.to_string() }
    }

    pub(crate) fn parse(line: &[u8]) -> Result<Self, Wrong> {
        serde_json::from_slice(line).map_err(|error| format!("a line cannot be read ({error})"))
    }
}

/// The sum in a line.
pub(crate) fn sum(name: String, rows: u64, sha256: &str) -> Result<TableSum, Wrong> {
    let hash = Digest256::parse(sha256).ok_or_else(|| "a hash cannot be read".to_owned())?;
    Ok(TableSum { name, rows, hash })
}

/// Writes something as one line.
pub(crate) fn write<T: Serialize>(line: &mut Vec<u8>, content: &T) -> Result<(), Wrong> {
    line.clear();
    serde_json::to_writer(&mut *line, content).map_err(|error| error.to_string())?;
    line.push(b'\n');
    Ok(())
}

pub(crate) fn write_header(line: &mut Vec<u8>, header: &Header) -> Result<(), Wrong> {
    let column =
        |column: &Column| ColumnLine { name: column.name.clone(), kind: column.kind.name().to_owned() };
    let table = |counted: &CountedTable| TableLine {
        name: counted.table.name.clone(),
        rows: counted.rows,
        columns: counted.table.columns.iter().map(column).collect(),
    };
    let written = HeaderLine {
        format: FORMAT,
        version: header.version.clone(),
        schema: header.schema.clone(),
        issuer: header.issuer.clone(),
        made_at: header.made_at.format(&Rfc3339).map_err(|error| error.to_string())?,
        secret_fingerprint: header.fingerprint.map(|fingerprint| fingerprint.to_string()),
        tables: header.tables.iter().map(table).collect(),
    };
    write(line, &written)
}

pub(crate) fn read_header(line: &[u8]) -> Result<Header, Wrong> {
    let read: HeaderLine =
        serde_json::from_slice(line).map_err(|error| format!("its header cannot be read ({error})"))?;
    if read.format != FORMAT {
        return Err(format!("its header says format {}", read.format));
    }
    let column = |column: ColumnLine| match Kind::named(&column.kind) {
        Some(kind) => Ok(Column { name: column.name, kind }),
        None => Err(format!("no column is of the kind `{}`", column.kind)),
    };
    let table = |table: TableLine| -> Result<CountedTable, Wrong> {
        let columns = table.columns.into_iter().map(column).collect::<Result<_, Wrong>>()?;
        Ok(CountedTable { table: Table { name: table.name, columns }, rows: table.rows })
    };
    let fingerprint = |text: String| {
        SecretFingerprint::parse(&text).ok_or_else(|| "its secret's fingerprint cannot be read".to_owned())
    };
    Ok(Header {
        version: read.version,
        schema: read.schema,
        issuer: read.issuer,
        made_at: OffsetDateTime::parse(&read.made_at, &Rfc3339)
            .map_err(|_| "its time cannot be read".to_owned())?,
        fingerprint: read.secret_fingerprint.map(fingerprint).transpose()?,
        tables: read.tables.into_iter().map(table).collect::<Result<_, Wrong>>()?,
    })
}

/// Writes a row. Bytes are hexadecimal.
pub(crate) fn write_row(line: &mut Vec<u8>, row: &[Value]) -> Result<(), Wrong> {
    line.clear();
    for (place, value) in row.iter().enumerate() {
        line.push(if place == 0 { b'[' } else { b',' });
        match value {
            Value::Null => line.extend(b"null"),
            Value::Integer(number) => line.extend(number.to_string().as_bytes()),
            Value::Text(text) => {
                serde_json::to_writer(&mut *line, text).map_err(|error| error.to_string())?
            }
            Value::Bytes(bytes) => {
                line.push(b'"');
                line.extend(hex::encode(bytes).as_bytes());
                line.push(b'"');
            }
        }
    }
    if row.is_empty() {
        line.push(b'[');
    }
    line.extend(b"]\n");
    Ok(())
}

/// Reads a row of this table.
pub(crate) fn read_row(line: &[u8], table: &Table) -> Result<Row, Wrong> {
    let at = |wrong: &str| format!("a row of {} {wrong}", table.name);
    let cells: Vec<Cell> =
        serde_json::from_slice(line).map_err(|error| at(&format!("cannot be read ({error})")))?;
    if cells.len() != table.columns.len() {
        return Err(at("has too few or too many values"));
    }
    cells
        .into_iter()
        .zip(&table.columns)
        .map(|(cell, column)| match (cell, column.kind) {
            (Cell::Null, _) => Ok(Value::Null),
            (Cell::Integer(number), Kind::Integer) => Ok(Value::Integer(number)),
            (Cell::Text(text), Kind::Text) => Ok(Value::Text(text)),
            (Cell::Text(text), Kind::Bytes) => {
                hex::decode(text).map(Value::Bytes).map_err(|_| at("has bytes that are not hexadecimal"))
            }
            (Cell::Integer(_) | Cell::Text(_), Kind::Integer | Kind::Text | Kind::Bytes) => {
                Err(at(&format!("has an impossible {}", column.name)))
            }
        })
        .collect()
}

/// A value of a row as JSON has it.
enum Cell {
    Null,
    Integer(i64),
    Text(String),
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl Visitor<'_> for CellVisitor {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a whole number or a text")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Cell, E> {
        Ok(Cell::Null)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Cell, E> {
        Ok(Cell::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Cell, E> {
        i64::try_from(number).map(Cell::Integer).map_err(|_| E::custom("a number is too large"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Cell, E> {
        Ok(Cell::Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Cell, E> {
        Ok(Cell::Text(text))
    }
}
