//! The parameters `claims` and `id_token_hint` of an authorization request, which are JSON and a token
//! (OpenID Connect Core sections 5.5 and 3.1.2.1).

use countersign_domain::authorization::Hints;
use countersign_domain::client::Client;
use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::id::SubjectId;
use countersign_domain::pairwise::KnownAs;
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
///
/// A pairwise client names people by the ids that it knows. A hint of another client then names no one, because an id means
/// nothing outside its sector.
pub(crate) fn read_hints(
    context: &Context,
    parameters: &Parameters,
    client: &Client,
) -> Result<Hints, OAuthError> {
    // Few requests name a person, so the keys of a sector are derived only then.
    let known_as = || context.keys.pairwise.known_to(client);
    let once = |name| parameters.once(name).ok().flatten();
    let mut accepted = AcceptedUsers::Anyone;
    if let Some(token) = once("id_token_hint") {
        let read = context.signer.read_id_token(token);
        let hinted = read.ok_or_else(|| refused("id_token_hint is not an ID token of this server"))?.subject;
        accepted = accepted.among([known_as().user(hinted)]);
    }
    let Some(text) = once("claims") else {
        return Ok(Hints { accepted, ..Hints::default() });
    };
    let unlike = || {
        refused(
            "claims must be a JSON object as in OpenID Connect Core 5.5, in which no object has a name twice",
        )
    };
    let claims = strict_json::object(text.as_bytes()).ok_or_else(unlike)?;
    let (mut scopes, mut asked_auth_time) = (Vec::new(), false);
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
                accepted = wanted.judge(accepted, &known_as())?;
            }
            asked_auth_time |= name == "auth_time" && wanted.is_essential;
        }
    }
    Ok(Hints { accepted, scopes: ScopeSet::of(&scopes), asked_auth_time })
}

/// The values of which a claim should have one, by `value` and by `values`. `essential` only matters for what the server
/// would not send otherwise: the time of the sign-in to a pairwise client.
struct Wish<'a> {
    is_essential: bool,
    value: Option<&'a Value>,
    values: Option<&'a Vec<Value>>,
}

impl<'a> Wish<'a> {
    /// `None` if it is not one.
    fn read(wish: &'a Value) -> Option<Self> {
        match wish {
            Value::Null => Some(Self { is_essential: false, value: None, values: None }),
            Value::Object(wish) => {
                let values = match wish.get("values") {
                    None | Some(Value::Null) => None,
                    Some(Value::Array(values)) => Some(values),
                    Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                        return None;
                    }
                };
                let is_essential = wish.get("essential") == Some(&Value::Bool(true));
                Some(Self { is_essential, value: wish.get("value").filter(|value| !value.is_null()), values })
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        }
    }

    /// Those of the users that are in it. No one here has another id, and a request that wants two different
    /// users at once can be answered by no sign-in.
    fn judge(&self, mut accepted: AcceptedUsers, known_as: &KnownAs) -> Result<AcceptedUsers, OAuthError> {
        if self.values.is_some_and(|values| values.len() > MOST_USERS) {
            return Err(refused("claims names more than 10 users"));
        }
        let of = |value: &Value| Some(known_as.user(SubjectId::parse(value.as_str()?)?));
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
