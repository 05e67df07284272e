//! A user or a wallet is blocked.

use countersign_domain::event::Event;
use countersign_domain::subject::Subject;
use countersign_ports::{BlockPut, PutBlock};

use crate::columns::{At, Id, Key, Moment, Nullable, Text};
use crate::database::Statement;
use crate::ops::accounts::wallets::{lock_user, under_lock_of_owner};
use crate::ops::events::record_event::record;
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guard: a user exists. The lock of the user waits for what links or unlinks a wallet of theirs, or deletes
/// their account. What comes later finds the block.
pub fn put_block(db: &mut impl Database, command: &PutBlock) -> Result<BlockPut, SqlError> {
    let (blocked_at, reason) = (At(command.block.at), command.block.reason.as_deref());
    match &command.who {
        Subject::User(user) => db.all_or_nothing(|db| {
            if !lock_user(db, *user)? {
                return Err(Undone::Refused(BlockPut::UserUnknown));
            }
            let user = Id::from(*user);
            let put = if (BlockUser { user, blocked_at, reason }).run(db)? == 1 {
                BlockPut::Stored
            } else if (ReasonOfUser { user, reason }).run(db)? == 1 {
                BlockPut::ReasonReplaced
            } else {
                BlockPut::AlreadyThere
            };
            Ok(recorded(db, command, put)?)
        }),
        Subject::Wallet(wallet) => under_lock_of_owner(db, wallet, |db, _| {
            let (family, chain, address) = (&*wallet.family, &*wallet.chain, &*wallet.address);
            let put = if (BlockWallet { family, address, chain, blocked_at, reason }).run(db)? == 1 {
                BlockPut::Stored
            } else if (ReasonOfWallet { family, address, reason }).run(db)? == 1 {
                BlockPut::ReasonReplaced
            } else {
                BlockPut::AlreadyThere
            };
            recorded(db, command, put)
        }),
    }
}

fn recorded(db: &mut impl Database, command: &PutBlock, put: BlockPut) -> Result<BlockPut, SqlError> {
    let event = command.event.as_deref();
    match put {
        BlockPut::Stored => record(db, event)?,
        BlockPut::ReasonReplaced => record(db, event.map(Event::of_replaced_reason).as_ref())?,
        BlockPut::AlreadyThere | BlockPut::UserUnknown => {}
    }
    Ok(put)
}

statement! {
    /// One row if there was no block, none otherwise.
    BlockUser<'a> {
        user: Id as Key,
        blocked_at: At as Moment,
        reason: Option<&'a str> as Nullable<Text>,
    } = "\
        INSERT INTO blocked_users (user_id, blocked_at, reason) VALUES (:user, :blocked_at, :reason) \
        ON CONFLICT (user_id) DO NOTHING"
}

statement! {
    /// One row if the block has another reason, none otherwise.
    ReasonOfUser<'a> { user: Id as Key, reason: Option<&'a str> as Nullable<Text> },
    sqlite = "\
        UPDATE blocked_users SET reason = :reason \
        WHERE user_id = :user AND :reason IS NOT NULL AND reason IS NOT :reason",
    postgres = "\
        UPDATE blocked_users SET reason = :reason \
        WHERE user_id = :user AND :reason IS NOT NULL AND reason IS DISTINCT FROM :reason"
}

statement! {
    /// One row if there was no block, none otherwise.
    BlockWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        chain: &'a str as Text,
        blocked_at: At as Moment,
        reason: Option<&'a str> as Nullable<Text>,
    } = "\
        INSERT INTO blocked_wallets (family, address, chain, blocked_at, reason) \
        VALUES (:family, :address, :chain, :blocked_at, :reason) \
        ON CONFLICT (family, address) DO NOTHING"
}

statement! {
    /// The same for the block of a wallet.
    ReasonOfWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        reason: Option<&'a str> as Nullable<Text>,
    },
    sqlite = "\
        UPDATE blocked_wallets SET reason = :reason \
        WHERE family = :family AND address = :address AND :reason IS NOT NULL AND reason IS NOT :reason",
    postgres = "\
        UPDATE blocked_wallets SET reason = :reason \
        WHERE family = :family AND address = :address AND :reason IS NOT NULL AND reason IS DISTINCT FROM :reason"
}
