//! Rows of `wallets`.

use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::LinkedWallet;
use countersign_ports::wallet_store::chain_of_old_wallet;
use diesel::prelude::*;

use super::field::Row;
use crate::error::SqliteError;
use crate::schema::wallets;

/// A wallet of a known user.
#[derive(Queryable, Selectable)]
#[diesel(table_name = wallets)]
#[diesel(check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct WalletRow {
    family: String,
    address: String,
    linked_at: i64,
    chain: Option<String>,
    name: Option<String>,
}

impl TryFrom<WalletRow> for LinkedWallet {
    type Error = SqliteError;

    fn try_from(row: WalletRow) -> Result<Self, SqliteError> {
        let at = Row { table: "wallets", key: row.address.as_bytes() };
        let linked_at = at.time("linked_at", row.linked_at)?;
        let chain = row.chain.unwrap_or_else(|| chain_of_old_wallet(&row.family));
        let name = row.name.and_then(|name| WalletName::parse(&name).ok());
        Ok(Self {
            account: WalletAccount { family: row.family, chain, address: row.address },
            linked_at,
            name,
        })
    }
}
