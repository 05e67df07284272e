//! A user links one more wallet.

use countersign_ports::{LinkWallet, WalletLinked};

use super::wallets::{are_blocked, count_of, find_owner, lock_user_of, spend};
use crate::columns::{At, BigInt, Id, Key, Moment, Text};
use crate::database::Statement;
use crate::ops::events::record_event::record_about;
use crate::ops::suspended::spread_suspension;
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guards: the challenge is not spent, the signer has a user, none of them is blocked, no one has the wallet, the user has
/// fewer than the most. Whatever the outcome for the wallets, the challenge was judged and stays spent (F-17). Only if it
/// was spent before is everything rolled back.
pub fn link_wallet(db: &mut impl Database, command: &LinkWallet) -> Result<WalletLinked, SqlError> {
    db.all_or_nothing(|db| {
        if !spend(db, command.id, command.forget_after)? {
            return Err(Undone::Refused(WalletLinked::ChallengeSpent));
        }
        let Some(user) = lock_user_of(db, &command.signer, command.begun_at)? else {
            return Ok(WalletLinked::SignerUnknown);
        };
        if let (true, _) | (_, true) = are_blocked(db, user, &command.signer, &command.wallet)? {
            return Ok(WalletLinked::Blocked);
        }
        let insert = InsertWallet {
            family: &command.wallet.family,
            address: &command.wallet.address,
            user: user.into(),
            now: At(command.now),
            chain: &command.wallet.chain,
            most: command.most.into(),
        };
        if insert.run(db)? == 1 {
            spread_suspension(db, user)?;
            record_about(db, command.event.as_deref(), user)?;
            return Ok(WalletLinked::Linked { user });
        }
        // Only this transaction can give this user a wallet or take one away. So if the wallet has no owner
        // any more and the user has room, its owner was another user.
        Ok(match find_owner(db, &command.wallet)? {
            Some(owner) if owner == user => WalletLinked::AlreadyTheirs { user },
            None if count_of(db, user)? >= i64::from(command.most) => WalletLinked::TooMany,
            Some(_) | None => WalletLinked::BelongsToAnother,
        })
    })
}

statement! {
    /// One row if no user had the wallet and the user has room, none otherwise. Waits for another link of the
    /// wallet and for its first login. The user is locked, so their wallets are counted exactly.
    InsertWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        user: Id as Key,
        now: At as Moment,
        chain: &'a str as Text,
        most: i64 as BigInt,
    } = "\
        INSERT INTO wallets (family, address, user_id, linked_at, chain) \
        SELECT :family, :address, :user, :now, :chain \
        WHERE (SELECT count(*) FROM wallets WHERE user_id = :user) < :most \
        ON CONFLICT (family, address) DO NOTHING"
}
