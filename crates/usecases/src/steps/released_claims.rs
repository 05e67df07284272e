//! The claims about a user that scopes release, for userinfo and ID tokens.

use countersign_domain::id::UserId;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::user_info::{ReleasedEmail, UserInfo};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;

use crate::Context;

/// Reads the claims that the scopes release. The user's wallets and e-mail address are read only if they are
/// released.
pub(crate) async fn released_claims(
    context: &Context,
    user: UserId,
    account: &WalletAccount,
    scope: &ScopeSet,
) -> Result<UserInfo, StoreError> {
    let wallets = if scope.contains(Scope::Wallets) {
        let linked = context.storage.wallets_of(user).await?;
        Some(linked.into_iter().map(|linked| linked.account).collect::<Vec<_>>())
    } else {
        None
    };
    let email = if scope.contains(Scope::Email) {
        let on_file = context.storage.find_email(user).await?;
        ReleasedEmail::of(user, on_file, context.policy.synthetic_email)
    } else {
        None
    };
    let picture = context.keys.pictures.name_of(user);
    let picture = context.policy.public_url.join(&format!("/pictures/{picture}.svg"));
    Ok(UserInfo::release(user, account, scope, wallets.as_deref(), email, &picture))
}
