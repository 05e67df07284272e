//! `POST /oauth/token`: exchanges authorization codes, device codes, refresh tokens, wallet signatures and
//! client credentials for tokens.

pub(crate) mod description;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::client_auth::ClientProof;
use countersign_domain::code::CodeRejected;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::event::Actor;
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::GrantId;
use countersign_domain::refresh::RefreshRejected;
use countersign_domain::resource::with_audience;
use countersign_domain::secret::Secret;
use countersign_usecases::TokenAnswer;
use countersign_usecases::tokens::exchange_code::{ExchangeCode, ExchangeCodeError, exchange_code};
use countersign_usecases::tokens::exchange_device_code::{ExchangeDeviceCode, exchange_device_code};
use countersign_usecases::tokens::issue_client_tokens::{IssueClientTokens, issue_client_tokens};
use countersign_usecases::tokens::refresh_tokens::{RefreshTokens, RefreshTokensError, refresh_tokens};
use countersign_usecases::tokens::sign_in_program::{SignInProgram, sign_in_program};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::steps::client_credentials::{self, in_body};
use crate::endpoint::steps::dpop;
use crate::error::ApiError;
use crate::extract::body::{Body, required_in_form};
use crate::limits::rate_limit::Limited;
use crate::state::AppState;

/// A token request. The required fields depend on `grant_type`.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct TokenForm {
    /// One of `grant_types_supported` in the metadata.
    grant_type: Option<String>,
    /// The authorization code, for `authorization_code`.
    code: Option<String>,
    /// The redirect URI of the authorization request, for `authorization_code`.
    redirect_uri: Option<String>,
    /// The PKCE verifier, if the authorization request had a `code_challenge`.
    code_verifier: Option<String>,
    /// The refresh token, for `refresh_token`.
    refresh_token: Option<String>,
    /// The device code, for `urn:ietf:params:oauth:grant-type:device_code`.
    device_code: Option<String>,
    /// The scopes, separated by spaces, for `refresh_token`: all or some of those that were granted.
    scope: Option<String>,
    /// Another word for `resource`, with one value.
    audience: Option<String>,
    /// The text that the program got from `/oauth/challenge`, for the grant type of wallet signatures.
    challenge: Option<String>,
    /// The wallet's signature of that text.
    signature: Option<String>,
    /// The address of the wallet that signed. Optional, because the text names it.
    wallet_address: Option<String>,
    /// The client's id, unless it is in HTTP Basic.
    client_id: Option<String>,
    /// The client's secret, unless it is in HTTP Basic or the client is public.
    client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client signs an assertion.
    client_assertion_type: Option<String>,
    /// The assertion: a JWT that the client signed.
    client_assertion: Option<String>,
}

/// Tokens.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct TokenBody {
    /// The access token.
    access_token: String,
    /// `DPoP` if the access token is bound to the key of a proof, otherwise `Bearer`.
    token_type: &'static str,
    /// The lifetime of the access token in seconds.
    expires_in: i64,
    /// The refresh token. Every refresh gives a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    /// The granted scopes, separated by spaces. Left out if there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    scope: String,
    /// The ID token, with scope `openid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token: Option<String>,
}

pub(crate) async fn answer(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let tokens = handle(&state, &request, &body)
        .await
        .map_err(|error| client_credentials::refuse(&state, &request, &body, error))
        .map_err(|error| dpop::refuse(&state, &request, error))
        .inspect_err(|error| state.metrics.token_refused(error.error.code))?;
    if let Some(received) = &state.received {
        received.note(&tokens);
    }
    let body = TokenBody {
        access_token: tokens.access_token.expose().to_owned(),
        token_type: if tokens.key.is_some() { "DPoP" } else { "Bearer" },
        expires_in: tokens.expires_in,
        refresh_token: tokens.refresh_token.map(|token| token.expose().to_owned()),
        scope: tokens.scope.to_string(),
        id_token: tokens.id_token.map(|token| token.expose().to_owned()),
    };
    Ok(dpop::answer(&state, &request, HttpResponse::Ok().json(body)))
}

async fn handle(state: &AppState, request: &HttpRequest, body: &Body) -> Result<TokenAnswer, ApiError> {
    body.require_form(OAuthErrorCode::IncompleteForm)?;
    let (form, resources): (TokenForm, _) = body.form_with_several("resource")?;
    let resources = with_audience(resources, form.audience.as_deref());
    let grant_type = required_in_form(form.grant_type.as_deref(), "grant_type")?;
    let proof = dpop::proof(request)?;
    let in_body = in_body!(form);
    let credentials = || required_in_form(client_credentials::join(request, in_body)?, "client_id");
    let Some(grant_type) = GrantType::parse(grant_type) else {
        let description =
            "grant_type is not one that this server offers: its metadata names them in grant_types_supported";
        return Err(ApiError::new(OAuthErrorCode::UnsupportedGrantType, description));
    };
    let resources = resources.map_err(ApiError::from_error)?;
    // Asked for only if a grant is revoked.
    let by_client = || state.cause(request, Actor::Client);
    let answer = match grant_type {
        GrantType::AuthorizationCode => {
            let code = required_in_form(form.code.map(Secret::new), "code")?;
            let redirect_uri = required_in_form(form.redirect_uri, "redirect_uri")?;
            let credentials = credentials()?;
            let verifier = form.code_verifier.map(Secret::new);
            let exchange = ExchangeCode { credentials, code, redirect_uri, verifier, resources, proof };
            exchange_code(&state.context, by_client, exchange).await.inspect_err(|error| {
                if matches!(error, ExchangeCodeError::Rejected { why: CodeRejected::Replayed, .. }) {
                    state.metrics.code_reuse.count();
                }
            })?
        }
        GrantType::RefreshToken => {
            let refresh_token = required_in_form(form.refresh_token.map(Secret::new), "refresh_token")?;
            let credentials = credentials()?;
            if matches!(credentials.proof, ClientProof::None) {
                state.rate_limits.check(Limited::PublicRefresh, request)?;
            }
            let refresh = RefreshTokens { credentials, refresh_token, scope: form.scope, resources, proof };
            refresh_tokens(&state.context, by_client, refresh).await.inspect_err(|error| {
                if matches!(error, RefreshTokensError::Rejected { why: RefreshRejected::Reused, .. }) {
                    state.metrics.refresh_reuse.count();
                }
            })?
        }
        GrantType::DeviceCode => {
            let device_code = required_in_form(form.device_code.map(Secret::new), "device_code")?;
            let credentials = credentials()?;
            let id = device_code.id().map(GrantId::from_uuid);
            let exchange = ExchangeDeviceCode { credentials, device_code, resources, proof };
            let answer = exchange_device_code(&state.context, by_client, exchange).await;
            answer.map_err(|error| slow_down_if_too_soon(state, id, error.into()))?
        }
        GrantType::ClientCredentials => {
            let credentials = credentials()?;
            let asked = IssueClientTokens { credentials, scope: form.scope, resources, proof };
            issue_client_tokens(&state.context, asked).await?
        }
        GrantType::WalletSignature => {
            let challenge = required_in_form(form.challenge, "challenge")?;
            let signature = required_in_form(form.signature, "signature")?;
            let credentials = credentials()?;
            state.rate_limits.check(Limited::Login, request)?;
            let wallet_address = form.wallet_address;
            let asked = SignInProgram { credentials, challenge, signature, wallet_address, resources, proof };
            sign_in_program(&state.context, &state.cause(request, Actor::Person), asked).await?
        }
    };
    state.metrics.token_issued(grant_type);
    Ok(answer)
}

/// Asks a device to poll less often if its answer is still pending and it asked too soon.
fn slow_down_if_too_soon(state: &AppState, id: Option<GrantId>, error: ApiError) -> ApiError {
    let is_pending = error.error.code == OAuthErrorCode::AuthorizationPending;
    let now = state.context.clock.now();
    match id.filter(|id| is_pending && state.polls.is_too_soon(*id, now)) {
        Some(_) => ApiError::new(OAuthErrorCode::SlowDown, "ask less often: every five seconds"),
        None => error,
    }
}
