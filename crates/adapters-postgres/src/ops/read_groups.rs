//! Look-ups of groups, except those on the way of every sign-in, which are in `together/standing.rs`.
//!
//! `wallets` sorts by the database's own language, the tables of groups by bytes. A comparison names the order
//! of the index that it is to use. What is looked up for each row is in a subquery of its own (`OFFSET 0`), so
//! that the planner cannot turn it into a join of whole tables.

use countersign_domain::group::{GroupName, Membership};
use countersign_domain::id::UserId;
use countersign_ports::group_store::MOST_COUNTED;
use countersign_ports::{CountedGroup, GroupMember, Member, MemberCursor};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use uuid::Uuid;

use crate::error::OpResult;
use crate::rows::group::{GroupRow, MemberUserRow, MemberWalletRow, MembershipRow};
use crate::statement::statement;

pub(crate) fn find_group(connection: &mut PgConnection, name: &GroupName) -> OpResult<Option<CountedGroup>> {
    let row: Option<GroupRow> =
        FindGroup { name: name.as_str(), counted: COUNTED }.get_result(connection).optional()?;
    Ok(row.map(CountedGroup::try_from).transpose()?)
}

pub(crate) fn list_groups(
    connection: &mut PgConnection,
    after: Option<&GroupName>,
    limit: u32,
) -> OpResult<Vec<CountedGroup>> {
    // Every name sorts after the empty one.
    let after = after.map_or("", GroupName::as_str);
    let rows: Vec<GroupRow> = ListGroups { after, counted: COUNTED, limit: limit.into() }.load(connection)?;
    let groups: Result<_, _> = rows.into_iter().map(CountedGroup::try_from).collect();
    Ok(groups?)
}

/// A page that begins with users and has room left goes on with wallets.
pub(crate) fn list_members(
    connection: &mut PgConnection,
    group: &GroupName,
    after: Option<&MemberCursor>,
    limit: u32,
) -> OpResult<Vec<GroupMember>> {
    let group = group.as_str();
    // The nil UUID is the lowest, and no user has it. No family is the empty text.
    let (after_user, (family, address)) = match after {
        None => (Some(Uuid::nil()), ("", "")),
        Some(Member::User(user)) => (Some(user.as_uuid()), ("", "")),
        Some(Member::Wallet(wallet)) => (None, (&*wallet.family, &*wallet.address)),
    };
    let mut left: i64 = limit.into();
    let mut members = Vec::new();
    if let Some(after) = after_user {
        let rows: Vec<MemberUserRow> = MemberUsers { group, after, limit: left }.load(connection)?;
        members.extend(rows.into_iter().map(GroupMember::from));
        left -= i64::try_from(members.len()).unwrap_or(left);
    }
    if left > 0 {
        let wallets = MemberWallets { group, family, address, limit: left };
        let rows: Vec<MemberWalletRow> = wallets.load(connection)?;
        members.extend(rows.into_iter().map(GroupMember::from));
    }
    Ok(members)
}

pub(crate) fn memberships_of(connection: &mut PgConnection, user: UserId) -> OpResult<Vec<Membership>> {
    let rows: Vec<MembershipRow> = MembershipsOf { user: user.as_uuid() }.load(connection)?;
    let memberships: Result<_, _> = rows.into_iter().map(Membership::try_from).collect();
    Ok(memberships?)
}

/// One more than is told exactly.
const COUNTED: i64 = MOST_COUNTED.cast_signed() + 1;

statement! {
    FindGroup<'a> {
        name: &'a str as Text,
        counted: i64 as BigInt,
    } -> (Text, Nullable<Text>, Timestamptz, BigInt, BigInt) = "\
        SELECT name, title, created_at, \
          (SELECT count(*) FROM (SELECT 1 FROM group_users WHERE group_name = user_groups.name LIMIT :counted) AS found), \
          (SELECT count(*) FROM (SELECT 1 FROM group_wallets WHERE group_name = user_groups.name LIMIT :counted) AS found) \
        FROM user_groups WHERE name = :name"
}

statement! {
    ListGroups<'a> {
        after: &'a str as Text,
        counted: i64 as BigInt,
        limit: i64 as BigInt,
    } -> (Text, Nullable<Text>, Timestamptz, BigInt, BigInt) = "\
        SELECT name, title, created_at, \
          (SELECT count(*) FROM (SELECT 1 FROM group_users WHERE group_name = user_groups.name LIMIT :counted) AS found), \
          (SELECT count(*) FROM (SELECT 1 FROM group_wallets WHERE group_name = user_groups.name LIMIT :counted) AS found) \
        FROM user_groups WHERE name > :after ORDER BY name LIMIT :limit"
}

statement! {
    MemberUsers<'a> {
        group: &'a str as Text,
        after: Uuid as SqlUuid,
        limit: i64 as BigInt,
    } -> (SqlUuid, Timestamptz) = "\
        SELECT user_id, added_at FROM group_users WHERE group_name = :group AND user_id > :after \
        ORDER BY user_id LIMIT :limit"
}

statement! {
    MemberWallets<'a> {
        group: &'a str as Text,
        family: &'a str as Text,
        address: &'a str as Text,
        limit: i64 as BigInt,
    } -> (Text, Text, Text, Timestamptz, Nullable<SqlUuid>) = "\
        SELECT family, chain, address, added_at, ( \
          SELECT user_id FROM wallets \
          WHERE wallets.family = member.family COLLATE \"default\" \
            AND wallets.address = member.address COLLATE \"default\" \
        ) \
        FROM group_wallets AS member WHERE group_name = :group AND (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit"
}

statement! {
    /// A user's own memberships come first: they have no wallet.
    MembershipsOf {
        user: Uuid as SqlUuid,
    } -> (Text, Nullable<Text>, Nullable<Text>, Nullable<Text>) = "\
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
