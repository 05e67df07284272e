//! Copies a database into another, of the same kind or not.

use countersign_domain::archive::CountedTable;
use countersign_domain::epoch::Filling;
use countersign_ports::{ArchiveError, ArchiveSource, ArchiveTarget, Holdings};
use time::OffsetDateTime;

use super::fill::{Fill, STILL_RUNS, fill, runs};
use super::save::Tell;

/// What a copy did.
#[derive(Debug, PartialEq, Eq)]
pub struct Copied {
    /// How many tables.
    pub tables: usize,
    /// How many rows.
    pub rows: u64,
    /// The migrations that ran in the target.
    pub migrated: Vec<String>,
}

/// Fails if a server runs on the source: what it writes meanwhile would not be in the copy.
pub fn judge_source(holdings: Holdings, now: OffsetDateTime) -> Result<(), ArchiveError> {
    match holdings.server_seen_at.map(|seen_at| now - seen_at).filter(|ago| *ago < STILL_RUNS) {
        Some(ago) => Err(runs("source", ago)),
        None => Ok(()),
    }
}

/// Copies everything. What was handed out goes on working, because no epoch begins.
pub fn copy(
    source: &mut dyn ArchiveSource,
    target: &mut dyn ArchiveTarget,
    now: OffsetDateTime,
    replaces: bool,
    tell: &mut Tell<'_>,
) -> Result<Copied, ArchiveError> {
    let tables: Vec<CountedTable> = source.tables()?;
    let work = Fill { filling: Filling::Copy, tables: &tables, sums: None, replaces, epoch: None };
    let migrated = fill(source, target, now, &work, tell)?;
    Ok(Copied { tables: tables.len(), rows: tables.iter().map(|counted| counted.rows).sum(), migrated })
}
