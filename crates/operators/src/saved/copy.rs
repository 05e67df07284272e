//! Copies a database into another, of the same kind or not.

use countersign_domain::archive::CountedTable;
use countersign_domain::epoch::Filling;
use countersign_domain::id::FillingId;
use countersign_ports::{ArchiveError, ArchiveSource, ArchiveTarget, Holdings};
use time::OffsetDateTime;

use super::fill::{Fill, fill};
use super::running::{Judging, judge};
use super::save::Tell;

/// How to copy.
#[derive(Debug)]
pub struct Copy<'a> {
    /// By which running servers notice it.
    pub id: FillingId,
    /// The time of now, by the clock that servers on the target follow.
    pub now: OffsetDateTime,
    /// What is in the target, as [`judge_target`](super::fill::judge_target) found it.
    pub holdings: &'a Holdings,
    /// Is what is in the target removed?
    pub replaces: bool,
}

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
pub fn judge_source(source: &mut dyn ArchiveTarget, judging: &mut Judging<'_>) -> Result<(), ArchiveError> {
    judge(source, "source", judging).map(drop)
}

/// Copies everything. What was handed out goes on working, because no epoch begins.
pub fn copy(
    source: &mut dyn ArchiveSource,
    target: &mut dyn ArchiveTarget,
    copy: &Copy<'_>,
    tell: &mut Tell<'_>,
) -> Result<Copied, ArchiveError> {
    let tables: Vec<CountedTable> = source.tables()?;
    let Copy { id, now, holdings, replaces } = *copy;
    let work = Fill {
        filling: Filling::Copy,
        id,
        now,
        holdings,
        tables: &tables,
        sums: None,
        replaces,
        epoch: None,
    };
    let migrated = fill(source, target, &work, tell)?;
    Ok(Copied { tables: tables.len(), rows: tables.iter().map(|counted| counted.rows).sum(), migrated })
}
