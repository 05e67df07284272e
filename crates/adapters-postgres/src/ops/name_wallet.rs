//! A user gives a wallet a name, or takes its name away.

use countersign_domain::wallet_name::WalletName;
use countersign_ports::NameWallet;
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text, Uuid as SqlUuid};
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

/// Guard: the wallet is the user's.
pub(crate) fn name_wallet(connection: &mut PgConnection, command: &NameWallet) -> OpResult<bool> {
    let store = StoreName {
        name: command.name.as_ref().map(WalletName::as_str),
        family: &command.wallet.family,
        address: &command.wallet.address,
        user: command.user.as_uuid(),
    };
    Ok(store.execute(connection)? == 1)
}

statement! {
    /// The row's key stays, so no login of the wallet waits for this.
    StoreName<'a> {
        name: Option<&'a str> as Nullable<Text>,
        family: &'a str as Text,
        address: &'a str as Text,
        user: Uuid as SqlUuid,
    } = "UPDATE wallets SET name = :name WHERE family = :family AND address = :address AND user_id = :user"
}
