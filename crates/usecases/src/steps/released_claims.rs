//! The claims about a user that scopes release, for userinfo and ID tokens.

use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, SubjectId, UserId};
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::user_info::{ReleasedEmail, UserInfo};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;

use crate::Context;

/// Reads the claims that the scopes release about a user, who has this subject at the client. The user's wallets and
/// e-mail address are read only if they are released. The groups come from the caller: a token has those that its
/// client was judged by, userinfo the current ones ([`released_groups`]).
pub(crate) async fn released_claims(
    context: &Context,
    (user, subject): (UserId, SubjectId),
    account: &WalletAccount,
    scope: &ScopeSet,
    groups: Option<Vec<GroupName>>,
) -> Result<UserInfo, StoreError> {
    let wallets = if scope.contains(Scope::Wallets) {
        let linked = context.storage.wallets_of(user).await?;
        Some(linked.into_iter().map(|linked| linked.account).collect::<Vec<_>>())
    } else {
        None
    };
    let email = if scope.contains(Scope::Email) {
        let on_file = context.storage.find_email(user).await?;
        ReleasedEmail::of(subject, on_file, context.policy.synthetic_email)
    } else {
        None
    };
    let picture = context.keys.pictures.name_of(subject);
    let picture = context.policy.public_url.join(&format!("/pictures/{picture}.svg"));
    Ok(UserInfo::release(subject, account, scope, wallets.as_deref(), groups, email, &picture))
}

/// Reads which of a user's groups a client gets now; `None` if the scopes of its token do not release them. A
/// client that was deleted gets none.
pub(crate) async fn released_groups(
    context: &Context,
    client: ClientId,
    user: UserId,
    scope: &ScopeSet,
) -> Result<Option<Vec<GroupName>>, StoreError> {
    if !scope.contains(Scope::Groups) {
        return Ok(None);
    }
    let Some(client) = context.clients.find(client).await? else { return Ok(Some(Vec::new())) };
    if !client.origin.admitted(scope).contains(Scope::Groups) {
        return Ok(None);
    }
    let groups = context.storage.groups_of(user).await?;
    Ok(Some(client.access.released(&context.policy.default_access, &groups)))
}
