//! Look-ups of what an operator sees of people.
//!
//! A page takes the ids that it shows from an index, in their order, and then looks each of them up by its
//! key. So it takes no longer among many users. One thing grows: users who are in a group through wallets are
//! found by going through the wallets of that group.

use std::cmp::Ordering;

use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_ports::{LinkedWallet, PeopleFilter, Person, PersonListed};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::read_account::{consents_of, sessions_of};
use super::read_blocks::blocked_wallets_of;
use super::read_groups::memberships_of;
use crate::error::OpResult;
use crate::rows::person::PersonRow;
use crate::rows::wallet::WalletRow;
use crate::statement::statement;

/// Several statements that see one state of the database.
pub(crate) fn list_people(
    connection: &mut PgConnection,
    filter: &PeopleFilter,
    after: Option<UserId>,
    limit: u32,
) -> OpResult<Vec<PersonListed>> {
    // The nil UUID is the lowest, and no user has it.
    let after = after.map_or(Uuid::nil(), |after| after.as_uuid());
    let limit = limit.into();
    connection.build_transaction().read_only().repeatable_read().run(|connection| {
        let users = match filter.group.as_ref().map(GroupName::as_str) {
            Some(group) => {
                PageOfGroup { group, only_blocked: filter.blocked, after, limit }.load(connection)?
            }
            None if filter.blocked => PageOfBlocked { after, limit }.load(connection)?,
            None => PageOfAll { after, limit }.load(connection)?,
        };
        listed(connection, users)
    })
}

/// Several statements that see one state of the database.
pub(crate) fn find_person(
    connection: &mut PgConnection,
    user: UserId,
    now: OffsetDateTime,
) -> OpResult<Option<Person>> {
    connection.build_transaction().read_only().repeatable_read().run(|connection| {
        let Some(listed) = listed(connection, vec![user.as_uuid()])?.pop() else { return Ok(None) };
        let mut sessions = sessions_of(connection, user)?;
        sessions.retain(|session| now < session.expires_at);
        Ok(Some(Person {
            listed,
            memberships: memberships_of(connection, user)?,
            blocked_wallets: blocked_wallets_of(connection, user)?,
            sessions,
            consents: consents_of(connection, user)?,
        }))
    })
}

/// What a list shows of these users, in the order of their ids. Those that do not exist are left out.
fn listed(connection: &mut PgConnection, users: Vec<Uuid>) -> OpResult<Vec<PersonListed>> {
    let mut wallets: Vec<(Uuid, WalletRow)> = WalletsOfPage { users: users.clone() }.load(connection)?;
    let rows: Vec<PersonRow> = Page { users }.load(connection)?;
    let mut people: Vec<PersonListed> = rows.into_iter().map(PersonListed::from).collect();
    // Both are in the order of the users, so the last person has the last wallets.
    for person in people.iter_mut().rev() {
        let first = wallets.partition_point(|(user, _)| user.cmp(&person.id.as_uuid()) == Ordering::Less);
        person.wallets = wallets.drain(first..).map(|(_, wallet)| LinkedWallet::from(wallet)).collect();
    }
    Ok(people)
}

statement! {
    PageOfAll { after: Uuid as SqlUuid, limit: i64 as BigInt } -> SqlUuid = "\
        SELECT id FROM users WHERE id > :after ORDER BY id LIMIT :limit"
}

statement! {
    PageOfBlocked { after: Uuid as SqlUuid, limit: i64 as BigInt } -> SqlUuid = "\
        SELECT user_id FROM blocked_users WHERE user_id > :after ORDER BY user_id LIMIT :limit"
}

statement! {
    PageOfGroup<'a> {
        group: &'a str as Text,
        only_blocked: bool as Bool,
        after: Uuid as SqlUuid,
        limit: i64 as BigInt,
    } -> SqlUuid = "\
        ( \
          SELECT user_id FROM group_users AS member WHERE group_name = :group AND user_id > :after \
            AND (NOT :only_blocked OR (SELECT TRUE FROM blocked_users WHERE user_id = member.user_id)) \
          ORDER BY user_id LIMIT :limit \
        ) UNION ( \
          SELECT owner.user_id FROM group_wallets AS member CROSS JOIN LATERAL ( \
            SELECT user_id FROM wallets \
            WHERE wallets.family = member.family COLLATE \"default\" \
              AND wallets.address = member.address COLLATE \"default\" OFFSET 0 \
          ) AS owner \
          WHERE group_name = :group AND owner.user_id > :after \
            AND (NOT :only_blocked OR (SELECT TRUE FROM blocked_users WHERE user_id = owner.user_id)) \
        ) \
        ORDER BY user_id LIMIT :limit"
}

statement! {
    Page {
        users: Vec<Uuid> as Array<SqlUuid>,
    } -> (SqlUuid, Timestamptz, Nullable<Timestamptz>, Nullable<Timestamptz>, Nullable<Timestamptz>, Nullable<Text>) = "\
        SELECT asked.id, found.created_at, \
          (SELECT max(last_used_at) FROM signed_consents WHERE user_id = asked.id), \
          (SELECT max(last_used_at) FROM login_sessions WHERE user_id = asked.id), \
          blocked.blocked_at, blocked.reason \
        FROM unnest(:users) AS asked (id) \
        CROSS JOIN LATERAL (SELECT created_at FROM users WHERE users.id = asked.id OFFSET 0) AS found \
        LEFT JOIN LATERAL ( \
          SELECT blocked_at, reason FROM blocked_users WHERE user_id = asked.id OFFSET 0 \
        ) AS blocked ON TRUE \
        ORDER BY asked.id"
}

statement! {
    /// By user, and each user's as `wallets_of` sorts them.
    WalletsOfPage {
        users: Vec<Uuid> as Array<SqlUuid>,
    } -> (SqlUuid, (Text, Nullable<Text>, Text, Timestamptz, Nullable<Text>)) = "\
        SELECT asked.id, family, chain, address, linked_at, name \
        FROM unnest(:users) AS asked (id) CROSS JOIN LATERAL ( \
          SELECT family, chain, address, linked_at, name FROM wallets WHERE wallets.user_id = asked.id OFFSET 0 \
        ) AS theirs \
        ORDER BY asked.id, linked_at, family COLLATE \"C\", address COLLATE \"C\""
}
