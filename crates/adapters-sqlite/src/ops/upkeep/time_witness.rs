//! What is known about the time besides this machine's clock. A file has no clock, so a mark is stored in it.

use countersign_domain::forgetting::{TimeMark, TimeWitness};
use countersign_sql::columns::{At, BigInt, Moment, Row, StoredTime};
use countersign_sql::schema::{grants, time_mark, tokens};
use diesel::prelude::*;
use time::Duration;

use crate::error::SqliteError;
use crate::statement::statement;

/// The id of the one row.
const ID: i64 = 1;

/// Reads the mark. If there is none, the newest grant and the newest token tell the time: their ids are in
/// order of time.
pub(crate) fn time_witness(connection: &mut SqliteConnection) -> Result<TimeWitness, SqliteError> {
    let at = Row { table: "time_mark", key: &"only" };
    let marked: Option<(StoredTime, i64)> = time_mark::table
        .find(ID)
        .select((time_mark::trusted_at, time_mark::doubted_for))
        .get_result(connection)
        .optional()?;
    if let Some((trusted_at, doubted_for)) = marked {
        let trusted_at = at.time("trusted_at", trusted_at)?;
        let mark = TimeMark { trusted_at, doubted_for: Duration::microseconds(doubted_for) };
        return Ok(TimeWitness::Mark(Some(mark)));
    }
    let grant: Option<StoredTime> = grants::table
        .order(grants::id.desc())
        .select(grants::authenticated_at)
        .first(connection)
        .optional()?;
    let token: Option<StoredTime> =
        tokens::table.order(tokens::id.desc()).select(tokens::issued_at).first(connection).optional()?;
    let newest = at.optional_time("trusted_at", grant.max(token))?;
    Ok(TimeWitness::Mark(newest.map(TimeMark::trusting)))
}

/// Replaces the mark that was stored before.
pub(crate) fn mark_time(connection: &mut SqliteConnection, mark: &TimeMark) -> Result<(), SqliteError> {
    let doubted_for = i64::try_from(mark.doubted_for.whole_microseconds()).unwrap_or(i64::MAX);
    WriteMark { id: ID, trusted_at: At(mark.trusted_at), doubted_for }.execute(connection)?;
    Ok(())
}

statement! {
    WriteMark {
        id: i64 as BigInt,
        trusted_at: At as Moment,
        doubted_for: i64 as BigInt,
    } = "\
        INSERT INTO time_mark (id, trusted_at, doubted_for) VALUES (:id, :trusted_at, :doubted_for) \
        ON CONFLICT (id) DO UPDATE SET trusted_at = excluded.trusted_at, doubted_for = excluded.doubted_for"
}
