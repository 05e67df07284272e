//! The authorization request (RFC 6749 section 4.1.1, RFC 7636, RFC 9207, OpenID Connect Core section 3.1.2).
//!
//! [`find_client`] and [`find_redirect_uri`] come first: until both are good nothing may be redirected. Everything
//! that [`judge`] refuses goes back to the client.

use time::{Duration, OffsetDateTime};

use crate::client::Client;
use crate::error::{OAuthError, OAuthErrorCode, message};
use crate::grant_type::RESPONSE_TYPE_CODE;
use crate::id::ClientId;
use crate::lifetimes::Lifetimes;
use crate::parameters::Parameters;
use crate::pending::PendingAuthorization;
use crate::pkce::CodeChallenge;
use crate::redirect_uri::RedirectUri;
use crate::scope::{ScopeRejected, ScopeSet};

const MAX_NONCE_LENGTH: usize = 512;
const MAX_LOGIN_HINT_LENGTH: usize = 128;
const MAX_UI_LOCALES_LENGTH: usize = 128;

/// The parameters that may come once; `resource` may repeat (RFC 8707), unknown ones are ignored.
const SINGLE: [&str; 13] = [
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
];

/// Reads the client's id. What is wrong here is shown to the person, never redirected.
pub fn find_client(parameters: &Parameters) -> Result<ClientId, OAuthError> {
    let text = parameters.once("client_id").map_err(repeated)?;
    text.and_then(ClientId::parse).ok_or_else(unknown_client)
}

/// The refusal of a client that nobody registered.
pub fn unknown_client() -> OAuthError {
    OAuthError::new(OAuthErrorCode::UnknownClient, message::INVALID_CLIENT_ID)
}

/// Finds the registered redirect URI. What is wrong here is shown to the person, never redirected.
pub fn find_redirect_uri(parameters: &Parameters, client: &Client) -> Result<RedirectUri, OAuthError> {
    let requested = parameters.once("redirect_uri").map_err(repeated)?;
    requested
        .and_then(|requested| client.redirect_uri(requested))
        .ok_or_else(|| OAuthError::new(OAuthErrorCode::InvalidRequest, message::INVALID_REDIRECT_URI))
}

/// The client's `state`, for answers; none if it came twice.
pub fn state(parameters: &Parameters) -> Option<String> {
    parameters.once("state").ok().flatten().map(ToOwned::to_owned)
}

/// A request that passed the judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What waits for its answer.
    pub pending: PendingAuthorization,
    /// Is the client to be told at once, without a page (`prompt=none`)?
    pub silent: bool,
}

/// Judges everything else, in the order of the specifications. Refusals go to the redirect URI.
pub fn judge(
    now: OffsetDateTime,
    parameters: &Parameters,
    client: &Client,
    redirect_uri: RedirectUri,
    lifetimes: &Lifetimes,
) -> Result<Judged, OAuthError> {
    for name in SINGLE {
        parameters.once(name).map_err(repeated)?;
    }
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
    if once("request").is_some() {
        return Err(OAuthError::new(
            OAuthErrorCode::RequestNotSupported,
            "request objects are not supported",
        ));
    }
    if once("request_uri").is_some() {
        return Err(OAuthError::new(OAuthErrorCode::RequestUriNotSupported, "request_uri is not supported"));
    }
    if once("response_mode").is_some_and(|mode| mode != "query") {
        return Err(invalid_request("response_mode must be query"));
    }
    let code_challenge = CodeChallenge::judge(once("code_challenge"), once("code_challenge_method"))
        .map_err(|rejected| invalid_request(rejected.to_string()))?;
    if client.is_public() && code_challenge.is_none() {
        return Err(invalid_request("a public client must use PKCE: code_challenge is missing"));
    }
    let scope = judge_scope(once("scope"), client, code_challenge.is_some())?;
    let state = once("state").map(ToOwned::to_owned);
    if state.is_none() && code_challenge.is_none() {
        return Err(invalid_request(
            "state is missing; only a request with an S256 code_challenge may omit it",
        ));
    }
    let prompt = Prompt::judge(once("prompt"))?;
    let max_age = once("max_age").map(str::parse::<u32>).transpose();
    let max_age = max_age.map_err(|_| invalid_request("max_age must be a whole number of seconds"))?;
    // The session keeps whole seconds: rounding up, so that nothing from before the request passes.
    let since = |seconds: u32| {
        now.replace_nanosecond(0).unwrap_or(now) + Duration::seconds(1) - Duration::seconds(seconds.into())
    };
    let oldest_sign_in = if prompt == Prompt::Anew { Some(since(0)) } else { max_age.map(since) };
    let nonce = once("nonce").map(ToOwned::to_owned);
    if nonce
        .as_ref()
        .is_some_and(|nonce| nonce.len() > MAX_NONCE_LENGTH || nonce.chars().any(char::is_control))
    {
        return Err(invalid_request("nonce takes up to 512 bytes without control characters"));
    }
    let login_hint =
        once("login_hint").filter(|hint| hint.len() <= MAX_LOGIN_HINT_LENGTH).map(ToOwned::to_owned);
    let ui_locales =
        once("ui_locales").filter(|list| list.len() <= MAX_UI_LOCALES_LENGTH).map(ToOwned::to_owned);
    let pending = PendingAuthorization {
        client: client.id,
        redirect_uri,
        scope,
        state,
        nonce,
        code_challenge,
        login_hint,
        ui_locales,
        oldest_sign_in,
        expires_at: now + lifetimes.session,
        challenges: Vec::new(),
    };
    Ok(Judged { pending, silent: prompt == Prompt::Never })
}

fn judge_scope(requested: Option<&str>, client: &Client, has_pkce: bool) -> Result<ScopeSet, OAuthError> {
    let allowed = client.metadata.scopes;
    let Some(requested) = requested else {
        return if has_pkce { Ok(allowed) } else { Err(invalid_scope("scope is missing")) };
    };
    let scope = ScopeSet::parse(requested).map_err(|rejected| {
        invalid_scope(match rejected {
            ScopeRejected::Unknown => "scope holds a value that this server does not know",
            ScopeRejected::TooLong => "scope is longer than 512 characters",
            ScopeRejected::Empty => "scope is empty",
        })
    })?;
    if !scope.is_subset_of(allowed) {
        return Err(invalid_scope("scope holds a value that the client did not register"));
    }
    Ok(scope)
}

/// What the client wants of the page (OpenID Connect Core section 3.1.2.1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prompt {
    /// Whatever is needed.
    AsNeeded,
    /// A signature, whoever is signed in: to sign in, to agree and to choose a wallet are one and the same here.
    Anew,
    /// No page.
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

/// The refusal where nobody is signed in who could answer without a page.
pub fn login_required() -> OAuthError {
    OAuthError::new(OAuthErrorCode::LoginRequired, "nobody is signed in here, or not recently enough")
}

/// The refusal where somebody is, but would have to look and agree.
pub fn consent_required() -> OAuthError {
    OAuthError::new(OAuthErrorCode::ConsentRequired, "the person must look at this request and agree to it")
}

fn repeated(repeated: crate::parameters::Repeated) -> OAuthError {
    invalid_request(repeated.to_string())
}

fn invalid_request(description: impl Into<std::borrow::Cow<'static, str>>) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidRequest, description)
}

fn invalid_scope(description: &'static str) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidScope, description)
}
