//! A user or a wallet is not blocked any more.

use countersign_ports::{Blocked, RemoveBlock};
use diesel::prelude::*;
use diesel::sql_types::{Text, Uuid as SqlUuid};
use uuid::Uuid;

use super::transaction::act_and_record;
use crate::error::OpResult;
use crate::statement::statement;

/// Returns whether there was a block.
pub(crate) fn remove_block(connection: &mut PgConnection, command: &RemoveBlock) -> OpResult<bool> {
    act_and_record(
        connection,
        command.event.as_deref(),
        |was_there| *was_there,
        |connection| {
            let removed = match &command.who {
                Blocked::User(user) => UnblockUser { user: user.as_uuid() }.execute(connection)?,
                Blocked::Wallet(wallet) => {
                    UnblockWallet { family: &wallet.family, address: &wallet.address }.execute(connection)?
                }
            };
            Ok(removed == 1)
        },
    )
}

statement! {
    UnblockUser { user: Uuid as SqlUuid } = "DELETE FROM blocked_users WHERE user_id = :user"
}

statement! {
    UnblockWallet<'a> { family: &'a str as Text, address: &'a str as Text } = "\
        DELETE FROM blocked_wallets WHERE family = :family AND address = :address"
}
