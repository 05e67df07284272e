//! Look-ups of blocks.

use countersign_domain::admission::Block;
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::BlockedWallet;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};

use crate::error::SqliteError;
use crate::rows::block::{BlockedWalletRow, block};
use crate::rows::field::Row;
use crate::schema::{blocked_users, blocked_wallets};
use crate::statement::statement;

/// Is any user or wallet blocked?
pub(crate) fn anything_blocked(connection: &mut SqliteConnection) -> Result<bool, SqliteError> {
    let users = blocked_users::table.select(blocked_users::user_id);
    let wallets = blocked_wallets::table.select(blocked_wallets::address);
    Ok(diesel::select(exists(users).or(exists(wallets))).get_result(connection)?)
}

pub(crate) fn block_of_user(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Option<Block>, SqliteError> {
    let user = user.as_uuid();
    let row: Option<(i64, Option<String>)> =
        BlockOfUser { user: user.as_bytes() }.get_result(connection).optional()?;
    let Some((at, reason)) = row else { return Ok(None) };
    block(Row { table: "blocked_users", key: user.as_bytes() }, Some(at), reason)
}

pub(crate) fn blocked_wallets(
    connection: &mut SqliteConnection,
    after: Option<&WalletAccount>,
    limit: u32,
) -> Result<Vec<BlockedWallet>, SqliteError> {
    // No family is the empty text.
    let (family, address) = after.map_or(("", ""), |after| (&*after.family, &*after.address));
    let wallets = BlockedWallets { family, address, limit: limit.into() };
    let rows: Vec<BlockedWalletRow> = wallets.load(connection)?;
    rows.into_iter().map(BlockedWallet::try_from).collect()
}

pub(crate) fn blocked_wallets_of(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Vec<BlockedWallet>, SqliteError> {
    let user = user.as_uuid();
    let rows: Vec<BlockedWalletRow> = BlockedWalletsOf { user: user.as_bytes() }.load(connection)?;
    rows.into_iter().map(BlockedWallet::try_from).collect()
}

/// Is a user or the wallet that signed for them blocked, and is another wallet?
pub(crate) fn are_blocked(
    connection: &mut SqliteConnection,
    user: &[u8],
    signer: &WalletAccount,
    wallet: &WalletAccount,
) -> Result<(bool, bool), SqliteError> {
    let are_blocked = AreBlocked {
        user,
        signer_family: &signer.family,
        signer_address: &signer.address,
        family: &wallet.family,
        address: &wallet.address,
    };
    Ok(are_blocked.get_result(connection)?)
}

statement! {
    BlockOfUser<'a> {
        user: &'a [u8] as Binary,
    } -> (BigInt, Nullable<Text>) = "SELECT blocked_at, reason FROM blocked_users WHERE user_id = :user"
}

statement! {
    BlockedWallets<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        limit: i64 as BigInt,
    } -> (Text, Text, Text, BigInt, Nullable<Text>, Nullable<Binary>) = "\
        SELECT family, chain, address, blocked_at, reason, \
        (SELECT user_id FROM wallets WHERE wallets.family = blocked.family AND wallets.address = blocked.address) \
        FROM blocked_wallets AS blocked WHERE (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit"
}

statement! {
    BlockedWalletsOf<'a> {
        user: &'a [u8] as Binary,
    } -> (Text, Text, Text, BigInt, Nullable<Text>, Nullable<Binary>) = "\
        SELECT blocked.family, blocked.chain, blocked.address, blocked_at, reason, user_id \
        FROM wallets CROSS JOIN blocked_wallets AS blocked \
        ON blocked.family = wallets.family AND blocked.address = wallets.address \
        WHERE wallets.user_id = :user \
        ORDER BY blocked.family, blocked.address"
}

statement! {
    AreBlocked<'a> {
        user: &'a [u8] as Binary,
        signer_family: &'a str as Text,
        signer_address: &'a str as Text,
        family: &'a str as Text,
        address: &'a str as Text,
    } -> (Bool, Bool) = "\
        SELECT EXISTS (SELECT 1 FROM blocked_users WHERE user_id = :user) \
        OR EXISTS (SELECT 1 FROM blocked_wallets WHERE family = :signer_family AND address = :signer_address), \
        EXISTS (SELECT 1 FROM blocked_wallets WHERE family = :family AND address = :address)"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys};

    #[test]
    fn blocks_are_found_by_their_keys() {
        let (_folder, mut connection) = database();
        let connection = &mut connection;
        let (family, address, user) = ("b", "c", &[][..]);
        finds_rows_by_keys(connection, BlockOfUser { user });
        finds_rows_by_keys(connection, BlockedWallets { family, address, limit: 10 });
        finds_rows_by_keys(connection, BlockedWalletsOf { user });
        let (signer_family, signer_address) = (family, address);
        finds_rows_by_keys(connection, AreBlocked { user, signer_family, signer_address, family, address });
    }
}
