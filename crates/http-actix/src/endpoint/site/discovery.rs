//! What client libraries read first: the server's metadata (RFC 8414, OpenID Connect Discovery) and its keys (RFC 7517).
//! They name only what works.

pub(crate) mod description;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Data;
use countersign_domain::client::AuthenticationMethod;
use countersign_domain::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use countersign_domain::id_token::ACR;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::response_mode::ResponseMode;
use countersign_domain::scope::Scope;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_ports::READ_ALGORITHMS;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use crate::error::ApiError;
use crate::page::language::Language;
use crate::settings::Registration;
use crate::state::AppState;

/// What ID tokens and userinfo may tell.
const CLAIMS: [&str; 20] = [
    "iss",
    "sub",
    "aud",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "at_hash",
    "amr",
    "acr",
    "sid",
    "name",
    "preferred_username",
    "picture",
    "email",
    "email_verified",
    "wallet_address",
    "wallet_account",
    "wallets",
    "wallet_proof",
];

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
    /// Where tokens are looked into.
    introspection_endpoint: String,
    /// Where authorization requests are sent ahead.
    pushed_authorization_request_endpoint: String,
    /// Must every client do so? Each decides for itself.
    require_pushed_authorization_requests: bool,
    /// Where devices ask to be signed in elsewhere.
    device_authorization_endpoint: String,
    /// Where people sign out.
    end_session_endpoint: String,
    /// Where clients register; left out when registration is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_endpoint: Option<String>,
    /// Where the public keys are.
    jwks_uri: String,
    /// The scopes that may be asked for.
    scopes_supported: [&'static str; Scope::ALL.len()],
    /// Always `code`.
    response_types_supported: [&'static str; 1],
    /// How answers come back: in the query of a redirect, or in a form that the browser posts.
    response_modes_supported: [&'static str; ResponseMode::ALL.len()],
    /// How tokens are got.
    grant_types_supported: Vec<&'static str>,
    /// Always `public`: every client sees the same `sub`.
    subject_types_supported: [&'static str; 1],
    /// What ID tokens may be signed with; the client chooses one when it registers.
    id_token_signing_alg_values_supported: [&'static str; SigningAlgorithm::ALL.len()],
    /// The one class of sign-ins.
    acr_values_supported: [&'static str; 1],
    /// Claims are stated by this server.
    claim_types_supported: [&'static str; 1],
    /// Single claims may be asked for.
    claims_parameter_supported: bool,
    /// The languages of the pages.
    ui_locales_supported: Vec<&'static str>,
    /// How clients prove who they are at the token endpoint.
    token_endpoint_auth_methods_supported: Vec<&'static str>,
    /// With which algorithms they may sign to do so.
    token_endpoint_auth_signing_alg_values_supported: [&'static str; 5],
    /// The same at the revocation endpoint.
    revocation_endpoint_auth_methods_supported: Vec<&'static str>,
    /// The same at the introspection endpoint, which public clients may not use.
    introspection_endpoint_auth_methods_supported: Vec<&'static str>,
    /// The same at the revocation endpoint.
    revocation_endpoint_auth_signing_alg_values_supported: [&'static str; 5],
    /// Always `S256` (PKCE).
    code_challenge_methods_supported: [&'static str; 1],
    /// What userinfo may tell.
    claims_supported: &'static [&'static str],
    /// May a client be one that a document of its own describes, its `client_id` the document's address?
    client_id_metadata_document_supported: bool,
    /// With which algorithms keys may be proven that tokens are bound to (RFC 9449).
    dpop_signing_alg_values_supported: [&'static str; 5],
    /// Every authorization answer carries `iss` (RFC 9207).
    authorization_response_iss_parameter_supported: bool,
    /// Clients are told when a login session ends (OpenID Connect Back-Channel Logout).
    backchannel_logout_supported: bool,
    /// And which one.
    backchannel_logout_session_supported: bool,
    /// Request objects are not taken.
    request_parameter_supported: bool,
    /// Nor are references to them.
    request_uri_parameter_supported: bool,
    /// The page that describes the interface.
    service_documentation: String,
}

/// What the operator may leave out.
#[derive(Clone, Copy)]
pub(crate) struct Offers {
    /// May clients register, at least some?
    pub(crate) registration: bool,
    /// May documents describe clients?
    pub(crate) client_documents: bool,
}

/// Makes the metadata document, once.
pub(crate) fn metadata(public_url: &PublicUrl, offers: Offers) -> String {
    let methods: Vec<_> = AuthenticationMethod::ALL.into_iter().map(AuthenticationMethod::name).collect();
    let public = AuthenticationMethod::None.name();
    let with_credentials = methods.iter().copied().filter(|method| *method != public).collect();
    let metadata = Metadata {
        issuer: public_url.as_str(),
        authorization_endpoint: public_url.join("/oauth/authorize"),
        token_endpoint: public_url.join("/oauth/token"),
        userinfo_endpoint: public_url.join("/oauth/userinfo"),
        revocation_endpoint: public_url.join("/oauth/revoke"),
        introspection_endpoint: public_url.join("/oauth/introspect"),
        pushed_authorization_request_endpoint: public_url.join("/oauth/par"),
        require_pushed_authorization_requests: false,
        device_authorization_endpoint: public_url.join("/oauth/device_authorization"),
        end_session_endpoint: public_url.join("/oauth/logout"),
        registration_endpoint: offers.registration.then(|| public_url.join("/oauth/clients")),
        jwks_uri: public_url.join("/oauth/jwks"),
        scopes_supported: Scope::ALL.map(Scope::name),
        response_types_supported: [RESPONSE_TYPE_CODE],
        response_modes_supported: ResponseMode::ALL.map(ResponseMode::name),
        grant_types_supported: GrantType::ALL.into_iter().map(GrantType::name).collect(),
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: SigningAlgorithm::ALL.map(SigningAlgorithm::name),
        acr_values_supported: [ACR],
        claim_types_supported: ["normal"],
        claims_parameter_supported: true,
        ui_locales_supported: Language::ALL.into_iter().map(Language::tag).collect(),
        revocation_endpoint_auth_methods_supported: methods.clone(),
        introspection_endpoint_auth_methods_supported: with_credentials,
        token_endpoint_auth_methods_supported: methods,
        token_endpoint_auth_signing_alg_values_supported: READ_ALGORITHMS,
        revocation_endpoint_auth_signing_alg_values_supported: READ_ALGORITHMS,
        code_challenge_methods_supported: ["S256"],
        claims_supported: &CLAIMS,
        client_id_metadata_document_supported: offers.client_documents,
        dpop_signing_alg_values_supported: READ_ALGORITHMS,
        authorization_response_iss_parameter_supported: true,
        backchannel_logout_supported: true,
        backchannel_logout_session_supported: true,
        request_parameter_supported: false,
        request_uri_parameter_supported: false,
        service_documentation: public_url.join("/docs"),
    };
    serde_json::to_string(&metadata).unwrap_or_default()
}

/// Serves the metadata document.
pub(crate) async fn metadata_document(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    let policy = &state.context.policy;
    let offers = Offers {
        registration: !matches!(state.registration, Registration::Closed),
        client_documents: policy.client_documents,
    };
    Ok(HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CACHE_CONTROL, CACHE))
        .body(state.metadata.get_or_init(|| metadata(&policy.public_url, offers).into()).clone()))
}

/// Serves the public keys.
pub(crate) async fn jwks(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CACHE_CONTROL, CACHE))
        .body(state.context.signer.public_keys().jwks))
}
