//! An e-mail address is removed.

use countersign_domain::id::UserId;

use crate::columns::{Id, Key};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn remove_email(db: &mut impl Database, user: UserId) -> Result<bool, SqlError> {
    Ok(DeleteEmail { user: user.into() }.run(db)? == 1)
}

statement! {
    pub DeleteEmail { user: Id as Key } = "DELETE FROM emails WHERE user_id = :user"
}
