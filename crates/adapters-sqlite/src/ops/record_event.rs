//! Events are written down, in the transaction of what they tell of.

use countersign_domain::event::Event;
use countersign_domain::id::UserId;
use diesel::prelude::*;

use super::proposals::fulfil;
use crate::error::SqliteError;
use crate::rows::event::NewEvent;
use crate::statement::statement;

/// Stores an event of which no other operation tells.
#[derive(Debug)]
pub(crate) struct RecordEvent(pub(crate) Event);

/// Guard: no event has this id. Returns whether it was stored.
pub(crate) fn record_event(
    connection: &mut SqliteConnection,
    RecordEvent(event): &RecordEvent,
) -> Result<bool, SqliteError> {
    Ok(StoreEvent { event: NewEvent::of(event) }.execute(connection)? == 1)
}

/// Stores the event of an operation that was carried out, if it has one. If two signed it, their proposal is done with
/// it.
pub(crate) fn record(connection: &mut SqliteConnection, event: Option<&Event>) -> Result<(), SqliteError> {
    if let Some(event) = event {
        fulfil(connection, event.signed.as_ref())?;
        StoreEvent { event: NewEvent::of(event) }.execute(connection)?;
    }
    Ok(())
}

/// The same, about this user unless it is about somebody already.
pub(crate) fn record_about(
    connection: &mut SqliteConnection,
    event: Option<&Event>,
    user: UserId,
) -> Result<(), SqliteError> {
    if let Some(event) = event {
        fulfil(connection, event.signed.as_ref())?;
        StoreEvent { event: NewEvent::of(event).about(user) }.execute(connection)?;
    }
    Ok(())
}

statement! {
    /// A command can be repeated after its event was sealed.
    StoreEvent<'a> {
        ..event: NewEvent<'a>,
    } = "\
        INSERT INTO fresh_events (:event.columns) SELECT :event.values \
        WHERE NOT EXISTS (SELECT 1 FROM events WHERE id = :event.id) \
        ON CONFLICT (id) DO NOTHING"
}

#[cfg(test)]
mod tests {
    use countersign_domain::event::{Actor, Details, EventKind};
    use countersign_domain::id::EventId;

    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys};

    #[test]
    fn recording_an_event_takes_no_longer_among_many() {
        let (_folder, mut connection) = database();
        let event = Event {
            id: EventId::from_uuid(uuid::Uuid::nil()),
            kind: EventKind::SignIn,
            actor: Actor::Person,
            person: None,
            wallet: None,
            client: None,
            address: None,
            request: None,
            details: Details::default(),
            signed: None,
        };
        finds_rows_by_keys(&mut connection, StoreEvent { event: NewEvent::of(&event) });
    }
}
