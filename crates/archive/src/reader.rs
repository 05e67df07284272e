//! Reads a backup, and believes nothing of it.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use countersign_domain::archive::{CountedTable, FORMAT, ForeignPart, Header, Table, TableSum};
use countersign_ports::{ArchiveError, ArchiveSource, TakeRow};
use sha2::{Digest, Sha256};
use zstd::stream::read::Decoder;

use crate::MAGIC;
use crate::encryption::{Identities, Opened};
use crate::line::{self, Mark, Wrong};

/// The longest line that is read. The rows of the server are far shorter; this only keeps a made-up file from filling
/// the memory.
const LONGEST_LINE: u64 = 64 << 20;

/// The longest first line.
const LONGEST_FIRST: u64 = 64;

/// A backup that is being read.
pub struct BackupReader<R: BufRead> {
    lines: BufReader<Decoder<'static, BufReader<Opened<R>>>>,
    line: Vec<u8>,
    hash: Sha256,
    rows: u64,
    header: Header,
}

impl<R: BufRead> BackupReader<R> {
    /// Reads everything before the first row. Identities are needed only if the file is encrypted.
    pub fn open(file: R, identities: &Identities) -> Result<Self, ArchiveError> {
        let mut file = BufReader::new(Opened::new(file, identities)?);
        read_first(&mut file)?;
        let decoder = Decoder::with_buffer(file).map_err(not_read)?.single_frame();
        let header = Header {
            version: String::new(),
            schema: String::new(),
            issuer: String::new(),
            made_at: time::OffsetDateTime::UNIX_EPOCH,
            fingerprint: None,
            tables: Vec::new(),
        };
        let lines = BufReader::with_capacity(1 << 16, decoder);
        let mut reader = Self { lines, line: Vec::new(), hash: Sha256::new(), rows: 0, header };
        reader.next_line()?;
        reader.header = line::read_header(&reader.line).map_err(damaged)?;
        Ok(reader)
    }

    /// What the backup says about itself. That it is so is known only after the last row.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Reads a line and adds it to the hash.
    fn next_line(&mut self) -> Result<(), ArchiveError> {
        self.read_line()?;
        self.hash.update(&self.line);
        Ok(())
    }

    fn read_line(&mut self) -> Result<(), ArchiveError> {
        self.line.clear();
        let mut limited = (&mut self.lines).take(LONGEST_LINE);
        limited.read_until(b'\n', &mut self.line).map_err(not_read)?;
        match self.line.last() {
            Some(b'\n') => Ok(()),
            Some(_) if limited.limit() == 0 => Err(damaged("a line is too long".to_owned())),
            Some(_) | None => Err(incomplete()),
        }
    }

    fn mark(&mut self) -> Result<Mark, ArchiveError> {
        self.next_line()?;
        Mark::parse(&self.line).map_err(damaged)
    }
}

impl<R: BufRead + Send> ArchiveSource for BackupReader<R> {
    fn schema(&self) -> &str {
        &self.header.schema
    }

    fn tables(&mut self) -> Result<Vec<CountedTable>, ArchiveError> {
        Ok(self.header.tables.clone())
    }

    /// A file does not say what is ours.
    fn foreign(&mut self) -> Result<Vec<ForeignPart>, ArchiveError> {
        Ok(Vec::new())
    }

    fn rows(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<Option<TableSum>, ArchiveError> {
        if self.mark()? != (Mark::Begin { table: table.name.clone() }) {
            return Err(damaged(format!("{} does not follow where it should", table.name)));
        }
        loop {
            self.next_line()?;
            if self.line.first() == Some(&b'[') {
                let row = line::read_row(&self.line, table).map_err(damaged)?;
                self.rows += 1;
                take(row)?;
                continue;
            }
            return match Mark::parse(&self.line).map_err(damaged)? {
                Mark::End { table: name, rows, sha256 } if name == table.name => {
                    line::sum(name, rows, &sha256).map(Some).map_err(damaged)
                }
                Mark::Begin { .. } | Mark::End { .. } | Mark::Complete { .. } => {
                    Err(damaged(format!("{} does not end where it should", table.name)))
                }
            };
        }
    }

    fn close(&mut self) -> Result<(), ArchiveError> {
        let found = hex::encode(self.hash.clone().finalize());
        self.read_line()?;
        let complete = Mark::parse(&self.line).map_err(damaged)?;
        if complete != (Mark::Complete { rows: self.rows, sha256: found }) {
            return Err(damaged("its checksum is that of other content".to_owned()));
        }
        let mut rest = [0; 1];
        let after = self.lines.read(&mut rest).map_err(not_read)?;
        let after_frame = self.lines.get_mut().get_mut().read(&mut rest).map_err(not_read)?;
        if after + after_frame > 0 { Err(damaged("something follows its end".to_owned())) } else { Ok(()) }
    }
}

impl<R: BufRead> fmt::Debug for BackupReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackupReader").field("header", &self.header).finish_non_exhaustive()
    }
}

/// Reads the first line, which names the format.
fn read_first(file: &mut impl BufRead) -> Result<(), ArchiveError> {
    let mut first = Vec::new();
    file.take(LONGEST_FIRST).read_until(b'\n', &mut first).map_err(not_read)?;
    let text = std::str::from_utf8(&first).unwrap_or_default();
    let Some(format) = text.strip_prefix(MAGIC) else {
        let begins_so = !first.is_empty() && MAGIC.as_bytes().starts_with(&first);
        return Err(if begins_so {
            incomplete()
        } else {
            ArchiveError::Unsound("it is not a backup of Countersign".to_owned())
        });
    };
    let Some(format) = format.strip_suffix('\n') else { return Err(incomplete()) };
    match format.parse::<u32>() {
        Ok(FORMAT) => Ok(()),
        Ok(newer) if newer > FORMAT => Err(ArchiveError::Unsound(format!(
            "the backup has format {newer}, and this release reads format {FORMAT}; restore it with a newer release"
        ))),
        Ok(_) | Err(_) => Err(damaged("its first line names no format".to_owned())),
    }
}

fn incomplete() -> ArchiveError {
    ArchiveError::Unsound("the backup is not complete: it ends too early".to_owned())
}

fn damaged(wrong: Wrong) -> ArchiveError {
    ArchiveError::Unsound(format!("the backup is damaged: {wrong}"))
}

fn not_read(error: io::Error) -> ArchiveError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return incomplete();
    }
    // What the system says has a number; what decompression and decryption say has none.
    match error.raw_os_error() {
        Some(_) => ArchiveError::failed("backup could not be read")(error),
        None => damaged(format!("it cannot be decompressed or decrypted ({error})")),
    }
}
