//! What is known about the time besides this machine's clock: what the database server's clock says.

use countersign_domain::forgetting::TimeWitness;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Timestamptz};
use time::OffsetDateTime;

use crate::error::OpResult;
use crate::statement::statement;

/// Asks the server's clock.
pub(crate) fn time_witness(connection: &mut PgConnection) -> OpResult<TimeWitness> {
    let now: OffsetDateTime = Now { never: false }.get_result(connection)?;
    Ok(TimeWitness::Clock(now))
}

statement! {
    /// The current time, not that of the start of the transaction.
    Now { never: bool as Bool } -> Timestamptz = "SELECT clock_timestamp() WHERE NOT :never"
}
