//! A client asks who signed in: one read, of what the token means or whether it lives on, and one more each where the wallets or
//! the e-mail address of the user are released.

use countersign_domain::grant::Holder;
use countersign_domain::secret::Secret;
use countersign_domain::user_info::UserInfo;
use countersign_ports::StoreError;

use crate::steps::prove_key::{Wanted, prove_key};
use crate::steps::released_claims::released_claims;
use crate::{Context, ProveKeyError};

/// How an access token is presented.
#[derive(Clone, Debug)]
pub enum Presented {
    /// By whoever has it (RFC 6750).
    Bearer,
    /// By whoever holds the key that it is bound to (RFC 9449 section 7).
    Dpop {
        /// The request's method.
        method: String,
        /// The proof, if there is one.
        proof: Option<String>,
    },
}

/// Why nothing is told.
#[derive(Debug, thiserror::Error)]
pub enum ReadUserInfoError {
    /// Not an access token of ours, or one for others alone, or expired, or revoked.
    #[error("access token is not good")]
    TokenInvalid,
    /// The token does not reach the profile.
    #[error("access token lacks scope profile")]
    ScopeInsufficient,
    /// The key that the token is bound to is not proven.
    #[error(transparent)]
    Key(#[from] ProveKeyError),
    /// The token could not be looked up.
    #[error("access token could not be read")]
    Store(#[from] StoreError),
}

/// Reads the claims that an access token releases.
///
/// The token is found by the id that it carries and believed by the hash of the whole: what we stored when we issued
/// it. That is as strong as verifying our own signature again, and the look-up is needed for revocation anyway.
pub async fn read_user_info(
    context: &Context,
    access_token: &Secret,
    presented: &Presented,
) -> Result<UserInfo, ReadUserInfoError> {
    let now = context.clock.now();
    let read = context.signer.read_access_token(access_token.expose());
    let read = read.ok_or(ReadUserInfoError::TokenInvalid)?;
    let found = context.find_access(read.id).await?.ok_or(ReadUserInfoError::TokenInvalid)?;
    if !found.access_hash.admits(access_token) || !found.is_live(now) {
        return Err(ReadUserInfoError::TokenInvalid);
    }
    // A token for somebody else's API is none for us, whoever presents it: that API may not tell it on (F-09).
    let issuer = context.policy.public_url.as_str();
    if !read.audience.iter().any(|audience| audience == issuer) {
        return Err(ReadUserInfoError::TokenInvalid);
    }
    match (read.key, presented) {
        (None, Presented::Bearer) => {}
        // Taken as a bearer token, a bound one would be worth as much to whoever stole it.
        (Some(_), Presented::Bearer) | (None, Presented::Dpop { .. }) => {
            return Err(ReadUserInfoError::TokenInvalid);
        }
        (Some(_), Presented::Dpop { proof: None, .. }) => return Err(ProveKeyError::Missing.into()),
        (key, Presented::Dpop { method, proof: Some(proof) }) => {
            let access_token = Some(access_token.expose());
            let wanted = Wanted { method, path: "/oauth/userinfo", access_token, key };
            prove_key(context, now, proof, wanted).await?;
        }
    }
    match &found.holder {
        Holder::Person { user, account } if UserInfo::is_reached_by(found.scope) => {
            Ok(released_claims(context, *user, account, found.scope).await?)
        }
        Holder::Person { .. } | Holder::Client => Err(ReadUserInfoError::ScopeInsufficient),
    }
}
