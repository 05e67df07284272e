//! What is sealed is counted by day.

use countersign_ports::DayCount;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Date as SqlDate, Text};
use time::Date;

use crate::statement::statement;

/// Adds to what is counted already, in the transaction of the events that are counted.
pub(crate) fn add_day_counts(connection: &mut PgConnection, counts: &[DayCount]) -> QueryResult<()> {
    if counts.is_empty() {
        return Ok(());
    }
    let add = AddDayCount {
        day: counts.iter().map(|count| count.day).collect(),
        kind: counts.iter().map(|count| count.kind.name()).collect(),
        family: counts.iter().map(|count| &*count.family).collect(),
        count: counts.iter().map(|count| i64::try_from(count.count).unwrap_or(i64::MAX)).collect(),
    };
    add.execute(connection)?;
    Ok(())
}

statement! {
    /// In the order of the keys. A day that is named twice is added up first.
    AddDayCount<'a> {
        day: Vec<Date> as Array<SqlDate>,
        kind: Vec<&'a str> as Array<Text>,
        family: Vec<&'a str> as Array<Text>,
        count: Vec<i64> as Array<BigInt>,
    } = "\
        INSERT INTO day_counts (day, kind, family, count) \
        SELECT day, kind COLLATE \"C\", family COLLATE \"C\", CAST(sum(count) AS BIGINT) \
        FROM unnest(:day, :kind, :family, :count) AS counted (day, kind, family, count) \
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 \
        ON CONFLICT (day, kind, family) DO UPDATE SET count = day_counts.count + excluded.count"
}
