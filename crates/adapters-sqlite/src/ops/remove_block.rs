//! A user or a wallet is not blocked any more.

use countersign_ports::{Blocked, RemoveBlock};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Text};

use super::record_event::record;
use crate::error::SqliteError;
use crate::statement::statement;

/// Returns whether there was a block.
pub(crate) fn remove_block(
    connection: &mut SqliteConnection,
    command: &RemoveBlock,
) -> Result<bool, SqliteError> {
    let removed = match &command.who {
        Blocked::User(user) => UnblockUser { user: user.as_uuid().as_bytes() }.execute(connection)?,
        Blocked::Wallet(wallet) => {
            UnblockWallet { family: &wallet.family, address: &wallet.address }.execute(connection)?
        }
    };
    if removed == 0 {
        return Ok(false);
    }
    record(connection, command.event.as_deref())?;
    Ok(true)
}

statement! {
    UnblockUser<'a> {
        user: &'a [u8] as Binary,
    } = "DELETE FROM blocked_users WHERE user_id = :user"
}

statement! {
    UnblockWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
    } = "DELETE FROM blocked_wallets WHERE family = :family AND address = :address"
}
