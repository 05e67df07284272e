//! What the overview of the desk shows: what happened on which day, how many are signed in, and which replicas run.

use countersign_domain::event::EventKind;
use countersign_domain::forgetting::Past;
use countersign_domain::id::ClientId;
use countersign_ports::{AccessCount, DayCount, Replica};
use time::{Date, OffsetDateTime};

use crate::columns::{
    At, BigInt, Binary, Day, Id, Key, Moment, Nullable, OnDay, Row, StoredDay, StoredTime, Text,
};
use crate::database::Statement;
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
          SELECT count(*) FROM (SELECT 1 AS one FROM consents WHERE client_id = :client LIMIT :at_most) AS people \
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
