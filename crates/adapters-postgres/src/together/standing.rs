//! What is known about people, on the way of every sign-in and of tokens with groups: many look-ups at once.
//!
//! The same is read and compared whether a wallet is known, blocked, in a group or none of it.
//!
//! `wallets` sorts by the database's own language, the tables of groups and blocks by bytes. A comparison
//! names the order of the index that it is to use.

use countersign_domain::admission::Standing;
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_sql::columns::{Names, StoredNames};
use countersign_sql::rows::block::{StandingRow, StandingSql};
use countersign_sql::rows::group::group_names;
use countersign_sql::schema::{blocked_users, blocked_wallets};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Array, Text, Uuid as SqlUuid};
use uuid::Uuid;

use super::column;
use crate::batched::Batched;
use crate::error::OpResult;
use crate::statement::statement;

/// Looks up what is known about a wallet and its user.
pub(crate) struct FindStanding(pub(crate) WalletAccount);

impl From<WalletAccount> for FindStanding {
    fn from(wallet: WalletAccount) -> Self {
        Self(wallet)
    }
}

impl Batched for FindStanding {
    type Outcome = Standing;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        []
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Standing>>> {
        let wallets = column(batch, |look_up| &look_up.0);
        Ok(find_standings(connection, &wallets)?.into_iter().map(Some).collect())
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Standing> {
        Ok(find_standings(connection, &[&self.0])?.pop().ok_or(diesel::NotFound)?)
    }
}

/// Looks up the groups of a user.
pub(crate) struct FindGroups(pub(crate) UserId);

impl From<UserId> for FindGroups {
    fn from(user: UserId) -> Self {
        Self(user)
    }
}

impl Batched for FindGroups {
    type Outcome = Vec<GroupName>;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        []
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Vec<GroupName>>>> {
        let users = column(batch, |look_up| look_up.0.as_uuid());
        Ok(find_groups(connection, users)?.into_iter().map(Some).collect())
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Vec<GroupName>> {
        Ok(find_groups(connection, vec![self.0.as_uuid()])?.pop().ok_or(diesel::NotFound)?)
    }
}

/// Looks up whether any user or wallet is blocked.
pub(crate) struct AnythingBlocked;

impl From<()> for AnythingBlocked {
    fn from((): ()) -> Self {
        Self
    }
}

impl Batched for AnythingBlocked {
    type Outcome = bool;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        []
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<bool>>> {
        let anything = anything_blocked(connection)?;
        Ok(column(batch, |_| Some(anything)))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<bool> {
        anything_blocked(connection)
    }
}

/// Finds what is known about each of these wallets, in their order.
pub(crate) fn find_standings(
    connection: &mut PgConnection,
    wallets: &[&WalletAccount],
) -> OpResult<Vec<Standing>> {
    let standings = Standings {
        family: column(wallets, |wallet| &*wallet.family),
        address: column(wallets, |wallet| &*wallet.address),
    };
    let rows: Vec<StandingRow> = standings.load(connection)?;
    let standings: Result<_, _> = rows.into_iter().map(Standing::try_from).collect();
    Ok(standings?)
}

/// Finds the groups of each of these users, in their order.
pub(crate) fn find_groups(connection: &mut PgConnection, users: Vec<Uuid>) -> OpResult<Vec<Vec<GroupName>>> {
    let rows: Vec<StoredNames> = Groups { user: users }.load(connection)?;
    let groups: Result<_, _> = rows.iter().map(group_names).collect();
    Ok(groups?)
}

/// Is any user or wallet blocked?
pub(crate) fn anything_blocked(connection: &mut PgConnection) -> OpResult<bool> {
    let users = blocked_users::table.select(blocked_users::user_id);
    let wallets = blocked_wallets::table.select(blocked_wallets::address);
    Ok(diesel::select(exists(users).or(exists(wallets))).get_result(connection)?)
}

statement! {
    /// One row for each wallet, in their order. A wallet of a user is also among the user's, so it is no
    /// matter that its own groups are read once more.
    Standings<'a> {
        family: Vec<&'a str> as Array<Text>,
        address: Vec<&'a str> as Array<Text>,
    } -> StandingSql = "\
        SELECT owner.user_id, COALESCE(by_user.blocked_at, by_wallet.blocked_at), \
          CASE WHEN by_user.blocked_at IS NULL THEN by_wallet.reason ELSE by_user.reason END, \
          ARRAY( \
            SELECT group_name FROM group_users WHERE group_users.user_id = owner.user_id \
            UNION SELECT group_name FROM group_wallets \
              WHERE group_wallets.family = asked.family COLLATE \"C\" \
                AND group_wallets.address = asked.address COLLATE \"C\" \
            UNION SELECT through.group_name FROM wallets CROSS JOIN LATERAL ( \
              SELECT group_name FROM group_wallets \
              WHERE group_wallets.family = wallets.family COLLATE \"C\" \
                AND group_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
            ) AS through WHERE wallets.user_id = owner.user_id \
            ORDER BY 1 \
          ) \
        FROM unnest(:family, :address) WITH ORDINALITY AS asked (family, address, place) \
        LEFT JOIN LATERAL ( \
          SELECT user_id FROM wallets WHERE wallets.family = asked.family AND wallets.address = asked.address OFFSET 0 \
        ) AS owner ON TRUE \
        LEFT JOIN LATERAL ( \
          SELECT blocked_at, reason FROM blocked_users WHERE blocked_users.user_id = owner.user_id OFFSET 0 \
        ) AS by_user ON TRUE \
        LEFT JOIN LATERAL ( \
          SELECT blocked_at, reason FROM blocked_wallets \
          WHERE blocked_wallets.family = asked.family COLLATE \"C\" \
            AND blocked_wallets.address = asked.address COLLATE \"C\" OFFSET 0 \
        ) AS by_wallet ON TRUE \
        ORDER BY asked.place"
}

statement! {
    /// One row for each user, in their order.
    Groups { user: Vec<Uuid> as Array<SqlUuid> } -> Names = "\
        SELECT ARRAY( \
          SELECT group_name FROM group_users WHERE group_users.user_id = asked.user_id \
          UNION SELECT through.group_name FROM wallets CROSS JOIN LATERAL ( \
            SELECT group_name FROM group_wallets \
            WHERE group_wallets.family = wallets.family COLLATE \"C\" \
              AND group_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
          ) AS through WHERE wallets.user_id = asked.user_id \
          ORDER BY 1 \
        ) \
        FROM unnest(:user) WITH ORDINALITY AS asked (user_id, place) ORDER BY asked.place"
}
