//! Rows of `wallets`.

use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::LinkedWallet;
use countersign_ports::wallet_store::chain_of_old_wallet;
use diesel::prelude::*;
use time::OffsetDateTime;

/// A wallet of a known user.
#[derive(Queryable)]
pub(crate) struct WalletRow {
    family: String,
    chain: Option<String>,
    address: String,
    linked_at: OffsetDateTime,
    name: Option<String>,
}

impl From<WalletRow> for LinkedWallet {
    fn from(row: WalletRow) -> Self {
        let chain = row.chain.unwrap_or_else(|| chain_of_old_wallet(&row.family));
        Self {
            account: WalletAccount { family: row.family, chain, address: row.address },
            linked_at: row.linked_at,
            name: row.name.and_then(|name| WalletName::parse(&name).ok()),
        }
    }
}
