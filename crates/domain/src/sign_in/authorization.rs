//! The authorization request (RFC 6749 section 4.1.1, RFC 7636, RFC 9207, OpenID Connect Core section 3.1.2).
//!
//! [`find_client`] and [`find_redirect_uri`] come first: until both succeed, nothing can be redirected.
//! Everything that [`judge`] refuses goes back to the client.

use time::{Duration, OffsetDateTime};

use crate::challenge;
use crate::client::{Client, ClientOrigin};
use crate::error::{OAuthError, OAuthErrorCode, Reason};
use crate::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use crate::key_thumbprint::KeyThumbprint;
use crate::lifetimes::Lifetimes;
use crate::number::whole;
use crate::own_origin::OwnOrigin;
use crate::parameters::Parameters;
use crate::pending::{AcceptedUsers, AccessRequest, ClientRequest, PendingAuthorization, Requester};
use crate::pkce::CodeChallenge;
use crate::redirect_uri::{RedirectUri, unregistered};
use crate::resource::{
    Catalog, Naming, ResourceRules, invalid_scope, invalid_target, named_in, parse_scope, too_long,
};
use crate::response_mode::ResponseMode;
use crate::scope::{self, Scope, ScopeSet};

const MAX_NONCE_LENGTH: usize = 512;
const MAX_LOGIN_HINT_LENGTH: usize = 128;
const MAX_UI_LOCALES_LENGTH: usize = 128;

/// The parameters that must not repeat. `resource` can repeat (RFC 8707), and unknown parameters are ignored.
pub(crate) const SINGLE: [&str; 17] = [
    "state",
    "response_type",
    "scope",
    "code_challenge",
    "code_challenge_method",
    "nonce",
    "prompt",
    "max_age",
    "login_hint",
    "ui_locales",
    "response_mode",
    "request",
    "request_uri",
    "claims",
    "id_token_hint",
    "dpop_jkt",
    "audience",
];

/// The client's id as the request has it. Errors here are shown to the person and never redirected.
pub fn find_client(parameters: &Parameters) -> Result<&str, OAuthError> {
    parameters.once("client_id").map_err(repeated)?.ok_or_else(unknown_client)
}

/// The refusal for a client that is not registered.
pub fn unknown_client() -> OAuthError {
    OAuthError::because(OAuthErrorCode::UnknownClient, Reason::UnknownClient)
}

/// Finds the registered redirect URI. Errors here are shown to the person and never redirected. Where that
/// helps only the developer, they say what was sent and what is registered: the operator's own clients, and
/// every client of an issuer on loopback. Strangers choose what a client that registered itself or that a
/// document describes would have us say, so it says no more than the fixed message.
pub fn find_redirect_uri(
    parameters: &Parameters,
    client: &Client,
    own_origin: OwnOrigin<'_>,
) -> Result<RedirectUri, OAuthError> {
    let requested = parameters.once("redirect_uri").map_err(repeated)?;
    let found = requested.and_then(|requested| client.redirect_uri(requested, own_origin));
    found.ok_or_else(|| {
        let (code, reason) = (OAuthErrorCode::InvalidRequest, Reason::RedirectUri);
        if client.origin != ClientOrigin::Operator && !own_origin.is_loopback() {
            return OAuthError::because(code, reason);
        }
        let registered = &client.metadata.redirect_uris;
        OAuthError::explained(
            code,
            reason,
            &unregistered::describe(requested, registered, client.uri_owner()),
        )
    })
}

/// The client's `state`, for responses. `None` if it is given twice.
pub fn state(parameters: &Parameters) -> Option<String> {
    parameters.once("state").ok().flatten().map(ToOwned::to_owned)
}

/// A request that passed all checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The pending authorization, which waits for its answer.
    pub pending: PendingAuthorization,
    /// Must the client get its answer at once, without a page (`prompt=none`)?
    pub silent: bool,
}

/// The operator's rules for requests.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// How long a request can wait.
    pub lifetimes: &'a Lifetimes,
    /// Which resources exist, and for which clients.
    pub resources: &'a ResourceRules,
}

/// What a request says in `claims` and `id_token_hint`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The users that the client accepts.
    pub accepted: AcceptedUsers,
    /// Does it insist on the time of the sign-in?
    pub asked_auth_time: bool,
    /// The scopes whose claims were requested individually.
    pub scopes: ScopeSet,
}

/// Does the client ask for a code, as it may, in one of the ways that this server supports?
fn judge_kind(parameters: &Parameters, client: &Client) -> Result<(), OAuthError> {
    let once = |name| parameters.once(name).ok().flatten();
    match once("response_type") {
        Some(RESPONSE_TYPE_CODE) => {}
        None => return Err(invalid_request("response_type is missing: it must be code")),
        Some(_) => {
            return Err(OAuthError::new(
                OAuthErrorCode::UnsupportedResponseType,
                "response_type must be code",
            ));
        }
    }
    if !client.may_use(GrantType::AuthorizationCode) {
        let description = "the client did not register the grant type authorization_code";
        return Err(OAuthError::new(OAuthErrorCode::UnauthorizedClient, description));
    }
    if once("request").is_some() {
        return Err(OAuthError::new(
            OAuthErrorCode::RequestNotSupported,
            "request objects are not supported",
        ));
    }
    if once("request_uri").is_some() {
        return Err(OAuthError::new(
            OAuthErrorCode::RequestUriNotSupported,
            "request_uri must be one that /oauth/par gave",
        ));
    }
    Ok(())
}

fn judge_nonce(nonce: &str) -> Result<String, OAuthError> {
    if nonce.len() > MAX_NONCE_LENGTH || nonce.chars().any(char::is_control) {
        return Err(invalid_request("nonce can have up to 512 bytes without control characters"));
    }
    Ok(nonce.to_owned())
}

/// Checks everything else, in the order of the specifications. Refusals go to the redirect URI.
pub fn judge(
    now: OffsetDateTime,
    parameters: &Parameters,
    client: &Client,
    redirect_uri: RedirectUri,
    hints: Result<Hints, OAuthError>,
    rules: Rules<'_>,
) -> Result<Judged, OAuthError> {
    for name in SINGLE {
        parameters.once(name).map_err(repeated)?;
    }
    let once = |name| parameters.once(name).ok().flatten();
    judge_kind(parameters, client)?;
    let response_mode = response_mode(parameters)?;
    let code_challenge = CodeChallenge::judge(once("code_challenge"), once("code_challenge_method"))
        .map_err(|rejected| invalid_request(rejected.to_string()))?;
    if client.is_public() && code_challenge.is_none() {
        return Err(invalid_request("a public client must use PKCE: code_challenge is missing"));
    }
    if client.keeps_fapi() && code_challenge.is_none() {
        return Err(invalid_request("FAPI 2.0 wants PKCE: code_challenge is missing"));
    }
    let hints = hints?;
    // Claims that the client is not allowed to get are no reason to refuse the rest (OpenID Connect Core
    // section 5.5).
    let asked_by_claims = hints.scopes.within(&client.scopes());
    let scope = judge_scope(once("scope"), client, code_challenge.is_some(), rules.resources.catalog())?;
    let scope = scope.union(&asked_by_claims);
    let state = once("state").map(ToOwned::to_owned);
    if state.is_none() && code_challenge.is_none() {
        return Err(invalid_request(
            "state is missing; only a request with an S256 code_challenge may omit it",
        ));
    }
    let prompt = Prompt::judge(once("prompt"))?;
    let not_whole = || invalid_request("max_age must be a whole number of seconds");
    let max_age = once("max_age").map(|text| whole::<u32>(text).ok_or_else(not_whole)).transpose()?;
    // The session stores whole seconds. This rounds up, so that no sign-in from before the limit is accepted.
    let since = |seconds: u32| {
        now.replace_nanosecond(0).unwrap_or(now) + Duration::seconds(1) - Duration::seconds(seconds.into())
    };
    let oldest_sign_in = if prompt == Prompt::Anew { Some(since(0)) } else { max_age.map(since) };
    let nonce = once("nonce").map(judge_nonce).transpose()?;
    let login_hint =
        once("login_hint").filter(|hint| hint.len() <= MAX_LOGIN_HINT_LENGTH).map(ToOwned::to_owned);
    let ui_locales =
        once("ui_locales").filter(|list| list.len() <= MAX_UI_LOCALES_LENGTH).map(ToOwned::to_owned);
    let key = once("dpop_jkt").map(|text| {
        KeyThumbprint::parse(text)
            .ok_or_else(|| invalid_request("dpop_jkt must be the SHA-256 thumbprint of a key in base64url"))
    });
    let named = named_in(parameters)?;
    let named = named.iter().map(String::as_str);
    let (scope, resources) =
        rules.resources.choose(client, &scope, Naming::of(client, once("scope")), named)?;
    let request = ClientRequest {
        access: AccessRequest { client: client.id, document: client.document.clone(), scope, resources },
        redirect_uri,
        state,
        nonce,
        code_challenge,
        login_hint,
        response_mode,
        key: key.transpose()?,
        accepted: hints.accepted,
        asked_auth_time: hints.asked_auth_time || max_age.is_some(),
    };
    let requester = Requester::Client(request);
    let expires_at = now + rules.lifetimes.session;
    let pending = PendingAuthorization {
        ui_locales,
        oldest_sign_in,
        ..PendingAuthorization::of(requester, expires_at)
    };
    judge_text(&pending, rules.resources)?;
    Ok(Judged { pending, silent: prompt == Prompt::Never })
}

/// Refuses a request that does not fit into a text to sign. Nothing is ever left out of such a text, so
/// nothing longer can be requested.
pub fn judge_text(pending: &PendingAuthorization, rules: &ResourceRules) -> Result<(), OAuthError> {
    let purpose = pending.purpose();
    if challenge::fits(rules.issuer(), purpose) {
        return Ok(());
    }
    Err(if !pending.scope().own().is_empty() {
        invalid_scope("the scopes are too long to stand together in a text that people sign: ask for fewer")
    } else if pending.access().is_none_or(|access| access.resources.is_empty()) {
        invalid_request("the host or scheme of redirect_uri is too long to stand in a text that people sign")
    } else {
        invalid_target("the resources are too long to stand together in a text that people sign")
    })
}

/// How the response to this request is returned, success or error.
pub fn response_mode(parameters: &Parameters) -> Result<ResponseMode, OAuthError> {
    let mode = parameters.once("response_mode").map_err(repeated)?;
    mode.map_or(Some(ResponseMode::Query), ResponseMode::parse)
        .ok_or_else(|| invalid_request("response_mode must be query or form_post"))
}

/// Checks the scopes that a client requests. If they are missing and that is allowed, the result is all
/// scopes that the client registered and can have. A client that the operator does not know gets those that it may
/// have of what it requests (RFC 6749 section 3.3): it asks every server for the same.
pub fn judge_scope(
    requested: Option<&str>,
    client: &Client,
    may_be_missing: bool,
    declared: &Catalog,
) -> Result<ScopeSet, OAuthError> {
    let allowed = &client.scopes();
    let Some(requested) = scope::named(requested) else {
        return if may_be_missing { Ok(allowed.clone()) } else { Err(invalid_scope("scope is missing")) };
    };
    if client.origin == ClientOrigin::Operator {
        let scope = parse_scope(requested, declared)?;
        let missing = scope.without(allowed);
        if !missing.is_empty() {
            return Err(invalid_scope(format!(
                "scope holds {missing}, which the client did not register; it registered {allowed}"
            )));
        }
        return Ok(scope);
    }
    let known = ScopeSet::parse_known(requested, declared).map_err(|_| too_long())?;
    let open = declared.open_scopes().filter(|_| client.may_ask_for_open_scopes()).cloned();
    let scope = known.within(&allowed.union(&ScopeSet::of_own(open)));
    if scope.is_empty() {
        return Err(invalid_scope(format!(
            "scope holds nothing that this client may ask for; it registered {allowed}"
        )));
    }
    Ok(scope)
}

/// Does a request with this `scope` name a scope of the operator's, or perhaps all that the client registered?
/// Only then it must be known which are declared.
pub fn names_own_scopes(requested: Option<&str>, client: &Client) -> bool {
    match scope::named(requested) {
        None => !client.metadata.scopes.own().is_empty(),
        Some(requested) => Scope::names_others(requested),
    }
}

/// Does a request name a resource or a scope of one?
pub fn names_resources(parameters: &Parameters, client: &Client) -> bool {
    let scope = parameters.once("scope").ok().flatten();
    let mut named = parameters.all("resource").chain(parameters.all("audience"));
    named.next().is_some() || names_own_scopes(scope, client)
}

/// What the client wants from the page (OpenID Connect Core section 3.1.2.1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prompt {
    /// Whatever is needed.
    AsNeeded,
    /// A new signature, even if someone is signed in. Signing in, agreeing and choosing a wallet are all one
    /// step here.
    Anew,
    /// No page at all.
    Never,
}

impl Prompt {
    fn judge(prompt: Option<&str>) -> Result<Self, OAuthError> {
        let values: Vec<&str> =
            prompt.unwrap_or_default().split(' ').filter(|value| !value.is_empty()).collect();
        if values.iter().any(|value| !matches!(*value, "none" | "login" | "consent" | "select_account")) {
            return Err(invalid_request("prompt must be none, login, consent or select_account"));
        }
        match values.as_slice() {
            [] => Ok(Self::AsNeeded),
            ["none"] => Ok(Self::Never),
            several if several.contains(&"none") => {
                Err(invalid_request("prompt=none excludes every other value"))
            }
            _ => Ok(Self::Anew),
        }
    }
}

/// The refusal of a request that came through the browser although its client must push its requests (RFC
/// 9126 section 5).
pub fn must_be_pushed() -> OAuthError {
    invalid_request("this client must push its authorization requests")
}

/// The refusal if no one is signed in who could answer without a page.
pub fn login_required() -> OAuthError {
    OAuthError::new(OAuthErrorCode::LoginRequired, "no one is signed in here, or not recently enough")
}

/// The refusal if another user signed in than the client asked for.
pub fn other_user() -> OAuthError {
    OAuthError::new(OAuthErrorCode::LoginRequired, "another user signed in than the one who was asked for")
}

/// The refusal if someone is signed in but would have to look and agree.
pub fn consent_required() -> OAuthError {
    OAuthError::new(OAuthErrorCode::ConsentRequired, "the person must look at this request and agree to it")
}

fn repeated(repeated: crate::parameters::Repeated) -> OAuthError {
    invalid_request(repeated.to_string())
}

fn invalid_request(description: impl Into<std::borrow::Cow<'static, str>>) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidRequest, description)
}
