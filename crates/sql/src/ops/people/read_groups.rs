//! Look-ups of groups and of what is known about a user. Those on the way of every sign-in are in the adapters.
//!
//! In PostgreSQL, `wallets` sorts by the database's own language, the tables of groups by bytes. A comparison names the
//! order of the index that it is to use. What is looked up for each row is in a subquery of its own (`OFFSET 0`), so
//! that the planner cannot turn it into a join of whole tables. In SQLite, a join that is to begin with its first table is
//! a `CROSS JOIN`, whose order it keeps.

use countersign_domain::admission::UserStanding;
use countersign_domain::group::{GroupName, Membership};
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_ports::group_store::MOST_COUNTED;
use countersign_ports::{CountedGroup, GroupMember, MemberCursor};
use uuid::Uuid;

use crate::columns::{BigInt, Id, Key, Moment, Text};
use crate::database::Statement;
use crate::rows::block::{FreeWalletRow, FreeWalletSql, user_standing};
use crate::rows::group::{
    GroupRow, GroupSql, MemberUserRow, MemberWalletRow, MemberWalletSql, MembershipRow, MembershipSql,
    group_name,
};
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn find_group(db: &mut impl Database, name: &GroupName) -> Result<Option<CountedGroup>, SqlError> {
    let row: Option<GroupRow> = FindGroup { name: name.as_str(), counted: COUNTED }.maybe(db)?;
    row.map(CountedGroup::try_from).transpose()
}

pub fn list_groups(
    db: &mut impl Database,
    after: Option<&GroupName>,
    limit: u32,
) -> Result<Vec<CountedGroup>, SqlError> {
    // Every name sorts after the empty one.
    let after = after.map_or("", GroupName::as_str);
    let rows: Vec<GroupRow> = ListGroups { after, counted: COUNTED, limit: limit.into() }.all(db)?;
    rows.into_iter().map(CountedGroup::try_from).collect()
}

/// A page that begins with users and has room left goes on with wallets.
pub fn group_names(db: &mut impl Database, limit: u32) -> Result<Vec<GroupName>, SqlError> {
    let names: Vec<String> = GroupNames { limit: limit.into() }.all(db)?;
    names.iter().map(|name| group_name(name)).collect()
}

pub fn list_members(
    db: &mut impl Database,
    group: &GroupName,
    after: Option<&MemberCursor>,
    limit: u32,
) -> Result<Vec<GroupMember>, SqlError> {
    let group = group.as_str();
    // The nil UUID is the lowest, and no user has it. No family is the empty text.
    let (after_user, (family, address)) = match after {
        None => (Some(Id(Uuid::nil())), ("", "")),
        Some(Subject::User(user)) => (Some(Id::from(*user)), ("", "")),
        Some(Subject::Wallet(wallet)) => (None, (&*wallet.family, &*wallet.address)),
    };
    let mut left: i64 = limit.into();
    let mut members = Vec::new();
    if let Some(after) = after_user {
        let rows: Vec<MemberUserRow> = MemberUsers { group, after, limit: left }.all(db)?;
        members = rows.into_iter().map(GroupMember::try_from).collect::<Result<_, _>>()?;
        left -= i64::try_from(members.len()).unwrap_or(left);
    }
    if left > 0 {
        let rows: Vec<MemberWalletRow> = MemberWallets { group, family, address, limit: left }.all(db)?;
        for row in rows {
            members.push(GroupMember::try_from(row)?);
        }
    }
    Ok(members)
}

pub fn memberships_of(db: &mut impl Database, user: UserId) -> Result<Vec<Membership>, SqlError> {
    let rows: Vec<MembershipRow> = MembershipsOf { user: user.into() }.all(db)?;
    rows.into_iter().map(Membership::try_from).collect()
}

pub fn standing_of_user(db: &mut impl Database, user: UserId) -> Result<UserStanding, SqlError> {
    let rows: Vec<FreeWalletRow> = FreeWallets { user: user.into() }.all(db)?;
    user_standing(rows)
}

/// One more than is counted exactly.
pub const COUNTED: i64 = MOST_COUNTED.cast_signed() + 1;

statement! {
    pub FindGroup<'a> { name: &'a str as Text, counted: i64 as BigInt } -> GroupSql = "\
        SELECT name, title, created_at, \
          (SELECT count(*) FROM (SELECT 1 FROM group_users WHERE group_name = user_groups.name LIMIT :counted) AS found), \
          (SELECT count(*) FROM (SELECT 1 FROM group_wallets WHERE group_name = user_groups.name LIMIT :counted) AS found) \
        FROM user_groups WHERE name = :name"
}

statement! {
    pub ListGroups<'a> { after: &'a str as Text, counted: i64 as BigInt, limit: i64 as BigInt } -> GroupSql = "\
        SELECT name, title, created_at, \
          (SELECT count(*) FROM (SELECT 1 FROM group_users WHERE group_name = user_groups.name LIMIT :counted) AS found), \
          (SELECT count(*) FROM (SELECT 1 FROM group_wallets WHERE group_name = user_groups.name LIMIT :counted) AS found) \
        FROM user_groups WHERE name > :after ORDER BY name LIMIT :limit"
}

statement! {
    pub GroupNames { limit: i64 as BigInt } -> Text = "SELECT name FROM user_groups ORDER BY name LIMIT :limit"
}

statement! {
    pub MemberUsers<'a> { group: &'a str as Text, after: Id as Key, limit: i64 as BigInt } -> (Key, Moment) = "\
        SELECT user_id, added_at FROM group_users WHERE group_name = :group AND user_id > :after \
        ORDER BY user_id LIMIT :limit"
}

statement! {
    pub MemberWallets<'a> {
        group: &'a str as Text,
        family: &'a str as Text,
        address: &'a str as Text,
        limit: i64 as BigInt,
    } -> MemberWalletSql,
    sqlite = "\
        SELECT family, chain, address, added_at, \
        (SELECT user_id FROM wallets WHERE wallets.family = member.family AND wallets.address = member.address) \
        FROM group_wallets AS member WHERE group_name = :group AND (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit",
    postgres = "\
        SELECT family, chain, address, added_at, ( \
          SELECT user_id FROM wallets \
          WHERE wallets.family = member.family COLLATE \"default\" \
            AND wallets.address = member.address COLLATE \"default\" \
        ) \
        FROM group_wallets AS member WHERE group_name = :group AND (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit"
}

statement! {
    /// A user's own memberships come first: they have no wallet, and SQLite sorts NULL first.
    pub MembershipsOf { user: Id as Key } -> MembershipSql,
    sqlite = "\
        SELECT group_name, NULL AS family, NULL AS chain, NULL AS address FROM group_users WHERE user_id = :user \
        UNION ALL \
        SELECT through.group_name, wallets.family, wallets.chain, wallets.address \
        FROM wallets CROSS JOIN group_wallets AS through \
        ON through.family = wallets.family AND through.address = wallets.address \
        WHERE wallets.user_id = :user \
        ORDER BY 1, 2, 4",
    postgres = "\
        SELECT group_name, NULL AS family, NULL AS chain, NULL AS address FROM group_users WHERE user_id = :user \
        UNION ALL \
        SELECT through.group_name, through.family, wallets.chain, through.address \
        FROM wallets CROSS JOIN LATERAL ( \
          SELECT group_name, family, address FROM group_wallets \
          WHERE group_wallets.family = wallets.family COLLATE \"C\" \
            AND group_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
        ) AS through \
        WHERE wallets.user_id = :user \
        ORDER BY 1, 2 NULLS FIRST, 4"
}

statement! {
    /// One row for each wallet that is let in, each with all groups of the user, and whether one of their wallets is
    /// suspended.
    pub FreeWallets { user: Id as Key } -> FreeWalletSql,
    sqlite = "\
        SELECT mine.family, mine.chain, mine.address, (SELECT group_concat(group_name) FROM ( \
          SELECT group_name FROM group_users WHERE user_id = :user \
          UNION SELECT through.group_name FROM wallets CROSS JOIN group_wallets AS through \
          ON through.family = wallets.family AND through.address = wallets.address \
          WHERE wallets.user_id = :user \
        )), EXISTS ( \
          SELECT 1 FROM wallets CROSS JOIN suspended_wallets AS suspended \
          ON suspended.family = wallets.family AND suspended.address = wallets.address \
          WHERE wallets.user_id = :user \
        ) \
        FROM wallets AS mine WHERE mine.user_id = :user \
        AND NOT EXISTS (SELECT 1 FROM blocked_users WHERE user_id = :user) \
        AND NOT EXISTS (SELECT 1 FROM blocked_wallets WHERE family = mine.family AND address = mine.address) \
        ORDER BY mine.linked_at, mine.family, mine.address",
    postgres = "\
        SELECT mine.family, mine.chain, mine.address, (SELECT ARRAY( \
          SELECT group_name FROM group_users WHERE user_id = :user \
          UNION SELECT through.group_name FROM wallets CROSS JOIN LATERAL ( \
            SELECT group_name FROM group_wallets \
            WHERE group_wallets.family = wallets.family COLLATE \"C\" \
              AND group_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
          ) AS through WHERE wallets.user_id = :user \
          ORDER BY 1 \
        )), EXISTS ( \
          SELECT FROM wallets CROSS JOIN LATERAL ( \
            SELECT FROM suspended_wallets \
            WHERE suspended_wallets.family = wallets.family COLLATE \"C\" \
              AND suspended_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
          ) AS suspended WHERE wallets.user_id = :user \
        ) \
        FROM wallets AS mine WHERE mine.user_id = :user \
          AND (SELECT TRUE FROM blocked_users WHERE user_id = :user) IS NULL \
          AND (SELECT TRUE FROM blocked_wallets \
            WHERE blocked_wallets.family = mine.family COLLATE \"C\" \
              AND blocked_wallets.address = mine.address COLLATE \"C\") IS NULL \
        ORDER BY mine.linked_at, mine.family COLLATE \"C\", mine.address COLLATE \"C\""
}
