//! The whole database, for backup, restore and copy: one state of it is read, or one transaction fills it.
//!
//! [`Place`] is what each kind of database does in its own way.

use std::fmt;

use countersign_domain::archive::{CountedTable, ForeignPart, Kind, Layout, OwnStart, Row, Table, TableSum};
use countersign_ports::archive::same_tables;
use countersign_ports::{
    ArchiveError, ArchiveSink, ArchiveSource, ArchiveTarget, BeginFilling, FinishFilling, Holdings,
    MarkRemoved, TakeRow,
};
use countersign_statement::made::Made;
use diesel::QueryResult;
use diesel::connection::{Connection, SimpleConnection, TransactionManager};
use time::OffsetDateTime;

use crate::columns::{At, Id, Key, Moment, Nullable, StoredTime, Text};
use crate::database::Statement;
use crate::ops::upkeep::epoch::raise_epoch;
use crate::setup::catalog::{self, key, quoted, tables};
use crate::setup::migrate::{
    BeforeFirstRelease, FIRST_RELEASE, Migrated, SchemaError, Unfinished, forward, has_table, made,
    made_here, newest, newest_known, to, unfinished,
};
use crate::statement::statement;
use crate::{Database, SqlError};

/// Where a database is, and what one of its kind does in its own way.
pub trait Place: Sized + Send {
    /// How a caller names it.
    type Name: ?Sized;

    /// A connection to it.
    type Db: Migrated + Send;

    /// What is held while it is filled.
    type Held: Send;

    /// What is remembered while it is filled: how to put back what belongs to other programs, and how rows are written.
    type Aside: Default + Send;

    /// What `ORDER BY` needs after a text, so that texts are compared byte by byte.
    const BY_BYTES: &'static str;

    /// Names the database. Opens and creates nothing.
    fn at(name: &Self::Name) -> Result<Self, ArchiveError>;

    /// Are tables of ours there? What is there and is not ours is an error.
    fn has_tables(&self) -> Result<bool, ArchiveError>;

    /// Did a restore or a copy not finish filling it?
    fn is_unfinished(&self) -> Result<bool, ArchiveError>;

    /// Opens a database that exists.
    fn connect(&self) -> Result<Self::Db, ArchiveError>;

    /// Opens one state of it, for as long as the connection lives.
    fn open_state(&self) -> Result<Self::Db, ArchiveError>;

    /// Runs the migrations that are missing, whether the database is finished or not.
    fn migrate(&self) -> Result<(), ArchiveError>;

    /// Takes what only one process can have that fills the database, and creates a database if there is none.
    fn lock(&self, is_fresh: bool) -> Result<(Self::Db, Self::Held), ArchiveError>;

    /// Commits the mark if tables of ours were there, and begins the transaction if the lock did not.
    fn mark(&self, db: &mut Self::Db, begin: &BeginFilling, is_fresh: bool) -> Result<(), ArchiveError>;

    /// Puts aside what belongs to other programs and would be in the way, and deletes the rows of these tables, each of which comes after
    /// those it refers to.
    fn empty(
        db: &mut Self::Db,
        made: &Made,
        foreign: &[ForeignPart],
        tables: Vec<String>,
    ) -> Result<Self::Aside, ArchiveError>;

    /// Begins when the tables have the schema of the rows.
    fn prepare(_db: &mut Self::Db, _aside: &mut Self::Aside, _tables: &[Table]) -> Result<(), ArchiveError> {
        Ok(())
    }

    /// How many rows of this table one statement inserts.
    fn at_once(table: &Table) -> usize;

    /// Inserts so many rows, or fewer.
    fn write(db: &mut Self::Db, aside: &Self::Aside, table: &Table, rows: &[Row])
    -> Result<(), ArchiveError>;

    /// Gives each row that this text finds.
    fn read(db: &mut Self::Db, text: &str, take: &mut TakeRow<'_>) -> Result<(), ArchiveError>;

    /// Ends the writing of rows, before they are read back.
    fn settle(_db: &mut Self::Db, _aside: &mut Self::Aside) -> Result<(), ArchiveError> {
        Ok(())
    }

    /// Checks what the database did not check with each row.
    fn check(_db: &mut Self::Db) -> Result<(), ArchiveError> {
        Ok(())
    }

    /// Puts back what belongs to other programs.
    fn put_back(db: &mut Self::Db, aside: &Self::Aside) -> Result<(), ArchiveError>;

    /// Tidies up when the rows are committed.
    fn tidy_up(_db: &mut Self::Db) {}

    /// Lets go of a database that was not filled.
    fn let_go(&self, _held: Self::Held) {}

    /// Takes the mark away. Refused while another process is filling the database.
    fn unmark(&self) -> Result<Self::Db, ArchiveError>;
}

/// One state of a database, for as long as this value lives. Servers go on writing beside it.
pub struct Archive<P: Place> {
    db: P::Db,
    schema: String,
}

impl<P: Place> Archive<P> {
    /// Opens a database of this release. Creates and changes nothing. Blocks.
    pub fn open(name: &P::Name) -> Result<Self, ArchiveError> {
        let mut db = P::at(name)?.open_state()?;
        if let Some(Unfinished { work }) =
            unfinished(&mut db).map_err(ArchiveError::failed("database could not be read"))?
        {
            return Err(ArchiveError::Refused(format!("a {work} did not finish filling this database")));
        }
        // The state is that of the first read.
        let schema = newest(&mut db).map_err(ArchiveError::failed("migrations could not be read"))?;
        if !schema.is_empty() && schema.as_str() < FIRST_RELEASE {
            return Err(ArchiveError::Refused(BeforeFirstRelease.to_string()));
        }
        if schema.as_str() > newest_known::<P::Db>() {
            return Err(ArchiveError::Refused(format!(
                "the database has the schema of a newer release ({schema}), and this release would leave out what it does not \
                 know; use that release"
            )));
        }
        Ok(Self { db, schema })
    }
}

impl<P: Place> ArchiveSource for Archive<P> {
    fn schema(&self) -> &str {
        &self.schema
    }

    fn tables(&mut self) -> Result<Vec<CountedTable>, ArchiveError> {
        let tables = tables(&mut self.db)?;
        let counted = |table: Table| {
            let count = format!("SELECT count(*) AS number FROM {}", quoted(&table.name));
            let rows = self.db.number(&count).map_err(ArchiveError::failed("rows could not be counted"))?;
            Ok(CountedTable { table, rows: u64::try_from(rows).unwrap_or_default() })
        };
        tables.into_iter().map(counted).collect()
    }

    fn foreign(&mut self) -> Result<Vec<ForeignPart>, ArchiveError> {
        foreign(&mut self.db)
    }

    fn rows(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<Option<TableSum>, ArchiveError> {
        read::<P>(&mut self.db, table, take).map(|()| None)
    }

    fn close(&mut self) -> Result<(), ArchiveError> {
        Ok(())
    }
}

/// A database to be filled. Nothing is opened, created or changed before the work begins.
pub struct Target<P: Place> {
    place: P,
    /// Once the work has begun.
    open: Option<Open<P>>,
}

/// A database that is being filled.
struct Open<P: Place> {
    db: P::Db,
    held: P::Held,
    aside: P::Aside,
    /// What belongs to other programs, at the beginning.
    foreign: Vec<ForeignPart>,
    /// The table whose rows are taken, and those that are not written yet.
    table: Option<(Table, Vec<Row>)>,
}

impl<P: Place> Target<P> {
    /// Names the database.
    pub fn at(name: &P::Name) -> Result<Self, ArchiveError> {
        Ok(Self { place: P::at(name)?, open: None })
    }

    fn open(&mut self) -> Result<&mut Open<P>, ArchiveError> {
        self.open.as_mut().ok_or_else(|| ArchiveError::Unsound("the work has not begun".to_owned()))
    }
}

impl<P: Place> Open<P> {
    fn flush(&mut self) -> Result<(), ArchiveError> {
        let Some((table, rows)) = &mut self.table else { return Ok(()) };
        if !rows.is_empty() {
            P::write(&mut self.db, &self.aside, table, rows)?;
            rows.clear();
        }
        Ok(())
    }

    /// Empties the tables, and gives them the schema of the rows.
    fn prepare(&mut self, begin: &BeginFilling) -> Result<(), ArchiveError> {
        let db = &mut self.db;
        // The mark is there by now: a server that looks from now on does not go on, and one that said before that it runs is seen here.
        if server_seen_at(db)? != begin.server_seen_at {
            return Err(ArchiveError::Refused(
                "a server was started on the database meanwhile; stop it".to_owned(),
            ));
        }
        if !begin.replaces && has_rows(db)? {
            return Err(ArchiveError::Refused("the database is no longer empty".to_owned()));
        }
        let made = made_here(db).map_err(ArchiveError::failed("tables could not be listed"))?;
        self.foreign =
            catalog::foreign(db, &made).map_err(ArchiveError::failed("tables could not be listed"))?;
        let replaced = every_table(db, &made)?;
        self.aside = P::empty(db, &made, &self.foreign, replaced)?;
        to(db, &begin.schema).map_err(|error| match error {
            SchemaError::TooOld(error) => ArchiveError::Refused(error.to_string()),
            error @ (SchemaError::Migration(_) | SchemaError::Query(_)) => {
                ArchiveError::failed("schema of the archive could not be set up")(error)
            }
        })?;
        let here = tables(db)?;
        same_tables(&here, &begin.tables)?;
        P::prepare(db, &mut self.aside, &here)
    }
}

impl<P: Place> ArchiveSink for Target<P> {
    fn begin_table(&mut self, table: &Table) -> Result<(), ArchiveError> {
        self.open()?.table = Some((table.clone(), Vec::new()));
        Ok(())
    }

    fn row(&mut self, row: Row) -> Result<(), ArchiveError> {
        let open = self.open()?;
        let Some((table, rows)) = &mut open.table else { return Ok(()) };
        rows.push(row);
        if rows.len() >= P::at_once(table) {
            return open.flush();
        }
        Ok(())
    }

    fn end_table(&mut self, _sum: &TableSum) -> Result<(), ArchiveError> {
        let open = self.open()?;
        open.flush()?;
        open.table = None;
        Ok(())
    }
}

impl<P: Place> ArchiveTarget for Target<P> {
    fn known_schema(&self) -> &str {
        newest_known::<P::Db>()
    }

    fn layout(&self, schema: &str) -> Layout {
        catalog::layout::<P::Db>(&made::<P::Db>(|version| version <= schema))
    }

    fn holdings(&mut self) -> Result<Holdings, ArchiveError> {
        if !self.place.has_tables()? {
            return Ok(Holdings::default());
        }
        let db = &mut self.place.connect()?;
        let clock: Option<StoredTime> =
            Clock {}.one(db).map_err(ArchiveError::failed("database could not be read"))?;
        Ok(Holdings {
            rows: has_rows(db)?,
            server_seen_at: server_seen_at(db)?,
            clock: clock.and_then(StoredTime::time),
            foreign: foreign(db)?,
        })
    }

    fn begin(&mut self, begin: &BeginFilling) -> Result<(), ArchiveError> {
        let is_fresh = !self.place.has_tables()?;
        if !is_fresh && !has_mark_table(&mut self.place.connect()?)? {
            // A release older than the mark.
            self.place.migrate()?;
        }
        let (db, held) = self.place.lock(is_fresh)?;
        let open = Open { db, held, aside: P::Aside::default(), foreign: Vec::new(), table: None };
        let open = self.open.insert(open);
        self.place.mark(&mut open.db, begin, is_fresh)?;
        open.prepare(begin)
    }

    fn stored(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<(), ArchiveError> {
        let open = self.open()?;
        P::settle(&mut open.db, &mut open.aside)?;
        read::<P>(&mut open.db, table, take)
    }

    fn finish(&mut self, finish: &FinishFilling<'_>) -> Result<Vec<String>, ArchiveError> {
        let open = self.open()?;
        let db = &mut open.db;
        P::settle(db, &mut open.aside)?;
        P::check(db)?;
        let migrated = forward(db).map_err(ArchiveError::failed("schema could not be brought up to date"))?;
        P::put_back(db, &open.aside)?;
        let foreign = foreign(db)?;
        if let Some(lost) = open.foreign.iter().find(|part| !foreign.contains(part)) {
            return Err(lost_on_the_way(lost));
        }
        let mut commit = || -> Result<(), SqlError> {
            if let Some(command) = finish.epoch {
                raise_epoch(db, command)?;
            }
            db.batch_execute("DELETE FROM unfinished; DELETE FROM fillings")?;
            StoreFilling { id: finish.id.into(), filled_at: At(finish.now) }.run(db)?;
            <P::Db as Connection>::TransactionManager::commit_transaction(db)?;
            Ok(())
        };
        commit().map_err(ArchiveError::failed("rows could not be committed"))?;
        P::tidy_up(db);
        self.open = None;
        Ok(migrated)
    }

    fn abandon(&mut self) -> Result<(), ArchiveError> {
        let Some(Open { mut db, held, .. }) = self.open.take() else { return Ok(()) };
        // It may have failed because the connection did. After some failures, SQLite has rolled back by itself.
        let _ = db.batch_execute("ROLLBACK");
        drop(db);
        let unmarked = self.place.connect().and_then(|mut db| {
            if !has_mark_table(&mut db)? {
                return Ok(());
            }
            remove_mark(&mut db).map_err(ArchiveError::failed("mark could not be taken away"))
        });
        self.place.let_go(held);
        unmarked
    }

    fn remove_mark(&mut self) -> Result<MarkRemoved, ArchiveError> {
        if !self.place.is_unfinished()? {
            return Ok(MarkRemoved::NoMark);
        }
        let mut db = self.place.unmark()?;
        Ok(if has_rows(&mut db)? { MarkRemoved::DataUsable } else { MarkRemoved::NothingThere })
    }
}

/// Marks that the database is being filled.
pub fn mark(db: &mut impl Database, begin: &BeginFilling) -> QueryResult<()> {
    db.execute(Mark { work: begin.filling.name(), begun_at: At(begin.now) }).map(drop)
}

/// Takes the mark away.
pub fn remove_mark(db: &mut impl Database) -> QueryResult<()> {
    db.batch_execute("DELETE FROM unfinished")
}

fn has_mark_table(db: &mut impl Database) -> Result<bool, ArchiveError> {
    has_table(db, "unfinished").map_err(ArchiveError::failed("tables could not be listed"))
}

fn server_seen_at(db: &mut impl Database) -> Result<Option<OffsetDateTime>, ArchiveError> {
    if !has_table(db, "replicas").map_err(ArchiveError::failed("tables could not be listed"))? {
        return Ok(None);
    }
    let seen: Option<StoredTime> =
        LastSeen {}.one(db).map_err(ArchiveError::failed("database could not be read"))?;
    Ok(seen.and_then(StoredTime::time))
}

fn foreign<D: Migrated>(db: &mut D) -> Result<Vec<ForeignPart>, ArchiveError> {
    let foreign = made_here(db).and_then(|made| catalog::foreign(db, &made));
    foreign.map_err(ArchiveError::failed("tables could not be listed"))
}

/// Going back to an older schema would remove what belongs to another program.
fn lost_on_the_way(lost: &ForeignPart) -> ArchiveError {
    ArchiveError::Refused(format!(
        "the backup has an older schema, and going through it would remove the {lost}, which belongs to another program; nothing \
         was changed. Restore into an empty database"
    ))
}

/// Is there a row that a server does not write by its own start?
fn has_rows<D: Migrated>(db: &mut D) -> Result<bool, ArchiveError> {
    for table in tables(db)? {
        let except = match OwnStart::of(&table.name) {
            OwnStart::Every => continue,
            OwnStart::None => String::new(),
            OwnStart::Kinds(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{}'", kind.name())).collect();
                format!(" WHERE kind NOT IN ({})", kinds.join(", "))
            }
        };
        let first = format!(
            "SELECT count(*) AS number FROM (SELECT 1 FROM {}{except} LIMIT 1) AS found",
            quoted(&table.name)
        );
        if db.number(&first).map_err(ArchiveError::failed("rows could not be counted"))? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The names of all tables whose rows a restore replaces, each after those it refers to.
fn every_table<D: Migrated>(db: &mut D, made: &Made) -> Result<Vec<String>, ArchiveError> {
    let beside = D::TABLES_OF_ITS_OWN.iter().chain(&["leases", "replicas"]);
    let beside = beside.filter(|table| made.tables.contains_key(**table)).map(|table| (*table).to_owned());
    Ok(beside.chain(tables(db)?.into_iter().map(|table| table.name)).collect())
}

/// Gives all rows of a table, in the order of its key, compared byte by byte.
fn read<P: Place>(db: &mut P::Db, table: &Table, take: &mut TakeRow<'_>) -> Result<(), ArchiveError> {
    let in_order = |name: String| {
        let is_text = table.columns.iter().any(|column| column.name == name && column.kind == Kind::Text);
        format!("{}{}", quoted(&name), if is_text { P::BY_BYTES } else { "" })
    };
    let order: Vec<String> = key(db, &table.name)?.into_iter().map(in_order).collect();
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
    let text =
        format!("SELECT {} FROM {} ORDER BY {}", columns.join(", "), quoted(&table.name), order.join(", "));
    P::read(db, &text, &mut |row| {
        if !table.takes(&row) {
            let wrong = table.columns.iter().zip(&row).find(|(column, value)| !value.fits(column.kind));
            let column = wrong.map_or("", |(column, _)| &column.name);
            return Err(ArchiveError::Unsound(format!(
                "{}.{column} has a value of another kind",
                table.name
            )));
        }
        take(row)
    })
}

impl<P: Place> fmt::Debug for Archive<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<P: Place> fmt::Debug for Target<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").finish_non_exhaustive()
    }
}

statement! {
    /// The time by the clock of the database, if it has one.
    Clock {} -> Nullable<Moment>, sqlite = "SELECT NULL", postgres = "SELECT clock_timestamp()"
}

statement! {
    LastSeen {} -> Nullable<Moment> = "SELECT max(seen_at) FROM replicas"
}

statement! {
    Mark<'a> {
        work: &'a str as Text,
        begun_at: At as Moment,
    } = "\
        INSERT INTO unfinished (work, begun_at) VALUES (:work, :begun_at) \
        ON CONFLICT (work) DO UPDATE SET begun_at = excluded.begun_at"
}

statement! {
    StoreFilling {
        id: Id as Key,
        filled_at: At as Moment,
    } = "INSERT INTO fillings (id, filled_at) VALUES (:id, :filled_at)"
}
