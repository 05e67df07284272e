//! A user or a wallet is blocked.

use countersign_ports::{BlockPut, Blocked, PutBlock};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::statement::statement;

/// Guard: a user exists. It is in the insert. The single writer keeps it true until the commit.
pub(crate) fn put_block(
    connection: &mut SqliteConnection,
    command: &PutBlock,
) -> Result<BlockPut, SqliteError> {
    let (blocked_at, reason) = (micros(command.block.at), command.block.reason.as_deref());
    let (is_new, is_there) = match &command.who {
        Blocked::User(user) => {
            let uuid = user.as_uuid();
            let user = uuid.as_bytes().as_slice();
            let is_new = BlockUser { user, blocked_at, reason }.execute(connection)? == 1;
            (is_new, is_new || ReasonOfUser { reason, user }.execute(connection)? == 1)
        }
        Blocked::Wallet(wallet) => {
            let (family, chain, address) = (&*wallet.family, &*wallet.chain, &*wallet.address);
            let block = BlockWallet { family, address, chain, blocked_at, reason };
            let is_new = block.execute(connection)? == 1;
            (is_new, is_new || ReasonOfWallet { reason, family, address }.execute(connection)? == 1)
        }
    };
    if !is_new {
        return Ok(if is_there { BlockPut::AlreadyThere } else { BlockPut::UserUnknown });
    }
    record(connection, command.event.as_deref())?;
    Ok(BlockPut::Stored)
}

statement! {
    /// One row if there is such a user and was no block, none otherwise.
    BlockUser<'a> {
        user: &'a [u8] as Binary,
        blocked_at: i64 as BigInt,
        reason: Option<&'a str> as Nullable<Text>,
    } = "\
        INSERT INTO blocked_users (user_id, blocked_at, reason) \
        SELECT id, :blocked_at, :reason FROM users WHERE id = :user \
        ON CONFLICT (user_id) DO NOTHING"
}

statement! {
    /// One row if there is a block, none otherwise.
    ReasonOfUser<'a> {
        reason: Option<&'a str> as Nullable<Text>,
        user: &'a [u8] as Binary,
    } = "UPDATE blocked_users SET reason = coalesce(:reason, reason) WHERE user_id = :user"
}

statement! {
    /// One row if there was no block, none otherwise.
    BlockWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        chain: &'a str as Text,
        blocked_at: i64 as BigInt,
        reason: Option<&'a str> as Nullable<Text>,
    } = "\
        INSERT INTO blocked_wallets (family, address, chain, blocked_at, reason) \
        VALUES (:family, :address, :chain, :blocked_at, :reason) \
        ON CONFLICT (family, address) DO NOTHING"
}

statement! {
    /// One row if there is a block, none otherwise.
    ReasonOfWallet<'a> {
        reason: Option<&'a str> as Nullable<Text>,
        family: &'a str as Text,
        address: &'a str as Text,
    } = "\
        UPDATE blocked_wallets SET reason = coalesce(:reason, reason) \
        WHERE family = :family AND address = :address"
}
