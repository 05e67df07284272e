//! An e-mail address goes.

use countersign_domain::id::UserId;
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::schema::emails;

/// Takes the address of a user off file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemoveEmail {
    pub(crate) user: UserId,
}

/// The answer says whether there was one.
pub(crate) fn remove_email(
    connection: &mut SqliteConnection,
    command: &RemoveEmail,
) -> Result<bool, SqliteError> {
    let user = command.user.as_uuid();
    let removed = diesel::delete(emails::table.find(user.as_bytes().as_slice())).execute(connection)?;
    Ok(removed == 1)
}
