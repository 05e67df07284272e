//! A user gives a wallet a name, or takes its name away.

use countersign_domain::wallet_name::WalletName;
use countersign_ports::NameWallet;

use crate::columns::{Id, Key, Nullable, Text};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Guard: the wallet is the user's.
pub fn name_wallet(db: &mut impl Database, command: &NameWallet) -> Result<bool, SqlError> {
    let store = StoreName {
        name: command.name.as_ref().map(WalletName::as_str),
        family: &command.wallet.family,
        address: &command.wallet.address,
        user: command.user.into(),
    };
    Ok(store.run(db)? == 1)
}

statement! {
    /// The row's key stays, so no login of the wallet waits for this.
    pub StoreName<'a> {
        name: Option<&'a str> as Nullable<Text>,
        family: &'a str as Text,
        address: &'a str as Text,
        user: Id as Key,
    } = "UPDATE wallets SET name = :name WHERE family = :family AND address = :address AND user_id = :user"
}
