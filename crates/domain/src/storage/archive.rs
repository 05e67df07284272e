//! Archives: everything that a database holds, as a sequence of tables of rows, whichever database it is.
//!
//! A backup is an archive in a file. Here are the values, the sums that tell two archives apart, and what makes
//! an archive fit for a database; `countersign-archive` has the bytes of the file, the storage adapters have the
//! rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::checkpoint::Digest256;
use crate::event::EventKind;

/// The format that this release writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers. Times are microseconds since 1970, truths are 0 and 1, days are Julian day numbers.
    Integer,
    /// Unicode text.
    Text,
    /// Bytes. Ids are 16 of them.
    Bytes,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Integer, Self::Text, Self::Bytes];

    /// Its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Text => "text",
            Self::Bytes => "bytes",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// Can it stand in a column of this kind?
    pub const fn fits(&self, kind: Kind) -> bool {
        match self {
            Self::Null => true,
            Self::Integer(_) => matches!(kind, Kind::Integer),
            Self::Text(_) => matches!(kind, Kind::Text),
            Self::Bytes(_) => matches!(kind, Kind::Bytes),
        }
    }
}

/// The values of one row, in the order of the table's columns.
pub type Row = Vec<Value>;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, the same in every database.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// A table, without its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name, the same in every database.
    pub name: String,
    /// Its columns, by name.
    pub columns: Vec<Column>,
}

impl Table {
    /// Does every value fit its column, and has every column its value?
    pub fn takes(&self, row: &[Value]) -> bool {
        row.len() == self.columns.len()
            && row.iter().zip(&self.columns).all(|(value, column)| value.fits(column.kind))
    }
}

/// The tables and columns that our migrations create, as far as an archive has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout(pub BTreeMap<String, BTreeSet<String>>);

impl Layout {
    /// The columns of this table; `None` if the table is not ours.
    pub fn columns(&self, table: &str) -> Option<&BTreeSet<String>> {
        self.0.get(table)
    }
}

/// Something in a database, or in an older backup, that no migration of ours created. It belongs to another program, so it is named and left
/// alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ForeignPart {
    /// A table of any kind.
    Table {
        /// Its name.
        name: String,
    },
    /// A column of one of our tables.
    Column {
        /// Our table.
        table: String,
        /// Its name.
        name: String,
        /// Does every row need a value in it, which we do not have?
        is_required: bool,
    },
    /// A view.
    View {
        /// Its name.
        name: String,
    },
    /// A trigger on one of our tables.
    Trigger {
        /// Our table.
        table: String,
        /// Its name.
        name: String,
    },
    /// A reference of a foreign table to one of ours.
    Reference {
        /// The foreign table.
        from: String,
        /// Our table.
        table: String,
    },
    /// An extension of the database that put itself beside our tables.
    Extension {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for ForeignPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table { name } => write!(f, "table {name}"),
            Self::Column { table, name, is_required: _ } => write!(f, "column {table}.{name}"),
            Self::View { name } => write!(f, "view {name}"),
            Self::Trigger { table, name } => write!(f, "trigger {name} on {table}"),
            Self::Reference { from, table } => write!(f, "reference of {from} to {table}"),
            Self::Extension { name } => write!(f, "extension {name}"),
        }
    }
}

/// Which rows of a table a server writes by its own start, before anyone used it. They do not count as data:
/// a database that has no other rows counts as empty, and a restore replaces them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnStart {
    /// Events of these kinds, by the column `kind`.
    Kinds(&'static [EventKind]),
    /// All of them.
    Every,
    /// None.
    None,
}

impl OwnStart {
    /// Which rows of this table.
    pub fn of(table: &str) -> Self {
        match table {
            "events" | "fresh_events" => Self::Kinds(EventKind::OF_START),
            "signing_keys" | "checkpoints" | "event_pushes" | "delayed_events" | "hour_counts" => Self::Every,
            _ => Self::None,
        }
    }
}

/// Sorts tables, so that a table comes after all tables to which it refers. Each reference is the name of the table that
/// refers, and of the one that it refers to. `None` if they refer to each other in a circle.
pub fn in_order_of_references(tables: Vec<Table>, references: &[(String, String)]) -> Option<Vec<Table>> {
    let mut left = tables;
    let mut sorted: Vec<Table> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let waits = |table: &Table| {
            references.iter().any(|(from, to)| {
                *from == table.name && to != from && left.iter().any(|other| other.name == *to)
            })
        };
        let (later, ready): (Vec<Table>, Vec<Table>) = left.iter().cloned().partition(waits);
        if ready.is_empty() {
            return None;
        }
        sorted.extend(ready);
        left = later;
    }
    Some(sorted)
}

/// A table, and how many rows it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedTable {
    /// The table.
    pub table: Table,
    /// How many rows it has.
    pub rows: u64,
}

/// The sum of a table's rows, in their order: how many they are, and their hash. It is the same for the same rows
/// in every database and in every file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSum {
    /// The table's name.
    pub name: String,
    /// How many rows.
    pub rows: u64,
    /// The hash over all of them.
    pub hash: Digest256,
}

/// Adds rows to a [`TableSum`].
#[derive(Clone)]
pub struct Summing {
    rows: u64,
    hash: Sha256,
    /// The bytes of the row that is being added.
    bytes: Vec<u8>,
}

impl Default for Summing {
    fn default() -> Self {
        Self { rows: 0, hash: Sha256::new(), bytes: Vec::new() }
    }
}

impl Summing {
    /// Adds a row: each value as a tag, and texts and bytes with their length, so that no two different rows are
    /// the same bytes.
    pub fn add(&mut self, row: &[Value]) {
        self.bytes.clear();
        self.bytes.extend(length(row.len()));
        for value in row {
            match value {
                Value::Null => self.bytes.push(0),
                Value::Integer(number) => {
                    self.bytes.push(1);
                    self.bytes.extend(number.to_be_bytes());
                }
                Value::Text(text) => {
                    self.bytes.push(2);
                    self.bytes.extend(length(text.len()));
                    self.bytes.extend(text.as_bytes());
                }
                Value::Bytes(bytes) => {
                    self.bytes.push(3);
                    self.bytes.extend(length(bytes.len()));
                    self.bytes.extend(bytes);
                }
            }
        }
        self.hash.update(&self.bytes);
        self.rows += 1;
    }

    /// The sum of all rows that were added.
    pub fn of_table(self, name: &str) -> TableSum {
        let hash = Digest256::new(self.hash.finalize().into());
        TableSum { name: name.to_owned(), rows: self.rows, hash }
    }
}

impl fmt::Debug for Summing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summing").field("rows", &self.rows).finish_non_exhaustive()
    }
}

fn length(length: usize) -> [u8; 8] {
    u64::try_from(length).unwrap_or(u64::MAX).to_be_bytes()
}

/// Distinguishes one operator's secret from another without revealing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretFingerprint([u8; 16]);

impl SecretFingerprint {
    /// What was derived from the secret.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 16];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl fmt::Display for SecretFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// What a backup says about itself before its first row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The release that wrote it.
    pub version: String,
    /// The version of the schema: that of the newest migration which the database had.
    pub schema: String,
    /// Whose backup it is.
    pub issuer: String,
    /// When it was made: it holds what was committed before.
    pub made_at: OffsetDateTime,
    /// Of the secret that seals the signing keys in it. `None` if the backup was made without the secret.
    pub fingerprint: Option<SecretFingerprint>,
    /// The tables, in the order in which they can be stored.
    pub tables: Vec<CountedTable>,
}

/// Why a backup cannot be restored here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A newer release made it.
    #[error(
        "the backup has the schema of a newer release ({schema}, made by Countersign {version}), and this release knows \
         {known}; restore it with that release or a later one"
    )]
    Newer {
        /// The schema of the backup.
        schema: String,
        /// The release that made it.
        version: String,
        /// The newest schema of this release.
        known: String,
    },
    /// The keys in it cannot be opened.
    #[error(
        "the backup belongs to another secret (its fingerprint is {theirs}, that of the secret here {ours}): the signing \
         keys in it could not be opened; put the secret of that server in place (COUNTERSIGN_SECRET, COUNTERSIGN_SECRET_FILE \
         or --secret-file)"
    )]
    OtherSecret {
        /// The fingerprint in the backup.
        theirs: SecretFingerprint,
        /// That of the secret here.
        ours: SecretFingerprint,
    },
}

impl Header {
    /// Judges whether a release that knows the schema `known`, with this secret, can restore the backup.
    pub fn judge(&self, known: &str, ours: SecretFingerprint) -> Result<(), Unfit> {
        if self.schema.as_str() > known {
            return Err(Unfit::Newer {
                schema: self.schema.clone(),
                version: self.version.clone(),
                known: known.to_owned(),
            });
        }
        match self.fingerprint {
            Some(theirs) if theirs != ours => Err(Unfit::OtherSecret { theirs, ours }),
            Some(_) | None => Ok(()),
        }
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|counted| counted.rows).sum()
    }
}

#[cfg(test)]
mod tests;
