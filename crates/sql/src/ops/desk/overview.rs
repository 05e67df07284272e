//! What the overview of the desk shows: what happened on which day and in which hour, how many are signed in, and which
//! replicas run.

use countersign_domain::event::EventKind;
use countersign_domain::figure::Figure;
use countersign_domain::forgetting::Past;
use countersign_domain::hour::Hour;
use countersign_domain::id::ClientId;
use countersign_ports::{AccessCount, AddHourCounts, DayCount, HourCount, Replica};
use time::{Date, OffsetDateTime};

use crate::columns::{
    At, BigInt, Binary, Day, Id, Key, Moment, Nullable, OnDay, Row, StoredDay, StoredTime, Text, stored,
};
use crate::database::{Statement, Undone};
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn day_counts(db: &mut impl Database, since: Date) -> Result<Vec<DayCount>, SqlError> {
    let rows: Vec<(StoredDay, String, String, i64)> = DayCounts { since: OnDay(since) }.all(db)?;
    rows.into_iter()
        .map(|(day, kind, family, count)| {
            let at = Row { table: "day_counts", key: &kind };
            Ok(DayCount {
                day: at.day("day", day)?,
                kind: EventKind::parse(&kind).map_err(|_| at.impossible("kind"))?,
                count: u64::try_from(count).map_err(|_| at.impossible("count"))?,
                family,
            })
        })
        .collect()
}

/// In the order of the keys, so that replicas that add to the same counts wait for each other in one order.
pub fn add_hour_counts(db: &mut impl Database, command: &AddHourCounts) -> Result<bool, SqlError> {
    let replica = command.replica.as_slice();
    let mut counts: Vec<&HourCount> = command.counts.iter().collect();
    counts.sort_by_key(|counted| (counted.hour, counted.figure.name(), counted.label.as_str()));
    db.all_or_nothing(|db| {
        if (NoteBatch { replica, batch: stored(command.batch) }).run(db)? == 0 {
            let is_noted = IsNoted { replica }.maybe(db)?.is_some_and(|found: i64| found == 1);
            return Err(Undone::Refused(is_noted));
        }
        for HourCount { hour, figure, label, count } in counts {
            let add =
                AddHourCount { hour: hour.number(), figure: figure.name(), label, count: stored(*count) };
            add.run(db)?;
        }
        Ok(true)
    })
}

pub fn forget_hour_counts(db: &mut impl Database, before: Past) -> Result<u64, SqlError> {
    let forgotten = ForgetHour { before: Hour::of(before.time()).number() }.run(db)?;
    Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))
}

pub fn hour_counts(db: &mut impl Database, since: Hour) -> Result<Vec<HourCount>, SqlError> {
    let rows: Vec<(i64, String, String, i64)> = HourCounts { since: since.number() }.all(db)?;
    let known = rows.into_iter().filter_map(|(hour, figure, label, count)| {
        Some((Hour::from_number(hour), Figure::parse(&figure)?, label, count))
    });
    known
        .map(|(hour, figure, label, count)| {
            let at = Row { table: "hour_counts", key: &label };
            let count = u64::try_from(count).map_err(|_| at.impossible("count"))?;
            Ok(HourCount { hour, figure, label, count })
        })
        .collect()
}

/// Goes through the index of what expires later, and stops at `at_most`.
pub fn count_sessions(db: &mut impl Database, now: OffsetDateTime, at_most: u32) -> Result<u32, SqlError> {
    let count: i64 = CountSessions { now: At(now), at_most: at_most.into() }.one(db)?;
    Ok(u32::try_from(count).unwrap_or(at_most))
}

/// Goes through the indexes of one client, and stops at `at_most`.
pub fn count_access(
    db: &mut impl Database,
    client: ClientId,
    now: OffsetDateTime,
    at_most: u32,
) -> Result<AccessCount, SqlError> {
    let (people, grants): (i64, i64) =
        CountAccess { client: client.into(), now: At(now), at_most: at_most.into() }.one(db)?;
    let number = |count: i64| u32::try_from(count).unwrap_or(at_most);
    Ok(AccessCount { people: number(people), grants: number(grants) })
}

pub fn note_replica(db: &mut impl Database, replica: &Replica, forget_before: Past) -> Result<(), SqlError> {
    let note = StoreReplica {
        id: replica.id.as_slice(),
        version: &replica.version,
        started_at: At(replica.started_at),
        seen_at: At(replica.seen_at),
        settings: &replica.settings,
        untrusted_proxy: replica.untrusted_proxy.map(|peer| peer.to_string()),
    };
    note.run(db)?;
    ForgetReplicas { before: At(forget_before.time()) }.run(db)?;
    Ok(())
}

pub fn forget_replica(db: &mut impl Database, id: [u8; 16]) -> Result<(), SqlError> {
    DeleteReplica { id: &id }.run(db)?;
    Ok(())
}

pub fn replicas(db: &mut impl Database, since: OffsetDateTime) -> Result<Vec<Replica>, SqlError> {
    type Stored = (Vec<u8>, String, StoredTime, StoredTime, String, Option<String>);
    let rows: Vec<Stored> = Replicas { since: At(since) }.all(db)?;
    rows.into_iter()
        .map(|(id, version, started_at, seen_at, settings, untrusted_proxy)| {
            let at = Row { table: "replicas", key: &version };
            Ok(Replica {
                id: at.bytes("id", &id)?,
                started_at: at.time("started_at", started_at)?,
                seen_at: at.time("seen_at", seen_at)?,
                untrusted_proxy: untrusted_proxy
                    .map(|peer| peer.parse().map_err(|_| at.impossible("untrusted_proxy")))
                    .transpose()?,
                version: version.clone(),
                settings,
            })
        })
        .collect()
}

statement! {
    pub DayCounts { since: OnDay as Day } -> (Day, Text, Text, BigInt) = "\
        SELECT day, kind, family, count FROM day_counts WHERE day >= :since ORDER BY day, kind, family"
}

statement! {
    /// One row if the batch is new, none otherwise.
    pub NoteBatch<'a> { replica: &'a [u8] as Binary, batch: i64 as BigInt } = "\
        UPDATE replicas SET last_batch = :batch WHERE id = :replica AND last_batch < :batch"
}

statement! {
    pub IsNoted<'a> { replica: &'a [u8] as Binary } -> BigInt = "\
        SELECT count(*) FROM replicas WHERE id = :replica"
}

statement! {
    pub AddHourCount<'a> {
        hour: i64 as BigInt,
        figure: &'a str as Text,
        label: &'a str as Text,
        count: i64 as BigInt,
    } = "\
        INSERT INTO hour_counts (hour, figure, label, count) VALUES (:hour, :figure, :label, :count) \
        ON CONFLICT (hour, figure, label) DO UPDATE SET count = hour_counts.count + excluded.count"
}

statement! {
    /// One hour has as many rows as there are labels, so a step is small.
    pub ForgetHour { before: i64 as BigInt } = "\
        DELETE FROM hour_counts WHERE hour = (SELECT min(hour) FROM hour_counts WHERE hour < :before)"
}

statement! {
    pub HourCounts { since: i64 as BigInt } -> (BigInt, Text, Text, BigInt) = "\
        SELECT hour, figure, label, count FROM hour_counts WHERE hour >= :since ORDER BY hour, figure, label"
}

statement! {
    /// With an order, so that the planner does not go through those that expired.
    pub CountSessions { now: At as Moment, at_most: i64 as BigInt } -> BigInt,
    sqlite = "\
        SELECT count(*) FROM (SELECT 1 FROM login_sessions WHERE expires_at > :now LIMIT :at_most)",
    postgres = "\
        SELECT count(*) FROM ( \
          SELECT FROM login_sessions WHERE expires_at > :now ORDER BY expires_at LIMIT :at_most \
        ) AS valid"
}

statement! {
    pub CountAccess { client: Id as Key, now: At as Moment, at_most: i64 as BigInt } -> (BigInt, BigInt) = "\
        SELECT ( \
          SELECT count(DISTINCT user_id) FROM ( \
            SELECT user_id FROM signed_consents WHERE client_id = :client LIMIT :at_most \
          ) AS agreed \
        ), ( \
          SELECT count(*) FROM ( \
            SELECT revoked_at, forget_after FROM grants WHERE client_id = :client LIMIT :at_most \
          ) AS granted WHERE revoked_at IS NULL AND forget_after > :now \
        )"
}

statement! {
    pub StoreReplica<'a> {
        id: &'a [u8] as Binary,
        version: &'a str as Text,
        started_at: At as Moment,
        seen_at: At as Moment,
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
    pub ForgetReplicas { before: At as Moment } = "DELETE FROM replicas WHERE seen_at < :before"
}

statement! {
    pub DeleteReplica<'a> { id: &'a [u8] as Binary } = "DELETE FROM replicas WHERE id = :id"
}

statement! {
    pub Replicas { since: At as Moment } -> (Binary, Text, Moment, Moment, Text, Nullable<Text>) = "\
        SELECT id, version, started_at, seen_at, settings, untrusted_proxy FROM replicas \
        WHERE seen_at >= :since ORDER BY started_at, id"
}
