//! What must be true of registered metadata.

use countersign_domain::client::ClientOrigin;
use countersign_domain::client::DisplayMetadata;
use countersign_domain::readable::MAX_NAME_LENGTH;
use countersign_domain::registration::{
    JudgedMetadata, MAX_REDIRECT_URIS, RequestedMetadata, Rules, judge as judge_metadata,
};
use countersign_domain::resource::Catalog;

/// Reads one field from each line, `name=value`. A field with a list gets one value from each of its lines. There
/// is a default name and redirect URI, so that the rules that are checked after them are reached.
pub fn judge(input: &str) {
    let declared = Catalog::NONE;
    let rules = Rules::of(ClientOrigin::SelfRegistered, &declared);
    let Ok(judged) = judge_metadata(requested(input), rules) else { return };
    let metadata = &judged.metadata;
    assert!((1..=MAX_NAME_LENGTH).contains(&metadata.name.chars().count()));
    assert!(!metadata.name.chars().any(char::is_control) && metadata.name.trim() == metadata.name);
    let uris = &metadata.redirect_uris;
    assert!((1..=MAX_REDIRECT_URIS).contains(&uris.len()));
    assert!(uris.iter().enumerate().all(|(position, uri)| !uris[..position].contains(uri)));
    assert!(!metadata.scopes.is_empty() && !metadata.grant_types.is_empty());

    let alike = JudgedMetadata { left_out: Vec::new(), ..judged.clone() };
    assert_eq!(judge_metadata(again(&judged), rules), Ok(alike), "what was judged is judged alike");
}

fn requested(input: &str) -> RequestedMetadata {
    let mut requested = RequestedMetadata {
        client_name: Some("Client".to_owned()),
        redirect_uris: Some(vec!["https://client.example/cb".to_owned()]),
        ..RequestedMetadata::default()
    };
    for line in input.split('\n') {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let value = value.to_owned();
        let display = &mut requested.display;
        match name {
            "no_name" => requested.client_name = None,
            "no_redirect_uris" => requested.redirect_uris = None,
            "client_name" => requested.client_name = Some(value),
            "redirect_uris" => requested.redirect_uris.get_or_insert_default().push(value),
            "scopes" => requested.scopes.get_or_insert_default().push(value),
            "scope" => requested.scope = Some(value),
            "subject_type" => display.subject_type = Some(value),
            "sector_identifier_uri" => display.sector_identifier_uri = Some(value),
            "backchannel_logout_uri" => requested.backchannel_logout_uri = Some(value),
            "require_pushed_authorization_requests" => {
                requested.require_pushed_authorization_requests = Some(value == "true");
            }
            "dpop_bound_access_tokens" => requested.dpop_bound_access_tokens = Some(value == "true"),
            "response_types" => requested.response_types.get_or_insert_default().push(value),
            "grant_types" => requested.grant_types.get_or_insert_default().push(value),
            "token_endpoint_auth_method" => requested.token_endpoint_auth_method = Some(value),
            "client_uri" => display.client_uri = Some(value),
            "logo_uri" => display.logo_uri = Some(value),
            "tos_uri" => display.tos_uri = Some(value),
            "policy_uri" => display.policy_uri = Some(value),
            "contacts" => display.contacts.push(value),
            "jwks" => display.jwks = Some(value),
            "jwks_uri" => display.jwks_uri = Some(value),
            "application_type" => display.application_type = Some(value),
            "id_token_signed_response_alg" => display.id_token_signed_response_alg = Some(value),
            "post_logout_redirect_uris" => display.post_logout_redirect_uris.push(value),
            _ => {}
        }
    }
    requested
}

/// The request with everything that was accepted.
fn again(judged: &JudgedMetadata) -> RequestedMetadata {
    let metadata = &judged.metadata;
    let method = judged.method.name();
    RequestedMetadata {
        client_name: Some(metadata.name.clone()),
        redirect_uris: Some(metadata.redirect_uris.iter().map(ToString::to_string).collect()),
        scopes: Some(metadata.scopes.names().map(str::to_owned).collect()),
        scope: Some(metadata.scopes.to_string()),
        response_types: Some(vec!["code".to_owned()]),
        grant_types: Some(metadata.grant_types.iter().map(|kind| kind.name().to_owned()).collect()),
        token_endpoint_auth_method: Some(method.to_owned()),
        backchannel_logout_uri: metadata.backchannel_logout_uri.clone(),
        require_pushed_authorization_requests: Some(metadata.requires_pushed_requests),
        dpop_bound_access_tokens: Some(metadata.requires_bound_tokens),
        display: DisplayMetadata::clone(&metadata.display),
    }
}
