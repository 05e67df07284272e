//! Look-ups of what an operator sees of people.
//!
//! A page takes the ids that it shows from an index, in their order, and then looks each of them up by its
//! key. So it takes no longer among many users. One thing grows: users who are in a group through wallets are
//! found by going through the wallets of that group.

use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_ports::{LinkedWallet, PeopleFilter, Person, PersonListed};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use time::OffsetDateTime;

use super::read_account::{consents_of, sessions_of};
use super::read_blocks::blocked_wallets_of;
use super::read_groups::memberships_of;
use crate::error::SqliteError;
use crate::rows::person::PersonRow;
use crate::rows::wallet::WalletRow;
use crate::statement::statement;

/// Several statements that see one state of the database: the one that the first of them saw.
pub(crate) fn list_people(
    connection: &mut SqliteConnection,
    filter: &PeopleFilter,
    after: Option<UserId>,
    limit: u32,
) -> Result<Vec<PersonListed>, SqliteError> {
    // Every id sorts after the empty one.
    let after = after.map(|after| after.as_uuid().as_bytes().to_vec()).unwrap_or_default();
    let (after, limit) = (after.as_slice(), limit.into());
    connection.transaction(|connection| {
        let users: Vec<Vec<u8>> = match filter.group.as_ref().map(GroupName::as_str) {
            Some(group) => {
                PageOfGroup { group, only_blocked: filter.blocked, after, limit }.load(connection)?
            }
            None if filter.blocked => PageOfBlocked { after, limit }.load(connection)?,
            None => PageOfAll { after, limit }.load(connection)?,
        };
        listed(connection, &users)
    })
}

/// Several statements that see one state of the database: the one that the first of them saw.
pub(crate) fn find_person(
    connection: &mut SqliteConnection,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Option<Person>, SqliteError> {
    connection.transaction(|connection| {
        let uuid = user.as_uuid();
        let id = uuid.as_bytes().as_slice();
        let Some(listed) = listed(connection, &[id.to_vec()])?.pop() else { return Ok(None) };
        let mut sessions = sessions_of(connection, id)?;
        sessions.retain(|session| now < session.expires_at);
        Ok(Some(Person {
            listed,
            memberships: memberships_of(connection, user)?,
            blocked_wallets: blocked_wallets_of(connection, user)?,
            sessions,
            consents: consents_of(connection, id)?,
        }))
    })
}

/// What a list shows of these users, in the order of their ids. Those that do not exist are left out.
fn listed(connection: &mut SqliteConnection, users: &[Vec<u8>]) -> Result<Vec<PersonListed>, SqliteError> {
    let users = &json(users);
    let mut wallets: Vec<(Vec<u8>, WalletRow)> = WalletsOfPage { users }.load(connection)?;
    let rows: Vec<PersonRow> = Page { users }.load(connection)?;
    let mut people: Vec<PersonListed> =
        rows.into_iter().map(PersonListed::try_from).collect::<Result<_, _>>()?;
    // Both are in the order of the users, so the last person has the last wallets.
    for person in people.iter_mut().rev() {
        let id = person.id.as_uuid();
        let first = wallets.partition_point(|(user, _)| user.as_slice() < id.as_bytes().as_slice());
        person.wallets = wallets
            .drain(first..)
            .map(|(_, wallet)| LinkedWallet::try_from(wallet))
            .collect::<Result<_, _>>()?;
    }
    Ok(people)
}

/// The ids as a list for a statement of constant text: hexadecimal, in JSON.
fn json(users: &[Vec<u8>]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let hexadecimal = |user: &Vec<u8>| -> String {
        let digits = user.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.map(|digit| DIGITS[usize::from(digit)]).collect()
    };
    let quoted: Vec<String> = users.iter().map(|user| format!("\"{}\"", hexadecimal(user))).collect();
    format!("[{}]", quoted.join(","))
}

statement! {
    PageOfAll<'a> {
        after: &'a [u8] as Binary,
        limit: i64 as BigInt,
    } -> Binary = "SELECT id FROM users WHERE id > :after ORDER BY id LIMIT :limit"
}

statement! {
    PageOfBlocked<'a> {
        after: &'a [u8] as Binary,
        limit: i64 as BigInt,
    } -> Binary = "SELECT user_id FROM blocked_users WHERE user_id > :after ORDER BY user_id LIMIT :limit"
}

statement! {
    PageOfGroup<'a> {
        group: &'a str as Text,
        only_blocked: bool as Bool,
        after: &'a [u8] as Binary,
        limit: i64 as BigInt,
    } -> Binary = "\
        SELECT user_id FROM ( \
          SELECT user_id FROM group_users AS member WHERE group_name = :group AND user_id > :after \
          AND (NOT :only_blocked OR EXISTS (SELECT 1 FROM blocked_users AS b WHERE b.user_id = member.user_id)) \
          ORDER BY user_id LIMIT :limit \
        ) UNION \
        SELECT owner.user_id FROM group_wallets AS member CROSS JOIN wallets AS owner \
        ON owner.family = member.family AND owner.address = member.address \
        WHERE group_name = :group AND owner.user_id > :after \
        AND (NOT :only_blocked OR EXISTS (SELECT 1 FROM blocked_users AS b WHERE b.user_id = owner.user_id)) \
        ORDER BY user_id LIMIT :limit"
}

statement! {
    Page<'a> {
        users: &'a str as Text,
    } -> (Binary, BigInt, Nullable<BigInt>, Nullable<BigInt>, Nullable<BigInt>, Nullable<Text>) = "\
        SELECT found.id, found.created_at, \
        (SELECT max(last_used_at) FROM signed_consents WHERE signed_consents.user_id = found.id), \
        (SELECT max(last_used_at) FROM login_sessions WHERE login_sessions.user_id = found.id), \
        blocked.blocked_at, blocked.reason \
        FROM json_each(:users) AS asked CROSS JOIN users AS found ON found.id = unhex(asked.value) \
        LEFT JOIN blocked_users AS blocked ON blocked.user_id = found.id \
        ORDER BY found.id"
}

statement! {
    /// By user, and each user's as `wallets_of` sorts them.
    WalletsOfPage<'a> {
        users: &'a str as Text,
    } -> (Binary, (Text, Text, BigInt, Nullable<Text>, Nullable<Text>)) = "\
        SELECT user_id, family, address, linked_at, chain, name \
        FROM json_each(:users) AS asked CROSS JOIN wallets ON user_id = unhex(asked.value) \
        ORDER BY user_id, linked_at, family, address"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys};

    #[test]
    fn a_page_of_people_takes_no_longer_among_many() {
        let (_folder, mut connection) = database();
        let connection = &mut connection;
        let (after, limit, users) = (&[][..], 10, "[]");
        finds_rows_by_keys(connection, PageOfAll { after, limit });
        finds_rows_by_keys(connection, PageOfBlocked { after, limit });
        finds_rows_by_keys(connection, PageOfGroup { group: "a", only_blocked: true, after, limit });
        finds_rows_by_keys(connection, Page { users });
        finds_rows_by_keys(connection, WalletsOfPage { users });
    }

    #[test]
    fn ids_of_any_bytes_reach_a_statement() {
        let ids = json(&[vec![0x00, 0x7f, 0xff], vec![]]);
        assert_eq!(ids, "[\"007fff\",\"\"]");
    }
}
