//! Look-ups of what an operator sees of people.
//!
//! A page takes the ids that it shows from an index, in their order, and then looks each of them up by its
//! key. So it takes no longer among many users. One thing grows: users who are in a group through wallets are
//! found by going through the wallets of that group.

use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_ports::{LinkedWallet, PeopleFilter, Person, PersonListed};
use time::OffsetDateTime;
use uuid::Uuid;

use super::read_groups::memberships_of;
use crate::columns::{BigInt, Bool, Id, Ids, Key, Keys, Row, StoredId, Text};
use crate::database::Statement;
use crate::ops::accounts::read_account::{consents_of, sessions_of};
use crate::ops::blocks::read_blocks::blocked_wallets_of;
use crate::rows::person::{PersonRow, PersonSql};
use crate::rows::wallet::{WalletRow, WalletSql};
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn list_people(
    db: &mut impl Database,
    filter: &PeopleFilter,
    after: Option<UserId>,
    limit: u32,
) -> Result<Vec<PersonListed>, SqlError> {
    // The nil UUID is the lowest, and no user has it.
    let (after, limit) = (after.map_or(Id(Uuid::nil()), Id::from), limit.into());
    db.snapshot(|db| {
        let users: Vec<StoredId> = match filter.group.as_ref().map(GroupName::as_str) {
            Some(group) => PageOfGroup { group, only_blocked: filter.blocked, after, limit }.all(db)?,
            None if filter.blocked => PageOfBlocked { after, limit }.all(db)?,
            None => PageOfAll { after, limit }.all(db)?,
        };
        let users = users.iter().map(|user| Row { table: "users", key: user }.id("id", user));
        listed(db, users.collect::<Result<_, _>>()?)
    })
}

pub fn find_person(
    db: &mut impl Database,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Option<Person>, SqlError> {
    db.snapshot(|db| {
        let Some(listed) = listed(db, vec![user])?.pop() else { return Ok(None) };
        let mut sessions = sessions_of(db, user)?;
        sessions.retain(|session| now < session.expires_at);
        Ok(Some(Person {
            listed,
            memberships: memberships_of(db, user)?,
            blocked_wallets: blocked_wallets_of(db, user)?,
            sessions,
            consents: consents_of(db, user)?,
        }))
    })
}

/// What a list shows of these users, in the order of their ids. Those that do not exist are left out.
pub(super) fn listed(db: &mut impl Database, users: Vec<UserId>) -> Result<Vec<PersonListed>, SqlError> {
    let users: Vec<Uuid> = users.into_iter().map(|user| user.as_uuid()).collect();
    let wallets: Vec<(StoredId, WalletRow)> = WalletsOfPage { users: Ids(users.clone()) }.all(db)?;
    let wallet = |(user, wallet): (StoredId, WalletRow)| {
        let owner: UserId = Row { table: "wallets", key: &wallet.address }.id("user_id", &user)?;
        Ok((owner, LinkedWallet::try_from(wallet)?))
    };
    let mut wallets: Vec<(UserId, LinkedWallet)> =
        wallets.into_iter().map(wallet).collect::<Result<_, SqlError>>()?;
    let rows: Vec<PersonRow> = Page { users: Ids(users) }.all(db)?;
    let mut people: Vec<PersonListed> =
        rows.into_iter().map(PersonListed::try_from).collect::<Result<_, _>>()?;
    // Both are in the order of the users, so the last person has the last wallets.
    for person in people.iter_mut().rev() {
        let first = wallets.partition_point(|(user, _)| *user < person.id);
        person.wallets = wallets.drain(first..).map(|(_, wallet)| wallet).collect();
    }
    Ok(people)
}

statement! {
    pub PageOfAll { after: Id as Key, limit: i64 as BigInt } -> Key = "\
        SELECT id FROM users WHERE id > :after ORDER BY id LIMIT :limit"
}

statement! {
    pub PageOfBlocked { after: Id as Key, limit: i64 as BigInt } -> Key = "\
        SELECT user_id FROM blocked_users WHERE user_id > :after ORDER BY user_id LIMIT :limit"
}

statement! {
    pub PageOfGroup<'a> {
        group: &'a str as Text,
        only_blocked: bool as Bool,
        after: Id as Key,
        limit: i64 as BigInt,
    } -> Key,
    sqlite = "\
        SELECT user_id FROM ( \
          SELECT user_id FROM group_users AS member WHERE group_name = :group AND user_id > :after \
          AND (NOT :only_blocked OR EXISTS (SELECT 1 FROM blocked_users AS b WHERE b.user_id = member.user_id)) \
          ORDER BY user_id LIMIT :limit \
        ) UNION \
        SELECT owner.user_id FROM group_wallets AS member CROSS JOIN wallets AS owner \
        ON owner.family = member.family AND owner.address = member.address \
        WHERE group_name = :group AND owner.user_id > :after \
        AND (NOT :only_blocked OR EXISTS (SELECT 1 FROM blocked_users AS b WHERE b.user_id = owner.user_id)) \
        ORDER BY user_id LIMIT :limit",
    postgres = "\
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
    pub Page { users: Ids as Keys } -> PersonSql,
    sqlite = "\
        SELECT found.id, found.created_at, \
        (SELECT max(last_used_at) FROM signed_consents WHERE signed_consents.user_id = found.id), \
        (SELECT max(last_used_at) FROM login_sessions WHERE login_sessions.user_id = found.id), \
        blocked.blocked_at, blocked.reason \
        FROM json_each(:users) AS asked CROSS JOIN users AS found ON found.id = unhex(asked.value) \
        LEFT JOIN blocked_users AS blocked ON blocked.user_id = found.id \
        ORDER BY found.id",
    postgres = "\
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
    pub WalletsOfPage { users: Ids as Keys } -> (Key, WalletSql),
    sqlite = "\
        SELECT user_id, family, chain, address, linked_at, name \
        FROM json_each(:users) AS asked CROSS JOIN wallets ON user_id = unhex(asked.value) \
        ORDER BY user_id, linked_at, family, address",
    postgres = "\
        SELECT asked.id, family, chain, address, linked_at, name \
        FROM unnest(:users) AS asked (id) CROSS JOIN LATERAL ( \
          SELECT family, chain, address, linked_at, name FROM wallets WHERE wallets.user_id = asked.id OFFSET 0 \
        ) AS theirs \
        ORDER BY asked.id, linked_at, family COLLATE \"C\", address COLLATE \"C\""
}
