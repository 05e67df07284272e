//! Look-ups of what is known about people, on the way of every sign-in and of tokens with groups.
//!
//! A join that is to begin with its first table is a `CROSS JOIN`, whose order SQLite keeps.

use countersign_domain::admission::Standing;
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_sql::columns::{Id, Key, Names, StoredNames, Text};
use countersign_sql::rows::block::{StandingRow, StandingSql};
use countersign_sql::rows::group::group_names;
use countersign_sql::schema::{blocked_users, blocked_wallets};
use diesel::dsl::exists;
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// Is any user or wallet blocked?
pub(crate) fn anything_blocked(connection: &mut SqliteConnection) -> Result<bool, SqliteError> {
    let users = blocked_users::table.select(blocked_users::user_id);
    let wallets = blocked_wallets::table.select(blocked_wallets::address);
    Ok(diesel::select(exists(users).or(exists(wallets))).get_result(connection)?)
}

pub(crate) fn standing_of(
    connection: &mut SqliteConnection,
    wallet: &WalletAccount,
) -> Result<Standing, SqliteError> {
    let standing = StandingOf { family: &wallet.family, address: &wallet.address };
    let row: StandingRow = standing.get_result(connection)?;
    Ok(Standing::try_from(row)?)
}

pub(crate) fn groups_of(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Vec<GroupName>, SqliteError> {
    let names: StoredNames = GroupsOf { user: user.into() }.get_result(connection)?;
    Ok(group_names(&names)?)
}

statement! {
    /// One row in any case. A wallet of a user is also among the user's, so it is no matter that its own groups
    /// are read once more.
    StandingOf<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
    } -> StandingSql = "\
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
    GroupsOf {
        user: Id as Key,
    } -> Names = "\
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
    fn what_is_known_about_a_wallet_is_found_by_keys() {
        let (_folder, mut connection) = database();
        let connection = &mut connection;
        finds_rows_by_keys(connection, StandingOf { family: "b", address: "c" });
        finds_rows_by_keys(connection, GroupsOf { user: Id(uuid::Uuid::nil()) });
    }
}
