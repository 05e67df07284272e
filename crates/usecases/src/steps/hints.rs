//! The parameters `claims` and `id_token_hint` of an authorization request, which are JSON and a token
//! (OpenID Connect Core sections 5.5 and 3.1.2.1).

use countersign_domain::authorization::Hints;
use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::id::UserId;
use countersign_domain::parameters::Parameters;
use countersign_domain::pending::AcceptedUsers;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_strict_json as strict_json;
use serde_json::{Map, Value};

use crate::Context;

/// How many users a request may name: the cookie keeps them while it waits.
const MOST_USERS: usize = 10;

/// Reads both parameters. A hint that is not our token is refused, because then the client mixes up its
/// providers.
pub(crate) fn read_hints(context: &Context, parameters: &Parameters) -> Result<Hints, OAuthError> {
    let once = |name| parameters.once(name).ok().flatten();
    let mut accepted = AcceptedUsers::Anyone;
    if let Some(token) = once("id_token_hint") {
        let read = context.signer.read_id_token(token);
        let hinted = read.ok_or_else(|| refused("id_token_hint is not an ID token of this server"))?.subject;
        accepted = accepted.among([hinted]);
    }
    let Some(text) = once("claims") else {
        return Ok(Hints { accepted, scopes: ScopeSet::default() });
    };
    let unlike = || {
        refused(
            "claims must be a JSON object as in OpenID Connect Core 5.5, in which no object has a name twice",
        )
    };
    let claims = strict_json::object(text.as_bytes()).ok_or_else(unlike)?;
    let mut scopes = Vec::new();
    for part in ["id_token", "userinfo"] {
        let nothing = Map::new();
        let asked = match claims.get(part) {
            None | Some(Value::Null) => &nothing,
            Some(Value::Object(asked)) => asked,
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                return Err(unlike());
            }
        };
        for (name, wish) in asked {
            scopes.extend(scope_of(name));
            let wanted = Wish::read(wish).ok_or_else(unlike)?;
            if name == "sub" {
                accepted = wanted.judge(accepted)?;
            }
        }
    }
    Ok(Hints { accepted, scopes: ScopeSet::of(&scopes) })
}

/// The values of which a claim should have one, by `value` and by `values`. `essential` changes nothing here, as the
/// standard allows: the server sends what it knows.
struct Wish<'a> {
    value: Option<&'a Value>,
    values: Option<&'a Vec<Value>>,
}

impl<'a> Wish<'a> {
    /// `None` if it is not one.
    fn read(wish: &'a Value) -> Option<Self> {
        match wish {
            Value::Null => Some(Self { value: None, values: None }),
            Value::Object(wish) => {
                let values = match wish.get("values") {
                    None | Some(Value::Null) => None,
                    Some(Value::Array(values)) => Some(values),
                    Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                        return None;
                    }
                };
                Some(Self { value: wish.get("value").filter(|value| !value.is_null()), values })
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        }
    }

    /// Those of the users that are in it. No one here has another id, and a request that wants two different
    /// users at once can be answered by no sign-in.
    fn judge(self, mut accepted: AcceptedUsers) -> Result<AcceptedUsers, OAuthError> {
        if self.values.is_some_and(|values| values.len() > MOST_USERS) {
            return Err(refused("claims names more than 10 users"));
        }
        let of = |value: &Value| value.as_str().and_then(UserId::parse);
        if let Some(value) = self.value {
            accepted = accepted.among(of(value));
        }
        if let Some(values) = self.values {
            accepted = accepted.among(values.iter().filter_map(of));
        }
        match &accepted {
            AcceptedUsers::OneOf(users) if users.is_empty() => {
                Err(OAuthError::new(OAuthErrorCode::LoginRequired, "no user has the sub that was asked for"))
            }
            AcceptedUsers::OneOf(_) | AcceptedUsers::Anyone => Ok(accepted),
        }
    }
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
