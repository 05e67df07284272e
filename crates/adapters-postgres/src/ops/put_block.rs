//! A user or a wallet is blocked.

use countersign_ports::{BlockPut, Blocked, PutBlock};
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::record_event::record;
use super::transaction::{Undone, all_or_nothing};
use super::wallets::{lock_user, under_lock_of_owner};
use crate::error::OpResult;
use crate::statement::statement;

/// Guard: a user exists. The lock of the user waits for what links or unlinks a wallet of theirs, or deletes
/// their account. What comes later finds the block.
pub(crate) fn put_block(connection: &mut PgConnection, command: &PutBlock) -> OpResult<BlockPut> {
    let (blocked_at, reason) = (command.block.at, command.block.reason.as_deref());
    match &command.who {
        Blocked::User(user) => all_or_nothing(connection, |connection| {
            if !lock_user(connection, *user)? {
                return Err(Undone::Refused(BlockPut::UserUnknown));
            }
            let user = user.as_uuid();
            if (BlockUser { user, blocked_at, reason }).execute(connection)? == 1 {
                record(connection, command.event.as_deref())?;
                return Ok(BlockPut::Stored);
            }
            ReasonOfUser { user, reason }.execute(connection)?;
            Ok(BlockPut::AlreadyThere)
        }),
        Blocked::Wallet(wallet) => under_lock_of_owner(connection, wallet, |connection, _| {
            let (family, chain, address) = (&*wallet.family, &*wallet.chain, &*wallet.address);
            if (BlockWallet { family, address, chain, blocked_at, reason }).execute(connection)? == 1 {
                record(connection, command.event.as_deref())?;
                return Ok(BlockPut::Stored);
            }
            ReasonOfWallet { family, address, reason }.execute(connection)?;
            Ok(BlockPut::AlreadyThere)
        }),
    }
}

statement! {
    /// One row if there was no block, none otherwise.
    BlockUser<'a> {
        user: Uuid as SqlUuid,
        blocked_at: OffsetDateTime as Timestamptz,
        reason: Option<&'a str> as Nullable<Text>,
    } = "\
        INSERT INTO blocked_users (user_id, blocked_at, reason) VALUES (:user, :blocked_at, :reason) \
        ON CONFLICT (user_id) DO NOTHING"
}

statement! {
    ReasonOfUser<'a> { user: Uuid as SqlUuid, reason: Option<&'a str> as Nullable<Text> } = "\
        UPDATE blocked_users SET reason = COALESCE(:reason, reason) WHERE user_id = :user"
}

statement! {
    /// One row if there was no block, none otherwise.
    BlockWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        chain: &'a str as Text,
        blocked_at: OffsetDateTime as Timestamptz,
        reason: Option<&'a str> as Nullable<Text>,
    } = "\
        INSERT INTO blocked_wallets (family, address, chain, blocked_at, reason) \
        VALUES (:family, :address, :chain, :blocked_at, :reason) \
        ON CONFLICT (family, address) DO NOTHING"
}

statement! {
    ReasonOfWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        reason: Option<&'a str> as Nullable<Text>,
    } = "\
        UPDATE blocked_wallets SET reason = COALESCE(:reason, reason) \
        WHERE family = :family AND address = :address"
}
