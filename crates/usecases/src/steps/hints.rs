//! The parameters `claims` and `id_token_hint` of an authorization request, which are JSON and a token
//! (OpenID Connect Core sections 5.5 and 3.1.2.1).

use std::collections::BTreeMap;

use countersign_domain::authorization::Hints;
use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::id::UserId;
use countersign_domain::parameters::Parameters;
use countersign_domain::scope::{Scope, ScopeSet};
use serde::Deserialize;

use crate::Context;

/// The requested claims, each with what the request says about it.
type Asked = BTreeMap<String, Option<Wish>>;

#[derive(Deserialize)]
struct ClaimsParameter {
    id_token: Option<Asked>,
    userinfo: Option<Asked>,
}

/// What a request says about one claim. `essential` changes nothing here, as the standard allows: we tell
/// what we know.
#[derive(Deserialize)]
struct Wish {
    value: Option<serde_json::Value>,
}

/// Reads both parameters. A hint that is not our token is refused, because then the client mixes up its
/// providers.
pub(crate) fn read_hints(context: &Context, parameters: &Parameters) -> Result<Hints, OAuthError> {
    let once = |name| parameters.once(name).ok().flatten();
    let hinted = match once("id_token_hint") {
        Some(token) => {
            let read = context.signer.read_id_token(token);
            Some(read.ok_or_else(|| refused("id_token_hint is not an ID token of this server"))?.subject)
        }
        None => None,
    };
    let Some(text) = once("claims") else {
        return Ok(Hints { user: hinted, scopes: ScopeSet::default() });
    };
    let claims: ClaimsParameter = serde_json::from_str(text)
        .map_err(|_| refused("claims must be a JSON object as in OpenID Connect Core 5.5"))?;
    let asked = || [&claims.id_token, &claims.userinfo].into_iter().flatten().flatten();
    let mut user = hinted;
    for (name, wish) in asked() {
        let Some(value) = wish.as_ref().and_then(|wish| wish.value.as_ref()).filter(|_| name == "sub") else {
            continue;
        };
        let wanted = value.as_str().and_then(UserId::parse);
        // Nobody here has such an id, or the request wants two different users at once: no sign-in can
        // satisfy that.
        if wanted.is_none() || user.is_some_and(|user| wanted != Some(user)) {
            return Err(OAuthError::new(
                OAuthErrorCode::LoginRequired,
                "no user has the sub that was asked for",
            ));
        }
        user = wanted;
    }
    let scopes: Vec<Scope> = asked().filter_map(|(name, _)| scope_of(name)).collect();
    Ok(Hints { user, scopes: ScopeSet::of(&scopes) })
}

/// The scope that releases a claim.
fn scope_of(claim: &str) -> Option<Scope> {
    match claim {
        "email" | "email_verified" => Some(Scope::Email),
        "name" | "preferred_username" | "picture" => Some(Scope::Profile),
        "wallets" => Some(Scope::Wallets),
        "groups" => Some(Scope::Groups),
        "wallet_proof" => Some(Scope::WalletProof),
        _ => None,
    }
}

fn refused(description: &'static str) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidRequest, description)
}
