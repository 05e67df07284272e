//! An e-mail address is removed.

use countersign_domain::id::UserId;
use diesel::prelude::*;
use diesel::sql_types::Uuid as SqlUuid;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn remove_email(connection: &mut PgConnection, user: UserId) -> OpResult<bool> {
    Ok(DeleteEmail { user: user.as_uuid() }.execute(connection)? == 1)
}

statement! {
    DeleteEmail { user: Uuid as SqlUuid } = "DELETE FROM emails WHERE user_id = :user"
}
