//! A user gives a wallet a name, or takes its name away.

use countersign_domain::wallet_name::WalletName;
use countersign_ports::NameWallet;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text};

use crate::error::SqliteError;
use crate::statement::statement;

/// Guard: the wallet is the user's.
pub(crate) fn name_wallet(
    connection: &mut SqliteConnection,
    command: &NameWallet,
) -> Result<bool, SqliteError> {
    let user = command.user.as_uuid();
    let store = StoreName {
        name: command.name.as_ref().map(WalletName::as_str),
        family: &command.wallet.family,
        address: &command.wallet.address,
        user_id: user.as_bytes(),
    };
    Ok(store.execute(connection)? == 1)
}

statement! {
    StoreName<'a> {
        name: Option<&'a str> as Nullable<Text>,
        family: &'a str as Text,
        address: &'a str as Text,
        user_id: &'a [u8] as Binary,
    } = "UPDATE wallets SET name = :name WHERE family = :family AND address = :address AND user_id = :user_id"
}
