//! What client libraries read first: the server's metadata (RFC 8414, OpenID Connect Discovery) and its keys
//! (RFC 7517). The metadata names only what works.

pub(crate) mod description;

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Data;
use countersign_domain::client::AuthenticationMethod;
use countersign_domain::client_field::SUBJECT_TYPES;
use countersign_domain::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use countersign_domain::id_token::ACR;
use countersign_domain::lifetimes::{Lifetimes, Longest, SHORTEST};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::resource::Catalog;
use countersign_domain::response_mode::ResponseMode;
use countersign_domain::scope::{Scope, ScopeName};
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_ports::READ_ALGORITHMS;
use countersign_usecases::context::resources::Resources;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use crate::error::ApiError;
use crate::page::language::Language;
use crate::settings::Registration;
use crate::state::AppState;

/// How long the document waits for what the operator declared.
const PATIENCE: Duration = Duration::from_millis(250);

/// The claims that ID tokens and userinfo can contain.
const CLAIMS: [&str; 21] = [
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
    "groups",
];

const CACHE: &str = "public, max-age=300";

/// The server's metadata.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct Metadata<'a> {
    /// The issuer: the public URL, byte for byte.
    issuer: &'a str,
    /// Where clients send people to sign in.
    authorization_endpoint: String,
    /// Where clients get tokens.
    token_endpoint: String,
    /// Where clients ask who signed in.
    userinfo_endpoint: String,
    /// Where clients revoke tokens.
    revocation_endpoint: String,
    /// Where clients ask whether a token is valid.
    introspection_endpoint: String,
    /// Where clients push authorization requests.
    pushed_authorization_request_endpoint: String,
    /// Always `false`: each client decides for itself whether it must push.
    require_pushed_authorization_requests: bool,
    /// Where a device asks for a sign-in that happens on another device.
    device_authorization_endpoint: String,
    /// Where people sign out.
    end_session_endpoint: String,
    /// Where clients register. Left out if registration is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_endpoint: Option<String>,
    /// Where the public keys are.
    jwks_uri: String,
    /// The scopes that any client can request, those of resources included. An application that needs another one
    /// knows its name.
    scopes_supported: Vec<&'a str>,
    /// Always `code`.
    response_types_supported: [&'static str; 1],
    /// How authorization responses reach the client: in the query of a redirect, or in a form that the
    /// browser posts.
    response_modes_supported: [&'static str; ResponseMode::ALL.len()],
    /// The ways to get tokens.
    grant_types_supported: Vec<&'static str>,
    /// `public`: such clients see the same `sub`. `pairwise`: each sector sees another.
    subject_types_supported: [&'static str; 2],
    /// The algorithms that can sign ID tokens. A client chooses one when it registers.
    id_token_signing_alg_values_supported: [&'static str; SigningAlgorithm::ALL.len()],
    /// The only authentication context class.
    acr_values_supported: [&'static str; 1],
    /// Always `normal`: this server states all claims itself.
    claim_types_supported: [&'static str; 1],
    /// Clients can request individual claims.
    claims_parameter_supported: bool,
    /// The languages of the pages.
    ui_locales_supported: Vec<&'static str>,
    /// How clients authenticate at the token endpoint.
    token_endpoint_auth_methods_supported: Vec<&'static str>,
    /// The algorithms for client assertions at the token endpoint.
    token_endpoint_auth_signing_alg_values_supported: [&'static str; 5],
    /// How clients authenticate at the revocation endpoint.
    revocation_endpoint_auth_methods_supported: Vec<&'static str>,
    /// How clients authenticate at the introspection endpoint. Public clients cannot use it.
    introspection_endpoint_auth_methods_supported: Vec<&'static str>,
    /// The algorithms for client assertions at the revocation endpoint.
    revocation_endpoint_auth_signing_alg_values_supported: [&'static str; 5],
    /// Always `S256` (PKCE).
    code_challenge_methods_supported: [&'static str; 1],
    /// The claims that ID tokens and userinfo can contain.
    claims_supported: &'static [&'static str],
    /// Whether a client can use the URL of a metadata document of its own as its `client_id`.
    client_id_metadata_document_supported: bool,
    /// The algorithms for DPoP proofs (RFC 9449).
    dpop_signing_alg_values_supported: [&'static str; 5],
    /// Every authorization response carries `iss` (RFC 9207).
    authorization_response_iss_parameter_supported: bool,
    /// The server notifies clients when a login session ends (OpenID Connect Back-Channel Logout).
    backchannel_logout_supported: bool,
    /// Logout tokens name the session that ended.
    backchannel_logout_session_supported: bool,
    /// The server does not accept request objects.
    request_parameter_supported: bool,
    /// The server does not accept references to request objects.
    request_uri_parameter_supported: bool,
    /// The page that describes the API.
    service_documentation: String,
    /// How long tokens are valid, and what an operator can give to a client of its own.
    client_lifetimes: ClientLifetimes,
}

/// The lifetimes that a client can have, by the names of their fields in a registration.
#[derive(Debug, Serialize, Apiv2Schema)]
struct ClientLifetimes {
    /// Of access tokens and ID tokens.
    access_token_ttl: Bounds,
    /// How long after a sign-in a client can refresh.
    refresh_token_ttl: Bounds,
    /// Of refresh tokens that are not used.
    refresh_token_idle_ttl: Bounds,
}

/// A lifetime in seconds.
#[derive(Debug, Serialize, Apiv2Schema)]
struct Bounds {
    /// Of clients that have none of their own.
    default: i64,
    /// The shortest that a client can have.
    min: i64,
    /// The longest that a client can have.
    max: i64,
}

impl ClientLifetimes {
    fn of(lifetimes: &Lifetimes) -> Self {
        let bounds = |usual: time::Duration, longest: time::Duration| Bounds {
            default: usual.whole_seconds(),
            min: SHORTEST.whole_seconds(),
            max: longest.whole_seconds(),
        };
        let Longest { access_token, refresh_token } = lifetimes.longest;
        Self {
            access_token_ttl: bounds(lifetimes.access_token, access_token),
            refresh_token_ttl: bounds(refresh_token, refresh_token),
            refresh_token_idle_ttl: bounds(lifetimes.refresh_token, refresh_token),
        }
    }
}

/// The parts that the operator can turn off.
#[derive(Clone, Copy)]
pub(crate) struct Offers {
    /// Can at least some clients register?
    pub(crate) registration: bool,
    /// Can clients use a metadata document of their own?
    pub(crate) client_documents: bool,
}

/// Makes the metadata document. `own` are the scopes of resources that every client can ask for; without any, the
/// caller keeps it.
pub(crate) fn metadata<'a>(
    public_url: &'a PublicUrl,
    offers: Offers,
    lifetimes: &Lifetimes,
    own: impl IntoIterator<Item = &'a str>,
) -> String {
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
        scopes_supported: Scope::ADVERTISED
            .into_iter()
            .map(|scope| -> &str { scope.name() })
            .chain(own)
            .collect(),
        response_types_supported: [RESPONSE_TYPE_CODE],
        response_modes_supported: ResponseMode::ALL.map(ResponseMode::name),
        grant_types_supported: GrantType::ALL.into_iter().map(GrantType::name).collect(),
        subject_types_supported: SUBJECT_TYPES,
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
        client_lifetimes: ClientLifetimes::of(lifetimes),
    };
    serde_json::to_string(&metadata).unwrap_or_default()
}

pub(crate) async fn metadata_document(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    let policy = &state.context.policy;
    let offers = Offers {
        registration: !matches!(state.registration, Registration::Closed),
        client_documents: policy.client_documents,
    };
    let lifetimes = &policy.lifetimes;
    let catalog = declared(&state.context.resources).await;
    let mut own = catalog.open_scopes().map(ScopeName::as_str).peekable();
    let body = if own.peek().is_some() {
        metadata(&policy.public_url, offers, lifetimes, own).into()
    } else {
        state.metadata.get_or_init(|| metadata(&policy.public_url, offers, lifetimes, []).into()).clone()
    };
    Ok(HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CACHE_CONTROL, CACHE))
        .body(body))
}

/// What the operator declared. Clients that start must get this document even if the database does not answer; then
/// it says what was declared when that was last read.
async fn declared(resources: &Resources) -> Arc<Catalog> {
    match tokio::time::timeout(PATIENCE, resources.catalog()).await {
        Ok(Ok(catalog)) => catalog,
        Ok(Err(_)) | Err(_) => resources.last_known(),
    }
}

pub(crate) async fn jwks(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CACHE_CONTROL, CACHE))
        .body(state.context.signer.public_keys().jwks))
}
