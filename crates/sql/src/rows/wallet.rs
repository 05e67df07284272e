//! Rows of `wallets`.

use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::LinkedWallet;
use countersign_ports::wallet_store::chain_of_old_wallet;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{Moment, Nullable, Row, StoredTime, Text};

/// The SQL types of [`WalletRow`].
pub type WalletSql = (Text, Nullable<Text>, Text, Moment, Nullable<Text>);

/// A wallet of a known user.
#[derive(Debug, Queryable)]
#[expect(missing_docs, reason = "a field is the column of its name")]
pub struct WalletRow {
    pub family: String,
    pub chain: Option<String>,
    pub address: String,
    pub linked_at: StoredTime,
    pub name: Option<String>,
}

impl TryFrom<WalletRow> for LinkedWallet {
    type Error = SqlError;

    fn try_from(row: WalletRow) -> Result<Self, SqlError> {
        let at = Row { table: "wallets", key: &row.address };
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
