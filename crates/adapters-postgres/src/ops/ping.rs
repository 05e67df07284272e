//! Can the database be written?

use diesel::prelude::*;
use diesel::sql_types::Bool;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn ping(connection: &mut PgConnection) -> OpResult<()> {
    Touch { really: true }.execute(connection)?;
    Ok(())
}

statement! {
    /// Writes a row without changing it. A server that is read-only or has no room refuses that.
    Touch { really: bool as Bool } = "\
        UPDATE signing_keys SET kid = kid WHERE kid = (SELECT max(kid) FROM signing_keys WHERE :really)"
}
