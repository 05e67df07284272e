//! A user links one more wallet.

use countersign_domain::id::UserId;
use countersign_ports::{LinkWallet, WalletLinked};
use diesel::prelude::*;
use diesel::sql_types::{Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::read_blocks::are_blocked;
use super::record_event::record_about;
use super::transaction::{Undone, all_or_nothing};
use super::wallets::{lock_user_of, owner_of, spend};
use crate::error::OpResult;
use crate::statement::statement;

/// Whatever the outcome for the wallets, the challenge was judged and stays spent (F-17). Only if it was
/// spent before is everything rolled back.
pub(crate) fn link_wallet(connection: &mut PgConnection, command: &LinkWallet) -> OpResult<WalletLinked> {
    all_or_nothing(connection, |connection| {
        if !spend(connection, command.id, command.forget_after)? {
            return Err(Undone::Refused(WalletLinked::ChallengeSpent));
        }
        let Some(user) = lock_user_of(connection, &command.signer, command.begun_at)? else {
            return Ok(WalletLinked::SignerUnknown);
        };
        if let (true, _) | (_, true) = are_blocked(connection, user, &command.signer, &command.wallet)? {
            return Ok(WalletLinked::Blocked);
        }
        let insert = InsertWallet {
            family: &command.wallet.family,
            address: &command.wallet.address,
            user,
            now: command.now,
            chain: &command.wallet.chain,
        };
        if insert.execute(connection)? == 1 {
            let user = UserId::from_uuid(user);
            record_about(connection, command.event.as_deref(), user)?;
            return Ok(WalletLinked::Linked { user });
        }
        // Only this transaction can give this user a wallet or take one away. So if the wallet has no owner
        // any more, its owner was somebody else.
        Ok(match owner_of(connection, &command.wallet)? {
            Some(owner) if owner == user => WalletLinked::AlreadyTheirs { user: UserId::from_uuid(user) },
            Some(_) | None => WalletLinked::BelongsToAnother,
        })
    })
}

statement! {
    /// One row if nobody had the wallet, none otherwise. Waits for another link of the wallet and for its
    /// first login.
    InsertWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        user: Uuid as SqlUuid,
        now: OffsetDateTime as Timestamptz,
        chain: &'a str as Text,
    } = "\
        INSERT INTO wallets (family, address, user_id, linked_at, chain) \
        VALUES (:family, :address, :user, :now, :chain) \
        ON CONFLICT (family, address) DO NOTHING"
}
