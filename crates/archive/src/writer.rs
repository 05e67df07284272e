//! Writes a backup.

use std::fmt;
use std::io::{self, Write};

use countersign_domain::archive::{FORMAT, Header, Row, Table, TableSum};
use countersign_ports::{ArchiveError, ArchiveSink};
use sha2::{Digest, Sha256};
use zstd::stream::write::Encoder;

use crate::MAGIC;
use crate::encryption::{Recipient, Sealed};
use crate::line::{self, Mark, Wrong};

/// How hard to compress. Higher levels take longer than reading the rows, and make the file hardly smaller: most of it
/// are ids and hashes.
const LEVEL: i32 = 3;

/// A backup that is being written.
pub struct BackupWriter<W: Write> {
    out: Encoder<'static, Sealed<W>>,
    line: Vec<u8>,
    hash: Sha256,
    rows: u64,
}

impl<W: Write> BackupWriter<W> {
    /// Writes everything before the first row. Without recipients the file is not encrypted.
    pub fn begin(out: W, header: &Header, recipients: &[Recipient]) -> Result<Self, ArchiveError> {
        let begin = || -> io::Result<Encoder<'static, Sealed<W>>> {
            let mut out = Sealed::new(out, recipients)?;
            out.write_all(format!("{MAGIC}{FORMAT}\n").as_bytes())?;
            let mut out = Encoder::new(out, LEVEL)?;
            out.include_checksum(true)?;
            Ok(out)
        };
        let out = begin().map_err(not_written)?;
        let mut writer = Self { out, line: Vec::new(), hash: Sha256::new(), rows: 0 };
        line::write_header(&mut writer.line, header).map_err(unsound)?;
        writer.put()?;
        Ok(writer)
    }

    /// Writes the last line, and returns the file.
    pub fn finish(mut self) -> Result<W, ArchiveError> {
        let sha256 = hex::encode(self.hash.clone().finalize());
        line::write(&mut self.line, &Mark::Complete { rows: self.rows, sha256 }).map_err(unsound)?;
        self.put()?;
        self.out.finish().and_then(Sealed::finish).map_err(not_written)
    }

    fn put(&mut self) -> Result<(), ArchiveError> {
        self.hash.update(&self.line);
        self.out.write_all(&self.line).map_err(not_written)
    }
}

impl<W: Write + Send> ArchiveSink for BackupWriter<W> {
    fn begin_table(&mut self, table: &Table) -> Result<(), ArchiveError> {
        line::write(&mut self.line, &Mark::Begin { table: table.name.clone() }).map_err(unsound)?;
        self.put()
    }

    fn row(&mut self, row: Row) -> Result<(), ArchiveError> {
        line::write_row(&mut self.line, &row).map_err(unsound)?;
        self.rows += 1;
        self.put()
    }

    fn end_table(&mut self, sum: &TableSum) -> Result<(), ArchiveError> {
        line::write(&mut self.line, &Mark::end_of(sum)).map_err(unsound)?;
        self.put()
    }
}

impl<W: Write> fmt::Debug for BackupWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackupWriter").field("rows", &self.rows).finish_non_exhaustive()
    }
}

fn not_written(error: io::Error) -> ArchiveError {
    ArchiveError::failed("backup could not be written")(error)
}

fn unsound(wrong: Wrong) -> ArchiveError {
    ArchiveError::Unsound(wrong)
}
