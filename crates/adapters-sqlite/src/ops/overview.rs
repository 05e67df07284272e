//! What the overview of the desk shows: what happened on which day, how many are signed in, and which replicas run.

use countersign_domain::event::EventKind;
use countersign_ports::{DayCount, Replica};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
use time::{Date, OffsetDateTime};

use crate::error::SqliteError;
use crate::rows::checkpoint::stored;
use crate::rows::field::{Row, micros};
use crate::statement::statement;

/// A replica stops.
#[derive(Debug)]
pub(crate) struct ForgetReplica {
    pub(crate) id: [u8; 16],
}

/// Writes down that a replica runs.
#[derive(Debug)]
pub(crate) struct NoteReplica {
    pub(crate) replica: Replica,
    pub(crate) forget_before: OffsetDateTime,
}

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

pub(crate) fn day_counts(
    connection: &mut SqliteConnection,
    since: Date,
) -> Result<Vec<DayCount>, SqliteError> {
    let rows: Vec<(i32, String, String, i64)> =
        DayCounts { since: since.to_julian_day() }.load(connection)?;
    rows.into_iter()
        .map(|(day, kind, family, count)| {
            let at = Row { table: "day_counts", key: kind.as_bytes() };
            Ok(DayCount {
                day: Date::from_julian_day(day).map_err(|_| at.impossible("day"))?,
                kind: EventKind::parse(&kind).map_err(|_| at.impossible("kind"))?,
                count: u64::try_from(count).map_err(|_| at.impossible("count"))?,
                family,
            })
        })
        .collect()
}

/// Goes through the index of what expires later, and stops at `at_most`.
pub(crate) fn count_sessions(
    connection: &mut SqliteConnection,
    now: OffsetDateTime,
    at_most: u32,
) -> Result<u32, SqliteError> {
    let count: i64 = CountSessions { now: micros(now), at_most: at_most.into() }.get_result(connection)?;
    Ok(u32::try_from(count).unwrap_or(at_most))
}

pub(crate) fn note_replica(
    connection: &mut SqliteConnection,
    command: &NoteReplica,
) -> Result<(), SqliteError> {
    let NoteReplica { replica, forget_before } = command;
    let note = StoreReplica {
        id: &replica.id,
        version: &replica.version,
        started_at: micros(replica.started_at),
        seen_at: micros(replica.seen_at),
        settings: &replica.settings,
        untrusted_proxy: replica.untrusted_proxy.map(|peer| peer.to_string()),
    };
    note.execute(connection)?;
    ForgetReplicas { before: micros(*forget_before) }.execute(connection)?;
    Ok(())
}

pub(crate) fn forget_replica(
    connection: &mut SqliteConnection,
    command: &ForgetReplica,
) -> Result<(), SqliteError> {
    DeleteReplica { id: &command.id }.execute(connection)?;
    Ok(())
}

pub(crate) fn replicas(
    connection: &mut SqliteConnection,
    since: OffsetDateTime,
) -> Result<Vec<Replica>, SqliteError> {
    type Stored = (Vec<u8>, String, i64, i64, String, Option<String>);
    let rows: Vec<Stored> = Replicas { since: micros(since) }.load(connection)?;
    rows.into_iter()
        .map(|(id, version, started_at, seen_at, settings, untrusted_proxy)| {
            let at = Row { table: "replicas", key: &id };
            Ok(Replica {
                started_at: at.time("started_at", started_at)?,
                seen_at: at.time("seen_at", seen_at)?,
                id: id.as_slice().try_into().map_err(|_| at.impossible("id"))?,
                version,
                settings,
                untrusted_proxy: untrusted_proxy
                    .map(|peer| peer.parse().map_err(|_| at.impossible("untrusted_proxy")))
                    .transpose()?,
            })
        })
        .collect()
}

statement! {
    AddDayCount<'a> {
        day: i32 as Integer,
        kind: &'static str as Text,
        family: &'a str as Text,
        count: i64 as BigInt,
    } = "\
        INSERT INTO day_counts (day, kind, family, count) VALUES (:day, :kind, :family, :count) \
        ON CONFLICT (day, kind, family) DO UPDATE SET count = count + excluded.count"
}

statement! {
    DayCounts {
        since: i32 as Integer,
    } -> (Integer, Text, Text, BigInt) = "\
        SELECT day, kind, family, count FROM day_counts WHERE day >= :since ORDER BY day, kind, family"
}

statement! {
    CountSessions {
        now: i64 as BigInt,
        at_most: i64 as BigInt,
    } -> BigInt = "\
        SELECT count(*) FROM (SELECT 1 FROM login_sessions WHERE expires_at > :now LIMIT :at_most)"
}

statement! {
    StoreReplica<'a> {
        id: &'a [u8] as Binary,
        version: &'a str as Text,
        started_at: i64 as BigInt,
        seen_at: i64 as BigInt,
        settings: &'a str as Text,
        untrusted_proxy: Option<String> as Nullable<Text>,
    } = "\
        INSERT INTO replicas (id, version, started_at, seen_at, settings, untrusted_proxy) \
        VALUES (:id, :version, :started_at, :seen_at, :settings, :untrusted_proxy) \
        ON CONFLICT (id) DO UPDATE SET version = excluded.version, started_at = excluded.started_at, \
          seen_at = excluded.seen_at, settings = excluded.settings, untrusted_proxy = excluded.untrusted_proxy \
        WHERE replicas.seen_at <= excluded.seen_at"
}

statement! {
    ForgetReplicas {
        before: i64 as BigInt,
    } = "DELETE FROM replicas WHERE seen_at < :before"
}

statement! {
    DeleteReplica<'a> {
        id: &'a [u8] as Binary,
    } = "DELETE FROM replicas WHERE id = :id"
}

statement! {
    /// They are few, so it is no matter that they are sorted.
    Replicas {
        since: i64 as BigInt,
    } -> (Binary, Text, BigInt, BigInt, Text, Nullable<Text>) = "\
        SELECT id, version, started_at, seen_at, settings, untrusted_proxy FROM replicas \
        WHERE seen_at >= :since ORDER BY started_at, id"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys, steps};

    #[test]
    fn the_overview_scans_no_table() {
        let (_folder, mut connection) = database();
        let connection = &mut connection;
        let counts = steps(connection, DayCounts { since: 1 });
        assert_eq!(counts, ["SEARCH day_counts USING PRIMARY KEY (day>?)"]);
        let sessions = steps(connection, CountSessions { now: 1, at_most: 10 }).join("\n");
        let by = "SEARCH login_sessions USING COVERING INDEX login_sessions_by_expires_at (expires_at>?)";
        assert!(sessions.contains(by), "{sessions}");
        finds_rows_by_keys(connection, ForgetReplicas { before: 1 });
        finds_rows_by_keys(connection, DeleteReplica { id: &[] });
        finds_rows_by_keys(connection, Replicas { since: 1 });
    }
}
