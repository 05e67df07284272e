//! Shared step: what a token of a grant is for and allows, by what the operator declared, and by the groups of the
//! person who signed.

use countersign_domain::audience::TokenAccess;
use countersign_domain::client::Client;
use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::grant::Grant;
use countersign_domain::resource::Catalog;
use countersign_domain::scope::ScopeSet;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;

use crate::Context;

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccessRejected {
    /// Resources or scopes are refused.
    #[error("access is refused")]
    Refused(#[from] OAuthError),
    /// What is declared or who is in which group could not be read.
    #[error("access could not be judged")]
    Store(#[from] StoreError),
}

/// The access of a token of this grant. A grant without resources and without scopes of one reads nothing.
pub(crate) async fn access_of_grant(
    context: &Context,
    client: &Client,
    grant: &Grant,
    scope: &ScopeSet,
    requested: &[String],
) -> Result<TokenAccess, AccessRejected> {
    let names_any =
        !requested.is_empty() || !grant.particulars.resources.is_empty() || !scope.own().is_empty();
    let rules = context.resource_rules(names_any).await?;
    let access = TokenAccess::of_grant(&rules, client, grant, scope, requested)?;
    match grant.holder.account() {
        Some(account) => limited(context, rules.catalog(), access, account).await,
        None => Ok(access),
    }
}

/// The same access without the scopes whose group the person lacks.
pub(crate) async fn limited(
    context: &Context,
    catalog: &Catalog,
    access: TokenAccess,
    account: &WalletAccount,
) -> Result<TokenAccess, AccessRejected> {
    let left = within_groups(context, catalog, &access.scope, account).await?;
    if left.is_empty() && !access.scope.is_empty() {
        return Err(AccessRejected::Refused(nothing_is_left()));
    }
    Ok(TokenAccess { scope: left, ..access })
}

/// What a person gets of the scopes that they sign for, and what is withheld because they lack a group.
pub(crate) struct Share {
    pub(crate) granted: ScopeSet,
    pub(crate) withheld: ScopeSet,
}

/// Divides the scopes that a person signs for. `None` if nothing is left for them.
pub(crate) async fn share_of(
    context: &Context,
    scope: &ScopeSet,
    account: &WalletAccount,
) -> Result<Option<Share>, StoreError> {
    if scope.own().is_empty() {
        return Ok(Some(Share { granted: scope.clone(), withheld: ScopeSet::EMPTY }));
    }
    let catalog = context.resources.catalog().await?;
    let granted = within_groups(context, &catalog, scope, account).await?;
    let withheld = scope.without(&granted);
    Ok((!granted.is_empty()).then_some(Share { granted, withheld }))
}

/// The refusal if no scope is left. It does not say which group is missing.
pub(crate) fn nothing_is_left() -> OAuthError {
    OAuthError::new(OAuthErrorCode::DeviceDenied, "this person can be given none of these scopes")
}

/// Drops the scopes whose group the person lacks. Nothing is read unless a scope needs a group.
async fn within_groups(
    context: &Context,
    catalog: &Catalog,
    scope: &ScopeSet,
    account: &WalletAccount,
) -> Result<ScopeSet, StoreError> {
    if catalog.needs(scope).next().is_none() {
        return Ok(scope.clone());
    }
    let standing = context.storage.standing_of(account).await?;
    Ok(catalog.within_groups(scope, |group| standing.groups.contains(group)))
}
