//! Events are recorded.

use countersign_domain::event::Event;
use countersign_domain::id::UserId;

use super::fulfil::fulfil;
use crate::columns::{Bool, Id, Key};
use crate::database::Statement;
use crate::ops::suspended::{require_active, signers_of};
use crate::rows::event::NewEvent;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Returns whether the event is stored now.
pub fn record_event(db: &mut impl Database, event: &Event) -> Result<bool, SqlError> {
    db.all_or_nothing(|db| Ok(store(db, NewEvent::of(event))?))
}

/// Records the event of an act that changed something, in the transaction of the act. If two signed the act, their
/// proposal is done with it. Fails if a suspended operator signed it. Fails if the event is stored already: then it is about an earlier act, and this one must
/// not be committed.
pub fn record(db: &mut impl Database, event: Option<&Event>) -> Result<(), SqlError> {
    match event {
        Some(event) => record_row(db, event, NewEvent::of(event)),
        None => Ok(()),
    }
}

/// The same for an event about this user, unless it already names a person.
pub fn record_about(db: &mut impl Database, event: Option<&Event>, user: UserId) -> Result<(), SqlError> {
    match event {
        Some(event) => record_row(db, event, NewEvent::of(event).about(user)),
        None => Ok(()),
    }
}

/// Is this the repeat of a command that was carried out? Without an event that is not known.
pub fn is_recorded(db: &mut impl Database, event: Option<&Event>) -> Result<Option<bool>, SqlError> {
    let Some(event) = event else { return Ok(None) };
    Ok(Some(IsRecorded { id: event.id.into() }.one(db)?))
}

/// Carries out an act that is one statement, and records its event if it changed something. Without an event it needs no
/// transaction.
pub fn act_and_record<D: Database>(
    db: &mut D,
    event: Option<&Event>,
    act: impl FnOnce(&mut D) -> Result<bool, SqlError>,
) -> Result<bool, SqlError> {
    if event.is_none() {
        return act(db);
    }
    db.all_or_nothing(|db| {
        let is_done = act(db)?;
        if is_done {
            record(db, event)?;
        }
        Ok(is_done)
    })
}

fn record_row(db: &mut impl Database, event: &Event, row: NewEvent<'_>) -> Result<(), SqlError> {
    require_active(db, signers_of(Some(event)))?;
    fulfil(db, event.signed.as_ref())?;
    if store(db, row)? { Ok(()) } else { Err(SqlError::EventThere) }
}

/// Among several writers, the same event may be stored or sealed at the same moment. The first statement waits until that
/// is done; only the next sees that it was sealed.
fn store<D: Database>(db: &mut D, event: NewEvent<'_>) -> Result<bool, SqlError> {
    let id = event.id;
    let is_new = StoreEvent { event }.run(db)? == 1;
    Ok(is_new && !(D::HAS_SEVERAL_WRITERS && DropSealed { id }.run(db)? == 1))
}

statement! {
    /// One row if no fresh event has the id, none otherwise; with one writer, no sealed event either. `OR FAIL`, because an error
    /// ends the transaction anyway: to take back one statement, SQLite would first copy each page that it changes.
    pub StoreEvent<'a> {
        ..event: NewEvent<'a>,
    },
    sqlite = "\
        INSERT OR FAIL INTO fresh_events (:event.columns) SELECT :event.values \
        WHERE NOT EXISTS (SELECT 1 FROM events WHERE id = :event.id) \
        ON CONFLICT (id) DO NOTHING",
    postgres = "\
        INSERT INTO fresh_events (:event.columns) VALUES (:event.values) ON CONFLICT (id) DO NOTHING"
}

statement! {
    pub IsRecorded { id: Id as Key } -> Bool,
    sqlite = "\
        SELECT EXISTS (SELECT 1 FROM fresh_events WHERE id = :id) OR EXISTS (SELECT 1 FROM events WHERE id = :id)",
    postgres = "\
        SELECT EXISTS (SELECT FROM fresh_events WHERE id = :id) OR EXISTS (SELECT FROM events WHERE id = :id)"
}

statement! {
    /// One row if the event that was just stored had been sealed, none otherwise. Only several writers ask.
    pub DropSealed { id: Id as Key },
    sqlite = "DELETE FROM fresh_events WHERE id = :id AND EXISTS (SELECT 1 FROM events WHERE events.id = :id)",
    postgres = "\
        DELETE FROM fresh_events WHERE id = :id AND EXISTS (SELECT FROM events WHERE events.id = :id)"
}
