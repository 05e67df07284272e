//! Saving and bringing back: what is refused, and that a failed work is taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration as Pause;

use countersign_domain::archive::{
    Column, CountedTable, ForeignPart, Kind, Layout, Row, Summing, Table, TableSum, Value,
};
use countersign_domain::epoch::Filling;
use countersign_domain::id::FillingId;
use countersign_ports::{
    ArchiveError, ArchiveSink, ArchiveSource, ArchiveTarget, BeginFilling, FinishFilling, Holdings,
    MarkRemoved, TakeRow,
};
use countersign_usecases::context::footing::SURE_FOR;
use time::{Duration, OffsetDateTime};

use crate::saved::copy::{Copy, copy, judge_source};
use crate::saved::fill::{Fill, fill, judge_target};
use crate::saved::ours::Ours;
use crate::saved::running::{Judging, WATCHED};
use crate::saved::save::{Step, check, save};

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
const NOTHING: Holdings = Holdings { rows: false, server_seen_at: None, clock: None, foreign: Vec::new() };

struct Source(Vec<Row>);

impl ArchiveSource for Source {
    fn schema(&self) -> &str {
        "1"
    }

    fn tables(&mut self) -> Result<Vec<CountedTable>, ArchiveError> {
        Ok(tables(2))
    }

    fn foreign(&mut self) -> Result<Vec<ForeignPart>, ArchiveError> {
        Ok(Vec::new())
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
    /// A server goes on saying that it runs.
    lives: bool,
    did: Vec<&'static str>,
}

impl Target {
    fn of(holdings: Holdings) -> Self {
        Self { holdings, stored: Vec::new(), loses: false, lives: false, did: Vec::new() }
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

    fn layout(&self, _schema: &str) -> Layout {
        Layout::default()
    }

    fn holdings(&mut self) -> Result<Holdings, ArchiveError> {
        if let Some(seen_at) = &mut self.holdings.server_seen_at
            && self.lives
        {
            *seen_at += Duration::seconds(1);
        }
        Ok(self.holdings.clone())
    }

    fn remove_mark(&mut self) -> Result<MarkRemoved, ArchiveError> {
        Ok(MarkRemoved::NoMark)
    }

    fn begin(&mut self, _begin: &BeginFilling) -> Result<(), ArchiveError> {
        self.did.push("begin");
        Ok(())
    }

    fn stored(&mut self, _table: &Table, take: &mut TakeRow<'_>) -> Result<(), ArchiveError> {
        self.stored.iter().try_for_each(|row| take(row.clone()))
    }

    fn finish(&mut self, _finish: &FinishFilling<'_>) -> Result<Vec<String>, ArchiveError> {
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

fn id() -> FillingId {
    FillingId::at(NOW, [1; 10])
}

/// How long was waited, and what came of it.
fn judged(target: &mut Target, now: OffsetDateTime, stopped: bool) -> (Pause, Result<Holdings, String>) {
    let mut waited = Pause::ZERO;
    let mut pause = |time| {
        waited += time;
        Ok(())
    };
    let mut judging = Judging { now, servers_are_stopped: stopped, pause: &mut pause, notice: |_| {} };
    let judged = judge_target(target, &mut judging, true).map_err(|error| error.to_string());
    (waited, judged)
}

fn copied(source: Vec<Row>, target: &mut Target, replaces: bool) -> Result<u64, String> {
    let mut pause = |_| Ok(());
    let mut judging = Judging { now: NOW, servers_are_stopped: false, pause: &mut pause, notice: |_| {} };
    let holdings = judge_target(target, &mut judging, replaces).map_err(|error| error.to_string())?;
    let work = Copy { id: id(), now: NOW, holdings: &holdings, replaces };
    let copied = copy(&mut Source(source), target, &work, &mut |_| Ok(()));
    copied.map(|copied| copied.rows).map_err(|error| error.to_string())
}

#[test]
fn a_restore_watches_for_longer_than_a_server_believes_a_look() {
    assert!(WATCHED > SURE_FOR + std::time::Duration::from_millis(12_500));
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
    let seen = |ago| Holdings { server_seen_at: Some(NOW - Duration::seconds(ago)), ..NOTHING };
    let mut served = Target::of(seen(59));
    assert!(copied(rows(2), &mut served, true).unwrap_err().contains("a server runs on the target"));
    assert_eq!(served.did, [""; 0]);
    assert_eq!(copied(rows(2), &mut Target::of(seen(60)), false), Ok(2));
    let mut pause = |_| Ok(());
    let mut judging = Judging { now: NOW, servers_are_stopped: false, pause: &mut pause, notice: |_| {} };
    assert!(judge_source(&mut Target::of(seen(10)), &mut judging).is_err());
    assert!(judge_source(&mut Target::of(seen(61)), &mut judging).is_ok());
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
    let sums = check(&mut Source(rows(2)), &tables, &mut |_| Ok(())).unwrap();
    let work = Fill {
        filling: Filling::Restore,
        id: id(),
        now: NOW,
        holdings: &NOTHING,
        tables: &tables,
        sums: Some(&sums),
        replaces: false,
        epoch: None,
    };
    let other = vec![vec![Value::Integer(7)], vec![Value::Integer(8)]];
    let refused = fill(&mut Source(other), &mut target, &work, &mut |_| Ok(())).unwrap_err();
    assert!(refused.to_string().contains("changed while it was read"));
    assert_eq!(target.did, ["begin", "abandon"]);
}

#[test]
fn where_there_is_one_clock_a_server_that_was_seen_is_watched_and_no_clock_is_believed() {
    let seen = |ago: i64| Holdings { server_seen_at: Some(NOW - Duration::seconds(ago)), ..NOTHING };
    for ago in [60, 90, 86_400] {
        let (waited, judged_dead) = judged(&mut Target::of(seen(ago)), NOW, false);
        assert!(judged_dead.is_ok() && waited >= WATCHED, "{ago}: {waited:?}");
        let mut alive = Target { lives: true, ..Target::of(seen(ago)) };
        assert!(
            judged(&mut alive, NOW, false).1.unwrap_err().contains("a server runs on the target"),
            "{ago}"
        );
    }
}

#[test]
fn the_clock_of_the_database_counts_where_there_is_one() {
    let at = |ago: i64, clock| Holdings {
        server_seen_at: Some(NOW - Duration::seconds(ago)),
        clock: Some(clock),
        ..NOTHING
    };
    for wrong in [Duration::seconds(90), Duration::days(-1), Duration::days(1)] {
        let (waited, alive) = judged(&mut Target::of(at(59, NOW)), NOW + wrong, false);
        assert!(alive.unwrap_err().contains("a server runs on the target"), "{wrong}");
        assert_eq!(waited, Pause::ZERO);
        let (waited, dead) = judged(&mut Target::of(at(61, NOW)), NOW + wrong, false);
        assert!(dead.is_ok() && waited == Pause::ZERO, "{wrong}");
    }
}

#[test]
fn a_server_that_was_seen_in_the_future_is_a_fault_of_a_clock_that_the_operator_can_override() {
    for clock in [None, Some(NOW)] {
        let ahead = Holdings { server_seen_at: Some(NOW + Duration::DAY), clock, ..NOTHING };
        let (waited, refused) = judged(&mut Target::of(ahead.clone()), NOW, false);
        let refused = refused.unwrap_err();
        assert!(
            refused.contains("a clock is wrong") && refused.contains("--servers-are-stopped"),
            "{refused}"
        );
        assert_eq!(waited, Pause::ZERO);
        let (waited, overridden) = judged(&mut Target::of(ahead.clone()), NOW, true);
        assert!(overridden.is_ok() && waited >= WATCHED);
        let mut alive = Target { lives: true, ..Target::of(ahead) };
        assert!(
            judged(&mut alive, NOW, true).1.unwrap_err().contains("a server runs on the target"),
            "even then"
        );
    }
}

#[test]
fn a_column_of_others_that_every_row_needs_is_refused_before_anything_is_touched() {
    let column =
        |is_required| ForeignPart::Column { table: "users".to_owned(), name: "n".to_owned(), is_required };
    let mut target = Target::of(Holdings { foreign: vec![column(true)], ..NOTHING });
    assert!(copied(rows(2), &mut target, true).unwrap_err().contains("column users.n"));
    assert_eq!(target.did, [""; 0]);
    assert_eq!(
        copied(rows(2), &mut Target::of(Holdings { foreign: vec![column(false)], ..NOTHING }), true),
        Ok(2)
    );
}

#[test]
fn a_signal_undoes_the_work() {
    let mut target = Target::of(NOTHING);
    let work = Copy { id: id(), now: NOW, holdings: &NOTHING, replaces: false };
    let stopped = copy(&mut Source(rows(2)), &mut target, &work, &mut |_| {
        Err(ArchiveError::Refused("interrupted".to_owned()))
    });
    assert_eq!(stopped.unwrap_err().to_string(), "interrupted");
    assert_eq!(target.did, ["begin", "abandon"]);
}

/// A file of an older release: tables by name, with their rows.
struct Old {
    tables: Vec<CountedTable>,
    rows: Vec<Vec<Row>>,
    asked: usize,
    lies: bool,
}

impl ArchiveSource for Old {
    fn schema(&self) -> &str {
        "1"
    }

    fn tables(&mut self) -> Result<Vec<CountedTable>, ArchiveError> {
        Ok(self.tables.clone())
    }

    fn foreign(&mut self) -> Result<Vec<ForeignPart>, ArchiveError> {
        Ok(Vec::new())
    }

    fn rows(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<Option<TableSum>, ArchiveError> {
        assert_eq!(self.tables[self.asked].table, *table, "each table is read once, in order");
        let mut summing = Summing::default();
        for row in &self.rows[self.asked] {
            summing.add(row);
            take(row.clone())?;
        }
        if self.lies {
            summing.add(&[]);
        }
        self.asked += 1;
        Ok(Some(summing.of_table(&table.name)))
    }

    fn close(&mut self) -> Result<(), ArchiveError> {
        assert_eq!(self.asked, self.tables.len(), "all of it is read");
        Ok(())
    }
}

fn old(lies: bool) -> Ours<Old> {
    let column = |name: &str| Column { name: name.to_owned(), kind: Kind::Integer };
    let table = |name: &str, columns: &[&str]| CountedTable {
        table: Table { name: name.to_owned(), columns: columns.iter().map(|name| column(name)).collect() },
        rows: 1,
    };
    let row = |values: &[i64]| vec![values.iter().map(|value| Value::Integer(*value)).collect::<Row>()];
    let tables = vec![
        table("heartbeat", &["id"]),
        table("groups", &["id"]),
        table("users", &["a", "foreign", "id"]),
        table("zebra", &["id"]),
    ];
    let rows = vec![row(&[9]), row(&[1]), row(&[2, 7, 3]), row(&[8])];
    let ours = |columns: &[&str]| columns.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let layout = Layout(BTreeMap::from([
        ("groups".to_owned(), ours(&["id"])),
        ("users".to_owned(), ours(&["a", "id"])),
    ]));
    Ours::of(Old { tables, rows, asked: 0, lies }, layout).unwrap()
}

#[test]
fn a_backup_of_an_older_release_with_tables_and_columns_of_others_is_restored_without_them() {
    let mut source = old(false);
    let tables = source.tables().unwrap();
    let named: Vec<String> = source.foreign().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(named, ["table heartbeat", "column users.foreign", "table zebra"]);
    let mut target = Target::of(NOTHING);
    save(&mut source, &tables, &mut target, Step::Storing, &mut |_| Ok(())).unwrap();
    assert_eq!(target.stored, [vec![Value::Integer(1)], vec![Value::Integer(2), Value::Integer(3)]]);
    let mut damaged = old(true);
    let tables = damaged.tables().unwrap();
    assert!(check(&mut damaged, &tables, &mut |_| Ok(())).is_err(), "what is left out is checked, too");
}
