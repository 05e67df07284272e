//! `GET` and `POST /oauth/userinfo`: who signed in.

pub(crate) mod description;

use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::group::GroupName;
use countersign_domain::secret::Secret;
use countersign_domain::user_info::{ReleasedEmail, UserInfo};
use countersign_usecases::tokens::read_user_info::{Presented, read_user_info};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::steps::dpop;
use crate::error::ApiError;
use crate::extract::bearer::{self, Scheme};
use crate::extract::body::{Body, BodyKind};
use crate::state::AppState;

/// The claims that the token's scopes release.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct UserInfoBody {
    /// The user's id, which never changes. A `pairwise` client gets one of its sector.
    sub: String,
    /// The wallet's address, with scope `profile` and without `openid`, which reserves the name for a postal address.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// `User_` and the first eight characters of `sub`.
    preferred_username: String,
    /// The same as `preferred_username`, with scopes `openid` and `profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// A picture that this server draws, with scopes `openid` and `profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
    /// The wallet's address, with scope `profile` or `wallets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_address: Option<String>,
    /// The wallet's account in CAIP-10 form, with scope `profile` or `wallets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_account: Option<String>,
    /// All wallets of the user in CAIP-10 form, with scope `wallets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallets: Option<Vec<String>>,
    /// Those of the user's groups that the operator releases to the client, sorted, with scope `groups`. They are
    /// those of now; the list may be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<String>>,
    /// The e-mail address on file, with scope `email`.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// Whether the user confirmed the address by the link in a mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    email_verified: Option<bool>,
}

/// A token in a form, for `POST` (RFC 6750 section 2.2).
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct UserInfoForm {
    /// The access token, unless the Authorization header carries it.
    access_token: Option<String>,
}

/// Returns who signed in.
pub(crate) async fn get(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    answer(&state, &request, None).await
}

/// The same for `POST`, where the token can be in a form.
pub(crate) async fn post(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let in_form = match body.kind {
        BodyKind::Form => body.form::<UserInfoForm>()?.access_token.map(Secret::new),
        BodyKind::Json | BodyKind::Other => None,
    };
    answer(&state, &request, in_form).await
}

async fn answer(
    state: &AppState,
    request: &HttpRequest,
    in_form: Option<Secret>,
) -> Result<HttpResponse, ApiError> {
    let (scheme, in_header) = bearer::presented(request)?.unzip();
    let scheme = scheme.unwrap_or(Scheme::Bearer);
    let challenge = match scheme {
        Scheme::Bearer => bearer::challenge,
        Scheme::Dpop => dpop::challenge,
    };
    match find_out(state, request, scheme, (in_header, in_form)).await {
        Ok(info) => {
            let response = HttpResponse::Ok().json(UserInfoBody::from(info));
            Ok(dpop::answer(state, request, response))
        }
        Err(error) => {
            let is_about_token = matches!(
                error.error.code,
                OAuthErrorCode::InvalidToken
                    | OAuthErrorCode::InsufficientScope
                    | OAuthErrorCode::InvalidRequest
                    | OAuthErrorCode::InvalidDpopProof
                    | OAuthErrorCode::UseDpopNonce
            );
            let is_challenged = error.headers().iter().any(|(name, _)| *name == header::WWW_AUTHENTICATE);
            let error = if is_about_token && !is_challenged { challenge(error) } else { error };
            Err(dpop::refuse(state, request, error))
        }
    }
}

async fn find_out(
    state: &AppState,
    request: &HttpRequest,
    scheme: Scheme,
    (in_header, in_form): (Option<Secret>, Option<Secret>),
) -> Result<UserInfo, ApiError> {
    // Tokens in URLs end up in logs and browser histories (RFC 9700 section 4.3.2).
    let in_query = url::form_urlencoded::parse(request.query_string().as_bytes())
        .any(|(name, _)| name == "access_token");
    let token = match (in_header, in_form, in_query) {
        (Some(token), None, false) | (None, Some(token), false) => token,
        (None, None, true) => {
            let description = "the access token is in the address: use the Authorization header";
            return Err(ApiError::new(OAuthErrorCode::InvalidToken, description));
        }
        (None, None, false) => return Err(dpop::offer_beside(bearer::missing())),
        (Some(_), Some(_), _) | (Some(_) | None, _, true) => return Err(two_ways()),
    };
    let presented = match scheme {
        Scheme::Bearer => Presented::Bearer,
        Scheme::Dpop => {
            Presented::Dpop { method: request.method().to_string(), proof: dpop::proof(request)? }
        }
    };
    Ok(read_user_info(&state.context, &token, &presented).await?)
}

fn two_ways() -> ApiError {
    ApiError::invalid_request("the access token was sent in two ways: use the Authorization header")
}

impl From<UserInfo> for UserInfoBody {
    fn from(info: UserInfo) -> Self {
        let (email, email_verified) =
            info.email.map(|ReleasedEmail { address, verified }| (address.to_string(), verified)).unzip();
        Self {
            sub: info.subject.to_string(),
            address: info.address,
            preferred_username: info.preferred_username,
            name: info.name,
            picture: info.picture,
            wallet_address: info.wallet_address,
            wallet_account: info.wallet_account,
            wallets: info.wallets,
            groups: info.groups.map(|groups| groups.iter().map(GroupName::to_string).collect()),
            email,
            email_verified,
        }
    }
}
