//! Fills a database with all rows of a source.

use countersign_domain::archive::{CountedTable, Summing, TableSum};
use countersign_domain::epoch::Filling;
use countersign_ports::{ArchiveError, ArchiveSource, ArchiveTarget, BeginFilling, RaiseEpoch};
use time::{Duration, OffsetDateTime};

use super::save::{Counting, Step, Tell, save};

/// A server that said so within this time still runs.
pub const STILL_RUNS: Duration = Duration::minutes(1);

/// How to fill a database.
#[derive(Debug)]
pub struct Fill<'a> {
    /// Which work it is.
    pub filling: Filling,
    /// The tables of the source.
    pub tables: &'a [CountedTable],
    /// What the sums of the tables must be, if that is known.
    pub sums: Option<&'a [TableSum]>,
    /// Is what is there removed?
    pub replaces: bool,
    /// The epoch to begin, if everything that was handed out before is to end.
    pub epoch: Option<&'a RaiseEpoch>,
}

/// Fails if a server runs on the target, or if something is in it that is not to be replaced. Changes nothing.
pub fn judge_target(
    target: &mut dyn ArchiveTarget,
    now: OffsetDateTime,
    replaces: bool,
) -> Result<(), ArchiveError> {
    let holdings = target.holdings()?;
    if let Some(seen_at) = holdings.server_seen_at.filter(|seen_at| now - *seen_at < STILL_RUNS) {
        return Err(runs("target", now - seen_at));
    }
    if holdings.rows && !replaces {
        return Err(ArchiveError::Refused(
            "there is data in the target; name an empty database, or add --force to remove everything that is in this one"
                .to_owned(),
        ));
    }
    Ok(())
}

/// The refusal because of a server that runs.
pub(super) fn runs(on: &str, ago: Duration) -> ArchiveError {
    ArchiveError::Refused(format!(
        "a server runs on the {on}: it said so {} seconds ago; stop all servers, and if one was killed, wait a minute",
        ago.whole_seconds().max(0)
    ))
}

/// Fills a database, and compares what is in it with what the source gave, before it is committed. On failure, what was there
/// is there. Returns the names of the migrations that ran afterwards.
pub fn fill(
    source: &mut dyn ArchiveSource,
    target: &mut dyn ArchiveTarget,
    now: OffsetDateTime,
    fill: &Fill<'_>,
    tell: &mut Tell<'_>,
) -> Result<Vec<String>, ArchiveError> {
    judge_target(target, now, fill.replaces)?;
    match carry_out(source, target, now, fill, tell) {
        Ok(migrated) => Ok(migrated),
        Err(error) => {
            // If this fails too, the mark stays, and says so to whoever uses the database next.
            let _ = target.abandon();
            Err(error)
        }
    }
}

fn carry_out(
    source: &mut dyn ArchiveSource,
    target: &mut dyn ArchiveTarget,
    now: OffsetDateTime,
    fill: &Fill<'_>,
    tell: &mut Tell<'_>,
) -> Result<Vec<String>, ArchiveError> {
    let begin = BeginFilling {
        filling: fill.filling,
        now,
        schema: source.schema().to_owned(),
        tables: fill.tables.iter().map(|counted| counted.table.clone()).collect(),
        replaces: fill.replaces,
    };
    target.begin(&begin)?;
    let sums = save(source, fill.tables, target, Step::Storing, tell)?;
    if fill.sums.is_some_and(|expected| *expected != *sums) {
        return Err(ArchiveError::Unsound("the backup changed while it was read".to_owned()));
    }
    compare(target, fill.tables, &sums, tell)?;
    target.finish(fill.epoch)
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
            counting.one();
            Ok(())
        };
        target.stored(table, &mut take)?;
        if summing.of_table(&table.name) != *given {
            return Err(ArchiveError::Unsound(format!(
                "what was stored in {} is not what was given; nothing was changed",
                table.name
            )));
        }
    }
    counting.tell();
    Ok(())
}
