//! The rules of registration (RFC 7591 section 2, and the specification's section 4.1).

use url::Url;

use crate::client::{AuthenticationMethod, ClientMetadata, DisplayMetadata, SecretMethod};
use crate::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use crate::public_url::is_loopback;
use crate::redirect_uri::{
    MAX_LENGTH, RedirectUri, RedirectUriRejected, is_plain_uri_byte, percent_escapes_are_whole,
};
use crate::scope::{Scope, ScopeSet};

/// How many redirect URIs a client may register.
pub const MAX_REDIRECT_URIS: usize = 20;
/// How long a client's name may be, in characters.
pub const MAX_NAME_LENGTH: usize = 100;
const MAX_CONTACTS: usize = 10;
const MAX_CONTACT_LENGTH: usize = 254;
const MAX_JWKS_LENGTH: usize = 16 * 1024;

/// What somebody wants to register. Types are right; nothing else is known.
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
    /// What is only kept and shown, not judged yet.
    pub display: DisplayMetadata,
}

/// Metadata that passed, and how the client will authenticate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedMetadata {
    /// What is stored.
    pub metadata: ClientMetadata,
    /// The method that was asked for.
    pub method: AuthenticationMethod,
}

/// Why metadata cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationRejected {
    /// A required field is not there.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// No redirect URI, or too many.
    #[error("redirect_uris takes 1 to {MAX_REDIRECT_URIS} URIs")]
    RedirectUriCount,
    /// A redirect URI that cannot be used.
    #[error("redirect_uris[{position}]: {reason}")]
    RedirectUri {
        /// Its place in the list, from 0.
        position: usize,
        /// The rule that it breaks.
        reason: RedirectUriRejected,
    },
    /// Any other field with a value that cannot be used.
    #[error("{field} {rule}")]
    Field {
        /// The field.
        field: &'static str,
        /// What it takes.
        rule: &'static str,
    },
}

/// Judges what somebody wants to register.
pub fn judge(requested: RequestedMetadata) -> Result<JudgedMetadata, RegistrationRejected> {
    let name = judge_name(requested.client_name.ok_or(RegistrationRejected::Missing("client_name"))?)?;
    let redirect_uris =
        judge_redirect_uris(requested.redirect_uris.ok_or(RegistrationRejected::Missing("redirect_uris"))?)?;
    let scopes = judge_scopes(requested.scopes.as_deref(), requested.scope.as_deref())?;
    if requested.response_types.is_some_and(|types| types != [RESPONSE_TYPE_CODE]) {
        return field("response_types", "must be [code]");
    }
    let grant_types = judge_grant_types(requested.grant_types)?;
    let method = match requested.token_endpoint_auth_method.as_deref() {
        None => AuthenticationMethod::Secret(SecretMethod::Post),
        Some(name) => AuthenticationMethod::parse(name).ok_or(RegistrationRejected::Field {
            field: "token_endpoint_auth_method",
            rule: "must be client_secret_post, client_secret_basic or none",
        })?,
    };
    let display = judge_display(requested.display)?;
    Ok(JudgedMetadata {
        metadata: ClientMetadata { name, redirect_uris, scopes, grant_types, display },
        method,
    })
}

fn judge_name(name: String) -> Result<String, RegistrationRejected> {
    if name.chars().any(is_deceptive) {
        return field("client_name", "must not hold control, invisible or bidirectional characters");
    }
    let name = name.trim();
    if (1..=MAX_NAME_LENGTH).contains(&name.chars().count()) {
        Ok(name.to_owned())
    } else {
        field("client_name", "takes 1 to 100 characters")
    }
}

/// Characters that are not seen, or that change how their neighbours are read.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{FEFF}'
            | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}')
}

fn judge_redirect_uris(uris: Vec<String>) -> Result<Vec<RedirectUri>, RegistrationRejected> {
    if uris.is_empty() || uris.len() > MAX_REDIRECT_URIS {
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

fn judge_scopes(list: Option<&[String]>, text: Option<&str>) -> Result<ScopeSet, RegistrationRejected> {
    const RULE: &str = "must name one or more of openid, profile, email, offline_access, wallets";
    let list = list
        .map(|names| ScopeSet::from_names(names.iter().map(String::as_str)))
        .transpose()
        .map_err(|_| RegistrationRejected::Field { field: "scopes", rule: RULE })?;
    let text = text
        .map(ScopeSet::parse)
        .transpose()
        .map_err(|_| RegistrationRejected::Field { field: "scope", rule: RULE })?;
    match (list, text) {
        (Some(list), Some(text)) if list != text => field("scope", "and scopes differ: send one of them"),
        (Some(scopes), _) | (None, Some(scopes)) => Ok(scopes),
        (None, None) => Ok(ScopeSet::of(&[Scope::Profile])),
    }
}

fn judge_grant_types(names: Option<Vec<String>>) -> Result<Vec<GrantType>, RegistrationRejected> {
    const RULE: &str = "must hold authorization_code, and may hold refresh_token";
    let Some(names) = names else { return Ok(GrantType::ALL.to_vec()) };
    let known = names.iter().all(|name| GrantType::parse(name).is_some());
    let grant_types: Vec<_> = GrantType::ALL
        .into_iter()
        .filter(|grant_type| names.iter().any(|name| name == grant_type.name()))
        .collect();
    if known && grant_types.contains(&GrantType::AuthorizationCode) {
        Ok(grant_types)
    } else {
        field("grant_types", RULE)
    }
}

fn judge_display(display: DisplayMetadata) -> Result<DisplayMetadata, RegistrationRejected> {
    const URI_RULE: &str = "must be an https address, or http on a loopback host";
    let uris = [
        ("client_uri", &display.client_uri),
        ("logo_uri", &display.logo_uri),
        ("tos_uri", &display.tos_uri),
        ("policy_uri", &display.policy_uri),
        ("jwks_uri", &display.jwks_uri),
    ];
    for (name, uri) in uris {
        if uri.as_deref().is_some_and(|uri| !is_display_uri(uri)) {
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
        !contact.trim().is_empty()
            && contact.len() <= MAX_CONTACT_LENGTH
            && !contact.chars().any(is_deceptive)
    };
    if display.contacts.len() > MAX_CONTACTS || !display.contacts.iter().all(contact_is_plain) {
        return field("contacts", "takes up to 10 addresses of up to 254 characters");
    }
    if display.application_type.as_deref().is_some_and(|kind| !matches!(kind, "web" | "native")) {
        return field("application_type", "must be web or native");
    }
    let algorithm = display.id_token_signed_response_alg.as_deref();
    if algorithm.is_some_and(|name| !matches!(name, "RS256" | "ES256" | "EdDSA")) {
        return field("id_token_signed_response_alg", "must be RS256, ES256 or EdDSA");
    }
    let logout = &display.post_logout_redirect_uris;
    if logout.len() > MAX_REDIRECT_URIS || logout.iter().any(|uri| RedirectUri::parse(uri).is_err()) {
        return field("post_logout_redirect_uris", "takes up to 20 URIs with the rules of redirect_uris");
    }
    Ok(display)
}

fn is_display_uri(text: &str) -> bool {
    if text.len() > MAX_LENGTH || !text.bytes().all(is_plain_uri_byte) || !percent_escapes_are_whole(text) {
        return false;
    }
    let Ok(url) = Url::parse(text) else { return false };
    let Some(host) = url.host() else { return false };
    let bare = url.username().is_empty() && url.password().is_none();
    let written_out = text.starts_with("https://") || text.starts_with("http://");
    bare && written_out && (url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&host)))
}

fn field<T>(field: &'static str, rule: &'static str) -> Result<T, RegistrationRejected> {
    Err(RegistrationRejected::Field { field, rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimal() -> RequestedMetadata {
        RequestedMetadata {
            client_name: Some(" Photo Album ".to_owned()),
            redirect_uris: Some(vec!["https://photos.example/cb".to_owned()]),
            ..RequestedMetadata::default()
        }
    }

    #[test]
    fn a_minimal_registration_gets_the_defaults_of_the_specification() {
        let judged = judge(minimal()).unwrap();
        assert_eq!(judged.metadata.name, "Photo Album");
        assert_eq!(judged.metadata.scopes.to_string(), "profile");
        assert_eq!(judged.metadata.grant_types, GrantType::ALL);
        assert_eq!(judged.method.name(), "client_secret_post");
    }

    #[test]
    fn a_012_both_spellings_of_scopes_mean_the_same_and_must_agree() {
        let by_list = RequestedMetadata { scopes: Some(vec!["email".to_owned()]), ..minimal() };
        let by_text = RequestedMetadata { scope: Some("email".to_owned()), ..minimal() };
        assert_eq!(judge(by_list.clone()), judge(by_text));
        let both = RequestedMetadata { scope: Some("profile".to_owned()), ..by_list };
        assert_eq!(judge(both).unwrap_err().to_string(), "scope and scopes differ: send one of them");
    }

    #[test]
    fn a_013_a_missing_field_is_named() {
        let nameless = RequestedMetadata { client_name: None, ..minimal() };
        assert_eq!(judge(nameless), Err(RegistrationRejected::Missing("client_name")));
        let homeless = RequestedMetadata { redirect_uris: None, ..minimal() };
        assert_eq!(judge(homeless), Err(RegistrationRejected::Missing("redirect_uris")));
    }

    #[test]
    fn a_016_only_the_code_response_type_is_taken() {
        let implicit = RequestedMetadata { response_types: Some(vec!["token".to_owned()]), ..minimal() };
        assert!(judge(implicit).is_err());
    }

    #[test]
    fn a_020_one_to_twenty_redirect_uris_are_taken() {
        let uris = |count: usize| Some((0..count).map(|n| format!("https://photos.example/{n}")).collect());
        assert!(judge(RequestedMetadata { redirect_uris: uris(20), ..minimal() }).is_ok());
        for count in [0, 21] {
            let judged = judge(RequestedMetadata { redirect_uris: uris(count), ..minimal() });
            assert_eq!(judged, Err(RegistrationRejected::RedirectUriCount));
        }
    }

    #[test]
    fn the_error_names_the_uri_and_the_rule() {
        let uris = vec!["https://photos.example/cb".to_owned(), "http://photos.example/cb".to_owned()];
        let judged = judge(RequestedMetadata { redirect_uris: Some(uris), ..minimal() });
        assert_eq!(
            judged.unwrap_err().to_string(),
            "redirect_uris[1]: must be https, http on a loopback host, or a private-use scheme with a dot in it"
        );
    }
}
