//! An e-mail address is removed.

use countersign_domain::id::UserId;
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::schema::emails;

/// Removes the address of a user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemoveEmail {
    pub(crate) user: UserId,
}

/// Returns whether there was one.
pub(crate) fn remove_email(
    connection: &mut SqliteConnection,
    command: &RemoveEmail,
) -> Result<bool, SqliteError> {
    let user = command.user.as_uuid();
    let removed = diesel::delete(emails::table.find(user.as_bytes().as_slice())).execute(connection)?;
    Ok(removed == 1)
}
