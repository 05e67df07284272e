//! A signed-in person gives one of their wallets a name, or takes its name away.

use countersign_domain::readable::NameRejected;
use countersign_domain::wallet::AccountKind;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::NameWallet;

use crate::Context;
use crate::steps::login::{AccountError, Browser, require_login};

/// Which wallet gets the name.
#[derive(Clone, Copy, Debug)]
pub struct WalletToName<'a> {
    /// The account as the account page shows it, in CAIP-10 form.
    pub account: &'a str,
    /// Whether it is a key or a contract. Both can have the same CAIP-10 form.
    pub kind: Option<AccountKind>,
}

/// Why the name did not change.
#[derive(Debug, thiserror::Error)]
pub enum RenameWalletError {
    /// The text cannot be a name.
    #[error("name {0}")]
    Name(#[from] NameRejected),
    /// The user does not have this wallet, or has two that it could be.
    #[error("wallet is not one of the user's")]
    NotTheirs,
    /// The person is not signed in, or the name could not be stored.
    #[error(transparent)]
    Account(#[from] AccountError),
}

/// Names a wallet of the user who is signed in on this browser. An empty name takes the name away. Only the
/// user ever sees it, so a session is enough.
pub async fn rename_wallet(
    context: &Context,
    browser: &Browser,
    wallet: WalletToName<'_>,
    name: &str,
) -> Result<(), RenameWalletError> {
    let user = require_login(context, browser).await?.user;
    let name = if name.trim().is_empty() { None } else { Some(WalletName::parse(name)?) };
    let linked = context.storage.wallets_of(user).await.map_err(AccountError::from)?;
    let mut meant = linked.into_iter().map(|linked| linked.account).filter(|account| {
        account.caip10() == wallet.account && wallet.kind.is_none_or(|kind| account.kind() == Some(kind))
    });
    let (Some(account), None) = (meant.next(), meant.next()) else {
        return Err(RenameWalletError::NotTheirs);
    };
    let command = NameWallet { user, wallet: account, name };
    if !context.storage.name_wallet(command).await.map_err(AccountError::from)? {
        return Err(RenameWalletError::NotTheirs);
    }
    tracing::info!(user.id = %user, "wallet renamed");
    Ok(())
}
