//! Users in the orders of an operator's lists.
//!
//! A page takes the places that it shows from an index. A filter that few users can match is answered by going through
//! those; with any other, a page looks through a bounded number of places.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_ports::{
    MOST_LOOKED_THROUGH, PeopleFilter, PeopleOrder, PersonPlace, SortPeople, SortedPeople, Total,
};
use time::{OffsetDateTime, PrimitiveDateTime};
use uuid::Uuid;

use super::read_groups::FindGroup;
use super::read_people::listed;
use crate::columns::{At, BigInt, Id, Ids, Key, Keys, Moment, Nullable, Row, StoredId, StoredTime, Text};
use crate::database::Statement;
use crate::rows::group::GroupRow;
use crate::statement::statement;
use crate::{Database, SqlError};

/// One more than a page looks through.
const LOOKED: i64 = MOST_LOOKED_THROUGH as i64 + 1;

pub fn sort_people(db: &mut impl Database, question: &SortPeople) -> Result<SortedPeople, SqlError> {
    db.snapshot(|db| {
        let (places, next, total) = match candidates(db, &question.filter)? {
            Some(candidates) => page_of(candidates, question),
            None => page_of_many(db, question)?,
        };
        let users = places.iter().map(|place| place.user).collect();
        let mut people = listed(db, users)?;
        let position = |user: UserId| places.iter().position(|place| place.user == user);
        people.sort_by_cached_key(|person| position(person.id));
        Ok(SortedPeople { people, next, total })
    })
}

type Page = (Vec<PersonPlace>, Option<PersonPlace>, Total);

/// A user who may be asked for, and when they were created and seen.
struct Candidate {
    user: UserId,
    created_at: OffsetDateTime,
    seen_at: Option<OffsetDateTime>,
}

/// The users who match the filter, if it says that they are few.
fn candidates(db: &mut impl Database, filter: &PeopleFilter) -> Result<Option<Vec<Candidate>>, SqlError> {
    if let Some(group) = filter.group.as_ref().map(GroupName::as_str) {
        let found: Option<GroupRow> = FindGroup { name: group, counted: LOOKED }.maybe(db)?;
        let Some(found) = found else { return Ok(Some(Vec::new())) };
        if found.members() < LOOKED {
            let members: Vec<CandidateRow> = Members { group }.all(db)?;
            let members = read(members)?;
            return Ok(Some(if filter.blocked { only_blocked(db, members)? } else { members }));
        }
    }
    if filter.blocked {
        let blocked: Vec<CandidateRow> = Blocked { limit: LOOKED }.all(db)?;
        if i64::try_from(blocked.len()).is_ok_and(|blocked| blocked < LOOKED) {
            let blocked = read(blocked)?;
            return Ok(Some(match &filter.group {
                Some(group) => only_members(db, group, blocked)?,
                None => blocked,
            }));
        }
    }
    Ok(None)
}

/// A page of users who are all known.
fn page_of(candidates: Vec<Candidate>, question: &SortPeople) -> Page {
    let total = Total::of(candidates.len());
    let place = |candidate: Candidate| PersonPlace {
        at: match question.order {
            PeopleOrder::LastSeen => candidate.seen_at.unwrap_or(candidate.created_at),
            PeopleOrder::Created => candidate.created_at,
        },
        user: candidate.user,
    };
    let mut places: Vec<PersonPlace> = candidates.into_iter().map(place).collect();
    places.retain(|place| question.after.is_none_or(|after| *place < after));
    places.sort_unstable_by_key(|place| Reverse(*place));
    let (places, next) = first_of(places, question.limit);
    (places, next, total)
}

/// A page of users who are too many to go through.
fn page_of_many(db: &mut impl Database, question: &SortPeople) -> Result<Page, SqlError> {
    let SortPeople { filter, order, after, limit } = question;
    let is_filtered = *filter != PeopleFilter::default();
    let looked = if is_filtered { LOOKED } else { i64::from(*limit) + 1 };
    let mut walked = places_after(db, *order, *after, looked)?;
    if !is_filtered {
        let (places, next) = first_of(walked, *limit);
        return Ok((places, next, Total::of(count(CountUsers { limit: LOOKED }.one(db)?))));
    }
    let goes_on = i64::try_from(walked.len()).is_ok_and(|walked| walked == LOOKED);
    if goes_on {
        walked.pop();
    }
    // Where the next page begins if too few of these match.
    let end = walked.last().copied().filter(|_| goes_on);
    let mut matching: BTreeSet<UserId> = walked.iter().map(|place| place.user).collect();
    if let Some(group) = &filter.group {
        matching = ids_in_group(db, group, &matching)?;
    }
    if filter.blocked {
        matching = ids_blocked(db, &matching)?;
    }
    let places: Vec<PersonPlace> =
        walked.into_iter().filter(|place| matching.contains(&place.user)).collect();
    let counted = u32::try_from(places.len()).unwrap_or(u32::MAX).min(MOST_LOOKED_THROUGH);
    // One filter by itself matches more than are counted; how many match both of two is not known.
    let is_one = filter.group.is_none() || !filter.blocked;
    let total = Total { counted: if is_one { MOST_LOOKED_THROUGH } else { counted }, more: true };
    let (places, next) = first_of(places, *limit);
    Ok((places, next.or(end), total))
}

/// The first of these places, and the last of them if more follow.
fn first_of(mut places: Vec<PersonPlace>, limit: u32) -> (Vec<PersonPlace>, Option<PersonPlace>) {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = places.len() > most;
    places.truncate(most);
    let next = places.last().copied().filter(|_| more);
    (places, next)
}

fn places_after(
    db: &mut impl Database,
    order: PeopleOrder,
    after: Option<PersonPlace>,
    limit: i64,
) -> Result<Vec<PersonPlace>, SqlError> {
    let (at, id) = match after {
        Some(PersonPlace { at, user }) => (At(at), Id::from(user)),
        None => (LATEST, Id(Uuid::max())),
    };
    let rows: Vec<(StoredId, StoredTime)> = match order {
        PeopleOrder::LastSeen => PeopleBySeen { at, id, limit }.all(db)?,
        PeopleOrder::Created => PeopleByCreated { at, id, limit }.all(db)?,
    };
    let place = |(id, time): (StoredId, StoredTime)| {
        let row = Row { table: "users", key: &id };
        Ok(PersonPlace { at: row.time("seen_at", time)?, user: row.id("id", &id)? })
    };
    rows.into_iter().map(place).collect()
}

fn only_blocked(db: &mut impl Database, candidates: Vec<Candidate>) -> Result<Vec<Candidate>, SqlError> {
    let blocked = ids_blocked(db, &candidates.iter().map(|candidate| candidate.user).collect())?;
    Ok(candidates.into_iter().filter(|candidate| blocked.contains(&candidate.user)).collect())
}

fn only_members(
    db: &mut impl Database,
    group: &GroupName,
    candidates: Vec<Candidate>,
) -> Result<Vec<Candidate>, SqlError> {
    let members = ids_in_group(db, group, &candidates.iter().map(|candidate| candidate.user).collect())?;
    Ok(candidates.into_iter().filter(|candidate| members.contains(&candidate.user)).collect())
}

fn ids_blocked(db: &mut impl Database, users: &BTreeSet<UserId>) -> Result<BTreeSet<UserId>, SqlError> {
    ids(WhichBlocked { users: asked(users) }.all(db)?)
}

fn ids_in_group(
    db: &mut impl Database,
    group: &GroupName,
    users: &BTreeSet<UserId>,
) -> Result<BTreeSet<UserId>, SqlError> {
    ids(WhichInGroup { users: asked(users), group: group.as_str() }.all(db)?)
}

fn asked(users: &BTreeSet<UserId>) -> Ids {
    Ids(users.iter().map(|user| user.as_uuid()).collect())
}

fn ids(found: Vec<StoredId>) -> Result<BTreeSet<UserId>, SqlError> {
    found.iter().map(|user| Row { table: "users", key: user }.id("id", user)).collect()
}

fn count(counted: i64) -> usize {
    usize::try_from(counted).unwrap_or(0)
}

type CandidateRow = (StoredId, StoredTime, Option<StoredTime>);

fn read(rows: Vec<CandidateRow>) -> Result<Vec<Candidate>, SqlError> {
    let candidate = |(id, created_at, seen_at): CandidateRow| {
        let row = Row { table: "users", key: &id };
        Ok(Candidate {
            user: row.id("id", &id)?,
            created_at: row.time("created_at", created_at)?,
            seen_at: row.optional_time("seen_at", seen_at)?,
        })
    };
    rows.into_iter().map(candidate).collect()
}

/// No user was seen as late as this.
pub const LATEST: At = At(PrimitiveDateTime::MAX.assume_utc());

statement! {
    /// The first condition follows from the second. SQLite uses an index over an expression for it alone.
    pub PeopleBySeen { at: At as Moment, id: Id as Key, limit: i64 as BigInt } -> (Key, Moment) = "\
        SELECT id, coalesce(seen_at, created_at) FROM users \
        WHERE coalesce(seen_at, created_at) <= :at AND (coalesce(seen_at, created_at), id) < (:at, :id) \
        ORDER BY coalesce(seen_at, created_at) DESC, id DESC LIMIT :limit"
}

statement! {
    pub PeopleByCreated { at: At as Moment, id: Id as Key, limit: i64 as BigInt } -> (Key, Moment) = "\
        SELECT id, created_at FROM users WHERE (created_at, id) < (:at, :id) \
        ORDER BY created_at DESC, id DESC LIMIT :limit"
}

statement! {
    pub CountUsers { limit: i64 as BigInt } -> BigInt = "\
        SELECT count(*) FROM (SELECT 1 FROM users LIMIT :limit) AS found"
}

statement! {
    /// The users who are in a group by any way, each once.
    pub Members<'a> { group: &'a str as Text } -> (Key, Moment, Nullable<Moment>),
    sqlite = "\
        SELECT users.id, users.created_at, users.seen_at FROM ( \
          SELECT user_id FROM group_users WHERE group_name = :group \
          UNION \
          SELECT owner.user_id FROM group_wallets AS member CROSS JOIN wallets AS owner \
          ON owner.family = member.family AND owner.address = member.address WHERE group_name = :group \
        ) AS found CROSS JOIN users ON users.id = found.user_id",
    postgres = "\
        SELECT found.user_id, one.created_at, one.seen_at FROM ( \
          SELECT user_id FROM group_users WHERE group_name = :group \
          UNION \
          SELECT owner.user_id FROM group_wallets AS member CROSS JOIN LATERAL ( \
            SELECT user_id FROM wallets \
            WHERE wallets.family = member.family COLLATE \"default\" \
              AND wallets.address = member.address COLLATE \"default\" OFFSET 0 \
          ) AS owner WHERE group_name = :group \
        ) AS found CROSS JOIN LATERAL ( \
          SELECT created_at, seen_at FROM users WHERE users.id = found.user_id OFFSET 0 \
        ) AS one"
}

statement! {
    pub Blocked { limit: i64 as BigInt } -> (Key, Moment, Nullable<Moment>),
    sqlite = "\
        SELECT users.id, users.created_at, users.seen_at \
        FROM (SELECT user_id FROM blocked_users LIMIT :limit) AS found CROSS JOIN users ON users.id = found.user_id",
    postgres = "\
        SELECT found.user_id, one.created_at, one.seen_at \
        FROM (SELECT user_id FROM blocked_users LIMIT :limit) AS found CROSS JOIN LATERAL ( \
          SELECT created_at, seen_at FROM users WHERE users.id = found.user_id OFFSET 0 \
        ) AS one"
}

statement! {
    pub WhichBlocked { users: Ids as Keys } -> Key,
    sqlite = "\
        SELECT blocked_users.user_id FROM json_each(:users) AS asked CROSS JOIN blocked_users \
        ON blocked_users.user_id = unhex(asked.value)",
    postgres = "\
        SELECT asked.id FROM unnest(:users) AS asked (id) \
        WHERE (SELECT TRUE FROM blocked_users WHERE user_id = asked.id)"
}

statement! {
    pub WhichInGroup<'a> { users: Ids as Keys, group: &'a str as Text } -> Key,
    sqlite = "\
        SELECT unhex(asked.value) FROM json_each(:users) AS asked \
        WHERE EXISTS (SELECT 1 FROM group_users WHERE group_name = :group AND user_id = unhex(asked.value)) \
        OR EXISTS ( \
          SELECT 1 FROM wallets AS owned CROSS JOIN group_wallets AS member \
          ON member.group_name = :group AND member.family = owned.family AND member.address = owned.address \
          WHERE owned.user_id = unhex(asked.value) \
        )",
    postgres = "\
        SELECT asked.id FROM unnest(:users) AS asked (id) \
        WHERE (SELECT TRUE FROM group_users WHERE group_name = :group AND user_id = asked.id) \
          OR (SELECT TRUE FROM wallets AS owned CROSS JOIN LATERAL ( \
            SELECT FROM group_wallets AS member \
            WHERE member.group_name = :group AND member.family = owned.family COLLATE \"C\" \
              AND member.address = owned.address COLLATE \"C\" OFFSET 0 \
          ) AS member WHERE owned.user_id = asked.id LIMIT 1)"
}
