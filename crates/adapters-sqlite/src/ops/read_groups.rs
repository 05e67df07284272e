//! Look-ups of groups, and of what is known about people on the way of every sign-in.
//!
//! A join that is to begin with its first table is a `CROSS JOIN`, whose order SQLite keeps.

use countersign_domain::admission::Standing;
use countersign_domain::group::{GroupName, Membership};
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::group_store::MOST_COUNTED;
use countersign_ports::{CountedGroup, GroupMember, Member, MemberCursor};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use crate::error::SqliteError;
use crate::rows::block::StandingRow;
use crate::rows::group::{GroupRow, MemberUserRow, MemberWalletRow, MembershipRow, group_names};
use crate::statement::statement;

pub(crate) fn find_group(
    connection: &mut SqliteConnection,
    name: &GroupName,
) -> Result<Option<CountedGroup>, SqliteError> {
    let row: Option<GroupRow> =
        FindGroup { name: name.as_str(), counted: COUNTED }.get_result(connection).optional()?;
    row.map(CountedGroup::try_from).transpose()
}

pub(crate) fn list_groups(
    connection: &mut SqliteConnection,
    after: Option<&GroupName>,
    limit: u32,
) -> Result<Vec<CountedGroup>, SqliteError> {
    // Every name sorts after the empty one.
    let after = after.map_or("", GroupName::as_str);
    let rows: Vec<GroupRow> = ListGroups { after, counted: COUNTED, limit: limit.into() }.load(connection)?;
    rows.into_iter().map(CountedGroup::try_from).collect()
}

/// A page that begins with users and has room left goes on with wallets.
pub(crate) fn list_members(
    connection: &mut SqliteConnection,
    group: &GroupName,
    after: Option<&MemberCursor>,
    limit: u32,
) -> Result<Vec<GroupMember>, SqliteError> {
    let group = group.as_str();
    // Every id sorts after the empty one, and no family is the empty text.
    let (after_user, (family, address)) = match after {
        None => (Some(Vec::new()), ("", "")),
        Some(Member::User(user)) => (Some(user.as_uuid().as_bytes().to_vec()), ("", "")),
        Some(Member::Wallet(wallet)) => (None, (&*wallet.family, &*wallet.address)),
    };
    let mut left: i64 = limit.into();
    let mut members = Vec::new();
    if let Some(after) = after_user {
        let users = MemberUsers { group, after: &after, limit: left };
        for row in users.load::<MemberUserRow>(connection)? {
            members.push(GroupMember::try_from(row)?);
        }
        left -= i64::try_from(members.len()).unwrap_or(left);
    }
    if left > 0 {
        let wallets = MemberWallets { group, family, address, limit: left };
        for row in wallets.load::<MemberWalletRow>(connection)? {
            members.push(GroupMember::try_from(row)?);
        }
    }
    Ok(members)
}

pub(crate) fn memberships_of(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Vec<Membership>, SqliteError> {
    let user = user.as_uuid();
    let rows: Vec<MembershipRow> = MembershipsOf { user: user.as_bytes() }.load(connection)?;
    rows.into_iter().map(Membership::try_from).collect()
}

pub(crate) fn standing_of(
    connection: &mut SqliteConnection,
    wallet: &WalletAccount,
) -> Result<Standing, SqliteError> {
    let standing = StandingOf { family: &wallet.family, address: &wallet.address };
    let row: StandingRow = standing.get_result(connection)?;
    Standing::try_from(row)
}

pub(crate) fn groups_of(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Vec<GroupName>, SqliteError> {
    let user = user.as_uuid();
    let names: Option<String> = GroupsOf { user: user.as_bytes() }.get_result(connection)?;
    group_names(names.as_deref())
}

/// One more than is told exactly.
const COUNTED: i64 = MOST_COUNTED.cast_signed() + 1;

statement! {
    FindGroup<'a> {
        name: &'a str as Text,
        counted: i64 as BigInt,
    } -> (Text, Nullable<Text>, BigInt, BigInt, BigInt) = "\
        SELECT name, title, created_at, \
        (SELECT count(*) FROM (SELECT 1 FROM group_users WHERE group_name = user_groups.name LIMIT :counted)), \
        (SELECT count(*) FROM (SELECT 1 FROM group_wallets WHERE group_name = user_groups.name LIMIT :counted)) \
        FROM user_groups WHERE name = :name"
}

statement! {
    ListGroups<'a> {
        after: &'a str as Text,
        counted: i64 as BigInt,
        limit: i64 as BigInt,
    } -> (Text, Nullable<Text>, BigInt, BigInt, BigInt) = "\
        SELECT name, title, created_at, \
        (SELECT count(*) FROM (SELECT 1 FROM group_users WHERE group_name = user_groups.name LIMIT :counted)), \
        (SELECT count(*) FROM (SELECT 1 FROM group_wallets WHERE group_name = user_groups.name LIMIT :counted)) \
        FROM user_groups WHERE name > :after ORDER BY name LIMIT :limit"
}

statement! {
    MemberUsers<'a> {
        group: &'a str as Text,
        after: &'a [u8] as Binary,
        limit: i64 as BigInt,
    } -> (Binary, BigInt) = "\
        SELECT user_id, added_at FROM group_users WHERE group_name = :group AND user_id > :after \
        ORDER BY user_id LIMIT :limit"
}

statement! {
    MemberWallets<'a> {
        group: &'a str as Text,
        family: &'a str as Text,
        address: &'a str as Text,
        limit: i64 as BigInt,
    } -> (Text, Text, Text, BigInt, Nullable<Binary>) = "\
        SELECT family, chain, address, added_at, \
        (SELECT user_id FROM wallets WHERE wallets.family = member.family AND wallets.address = member.address) \
        FROM group_wallets AS member WHERE group_name = :group AND (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit"
}

statement! {
    /// A user's own memberships come first: they have no wallet, and SQLite sorts NULL first.
    MembershipsOf<'a> {
        user: &'a [u8] as Binary,
    } -> (Text, Nullable<Text>, Nullable<Text>, Nullable<Text>) = "\
        SELECT group_name, NULL AS family, NULL AS chain, NULL AS address FROM group_users WHERE user_id = :user \
        UNION ALL \
        SELECT through.group_name, wallets.family, wallets.chain, wallets.address \
        FROM wallets CROSS JOIN group_wallets AS through \
        ON through.family = wallets.family AND through.address = wallets.address \
        WHERE wallets.user_id = :user \
        ORDER BY 1, 2, 4"
}

statement! {
    /// One row in any case. A wallet of a user is also among the user's, so it is no matter that its own groups
    /// are read once more.
    StandingOf<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
    } -> (Nullable<Binary>, Nullable<BigInt>, Nullable<Text>, Nullable<Text>) = "\
        SELECT owner.user_id, coalesce(by_user.blocked_at, by_wallet.blocked_at), \
        CASE WHEN by_user.blocked_at IS NULL THEN by_wallet.reason ELSE by_user.reason END, \
        (SELECT group_concat(group_name) FROM ( \
          SELECT group_name FROM group_users WHERE group_users.user_id = owner.user_id \
          UNION SELECT group_name FROM group_wallets WHERE family = asked.family AND address = asked.address \
          UNION SELECT through.group_name FROM wallets CROSS JOIN group_wallets AS through \
          ON through.family = wallets.family AND through.address = wallets.address \
          WHERE wallets.user_id = owner.user_id \
        )) \
        FROM (SELECT :family AS family, :address AS address) AS asked \
        LEFT JOIN wallets AS owner ON owner.family = asked.family AND owner.address = asked.address \
        LEFT JOIN blocked_users AS by_user ON by_user.user_id = owner.user_id \
        LEFT JOIN blocked_wallets AS by_wallet ON by_wallet.family = asked.family AND by_wallet.address = asked.address"
}

statement! {
    /// One row in any case.
    GroupsOf<'a> {
        user: &'a [u8] as Binary,
    } -> Nullable<Text> = "\
        SELECT group_concat(group_name) FROM ( \
        SELECT group_name FROM group_users WHERE user_id = :user \
        UNION SELECT through.group_name FROM wallets CROSS JOIN group_wallets AS through \
        ON through.family = wallets.family AND through.address = wallets.address \
        WHERE wallets.user_id = :user)"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys};

    #[test]
    fn groups_are_found_by_their_keys_and_so_is_what_is_known_about_a_wallet() {
        let (_folder, mut connection) = database();
        let connection = &mut connection;
        let (group, family, address, user, limit) = ("a", "b", "c", &[][..], 10);
        finds_rows_by_keys(connection, FindGroup { name: group, counted: COUNTED });
        finds_rows_by_keys(connection, ListGroups { after: "", counted: COUNTED, limit });
        finds_rows_by_keys(connection, MemberUsers { group, after: user, limit });
        finds_rows_by_keys(connection, MemberWallets { group, family, address, limit });
        finds_rows_by_keys(connection, MembershipsOf { user });
        finds_rows_by_keys(connection, StandingOf { family, address });
        finds_rows_by_keys(connection, GroupsOf { user });
    }
}
