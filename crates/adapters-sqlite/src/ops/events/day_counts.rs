//! What is sealed is counted by day.

use countersign_ports::DayCount;
use countersign_sql::columns::{BigInt, Integer, Text, stored};
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// Adds to what is counted already, in the transaction of the events that are counted.
pub(crate) fn add_day_counts(
    connection: &mut SqliteConnection,
    counts: &[DayCount],
) -> Result<(), SqliteError> {
    for DayCount { day, kind, family, count } in counts {
        let (day, count) = (day.to_julian_day(), stored(*count));
        AddDayCount { day, kind: kind.name(), family, count }.execute(connection)?;
    }
    Ok(())
}

statement! {
    AddDayCount<'a> {
        day: i32 as Integer,
        kind: &'a str as Text,
        family: &'a str as Text,
        count: i64 as BigInt,
    } = "\
        INSERT INTO day_counts (day, kind, family, count) VALUES (:day, :kind, :family, :count) \
        ON CONFLICT (day, kind, family) DO UPDATE SET count = count + excluded.count"
}
