//! A user or a wallet is not blocked any more.

use countersign_domain::subject::Subject;
use countersign_ports::RemoveBlock;

use crate::columns::{Id, Key, Text};
use crate::database::Statement;
use crate::ops::events::record_event::act_and_record;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Returns whether there was a block.
pub fn remove_block(db: &mut impl Database, command: &RemoveBlock) -> Result<bool, SqlError> {
    act_and_record(db, command.event.as_deref(), |db| {
        let removed = match &command.who {
            Subject::User(user) => UnblockUser { user: (*user).into() }.run(db)?,
            Subject::Wallet(wallet) => {
                UnblockWallet { family: &wallet.family, address: &wallet.address }.run(db)?
            }
        };
        Ok(removed == 1)
    })
}

statement! {
    pub UnblockUser { user: Id as Key } = "DELETE FROM blocked_users WHERE user_id = :user"
}

statement! {
    pub UnblockWallet<'a> { family: &'a str as Text, address: &'a str as Text } = "\
        DELETE FROM blocked_wallets WHERE family = :family AND address = :address"
}
