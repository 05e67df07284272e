//! Fills a database with all rows of a source.

use countersign_domain::archive::{CountedTable, ForeignPart, Summing, TableSum};
use countersign_domain::epoch::Filling;
use countersign_domain::id::FillingId;
use countersign_ports::{
    ArchiveError, ArchiveSource, ArchiveTarget, BeginFilling, FinishFilling, Holdings, RaiseEpoch,
};
use time::OffsetDateTime;

use super::running::{Judging, judge};
use super::save::{Counting, Step, Tell, save};

/// How to fill a database.
#[derive(Debug)]
pub struct Fill<'a> {
    /// Which work it is.
    pub filling: Filling,
    /// By which running servers notice it.
    pub id: FillingId,
    /// The time of now, by the clock that servers on the database follow.
    pub now: OffsetDateTime,
    /// What is in the database, as [`judge_target`] found it.
    pub holdings: &'a Holdings,
    /// The tables of the source.
    pub tables: &'a [CountedTable],
    /// What the sums of the tables must be, if that is known.
    pub sums: Option<&'a [TableSum]>,
    /// Is what is there removed?
    pub replaces: bool,
    /// The epoch to begin, if everything that was handed out before is to end.
    pub epoch: Option<&'a RaiseEpoch>,
}

/// Fails if a server runs on the target, if something is in it that is not to be replaced, or if no row could be stored in it. Changes
/// nothing. Returns what is in it.
pub fn judge_target(
    target: &mut dyn ArchiveTarget,
    judging: &mut Judging<'_>,
    replaces: bool,
) -> Result<Holdings, ArchiveError> {
    let holdings = judge(target, "target", judging)?;
    if holdings.rows && !replaces {
        return Err(ArchiveError::Refused(
            "there is data in the target; name an empty database, or add --force to remove everything that is in this one"
                .to_owned(),
        ));
    }
    let required = holdings.foreign.iter().find(|part| match part {
        ForeignPart::Column { is_required, .. } => *is_required,
        ForeignPart::Table { .. }
        | ForeignPart::View { .. }
        | ForeignPart::Trigger { .. }
        | ForeignPart::Reference { .. }
        | ForeignPart::Extension { .. } => false,
    });
    match required {
        None => Ok(holdings),
        Some(column) => Err(ArchiveError::Refused(format!(
            "the target has the {column}, which is not of Countersign, needs a value in each row, and has no default; nothing \
             was changed. Give it a default, let it be NULL, or name another database"
        ))),
    }
}

/// Fills a database, and compares what is in it with what the source gave, before it is committed. On failure, what was there
/// is there. Returns the names of the migrations that ran afterwards.
pub fn fill(
    source: &mut dyn ArchiveSource,
    target: &mut dyn ArchiveTarget,
    fill: &Fill<'_>,
    tell: &mut Tell<'_>,
) -> Result<Vec<String>, ArchiveError> {
    match carry_out(source, target, fill, tell) {
        Ok(migrated) => Ok(migrated),
        Err(error) => {
            // If this fails too, the mark stays and warns the next user of the database.
            let _ = target.abandon();
            Err(error)
        }
    }
}

fn carry_out(
    source: &mut dyn ArchiveSource,
    target: &mut dyn ArchiveTarget,
    fill: &Fill<'_>,
    tell: &mut Tell<'_>,
) -> Result<Vec<String>, ArchiveError> {
    let begin = BeginFilling {
        filling: fill.filling,
        now: fill.now,
        schema: source.schema().to_owned(),
        tables: fill.tables.iter().map(|counted| counted.table.clone()).collect(),
        replaces: fill.replaces,
        server_seen_at: fill.holdings.server_seen_at,
    };
    target.begin(&begin)?;
    let sums = save(source, fill.tables, target, Step::Storing, tell)?;
    if fill.sums.is_some_and(|expected| *expected != *sums) {
        return Err(ArchiveError::Unsound("the backup changed while it was read".to_owned()));
    }
    compare(target, fill.tables, &sums, tell)?;
    target.finish(&FinishFilling { id: fill.id, now: fill.now, epoch: fill.epoch })
}

/// Reads back what was stored, and compares the sums.
fn compare(
    target: &mut dyn ArchiveTarget,
    tables: &[CountedTable],
    sums: &[TableSum],
    tell: &mut Tell<'_>,
) -> Result<(), ArchiveError> {
    let mut counting = Counting::new(Step::Comparing, tables, tell);
    for (CountedTable { table, .. }, given) in tables.iter().zip(sums) {
        let mut summing = Summing::default();
        let mut take = |row: Vec<_>| {
            summing.add(&row);
            counting.one()
        };
        target.stored(table, &mut take)?;
        if summing.of_table(&table.name) != *given {
            return Err(ArchiveError::Unsound(format!(
                "what was stored in {} is not what was given; nothing was changed",
                table.name
            )));
        }
    }
    counting.tell()
}
