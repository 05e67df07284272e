//! A registration as a JSON object with the names of RFC 7591. `client show` prints one, and `--from-file`, the
//! flags and the known applications say one. [`requested`] turns it into what the rules of registration judge; no
//! rule stands here.
//!
//! [`shown`] and [`requested`] name every field of the domain's types, so a new field does not compile until both
//! have it. The tests find a field without a flag.

use countersign_domain::client::{Client, ClientMetadata, DisplayMetadata};
use countersign_domain::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::registration::RequestedMetadata;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::file;
use crate::cli::MetadataFlags;
use crate::failure::Failure;

/// The fields of a registration by name. [`Value::Null`] says that a field shall have no value.
pub(crate) type Fields = Map<String, Value>;

/// The fields that an update can clear.
pub(crate) const CLEARABLE: [&str; 17] = [
    "redirect_uris",
    "scope",
    "grant_types",
    "jwks",
    "jwks_uri",
    "token_endpoint_auth_signing_alg",
    "id_token_signed_response_alg",
    "require_pushed_authorization_requests",
    "dpop_bound_access_tokens",
    "post_logout_redirect_uris",
    "backchannel_logout_uri",
    "client_uri",
    "logo_uri",
    "tos_uri",
    "policy_uri",
    "contacts",
    "application_type",
];

/// The other fields of a registration.
pub(super) const OTHERS: [&str; 5] =
    ["client_name", "token_endpoint_auth_method", "scopes", "response_types", "subject_type"];

/// Everything about a client that can be shown, in the order for people. `None` if a field has no value.
pub(crate) fn shown(client: &Client) -> Vec<(&'static str, Option<Value>)> {
    let Client {
        id,
        authentication,
        metadata,
        origin,
        document,
        resources,
        registration_token: _,
        created_at,
        // No registration decides it. `client show` and `access show` show it.
        access: _,
    } = client;
    let ClientMetadata {
        name,
        redirect_uris,
        scopes,
        grant_types,
        backchannel_logout_uri,
        requires_pushed_requests,
        requires_bound_tokens,
        display,
    } = metadata;
    let DisplayMetadata {
        client_uri,
        logo_uri,
        tos_uri,
        policy_uri,
        contacts,
        jwks,
        jwks_uri,
        application_type,
        id_token_signed_response_alg,
        token_endpoint_auth_signing_alg,
        post_logout_redirect_uris,
    } = display;
    let redirect_uris: Vec<_> = redirect_uris.iter().map(RedirectUri::as_str).collect();
    let is_redirected = grant_types.contains(&GrantType::AuthorizationCode);
    let response_types = if is_redirected { vec![RESPONSE_TYPE_CODE] } else { Vec::new() };
    let grant_types: Vec<_> = grant_types.iter().map(|grant_type| grant_type.name()).collect();
    let jwks = jwks.as_ref().map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
    vec![
        ("client_id", Some(json!(id.to_string()))),
        ("client_name", Some(json!(name))),
        ("redirect_uris", Some(json!(redirect_uris))),
        ("scope", Some(json!(scopes.to_string()))),
        ("grant_types", Some(json!(grant_types))),
        ("response_types", Some(json!(response_types))),
        ("token_endpoint_auth_method", Some(json!(authentication.method()))),
        ("token_endpoint_auth_signing_alg", text(token_endpoint_auth_signing_alg)),
        ("jwks", jwks),
        ("jwks_uri", text(jwks_uri)),
        ("id_token_signed_response_alg", text(id_token_signed_response_alg)),
        ("require_pushed_authorization_requests", Some(json!(requires_pushed_requests))),
        ("dpop_bound_access_tokens", Some(json!(requires_bound_tokens))),
        ("post_logout_redirect_uris", list(post_logout_redirect_uris)),
        ("backchannel_logout_uri", text(backchannel_logout_uri)),
        ("client_uri", text(client_uri)),
        ("logo_uri", text(logo_uri)),
        ("tos_uri", text(tos_uri)),
        ("policy_uri", text(policy_uri)),
        ("contacts", list(contacts)),
        ("application_type", text(application_type)),
        ("resources", list(resources)),
        ("document", text(document)),
        ("registered_by", Some(json!(origin.name()))),
        ("created_at", Some(json!(iso8601(*created_at)))),
    ]
}

/// The registration of a client: what of [`shown`] a registration can say.
pub(crate) fn of(client: &Client) -> Fields {
    let fields = shown(client).into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    // It follows from the grant types, which can change.
    fields.filter(|(name, _)| is_field(name) && name != "response_types").collect()
}

/// What a registration asks for. Checks the types of the fields and nothing else.
pub(crate) fn requested(mut fields: Fields) -> Result<RequestedMetadata, Failure> {
    let fields = &mut fields;
    Ok(RequestedMetadata {
        client_name: take(fields, "client_name", as_text)?,
        redirect_uris: take(fields, "redirect_uris", as_texts)?,
        scopes: take(fields, "scopes", as_texts)?,
        scope: take(fields, "scope", as_text)?,
        response_types: take(fields, "response_types", as_texts)?,
        grant_types: take(fields, "grant_types", as_texts)?,
        token_endpoint_auth_method: take(fields, "token_endpoint_auth_method", as_text)?,
        subject_type: take(fields, "subject_type", as_text)?,
        backchannel_logout_uri: take(fields, "backchannel_logout_uri", as_text)?,
        require_pushed_authorization_requests: take(
            fields,
            "require_pushed_authorization_requests",
            as_truth,
        )?,
        dpop_bound_access_tokens: take(fields, "dpop_bound_access_tokens", as_truth)?,
        display: DisplayMetadata {
            client_uri: take(fields, "client_uri", as_text)?,
            logo_uri: take(fields, "logo_uri", as_text)?,
            tos_uri: take(fields, "tos_uri", as_text)?,
            policy_uri: take(fields, "policy_uri", as_text)?,
            contacts: take(fields, "contacts", as_texts)?.unwrap_or_default(),
            jwks: take(fields, "jwks", as_keys)?,
            jwks_uri: take(fields, "jwks_uri", as_text)?,
            application_type: take(fields, "application_type", as_text)?,
            id_token_signed_response_alg: take(fields, "id_token_signed_response_alg", as_text)?,
            token_endpoint_auth_signing_alg: take(fields, "token_endpoint_auth_signing_alg", as_text)?,
            post_logout_redirect_uris: take(fields, "post_logout_redirect_uris", as_texts)?
                .unwrap_or_default(),
        },
    })
}

/// Says on top of `fields` what `changes` says; null takes a field away.
pub(crate) fn change(fields: &mut Fields, changes: Fields) {
    if changes.contains_key("scope") || changes.contains_key("scopes") {
        // Two spellings of one field.
        clear(fields, "scope");
    }
    for (name, value) in changes {
        if value.is_null() {
            clear(fields, &name);
        } else {
            fields.insert(name, value);
        }
    }
}

/// Takes a field away.
pub(crate) fn clear(fields: &mut Fields, name: &str) {
    fields.remove(name);
    if name == "scope" {
        fields.remove("scopes");
    }
}

/// What the flags say. A flag that was not given says nothing.
pub(crate) fn of_flags(
    name: Option<String>,
    redirect_uri: Vec<String>,
    flags: MetadataFlags,
) -> Result<Fields, Failure> {
    let MetadataFlags {
        scope,
        grant_type,
        public,
        auth_method,
        jwks_file,
        jwks_uri,
        token_endpoint_auth_signing_alg,
        id_token_signed_response_alg,
        require_pushed_authorization_requests,
        dpop_bound_access_tokens,
        post_logout_redirect_uri,
        backchannel_logout_uri,
        client_uri,
        logo_uri,
        tos_uri,
        policy_uri,
        contact,
        application_type,
    } = flags;
    let method = if public { Some("none".to_owned()) } else { auth_method };
    let said = [
        ("client_name", text(&name)),
        ("redirect_uris", list(&redirect_uri)),
        ("scope", list(&scope).map(|_| json!(scope.join(" ")))),
        ("grant_types", list(&grant_type)),
        ("token_endpoint_auth_method", text(&method)),
        ("jwks", jwks_file.as_deref().map(file::read_keys).transpose()?),
        ("jwks_uri", text(&jwks_uri)),
        ("token_endpoint_auth_signing_alg", text(&token_endpoint_auth_signing_alg)),
        ("id_token_signed_response_alg", text(&id_token_signed_response_alg)),
        ("require_pushed_authorization_requests", require_pushed_authorization_requests.map(Value::Bool)),
        ("dpop_bound_access_tokens", dpop_bound_access_tokens.map(Value::Bool)),
        ("post_logout_redirect_uris", list(&post_logout_redirect_uri)),
        ("backchannel_logout_uri", text(&backchannel_logout_uri)),
        ("client_uri", text(&client_uri)),
        ("logo_uri", text(&logo_uri)),
        ("tos_uri", text(&tos_uri)),
        ("policy_uri", text(&policy_uri)),
        ("contacts", list(&contact)),
        ("application_type", text(&application_type)),
    ];
    Ok(said.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

/// The time as clients are shown it.
pub(crate) fn iso8601(time: OffsetDateTime) -> String {
    time.format(&Rfc3339).unwrap_or_else(|_| time.to_string())
}

/// The time at which a client was registered.
pub(crate) fn created_at(client: &Client) -> String {
    iso8601(client.created_at)
}

pub(crate) fn is_field(name: &str) -> bool {
    CLEARABLE.contains(&name) || OTHERS.contains(&name)
}

fn text(value: &Option<String>) -> Option<Value> {
    value.as_ref().map(|text| json!(text))
}

fn list(entries: &[String]) -> Option<Value> {
    (!entries.is_empty()).then(|| json!(entries))
}

/// Takes a field out, if it is there and not null.
pub(super) fn take<T>(
    fields: &mut Fields,
    name: &str,
    read: impl FnOnce(Value) -> Result<T, &'static str>,
) -> Result<Option<T>, Failure> {
    let value = fields.remove(name).filter(|value| !value.is_null());
    value.map(read).transpose().map_err(|rule| Failure::Usage(format!("{name} must be {rule}")))
}

pub(super) fn as_text(value: Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err("a string")
        }
    }
}

pub(super) fn as_texts(value: Value) -> Result<Vec<String>, &'static str> {
    const RULE: &str = "a list of strings";
    match value {
        Value::Array(entries) => entries.into_iter().map(|entry| as_text(entry).map_err(|_| RULE)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => Err(RULE),
    }
}

fn as_truth(value: Value) -> Result<bool, &'static str> {
    value.as_bool().ok_or("true or false")
}

/// A key set that was stored before it had to be JSON is shown as text, and stays what it is.
fn as_keys(value: Value) -> Result<String, &'static str> {
    match value {
        Value::Object(_) => Ok(value.to_string()),
        Value::String(text) => Ok(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err("a JSON Web Key Set"),
    }
}

#[cfg(test)]
mod tests;
