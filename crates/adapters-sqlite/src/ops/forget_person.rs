//! The events about a user whose account is deleted name a pseudonym from then on.

use countersign_domain::event::Pseudonym;
use countersign_domain::id::UserId;
use diesel::prelude::*;
use diesel::sql_types::Binary;

use crate::error::SqliteError;
use crate::statement::statement;

/// Returns how many events there were, fresh and sealed.
pub(crate) fn forget_person(
    connection: &mut SqliteConnection,
    user: UserId,
    pseudonym: Pseudonym,
) -> Result<u64, SqliteError> {
    let user = user.as_uuid();
    let (user, pseudonym) = (user.as_bytes().as_slice(), pseudonym.as_bytes().as_slice());
    let fresh = ForgetFresh { pseudonym, user }.execute(connection)?;
    let sealed = ForgetSealed { pseudonym, user }.execute(connection)?;
    Ok(u64::try_from(fresh + sealed).unwrap_or(u64::MAX))
}

statement! {
    /// Reads all fresh events: they are few, and sign-ins do not pay for an index.
    ForgetFresh<'a> {
        pseudonym: &'a [u8] as Binary,
        user: &'a [u8] as Binary,
    } = "\
        UPDATE fresh_events SET user_id = NULL, pseudonym = :pseudonym, family = NULL, chain = NULL, \
        address = NULL, peer = NULL, signed = NULL WHERE user_id = :user"
}

statement! {
    /// Without its salt, nobody can try out whom a commitment is about.
    ForgetSealed<'a> {
        pseudonym: &'a [u8] as Binary,
        user: &'a [u8] as Binary,
    } = "\
        UPDATE events SET user_id = NULL, pseudonym = :pseudonym, family = NULL, chain = NULL, \
        address = NULL, peer = NULL, signed = NULL, salt = NULL WHERE user_id = :user"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys};

    #[test]
    fn the_sealed_events_of_a_user_are_found_by_their_index() {
        let (_folder, mut connection) = database();
        finds_rows_by_keys(&mut connection, ForgetSealed { pseudonym: &[], user: &[] });
    }
}
