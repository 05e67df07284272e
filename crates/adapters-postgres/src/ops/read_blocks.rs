//! Look-ups of blocks. Whether there is any at all is asked at every sign-in, so that is in
//! `together/standing.rs`.

use countersign_domain::admission::Block;
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::BlockedWallet;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::rows::block::BlockedWalletRow;
use crate::statement::statement;

pub(crate) fn block_of_user(connection: &mut PgConnection, user: UserId) -> OpResult<Option<Block>> {
    let row: Option<(OffsetDateTime, Option<String>)> =
        BlockOfUser { user: user.as_uuid() }.get_result(connection).optional()?;
    Ok(row.map(|(at, reason)| Block { at, reason }))
}

pub(crate) fn blocked_wallets(
    connection: &mut PgConnection,
    after: Option<&WalletAccount>,
    limit: u32,
) -> OpResult<Vec<BlockedWallet>> {
    // No family is the empty text.
    let (family, address) = after.map_or(("", ""), |after| (&*after.family, &*after.address));
    let wallets = BlockedWallets { family, address, limit: limit.into() };
    let rows: Vec<BlockedWalletRow> = wallets.load(connection)?;
    Ok(rows.into_iter().map(BlockedWallet::from).collect())
}

pub(crate) fn blocked_wallets_of(
    connection: &mut PgConnection,
    user: UserId,
) -> OpResult<Vec<BlockedWallet>> {
    let rows: Vec<BlockedWalletRow> = BlockedWalletsOf { user: user.as_uuid() }.load(connection)?;
    Ok(rows.into_iter().map(BlockedWallet::from).collect())
}

/// Is a user or the wallet that signed for them blocked, and is another wallet? Ask under the user's lock:
/// blocking the user or a wallet of theirs takes it too.
pub(crate) fn are_blocked(
    connection: &mut PgConnection,
    user: Uuid,
    signer: &WalletAccount,
    wallet: &WalletAccount,
) -> QueryResult<(bool, bool)> {
    let are_blocked = AreBlocked {
        user,
        signer_family: &signer.family,
        signer_address: &signer.address,
        family: &wallet.family,
        address: &wallet.address,
    };
    are_blocked.get_result(connection)
}

statement! {
    BlockOfUser { user: Uuid as SqlUuid } -> (Timestamptz, Nullable<Text>) = "\
        SELECT blocked_at, reason FROM blocked_users WHERE user_id = :user"
}

statement! {
    BlockedWallets<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        limit: i64 as BigInt,
    } -> (Text, Text, Text, Timestamptz, Nullable<Text>, Nullable<SqlUuid>) = "\
        SELECT family, chain, address, blocked_at, reason, ( \
          SELECT user_id FROM wallets \
          WHERE wallets.family = blocked.family COLLATE \"default\" \
            AND wallets.address = blocked.address COLLATE \"default\" \
        ) \
        FROM blocked_wallets AS blocked WHERE (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit"
}

statement! {
    BlockedWalletsOf {
        user: Uuid as SqlUuid,
    } -> (Text, Text, Text, Timestamptz, Nullable<Text>, Nullable<SqlUuid>) = "\
        SELECT blocked.family, blocked.chain, blocked.address, blocked_at, reason, user_id \
        FROM wallets CROSS JOIN LATERAL ( \
          SELECT family, chain, address, blocked_at, reason FROM blocked_wallets \
          WHERE blocked_wallets.family = wallets.family COLLATE \"C\" \
            AND blocked_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
        ) AS blocked \
        WHERE wallets.user_id = :user \
        ORDER BY blocked.family, blocked.address"
}

statement! {
    AreBlocked<'a> {
        user: Uuid as SqlUuid,
        signer_family: &'a str as Text,
        signer_address: &'a str as Text,
        family: &'a str as Text,
        address: &'a str as Text,
    } -> (Bool, Bool) = "\
        SELECT EXISTS (SELECT FROM blocked_users WHERE user_id = :user) \
            OR EXISTS ( \
              SELECT FROM blocked_wallets WHERE family = :signer_family AND address = :signer_address \
            ), \
          EXISTS (SELECT FROM blocked_wallets WHERE family = :family AND address = :address)"
}
