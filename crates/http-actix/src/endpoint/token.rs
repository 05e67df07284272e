//! `POST /oauth/token`: codes and refresh tokens become tokens.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::grant_type::GrantType;
use countersign_domain::secret::Secret;
use countersign_usecases::TokenAnswer;
use countersign_usecases::exchange_code::{ExchangeCode, exchange_code};
use countersign_usecases::refresh_tokens::{RefreshTokens, refresh_tokens};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::extract::body::{Body, Kind, required_in_form};
use crate::extract::client_credentials;
use crate::state::AppState;

/// A token request. Which fields are needed depends on `grant_type`.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct TokenForm {
    /// `authorization_code` or `refresh_token`.
    grant_type: Option<String>,
    /// The code, with `authorization_code`.
    code: Option<String>,
    /// The redirect URI that the code went to, with `authorization_code`.
    redirect_uri: Option<String>,
    /// The PKCE verifier, if the authorization request had a challenge.
    code_verifier: Option<String>,
    /// The refresh token, with `refresh_token`.
    refresh_token: Option<String>,
    /// Fewer scopes, with `refresh_token`.
    scope: Option<String>,
    /// The client, unless HTTP Basic names it.
    client_id: Option<String>,
    /// Its secret, unless HTTP Basic carries it or the client is public.
    client_secret: Option<String>,
}

/// Tokens.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct TokenBody {
    /// The access token.
    access_token: String,
    /// Always `Bearer`.
    token_type: &'static str,
    /// Its lifetime in seconds.
    expires_in: i64,
    /// The refresh token; a new one at every refresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    /// The granted scopes, separated by spaces.
    scope: String,
}

/// Answers a token request.
pub(crate) async fn answer(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let tokens = handle(&state, &request, &body)
        .await
        .map_err(|error| client_credentials::refuse(&state, &request, error))?;
    Ok(HttpResponse::Ok().json(TokenBody {
        access_token: tokens.access_token.expose().to_owned(),
        token_type: "Bearer",
        expires_in: tokens.expires_in,
        refresh_token: tokens.refresh_token.map(|token| token.expose().to_owned()),
        scope: tokens.scope.to_string(),
    }))
}

async fn handle(state: &AppState, request: &HttpRequest, body: &Body) -> Result<TokenAnswer, ApiError> {
    if body.kind != Kind::Form {
        let description = "Content-Type must be application/x-www-form-urlencoded";
        return Err(ApiError::new(OAuthErrorCode::IncompleteForm, description));
    }
    let form: TokenForm = body.form()?;
    let grant_type = required_in_form(form.grant_type.as_deref(), "grant_type")?;
    let grant_type = GrantType::parse(grant_type).ok_or_else(|| {
        ApiError::new(
            OAuthErrorCode::UnsupportedGrantType,
            "grant_type must be authorization_code or refresh_token",
        )
    })?;
    match grant_type {
        GrantType::AuthorizationCode => {
            let code = required_in_form(form.code.map(Secret::new), "code")?;
            let redirect_uri = required_in_form(form.redirect_uri, "redirect_uri")?;
            let credentials = credentials(request, form.client_id, form.client_secret)?;
            let verifier = form.code_verifier.map(Secret::new);
            Ok(exchange_code(&state.context, ExchangeCode { credentials, code, redirect_uri, verifier })
                .await?)
        }
        GrantType::RefreshToken => {
            let refresh_token = required_in_form(form.refresh_token.map(Secret::new), "refresh_token")?;
            let credentials = credentials(request, form.client_id, form.client_secret)?;
            let refresh = RefreshTokens { credentials, refresh_token, scope: form.scope };
            Ok(refresh_tokens(&state.context, refresh).await?)
        }
    }
}

fn credentials(
    request: &HttpRequest,
    client_id: Option<String>,
    client_secret: Option<String>,
) -> Result<ClientCredentials, ApiError> {
    let joined = client_credentials::join(request, client_id, client_secret.map(Secret::new))?;
    required_in_form(joined, "client_id")
}
