//! What the userinfo endpoint returns (the specification's section 4.7, OpenID Connect Core section 5.3).

use crate::email::{EmailAddress, UserEmail};
use crate::group::GroupName;
use crate::id::SubjectId;
use crate::scope::{Scope, ScopeSet};
use crate::wallet::WalletAccount;

/// The claims that a token's scopes release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserInfo {
    /// `sub`: the user's id
    pub subject: SubjectId,
    /// `preferred_username`: a name made from the id
    pub preferred_username: String,
    /// `name`: what OpenID Connect clients show for a person
    pub name: Option<String>,
    /// `picture`: the URL of the picture that we draw for the person
    pub picture: Option<String>,
    /// `address`, the specification's string. It is left out with the scope `openid`: OpenID Connect reserves
    /// the name for a postal address object, and typed clients reject a string.
    pub address: Option<String>,
    /// `wallet_address`: the address of the wallet that signed, with a scope that releases wallets
    pub wallet_address: Option<String>,
    /// `wallet_account`: the same wallet by CAIP-10
    pub wallet_account: Option<String>,
    /// `wallets`: every wallet that the user has linked, by CAIP-10
    pub wallets: Option<Vec<String>>,
    /// `groups`: those of the user's groups that the operator releases to the client, sorted
    pub groups: Option<Vec<GroupName>>,
    /// `email` and `email_verified`
    pub email: Option<ReleasedEmail>,
}

/// An e-mail address as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasedEmail {
    /// The e-mail address itself.
    pub address: EmailAddress,
    /// Did its owner follow the link in a mail?
    pub verified: bool,
}

impl ReleasedEmail {
    /// The stored address. If there is none, `None`, or the made-up address if the operator wants
    /// that.
    pub fn of(user: SubjectId, on_file: Option<UserEmail>, synthetic: bool) -> Option<Self> {
        match on_file.and_then(UserEmail::if_usable) {
            Some(UserEmail { address, verified_at, .. }) => {
                Some(Self { address, verified: verified_at.is_some() })
            }
            None => synthetic.then(|| Self { address: EmailAddress::synthetic(user), verified: false }),
        }
    }
}

impl UserInfo {
    /// Selects the claims. The user's wallets, groups and e-mail address are passed in only if the scopes release
    /// them.
    pub fn release(
        user: SubjectId,
        account: &WalletAccount,
        scope: &ScopeSet,
        wallets: Option<&[WalletAccount]>,
        groups: Option<Vec<GroupName>>,
        email: Option<ReleasedEmail>,
        picture: &str,
    ) -> Self {
        let has_standard_claims = scope.contains(Scope::OpenId) && scope.contains(Scope::Profile);
        let has_wallet = scope.releases_wallet();
        Self {
            subject: user,
            preferred_username: user.preferred_username(),
            name: has_standard_claims.then(|| user.preferred_username()),
            picture: has_standard_claims.then(|| picture.to_owned()),
            address: (has_wallet && !scope.contains(Scope::OpenId)).then(|| account.address.clone()),
            wallet_address: has_wallet.then(|| account.address.clone()),
            wallet_account: has_wallet.then(|| account.caip10()),
            wallets: wallets.map(|wallets| wallets.iter().map(WalletAccount::caip10).collect()),
            groups,
            email,
        }
    }

    /// Do these scopes give access to the profile at all?
    pub const fn is_reached_by(scope: &ScopeSet) -> bool {
        scope.contains(Scope::Profile) || scope.contains(Scope::OpenId)
    }
}
