//! Saving and bringing back: what is refused, and that a failed work is taken back.

use countersign_domain::archive::{Column, CountedTable, Kind, Row, Table, TableSum, Value};
use countersign_domain::epoch::Filling;
use countersign_ports::{
    ArchiveError, ArchiveSink, ArchiveSource, ArchiveTarget, BeginFilling, Holdings, RaiseEpoch, TakeRow,
};
use time::{Duration, OffsetDateTime};

use crate::saved::copy::{copy, judge_source};
use crate::saved::fill::{Fill, fill};
use crate::saved::save::check;

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
const NOTHING: Holdings = Holdings { rows: false, server_seen_at: None };

struct Source(Vec<Row>);

impl ArchiveSource for Source {
    fn schema(&self) -> &str {
        "1"
    }

    fn tables(&mut self) -> Result<Vec<CountedTable>, ArchiveError> {
        Ok(tables(2))
    }

    fn rows(&mut self, _table: &Table, take: &mut TakeRow<'_>) -> Result<Option<TableSum>, ArchiveError> {
        self.0.iter().try_for_each(|row| take(row.clone())).map(|()| None)
    }

    fn close(&mut self) -> Result<(), ArchiveError> {
        Ok(())
    }
}

struct Target {
    holdings: Holdings,
    stored: Vec<Row>,
    /// Loses the last row that it is given.
    loses: bool,
    did: Vec<&'static str>,
}

impl Target {
    fn of(holdings: Holdings) -> Self {
        Self { holdings, stored: Vec::new(), loses: false, did: Vec::new() }
    }
}

impl ArchiveSink for Target {
    fn begin_table(&mut self, _table: &Table) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn row(&mut self, row: Row) -> Result<(), ArchiveError> {
        self.stored.push(row);
        Ok(())
    }

    fn end_table(&mut self, _sum: &TableSum) -> Result<(), ArchiveError> {
        if self.loses {
            self.stored.pop();
        }
        Ok(())
    }
}

impl ArchiveTarget for Target {
    fn known_schema(&self) -> &str {
        "1"
    }

    fn holdings(&mut self) -> Result<Holdings, ArchiveError> {
        Ok(self.holdings)
    }

    fn begin(&mut self, _begin: &BeginFilling) -> Result<(), ArchiveError> {
        self.did.push("begin");
        Ok(())
    }

    fn stored(&mut self, _table: &Table, take: &mut TakeRow<'_>) -> Result<(), ArchiveError> {
        self.stored.iter().try_for_each(|row| take(row.clone()))
    }

    fn finish(&mut self, _epoch: Option<&RaiseEpoch>) -> Result<Vec<String>, ArchiveError> {
        self.did.push("finish");
        Ok(Vec::new())
    }

    fn abandon(&mut self) -> Result<(), ArchiveError> {
        self.did.push("abandon");
        Ok(())
    }
}

fn tables(rows: u64) -> Vec<CountedTable> {
    let columns = vec![Column { name: "id".to_owned(), kind: Kind::Integer }];
    vec![CountedTable { table: Table { name: "users".to_owned(), columns }, rows }]
}

fn rows(count: i64) -> Vec<Row> {
    (0..count).map(|number| vec![Value::Integer(number)]).collect()
}

fn copied(source: Vec<Row>, target: &mut Target, replaces: bool) -> Result<u64, String> {
    let copied = copy(&mut Source(source), target, NOW, replaces, &mut |_| {});
    copied.map(|copied| copied.rows).map_err(|error| error.to_string())
}

#[test]
fn what_is_given_is_stored_and_finished() {
    let mut target = Target::of(NOTHING);
    assert_eq!(copied(rows(2), &mut target, false), Ok(2));
    assert_eq!((target.did, target.stored), (vec!["begin", "finish"], rows(2)));
}

#[test]
fn a_target_with_data_or_with_a_server_is_not_touched() {
    let mut full = Target::of(Holdings { rows: true, ..NOTHING });
    assert!(copied(rows(2), &mut full, false).unwrap_err().contains("there is data in the target"));
    assert_eq!(full.did, [""; 0]);
    assert_eq!(copied(rows(2), &mut full, true), Ok(2), "unless it is to be replaced");
    let seen = |ago| Holdings { rows: false, server_seen_at: Some(NOW - Duration::seconds(ago)) };
    let mut served = Target::of(seen(59));
    assert!(copied(rows(2), &mut served, true).unwrap_err().contains("a server runs on the target"));
    assert_eq!(served.did, [""; 0]);
    assert_eq!(copied(rows(2), &mut Target::of(seen(60)), false), Ok(2));
    assert!(judge_source(seen(10), NOW).is_err());
    assert!(judge_source(seen(61), NOW).is_ok());
}

#[test]
fn whatever_is_not_as_it_was_given_is_taken_back() {
    let mut lossy = Target { loses: true, ..Target::of(NOTHING) };
    assert!(copied(rows(2), &mut lossy, false).unwrap_err().contains("is not what was given"));
    assert_eq!(lossy.did, ["begin", "abandon"]);
    let mut target = Target::of(NOTHING);
    assert!(copied(rows(1), &mut target, false).unwrap_err().contains("not those that were saved"));
    assert_eq!(target.did, ["begin", "abandon"], "the source told of more rows than it has");
}

#[test]
fn a_file_that_changes_between_the_check_and_the_restore_is_refused() {
    let (tables, mut target) = (tables(2), Target::of(NOTHING));
    let sums = check(&mut Source(rows(2)), &tables, &mut |_| {}).unwrap();
    let work =
        Fill { filling: Filling::Restore, tables: &tables, sums: Some(&sums), replaces: false, epoch: None };
    let other = vec![vec![Value::Integer(7)], vec![Value::Integer(8)]];
    let refused = fill(&mut Source(other), &mut target, NOW, &work, &mut |_| {}).unwrap_err();
    assert!(refused.to_string().contains("changed while it was read"));
    assert_eq!(target.did, ["begin", "abandon"]);
}
