//! What the overview of the desk shows: what happened on which day, how many are signed in, and which replicas run.

use countersign_domain::event::EventKind;
use countersign_ports::{DayCount, Replica, StoreError};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Date as SqlDate, Nullable, Text, Timestamptz};
use time::{Date, OffsetDateTime};

use crate::error::{OpError, OpResult};
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

pub(crate) fn day_counts(connection: &mut PgConnection, since: Date) -> OpResult<Vec<DayCount>> {
    let rows: Vec<(Date, String, String, i64)> = DayCounts { since }.load(connection)?;
    rows.into_iter()
        .map(|(day, kind, family, count)| {
            let impossible = |column| corrupt("day_counts", column, &kind);
            Ok(DayCount {
                day,
                kind: EventKind::parse(&kind).map_err(|_| impossible("kind"))?,
                count: u64::try_from(count).map_err(|_| impossible("count"))?,
                family,
            })
        })
        .collect()
}

/// Goes through the index of what expires later, and stops at `at_most`.
pub(crate) fn count_sessions(
    connection: &mut PgConnection,
    now: OffsetDateTime,
    at_most: u32,
) -> OpResult<u32> {
    let count: i64 = CountSessions { now, at_most: at_most.into() }.get_result(connection)?;
    Ok(u32::try_from(count).unwrap_or(at_most))
}

pub(crate) fn note_replica(
    connection: &mut PgConnection,
    replica: &Replica,
    forget_before: OffsetDateTime,
) -> OpResult<()> {
    let note = StoreReplica {
        id: replica.id.as_slice(),
        version: &replica.version,
        started_at: replica.started_at,
        seen_at: replica.seen_at,
        settings: &replica.settings,
        untrusted_proxy: replica.untrusted_proxy.map(|peer| peer.to_string()),
    };
    note.execute(connection)?;
    ForgetReplicas { before: forget_before }.execute(connection)?;
    Ok(())
}

pub(crate) fn forget_replica(connection: &mut PgConnection, id: [u8; 16]) -> OpResult<()> {
    DeleteReplica { id: &id }.execute(connection)?;
    Ok(())
}

pub(crate) fn replicas(connection: &mut PgConnection, since: OffsetDateTime) -> OpResult<Vec<Replica>> {
    type Stored = (Vec<u8>, String, OffsetDateTime, OffsetDateTime, String, Option<String>);
    let rows: Vec<Stored> = Replicas { since }.load(connection)?;
    rows.into_iter()
        .map(|(id, version, started_at, seen_at, settings, untrusted_proxy)| {
            let impossible = |column| corrupt("replicas", column, &version);
            let id = id.as_slice().try_into().map_err(|_| impossible("id"))?;
            let untrusted_proxy = untrusted_proxy
                .map(|peer| peer.parse().map_err(|_| impossible("untrusted_proxy")))
                .transpose()?;
            Ok(Replica { id, version, started_at, seen_at, settings, untrusted_proxy })
        })
        .collect()
}

fn corrupt(table: &'static str, column: &'static str, row: &str) -> OpError {
    OpError::Corrupt(StoreError::Corrupt { table, column, row: row.to_owned() })
}

statement! {
    /// In the order of the keys. A day that is named twice is added up first.
    AddDayCount<'a> {
        day: Vec<Date> as Array<SqlDate>,
        kind: Vec<&'static str> as Array<Text>,
        family: Vec<&'a str> as Array<Text>,
        count: Vec<i64> as Array<BigInt>,
    } = "\
        INSERT INTO day_counts (day, kind, family, count) \
        SELECT day, kind COLLATE \"C\", family COLLATE \"C\", CAST(sum(count) AS BIGINT) \
        FROM unnest(:day, :kind, :family, :count) AS counted (day, kind, family, count) \
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 \
        ON CONFLICT (day, kind, family) DO UPDATE SET count = day_counts.count + excluded.count"
}

statement! {
    DayCounts { since: Date as SqlDate } -> (SqlDate, Text, Text, BigInt) = "\
        SELECT day, kind, family, count FROM day_counts WHERE day >= :since ORDER BY day, kind, family"
}

statement! {
    /// With an order, so that the planner does not go through those that expired.
    CountSessions { now: OffsetDateTime as Timestamptz, at_most: i64 as BigInt } -> BigInt = "\
        SELECT count(*) FROM ( \
          SELECT FROM login_sessions WHERE expires_at > :now ORDER BY expires_at LIMIT :at_most \
        ) AS valid"
}

statement! {
    StoreReplica<'a> {
        id: &'a [u8] as Binary,
        version: &'a str as Text,
        started_at: OffsetDateTime as Timestamptz,
        seen_at: OffsetDateTime as Timestamptz,
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
    /// By the index, and so in one order if two forget at once.
    ForgetReplicas { before: OffsetDateTime as Timestamptz } = "DELETE FROM replicas WHERE seen_at < :before"
}

statement! {
    DeleteReplica<'a> { id: &'a [u8] as Binary } = "DELETE FROM replicas WHERE id = :id"
}

statement! {
    Replicas { since: OffsetDateTime as Timestamptz } -> (Binary, Text, Timestamptz, Timestamptz, Text, Nullable<Text>) = "\
        SELECT id, version, started_at, seen_at, settings, untrusted_proxy FROM replicas \
        WHERE seen_at >= :since ORDER BY started_at, id"
}
