//! What client libraries read first: the server's metadata (RFC 8414, OpenID Connect Discovery) and its keys (RFC 7517).
//! They name only what works.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Data;
use countersign_domain::client::AuthenticationMethod;
use countersign_domain::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::scope::Scope;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use crate::error::ApiError;
use crate::state::AppState;

const CACHE: &str = "public, max-age=300";

/// The server's metadata.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct Metadata<'a> {
    /// The issuer: the public URL, byte for byte.
    issuer: &'a str,
    /// Where people are sent to.
    authorization_endpoint: String,
    /// Where codes and refresh tokens become tokens.
    token_endpoint: String,
    /// Where an access token tells who signed in.
    userinfo_endpoint: String,
    /// Where tokens end.
    revocation_endpoint: String,
    /// Where clients register; left out when registration is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_endpoint: Option<String>,
    /// Where the public keys are.
    jwks_uri: String,
    /// The scopes that may be asked for.
    scopes_supported: Vec<&'static str>,
    /// Always `code`.
    response_types_supported: [&'static str; 1],
    /// How answers come back: in the query.
    response_modes_supported: [&'static str; 1],
    /// How tokens are got.
    grant_types_supported: Vec<&'static str>,
    /// Always `public`: every client sees the same `sub`.
    subject_types_supported: [&'static str; 1],
    /// How clients prove who they are at the token endpoint.
    token_endpoint_auth_methods_supported: Vec<&'static str>,
    /// The same at the revocation endpoint.
    revocation_endpoint_auth_methods_supported: Vec<&'static str>,
    /// Always `S256` (PKCE).
    code_challenge_methods_supported: [&'static str; 1],
    /// What userinfo may tell.
    claims_supported: [&'static str; 5],
    /// Every authorization answer carries `iss` (RFC 9207).
    authorization_response_iss_parameter_supported: bool,
    /// Request objects are not taken.
    request_parameter_supported: bool,
    /// Nor are references to them.
    request_uri_parameter_supported: bool,
    /// The page that describes the interface.
    service_documentation: String,
}

/// Makes the metadata document, once.
pub(crate) fn metadata(public_url: &PublicUrl, may_register: bool) -> String {
    let methods: Vec<_> = AuthenticationMethod::ALL.into_iter().map(AuthenticationMethod::name).collect();
    // `openid` is granted, but promises an ID token to whoever reads it here.
    let scopes = Scope::ALL.into_iter().filter(|scope| *scope != Scope::OpenId).map(Scope::name).collect();
    let metadata = Metadata {
        issuer: public_url.as_str(),
        authorization_endpoint: public_url.join("/oauth/authorize"),
        token_endpoint: public_url.join("/oauth/token"),
        userinfo_endpoint: public_url.join("/oauth/userinfo"),
        revocation_endpoint: public_url.join("/oauth/revoke"),
        registration_endpoint: may_register.then(|| public_url.join("/oauth/clients")),
        jwks_uri: public_url.join("/oauth/jwks"),
        scopes_supported: scopes,
        response_types_supported: [RESPONSE_TYPE_CODE],
        response_modes_supported: ["query"],
        grant_types_supported: GrantType::ALL.into_iter().map(GrantType::name).collect(),
        subject_types_supported: ["public"],
        revocation_endpoint_auth_methods_supported: methods.clone(),
        token_endpoint_auth_methods_supported: methods,
        code_challenge_methods_supported: ["S256"],
        claims_supported: ["sub", "address", "preferred_username", "wallet_address", "wallet_account"],
        authorization_response_iss_parameter_supported: true,
        request_parameter_supported: false,
        request_uri_parameter_supported: false,
        service_documentation: public_url.join("/docs"),
    };
    serde_json::to_string(&metadata).unwrap_or_default()
}

/// Serves the metadata document.
pub(crate) async fn metadata_document(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CACHE_CONTROL, CACHE))
        .body(state.metadata.clone()))
}

/// Serves the public keys.
pub(crate) async fn jwks(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CACHE_CONTROL, CACHE))
        .body(state.context.signer.public_keys().jwks))
}
