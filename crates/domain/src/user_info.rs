//! What the user-information endpoint tells (the specification's section 4.7, OpenID Connect Core section 5.3).

use crate::email::{EmailAddress, UserEmail};
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
    /// `name`: what OpenID Connect's clients show for a person.
    pub name: Option<String>,
    /// `picture`: where our picture of the person is.
    pub picture: Option<String>,
    /// `address`, the specification's string. With scope `openid` it is left out: OpenID Connect reserves the name for a
    /// postal address object, and typed clients refuse a string.
    pub address: Option<String>,
    /// `wallet_address`
    pub wallet_address: String,
    /// `wallet_account`, by CAIP-10
    pub wallet_account: String,
    /// `wallets`: every wallet that the user has linked, by CAIP-10.
    pub wallets: Option<Vec<String>>,
    /// `email` and `email_verified`
    pub email: Option<ReleasedEmail>,
}

/// An e-mail address as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasedEmail {
    /// The address.
    pub address: EmailAddress,
    /// Did its owner follow the link in a mail?
    pub verified: bool,
}

impl ReleasedEmail {
    /// The address on file; where there is none, nothing, or the made-up one if the operator wants that.
    pub fn of(user: UserId, on_file: Option<UserEmail>, synthetic: bool) -> Option<Self> {
        match on_file.and_then(UserEmail::if_usable) {
            Some(UserEmail { address, verified_at, .. }) => {
                Some(Self { address, verified: verified_at.is_some() })
            }
            None => synthetic.then(|| Self { address: EmailAddress::synthetic(user), verified: false }),
        }
    }
}

impl UserInfo {
    /// Chooses the claims. The wallets and the e-mail address of the user are known only where the scopes release them.
    pub fn release(
        user: UserId,
        account: &WalletAccount,
        scope: ScopeSet,
        wallets: Option<&[WalletAccount]>,
        email: Option<ReleasedEmail>,
        picture: &str,
    ) -> Self {
        let has_standard_claims = scope.contains(Scope::OpenId) && scope.contains(Scope::Profile);
        Self {
            subject: user,
            preferred_username: user.preferred_username(),
            name: has_standard_claims.then(|| user.preferred_username()),
            picture: has_standard_claims.then(|| picture.to_owned()),
            address: (!scope.contains(Scope::OpenId)).then(|| account.address.clone()),
            wallet_address: account.address.clone(),
            wallet_account: account.caip10(),
            wallets: wallets.map(|wallets| wallets.iter().map(WalletAccount::caip10).collect()),
            email,
        }
    }

    /// Do these scopes reach the profile at all?
    pub const fn is_reached_by(scope: ScopeSet) -> bool {
        scope.contains(Scope::Profile) || scope.contains(Scope::OpenId)
    }
}
