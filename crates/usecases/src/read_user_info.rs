//! A client asks who signed in: one read, and one more each where the wallets or the e-mail address of the user are released.

use countersign_domain::scope::Scope;
use countersign_domain::secret::Secret;
use countersign_domain::user_info::{ReleasedEmail, UserInfo};
use countersign_ports::StoreError;

use crate::Context;

/// Why nothing is told.
#[derive(Debug, thiserror::Error)]
pub enum ReadUserInfoError {
    /// Not an access token of ours, or expired, or revoked.
    #[error("access token is not good")]
    TokenInvalid,
    /// The token does not reach the profile.
    #[error("access token lacks scope profile")]
    ScopeInsufficient,
    /// The token could not be looked up.
    #[error("access token could not be read")]
    Store(#[from] StoreError),
}

/// Reads the claims that an access token releases.
///
/// The token is found by the id that it carries and believed by the hash of the whole: what we stored when we issued
/// it. That is as strong as verifying our own signature again, and the look-up is needed for revocation anyway.
pub async fn read_user_info(context: &Context, access_token: &Secret) -> Result<UserInfo, ReadUserInfoError> {
    let now = context.clock.now();
    let id = context.signer.token_id(access_token.expose()).ok_or(ReadUserInfoError::TokenInvalid)?;
    let found = context.storage.find_access(id).await?.ok_or(ReadUserInfoError::TokenInvalid)?;
    if !found.token.access_hash.admits(access_token) || !found.is_live(now) {
        return Err(ReadUserInfoError::TokenInvalid);
    }
    if !UserInfo::is_reached_by(found.token.scope) {
        return Err(ReadUserInfoError::ScopeInsufficient);
    }
    let wallets = if found.token.scope.contains(Scope::Wallets) {
        let linked = context.storage.wallets_of(found.user).await?;
        Some(linked.into_iter().map(|linked| linked.account).collect::<Vec<_>>())
    } else {
        None
    };
    let email = if found.token.scope.contains(Scope::Email) {
        let on_file = context.storage.find_email(found.user).await?;
        ReleasedEmail::of(found.user, on_file, context.policy.synthetic_email)
    } else {
        None
    };
    Ok(UserInfo::release(found.user, &found.account, found.token.scope, wallets.as_deref(), email))
}
