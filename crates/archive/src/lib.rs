//! The file of a backup, format 1. `docs/backup.md` describes it for people.
//!
//! A first line that names the format is followed by a zstd stream of lines of JSON: the header, then for each table a
//! line that begins it, a line for each row, and a line that ends it with the number and the hash of its rows, and at
//! the end a line with the hash of all lines before. If the backup is for recipients, age encrypts the whole file,
//! with the first line.
//!
//! A file is a source and a sink of rows like a database. What makes a backup fit for a database is judged in
//! `countersign_domain::archive`; where files are kept and with which permissions is the binary's matter.

mod encryption;
mod line;
mod reader;
mod writer;

pub use encryption::{Identities, IdentityRejected, Recipient, RecipientRejected};
pub use reader::BackupReader;
pub use writer::BackupWriter;

/// The first line of every backup, before the number of the format.
const MAGIC: &str = "countersign backup, format ";

#[cfg(test)]
mod tests;
