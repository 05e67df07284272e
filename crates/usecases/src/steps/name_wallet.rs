//! A wallet that is new to its user gets the name that its software gives itself. Signing in and linking share
//! this.

use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::NameWallet;

use crate::Context;

/// The name that a page says that a wallet has. It is not proven, so a text that cannot be a name counts as
/// none.
pub(crate) fn claimed(name: Option<&str>) -> Option<WalletName> {
    WalletName::parse(name?).ok()
}

/// Names a wallet that has just come to its user. The sign-in or the link is already done, so an error here
/// does not make it fail.
pub(crate) async fn name_new_wallet(
    context: &Context,
    user: UserId,
    wallet: WalletAccount,
    name: WalletName,
) {
    let command = NameWallet { user, wallet, name: Some(name) };
    if let Err(error) = context.storage.name_wallet(command).await {
        tracing::error!(user.id = %user, %error, "new wallet could not be named");
    }
}
