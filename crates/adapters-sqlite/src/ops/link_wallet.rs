//! A user links one more wallet.

use countersign_ports::{LinkWallet, WalletLinked};
use diesel::prelude::*;

use super::read_blocks::are_blocked;
use super::record_event::record_about;
use super::wallets;
use crate::error::SqliteError;
use crate::rows::field::Row;

/// Guards: the challenge is not spent, the signer has a user, none of them is blocked, nobody has the wallet. The challenge is used up
/// before the rest is judged. A refusal does not roll back, so it stays spent (F-17). The single writer keeps
/// the guards true until the commit.
pub(crate) fn link_wallet(
    connection: &mut SqliteConnection,
    command: &LinkWallet,
) -> Result<WalletLinked, SqliteError> {
    if wallets::is_spent(connection, command.id)? {
        return Ok(WalletLinked::ChallengeSpent);
    }
    wallets::spend(connection, command.id, command.forget_after)?;
    let Some(user_id) = wallets::owner_since(connection, &command.signer, command.begun_at)? else {
        return Ok(WalletLinked::SignerUnknown);
    };
    let at = Row { table: "wallets", key: command.signer.address.as_bytes() };
    let user = at.id("user_id", &user_id)?;
    if let (true, _) | (_, true) = are_blocked(connection, &user_id, &command.signer, &command.wallet)? {
        return Ok(WalletLinked::Blocked);
    }
    match wallets::owner_of(connection, &command.wallet)? {
        Some(owner) if owner == user_id => return Ok(WalletLinked::AlreadyTheirs { user }),
        Some(_) => return Ok(WalletLinked::BelongsToAnother),
        None => {}
    }
    wallets::insert(connection, &command.wallet, &user_id, command.now)?;
    record_about(connection, command.event.as_deref(), user)?;
    Ok(WalletLinked::Linked { user })
}
