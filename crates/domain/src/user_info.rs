//! What the user-information endpoint tells (the specification's section 4.7, OpenID Connect Core section 5.3).

use crate::id::UserId;
use crate::scope::{Scope, ScopeSet};
use crate::wallet::WalletAccount;

/// The claims that a token's scopes release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserInfo {
    /// `sub`
    pub subject: UserId,
    /// `preferred_username`
    pub preferred_username: String,
    /// `address`, the specification's string. With scope `openid` it is left out: OpenID Connect reserves the name for a
    /// postal address object, and typed clients refuse a string.
    pub address: Option<String>,
    /// `wallet_address`
    pub wallet_address: String,
    /// `wallet_account`, by CAIP-10
    pub wallet_account: String,
    /// `wallets`: every wallet that the user has linked, by CAIP-10.
    pub wallets: Option<Vec<String>>,
}

impl UserInfo {
    /// Chooses the claims. The wallets of the user are known only where the scopes release them.
    pub fn release(
        user: UserId,
        account: &WalletAccount,
        scope: ScopeSet,
        wallets: Option<&[WalletAccount]>,
    ) -> Self {
        Self {
            subject: user,
            preferred_username: user.preferred_username(),
            address: (!scope.contains(Scope::OpenId)).then(|| account.address.clone()),
            wallet_address: account.address.clone(),
            wallet_account: account.caip10(),
            wallets: wallets.map(|wallets| wallets.iter().map(WalletAccount::caip10).collect()),
        }
    }

    /// Do these scopes reach the profile at all?
    pub const fn is_reached_by(scope: ScopeSet) -> bool {
        scope.contains(Scope::Profile) || scope.contains(Scope::OpenId)
    }
}
