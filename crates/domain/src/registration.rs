//! The rules of registration (RFC 7591 section 2, and the specification's section 4.1).

use url::Url;

use crate::client::{AuthenticationMethod, ClientMetadata, ClientOrigin, DisplayMetadata, SecretMethod};
use crate::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use crate::host;
use crate::public_url::is_loopback;
use crate::readable::{self, NameRejected, is_hidden};
use crate::redirect_uri::{
    MAX_LENGTH, RedirectUri, RedirectUriRejected, is_plain_uri_byte, percent_escapes_are_whole,
};
use crate::resource::Catalog;
use crate::scope::{Scope, ScopeSet};
use crate::signing_algorithm::SigningAlgorithm;

/// The most redirect URIs that a client can register.
pub const MAX_REDIRECT_URIS: usize = 20;
const MAX_CONTACTS: usize = 10;
const MAX_CONTACT_LENGTH: usize = 254;
const MAX_JWKS_LENGTH: usize = 16 * 1024;
const URI_RULE: &str = "must be an https address, or http on a loopback host";

/// What someone wants to register. The types are right; nothing else is checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedMetadata {
    /// `client_name`
    pub client_name: Option<String>,
    /// `redirect_uris`
    pub redirect_uris: Option<Vec<String>>,
    /// `scopes`, the specification's spelling
    pub scopes: Option<Vec<String>>,
    /// `scope`, RFC 7591's spelling of the same
    pub scope: Option<String>,
    /// `response_types`
    pub response_types: Option<Vec<String>>,
    /// `grant_types`
    pub grant_types: Option<Vec<String>>,
    /// `token_endpoint_auth_method`
    pub token_endpoint_auth_method: Option<String>,
    /// `subject_type`
    pub subject_type: Option<String>,
    /// `backchannel_logout_uri`
    pub backchannel_logout_uri: Option<String>,
    /// `require_pushed_authorization_requests`
    pub require_pushed_authorization_requests: Option<bool>,
    /// `dpop_bound_access_tokens`
    pub dpop_bound_access_tokens: Option<bool>,
    /// What is only stored and shown, not checked yet.
    pub display: DisplayMetadata,
}

impl RequestedMetadata {
    /// Does it name a scope that may be one of the operator's resources?
    pub fn names_own_scopes(&self) -> bool {
        let listed = self.scopes.iter().flatten().map(String::as_str);
        listed.chain(self.scope.as_deref()).any(Scope::names_others)
    }
}

/// Metadata that passed the checks, and how the client will authenticate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedMetadata {
    /// The metadata to store.
    pub metadata: ClientMetadata,
    /// The authentication method that was requested.
    pub method: AuthenticationMethod,
}

/// Why metadata cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationRejected {
    /// A required field is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// There is no redirect URI, or there are too many.
    #[error("redirect_uris takes 1 to {MAX_REDIRECT_URIS} URIs")]
    RedirectUriCount,
    /// A redirect URI is not acceptable.
    #[error("redirect_uris[{position}]: {reason}")]
    RedirectUri {
        /// Its index in the list, from 0.
        position: usize,
        /// The rule that it breaks.
        reason: RedirectUriRejected,
    },
    /// The name is not readable.
    #[error("client_name {0}")]
    Name(NameRejected),
    /// The keys cannot be used.
    #[error("jwks: {0}")]
    Keys(&'static str),
    /// Another field has an unacceptable value.
    #[error("{field} {rule}")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// The rule for its values.
        rule: &'static str,
    },
}

/// Checks what someone wants to register. `declared` are the scopes of resources that they can register. Scopes of
/// ours that a client of this origin cannot have are left out without an error, because the answer says which
/// scopes were registered (RFC 7591 section 2).
pub fn judge(
    requested: RequestedMetadata,
    origin: ClientOrigin,
    declared: &Catalog,
) -> Result<JudgedMetadata, RegistrationRejected> {
    let name = requested.client_name.ok_or(RegistrationRejected::Missing("client_name"))?;
    let name = readable::judge_name(&name).map_err(RegistrationRejected::Name)?.to_owned();
    let code_flow = GrantType::AuthorizationCode.name();
    let is_redirected =
        requested.grant_types.as_ref().is_none_or(|names| names.iter().any(|name| name == code_flow));
    let redirect_uris = match requested.redirect_uris {
        None if is_redirected => return Err(RegistrationRejected::Missing("redirect_uris")),
        uris => judge_redirect_uris(uris.unwrap_or_default(), is_redirected)?,
    };
    let scopes = judge_scopes(requested.scopes.as_deref(), requested.scope.as_deref(), declared)?;
    let scopes = Some(origin.admitted(&scopes)).filter(|left| !left.is_empty()).unwrap_or_else(usual_scopes);
    // A client that is never redirected has no response type either.
    let may_be = |types: &[String]| types == [RESPONSE_TYPE_CODE] || (types.is_empty() && !is_redirected);
    if requested.response_types.is_some_and(|types| !may_be(&types)) {
        return field("response_types", "must be [code]");
    }
    if requested.subject_type.is_some_and(|kind| kind != "public") {
        return field("subject_type", "must be public");
    }
    let grant_types = judge_grant_types(requested.grant_types)?;
    let method = match requested.token_endpoint_auth_method.as_deref() {
        None => AuthenticationMethod::Secret(SecretMethod::Post),
        Some(name) => AuthenticationMethod::parse(name).ok_or(RegistrationRejected::Field {
            field: "token_endpoint_auth_method",
            rule: "must be client_secret_post, client_secret_basic, private_key_jwt or none",
        })?,
    };
    let needs_credential = |grant_type: &GrantType| {
        matches!(grant_type, GrantType::ClientCredentials | GrantType::WalletSignature)
    };
    if method == AuthenticationMethod::None && grant_types.iter().any(needs_credential) {
        return field(
            "grant_types",
            "must not name client_credentials or wallet signatures for a client without a credential",
        );
    }
    let backchannel_logout_uri = requested.backchannel_logout_uri;
    if backchannel_logout_uri.as_deref().is_some_and(|uri| !is_web_address(uri)) {
        return field("backchannel_logout_uri", URI_RULE);
    }
    let display = judge_display(requested.display)?;
    if method == AuthenticationMethod::PrivateKeyJwt && display.jwks.is_none() && display.jwks_uri.is_none() {
        return field("token_endpoint_auth_method", "private_key_jwt needs jwks or jwks_uri");
    }
    let metadata = ClientMetadata {
        name,
        redirect_uris,
        scopes,
        grant_types,
        backchannel_logout_uri,
        requires_pushed_requests: requested.require_pushed_authorization_requests.unwrap_or(false),
        requires_bound_tokens: requested.dpop_bound_access_tokens.unwrap_or(false),
        display,
    };
    Ok(JudgedMetadata { metadata, method })
}

fn judge_redirect_uris(uris: Vec<String>, needed: bool) -> Result<Vec<RedirectUri>, RegistrationRejected> {
    if (uris.is_empty() && needed) || uris.len() > MAX_REDIRECT_URIS {
        return Err(RegistrationRejected::RedirectUriCount);
    }
    let mut judged: Vec<RedirectUri> = Vec::with_capacity(uris.len());
    for (position, uri) in uris.iter().enumerate() {
        let uri = RedirectUri::parse(uri)
            .map_err(|reason| RegistrationRejected::RedirectUri { position, reason })?;
        if !judged.contains(&uri) {
            judged.push(uri);
        }
    }
    Ok(judged)
}

fn judge_scopes(
    list: Option<&[String]>,
    text: Option<&str>,
    declared: &Catalog,
) -> Result<ScopeSet, RegistrationRejected> {
    const RULE: &str = "must name one or more of openid, profile, email, offline_access, wallets, wallet_proof, groups, or scopes of declared resources";
    let list = list
        .map(|names| ScopeSet::from_names(names.iter().map(String::as_str), declared))
        .transpose()
        .map_err(|_| RegistrationRejected::Field { field: "scopes", rule: RULE })?;
    let text = text
        .map(|text| ScopeSet::parse(text, declared))
        .transpose()
        .map_err(|_| RegistrationRejected::Field { field: "scope", rule: RULE })?;
    match (list, text) {
        (Some(list), Some(text)) if list != text => field("scope", "and scopes differ: send one of them"),
        (Some(scopes), _) | (None, Some(scopes)) => Ok(scopes),
        (None, None) => Ok(usual_scopes()),
    }
}

/// The scopes of a client that names none.
fn usual_scopes() -> ScopeSet {
    ScopeSet::of(&[Scope::Profile])
}

fn judge_grant_types(names: Option<Vec<String>>) -> Result<Vec<GrantType>, RegistrationRejected> {
    const RULE: &str = "must name grant types that this server offers";
    let Some(names) = names else { return Ok(GrantType::DEFAULT.to_vec()) };
    let known = names.iter().all(|name| GrantType::parse(name).is_some());
    let grant_types: Vec<_> = GrantType::ALL
        .into_iter()
        .filter(|grant_type| names.iter().any(|name| name == grant_type.name()))
        .collect();
    let begins = grant_types.iter().any(|grant_type| *grant_type != GrantType::RefreshToken);
    if known && begins { Ok(grant_types) } else { field("grant_types", RULE) }
}

fn judge_display(display: DisplayMetadata) -> Result<DisplayMetadata, RegistrationRejected> {
    let uris = [
        ("client_uri", &display.client_uri),
        ("logo_uri", &display.logo_uri),
        ("tos_uri", &display.tos_uri),
        ("policy_uri", &display.policy_uri),
        ("jwks_uri", &display.jwks_uri),
    ];
    for (name, uri) in uris {
        if uri.as_deref().is_some_and(|uri| !is_web_address(uri)) {
            return field(name, URI_RULE);
        }
    }
    if display.jwks.is_some() && display.jwks_uri.is_some() {
        return field("jwks", "and jwks_uri exclude each other");
    }
    if display.jwks.as_ref().is_some_and(|jwks| jwks.len() > MAX_JWKS_LENGTH) {
        return field("jwks", "takes 16 KiB at most");
    }
    let contact_is_plain = |contact: &String| {
        !contact.trim().is_empty() && contact.len() <= MAX_CONTACT_LENGTH && !contact.chars().any(is_hidden)
    };
    if display.contacts.len() > MAX_CONTACTS || !display.contacts.iter().all(contact_is_plain) {
        return field("contacts", "takes up to 10 addresses of up to 254 characters");
    }
    if display.application_type.as_deref().is_some_and(|kind| !matches!(kind, "web" | "native")) {
        return field("application_type", "must be web or native");
    }
    let algorithm = display.id_token_signed_response_alg.as_deref();
    if algorithm.is_some_and(|name| SigningAlgorithm::parse(name).is_none()) {
        return field("id_token_signed_response_alg", "must be RS256, ES256 or EdDSA");
    }
    let signing = display.token_endpoint_auth_signing_alg.as_deref();
    if signing.is_some_and(|name| !matches!(name, "RS256" | "PS256" | "ES256" | "ES384" | "EdDSA")) {
        return field("token_endpoint_auth_signing_alg", "must be RS256, PS256, ES256, ES384 or EdDSA");
    }
    let logout = &display.post_logout_redirect_uris;
    if logout.len() > MAX_REDIRECT_URIS || logout.iter().any(|uri| RedirectUri::parse(uri).is_err()) {
        return field("post_logout_redirect_uris", "takes up to 20 URIs with the rules of redirect_uris");
    }
    Ok(display)
}

/// Can a client name this URL for people, for its keys, or for us to call? A stored URL is checked again
/// whenever it is used.
pub fn is_web_address(text: &str) -> bool {
    if text.len() > MAX_LENGTH || !text.bytes().all(is_plain_uri_byte) || !percent_escapes_are_whole(text) {
        return false;
    }
    let Ok(url) = Url::parse(text) else { return false };
    let Some(host) = url.host() else { return false };
    let bare = url.username().is_empty() && url.password().is_none();
    let is_of_dns = host::judge(text, &url).is_ok();
    bare && is_of_dns && (url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&host)))
}

fn field<T>(field: &'static str, rule: &'static str) -> Result<T, RegistrationRejected> {
    Err(RegistrationRejected::Field { field, rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge_own(requested: RequestedMetadata) -> Result<JudgedMetadata, RegistrationRejected> {
        judge(requested, ClientOrigin::SelfRegistered, &Catalog::NONE)
    }

    fn minimal() -> RequestedMetadata {
        RequestedMetadata {
            client_name: Some(" Photo Album ".to_owned()),
            redirect_uris: Some(vec!["https://photos.example/cb".to_owned()]),
            ..RequestedMetadata::default()
        }
    }

    #[test]
    fn a_minimal_registration_gets_the_defaults_of_the_specification() {
        let judged = judge_own(minimal()).unwrap();
        assert_eq!(judged.metadata.name, "Photo Album");
        assert_eq!(judged.metadata.scopes.to_string(), "profile");
        assert_eq!(judged.metadata.grant_types, GrantType::DEFAULT);
        assert_eq!(judged.method.name(), "client_secret_post");
    }

    #[test]
    fn a_012_both_spellings_of_scopes_mean_the_same_and_must_agree() {
        let by_list = RequestedMetadata { scopes: Some(vec!["email".to_owned()]), ..minimal() };
        let by_text = RequestedMetadata { scope: Some("email".to_owned()), ..minimal() };
        assert_eq!(judge_own(by_list.clone()), judge_own(by_text));
        let both = RequestedMetadata { scope: Some("profile".to_owned()), ..by_list };
        assert_eq!(judge_own(both).unwrap_err().to_string(), "scope and scopes differ: send one of them");
    }

    #[test]
    fn only_a_client_of_the_operator_s_can_register_the_scope_of_groups() {
        let requested = RequestedMetadata { scope: Some("groups email".to_owned()), ..minimal() };
        let registered = |requested: &RequestedMetadata, origin| {
            judge(requested.clone(), origin, &Catalog::NONE).unwrap().metadata.scopes
        };
        assert_eq!(registered(&requested, ClientOrigin::Operator).to_string(), "email groups");
        let alone = RequestedMetadata { scope: Some("groups".to_owned()), ..minimal() };
        for origin in [ClientOrigin::SelfRegistered, ClientOrigin::Document] {
            assert_eq!(registered(&requested, origin).to_string(), "email");
            assert_eq!(registered(&alone, origin).to_string(), "profile");
        }
    }

    #[test]
    fn a_013_a_missing_field_is_named() {
        let nameless = RequestedMetadata { client_name: None, ..minimal() };
        assert_eq!(judge_own(nameless), Err(RegistrationRejected::Missing("client_name")));
        let homeless = RequestedMetadata { redirect_uris: None, ..minimal() };
        assert_eq!(judge_own(homeless), Err(RegistrationRejected::Missing("redirect_uris")));
    }

    #[test]
    fn a_016_only_the_code_response_type_is_taken() {
        let implicit = RequestedMetadata { response_types: Some(vec!["token".to_owned()]), ..minimal() };
        assert!(judge_own(implicit).is_err());
    }

    #[test]
    fn a_020_one_to_twenty_redirect_uris_are_taken() {
        let uris = |count: usize| Some((0..count).map(|n| format!("https://photos.example/{n}")).collect());
        assert!(judge_own(RequestedMetadata { redirect_uris: uris(20), ..minimal() }).is_ok());
        for count in [0, 21] {
            let judged = judge_own(RequestedMetadata { redirect_uris: uris(count), ..minimal() });
            assert_eq!(judged, Err(RegistrationRejected::RedirectUriCount));
        }
    }

    #[test]
    fn the_error_names_the_uri_and_the_rule() {
        let uris = vec!["https://photos.example/cb".to_owned(), "http://photos.example/cb".to_owned()];
        let judged = judge_own(RequestedMetadata { redirect_uris: Some(uris), ..minimal() });
        assert_eq!(
            judged.unwrap_err().to_string(),
            "redirect_uris[1]: must be https, http on a loopback host, or a private-use scheme with a dot in it"
        );
    }

    fn without_redirects(grant_types: &[GrantType], method: &str) -> RequestedMetadata {
        RequestedMetadata {
            redirect_uris: None,
            grant_types: Some(grant_types.iter().map(|one| one.name().to_owned()).collect()),
            token_endpoint_auth_method: Some(method.to_owned()),
            ..minimal()
        }
    }

    #[test]
    fn only_a_client_that_is_never_redirected_needs_no_redirect_uri() {
        use GrantType::{AuthorizationCode, ClientCredentials, DeviceCode, RefreshToken, WalletSignature};
        for grant_type in [ClientCredentials, DeviceCode, WalletSignature] {
            let requested = without_redirects(&[grant_type, RefreshToken], "client_secret_basic");
            let judged = judge_own(requested.clone()).unwrap().metadata;
            assert_eq!((judged.redirect_uris, judged.grant_types.len()), (Vec::new(), 2));
            let listed = RequestedMetadata {
                redirect_uris: Some(Vec::new()),
                response_types: Some(Vec::new()),
                ..requested
            };
            assert!(judge_own(listed).is_ok());
            let redirected = without_redirects(&[grant_type, AuthorizationCode], "client_secret_basic");
            assert_eq!(judge_own(redirected), Err(RegistrationRejected::Missing("redirect_uris")));
        }
        let refreshing = without_redirects(&[RefreshToken], "client_secret_basic");
        assert!(judge_own(refreshing).unwrap_err().to_string().starts_with("grant_types"));
    }

    #[test]
    fn a_client_without_a_credential_gets_no_tokens_without_a_page() {
        for grant_type in [GrantType::ClientCredentials, GrantType::WalletSignature] {
            let rejected = judge_own(without_redirects(&[grant_type], "none")).unwrap_err();
            assert!(
                matches!(rejected, RegistrationRejected::Field { field: "grant_types", .. }),
                "{rejected}"
            );
        }
        assert!(judge_own(without_redirects(&[GrantType::DeviceCode], "none")).is_ok());
    }
}
