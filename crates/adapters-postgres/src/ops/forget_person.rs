//! The events about a user lose everything that leads to the user.

use countersign_domain::event::Pseudonym;
use countersign_domain::id::UserId;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Uuid as SqlUuid};
use uuid::Uuid;

use crate::statement::statement;

/// Returns how many events there were. Fresh events come first: a sealer that has them waits, or this waits
/// for the sealer, and then the next statement sees them sealed.
pub(crate) fn forget_person(
    connection: &mut PgConnection,
    user: UserId,
    pseudonym: Pseudonym,
) -> QueryResult<u64> {
    let (user, pseudonym) = (user.as_uuid(), pseudonym.as_bytes().as_slice());
    let fresh = ForgetFresh { user, pseudonym }.execute(connection)?;
    let sealed = ForgetSealed { user, pseudonym }.execute(connection)?;
    Ok(u64::try_from(fresh + sealed).unwrap_or(u64::MAX))
}

statement! {
    /// One row for each event. Reads all fresh events: there are never many.
    ForgetFresh<'a> { user: Uuid as SqlUuid, pseudonym: &'a [u8] as Binary } = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT id FROM fresh_events WHERE user_id = :user ORDER BY id FOR UPDATE \
        ) \
        UPDATE fresh_events SET user_id = NULL, pseudonym = :pseudonym, family = NULL, chain = NULL, address = NULL, \
          peer = NULL, signed = NULL \
        FROM theirs WHERE fresh_events.id = theirs.id"
}

statement! {
    /// One row for each event. Finds them by the index `events_by_user`.
    ForgetSealed<'a> { user: Uuid as SqlUuid, pseudonym: &'a [u8] as Binary } = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT position FROM events WHERE user_id = :user ORDER BY position FOR UPDATE \
        ) \
        UPDATE events SET user_id = NULL, pseudonym = :pseudonym, family = NULL, chain = NULL, address = NULL, \
          peer = NULL, signed = NULL, salt = NULL \
        FROM theirs WHERE events.position = theirs.position"
}
