//! Look-ups of blocks. Whether there is any at all is asked at every sign-in, so the adapters have that.

use countersign_domain::admission::Block;
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::BlockedWallet;

use crate::columns::{BigInt, Id, Key, Moment, Nullable, Row, StoredTime, Text};
use crate::database::Statement;
use crate::rows::block::{BlockedWalletRow, block};
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn block_of_user(db: &mut impl Database, user: UserId) -> Result<Option<Block>, SqlError> {
    let row: Option<(StoredTime, Option<String>)> = BlockOfUser { user: user.into() }.maybe(db)?;
    let Some((at, reason)) = row else { return Ok(None) };
    block(Row { table: "blocked_users", key: &user }, Some(at), reason)
}

pub fn blocked_wallets(
    db: &mut impl Database,
    after: Option<&WalletAccount>,
    limit: u32,
) -> Result<Vec<BlockedWallet>, SqlError> {
    // No family is the empty text.
    let (family, address) = after.map_or(("", ""), |after| (&*after.family, &*after.address));
    let wallets = BlockedWallets { family, address, limit: limit.into() };
    let rows: Vec<BlockedWalletRow> = wallets.all(db)?;
    rows.into_iter().map(BlockedWallet::try_from).collect()
}

pub fn blocked_wallets_of(db: &mut impl Database, user: UserId) -> Result<Vec<BlockedWallet>, SqlError> {
    let rows: Vec<BlockedWalletRow> = BlockedWalletsOf { user: user.into() }.all(db)?;
    rows.into_iter().map(BlockedWallet::try_from).collect()
}

statement! {
    pub BlockOfUser { user: Id as Key } -> (Moment, Nullable<Text>) = "\
        SELECT blocked_at, reason FROM blocked_users WHERE user_id = :user"
}

statement! {
    pub BlockedWallets<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        limit: i64 as BigInt,
    } -> (Text, Text, Text, Moment, Nullable<Text>, Nullable<Key>),
    sqlite = "\
        SELECT family, chain, address, blocked_at, reason, \
        (SELECT user_id FROM wallets WHERE wallets.family = blocked.family AND wallets.address = blocked.address) \
        FROM blocked_wallets AS blocked WHERE (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit",
    postgres = "\
        SELECT family, chain, address, blocked_at, reason, ( \
          SELECT user_id FROM wallets \
          WHERE wallets.family = blocked.family COLLATE \"default\" \
            AND wallets.address = blocked.address COLLATE \"default\" \
        ) \
        FROM blocked_wallets AS blocked WHERE (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit"
}

statement! {
    pub BlockedWalletsOf {
        user: Id as Key,
    } -> (Text, Text, Text, Moment, Nullable<Text>, Nullable<Key>),
    sqlite = "\
        SELECT blocked.family, blocked.chain, blocked.address, blocked_at, reason, user_id \
        FROM wallets CROSS JOIN blocked_wallets AS blocked \
        ON blocked.family = wallets.family AND blocked.address = wallets.address \
        WHERE wallets.user_id = :user \
        ORDER BY blocked.family, blocked.address",
    postgres = "\
        SELECT blocked.family, blocked.chain, blocked.address, blocked_at, reason, user_id \
        FROM wallets CROSS JOIN LATERAL ( \
          SELECT family, chain, address, blocked_at, reason FROM blocked_wallets \
          WHERE blocked_wallets.family = wallets.family COLLATE \"C\" \
            AND blocked_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
        ) AS blocked \
        WHERE wallets.user_id = :user \
        ORDER BY blocked.family, blocked.address"
}
