//! Events are recorded.

use countersign_domain::event::Event;
use countersign_domain::id::UserId;
use diesel::prelude::*;
use diesel::sql_types::Uuid as SqlUuid;
use uuid::Uuid;

use super::proposals::fulfil;
use crate::error::OpResult;
use crate::rows::event::NewEvent;
use crate::statement::statement;

/// Returns whether the event is stored now.
pub(crate) fn record_event(connection: &mut PgConnection, event: &Event) -> OpResult<bool> {
    connection.transaction(|connection| Ok(store(connection, NewEvent::of(event))?))
}

/// Records the event of an act, in the transaction of the act. Returns whether it is stored now. If two signed the act,
/// their proposal is done with it.
///
/// A repeat of the act may come while its event is being sealed. It waits until that is done, and is then
/// stored; only the next statement sees that it was sealed.
pub(crate) fn record(connection: &mut PgConnection, event: Option<&Event>) -> OpResult<bool> {
    let Some(event) = event else { return Ok(false) };
    fulfil(connection, event.signed.as_ref())?;
    Ok(store(connection, NewEvent::of(event))?)
}

/// The same for an event about this user, unless it is about somebody already.
pub(crate) fn record_about(
    connection: &mut PgConnection,
    event: Option<&Event>,
    user: UserId,
) -> OpResult<bool> {
    let Some(event) = event else { return Ok(false) };
    fulfil(connection, event.signed.as_ref())?;
    Ok(store(connection, NewEvent::of(event).about(user))?)
}

fn store(connection: &mut PgConnection, event: NewEvent<'_>) -> QueryResult<bool> {
    let id = event.id;
    let is_new = StoreEvent { event }.execute(connection)? == 1;
    Ok(is_new && DropSealed { id }.execute(connection)? == 0)
}

statement! {
    /// One row if no fresh event has the id, none otherwise.
    StoreEvent<'a> {
        ..event: NewEvent<'a>,
    } = "\
        INSERT INTO fresh_events (:event.columns) VALUES (:event.values) ON CONFLICT (id) DO NOTHING"
}

statement! {
    /// One row if the event that was just stored had been sealed, none otherwise.
    DropSealed { id: Uuid as SqlUuid } = "\
        DELETE FROM fresh_events WHERE id = :id AND EXISTS (SELECT FROM events WHERE events.id = :id)"
}
