//! A client asks who signed in. That is one read, of what the token means or whether it is still valid. The
//! user's wallets, groups and e-mail address take one more read each if they are released.

use countersign_domain::grant::Holder;
use countersign_domain::id::SubjectId;
use countersign_domain::secret::Secret;
use countersign_domain::user_info::UserInfo;
use countersign_ports::StoreError;

use crate::steps::access_ends::is_live;
use crate::steps::prove_key::{Wanted, prove_key};
use crate::steps::released_claims::{released_claims, released_groups};
use crate::{Context, ProveKeyError};

/// How an access token is presented.
#[derive(Clone, Debug)]
pub enum Presented {
    /// As a bearer token (RFC 6750).
    Bearer,
    /// With a proof of the key that it is bound to (RFC 9449 section 7).
    Dpop {
        /// The request's method.
        method: String,
        /// The proof, if there is one.
        proof: Option<String>,
    },
}

/// Why userinfo returns an error instead of claims.
#[derive(Debug, thiserror::Error)]
pub enum ReadUserInfoError {
    /// Not an access token of ours, or it is only for other servers, expired or revoked.
    #[error("access token is not good")]
    TokenInvalid,
    /// The scopes of the token release nothing about a user.
    #[error("access token lacks scope profile")]
    ScopeInsufficient,
    /// The DPoP proof is missing or not valid.
    #[error(transparent)]
    Key(#[from] ProveKeyError),
    /// The token could not be looked up.
    #[error("access token could not be read")]
    Store(#[from] StoreError),
}

/// Reads the claims that an access token releases.
///
/// The token is found by the id that it carries, and trusted if its hash is the one that we stored when we
/// issued it. That is as strong as verifying our own signature again, and the look-up is needed for
/// revocation anyway.
pub async fn read_user_info(
    context: &Context,
    access_token: &Secret,
    presented: &Presented,
) -> Result<UserInfo, ReadUserInfoError> {
    let now = context.clock.now();
    let read = context.signer.read_access_token(access_token.expose());
    let read = read.ok_or(ReadUserInfoError::TokenInvalid)?;
    let found = context.find_access(read.id).await?.ok_or(ReadUserInfoError::TokenInvalid)?;
    if !found.access_hash.admits(access_token) || !is_live(context, &found, now).await? {
        return Err(ReadUserInfoError::TokenInvalid);
    }
    // A token for another API is not valid here, no matter who presents it: that API must not use it to learn
    // about the user (F-09).
    let issuer = context.policy.public_url.as_str();
    if !read.audience.iter().any(|audience| audience == issuer) {
        return Err(ReadUserInfoError::TokenInvalid);
    }
    match (read.key, presented) {
        (None, Presented::Bearer) => {}
        // If a bound token were accepted as a bearer token, a thief could use it as well.
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
        Holder::Person { user, account } if UserInfo::is_reached_by(&found.scope) => {
            let groups = released_groups(context, found.client, *user, &found.scope).await?;
            // The client knows the user as its token says. So that takes no look at the client.
            let known = (*user, SubjectId::from_uuid(read.subject));
            Ok(released_claims(context, known, account, &found.scope, groups).await?)
        }
        Holder::Person { .. } | Holder::Client => Err(ReadUserInfoError::ScopeInsufficient),
    }
}
