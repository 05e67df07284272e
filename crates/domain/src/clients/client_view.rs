//! What a client has in each field of a registration.

use std::borrow::Cow;

use crate::client::{Client, ClientMetadata};
use crate::client_field::{ClientField, FieldSaid, JudgedField};
use crate::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use crate::redirect_uri::RedirectUri;

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// A text, or none.
    Text(Option<Cow<'a, str>>),
    /// Any number of texts.
    Texts(Vec<&'a str>),
    /// Yes or no.
    Truth(bool),
    /// A number, or none.
    Number(Option<u32>),
}

impl Client {
    /// What it has in a field.
    pub fn field(&self, field: ClientField) -> FieldValue<'_> {
        field_value(&self.metadata, self.authentication.method(), field)
    }
}

/// What a client with this metadata has in a field.
pub fn field_value<'a>(
    metadata: &'a ClientMetadata,
    method: &'static str,
    field: ClientField,
) -> FieldValue<'a> {
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
    match display.said(field) {
        Ok(FieldSaid::Text(text)) => FieldValue::Text(text.as_deref().map(Cow::Borrowed)),
        Ok(FieldSaid::Number(number)) => FieldValue::Number(*number),
        Ok(FieldSaid::Truth(truth)) => FieldValue::Truth(truth.unwrap_or_default()),
        Ok(FieldSaid::Texts(texts)) => {
            FieldValue::Texts(texts.iter().flatten().map(String::as_str).collect())
        }
        Ok(FieldSaid::Several(texts)) => FieldValue::Texts(texts.iter().map(String::as_str).collect()),
        Err(JudgedField::Name) => FieldValue::Text(Some(Cow::Borrowed(name))),
        Err(JudgedField::RedirectUris) => {
            FieldValue::Texts(redirect_uris.iter().map(RedirectUri::as_str).collect())
        }
        Err(JudgedField::ScopeList) => FieldValue::Texts(scopes.names().collect()),
        Err(JudgedField::Scopes) => FieldValue::Text(Some(Cow::Owned(scopes.to_string()))),
        Err(JudgedField::ResponseTypes) => {
            let is_redirected = grant_types.contains(&GrantType::AuthorizationCode);
            FieldValue::Texts(if is_redirected { vec![RESPONSE_TYPE_CODE] } else { Vec::new() })
        }
        Err(JudgedField::GrantTypes) => {
            FieldValue::Texts(grant_types.iter().map(|grant_type| grant_type.name()).collect())
        }
        Err(JudgedField::Method) => FieldValue::Text(Some(Cow::Borrowed(method))),
        Err(JudgedField::BackchannelLogoutUri) => {
            FieldValue::Text(backchannel_logout_uri.as_deref().map(Cow::Borrowed))
        }
        Err(JudgedField::PushedRequests) => FieldValue::Truth(*requires_pushed_requests),
        Err(JudgedField::BoundTokens) => FieldValue::Truth(*requires_bound_tokens),
    }
}
