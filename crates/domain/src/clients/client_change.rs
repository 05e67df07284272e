//! What differs between two versions of a client, field by field.
//!
//! What an operator reads before signing a change of a client comes from here, and so does what a client of the
//! operator's may change by itself.

use sha2::{Digest, Sha256};

use crate::client::{Client, ClientMetadata};
use crate::client_field::{ClientField, FieldKind};
use crate::client_view::{FieldValue, field_value};

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    /// One value, or none.
    One(Option<String>),
    /// Any number of values.
    Many(Vec<String>),
    /// Is it required? What is not required is wider.
    Required(bool),
}

impl Value {
    fn of(metadata: &ClientMetadata, method: &'static str, field: ClientField) -> Self {
        match field_value(metadata, method, field) {
            // The scopes are a set, whatever their spelling.
            FieldValue::Text(Some(text)) if field == ClientField::Scopes => {
                Self::Many(text.split_whitespace().map(str::to_owned).collect())
            }
            FieldValue::Text(Some(text)) if field.kind() == FieldKind::Keys => Self::One(Some(digest(&text))),
            FieldValue::Text(text) => Self::One(text.map(String::from)),
            FieldValue::Texts(texts) => Self::Many(texts.into_iter().map(str::to_owned).collect()),
            FieldValue::Number(number) => Self::One(number.map(|number| number.to_string())),
            FieldValue::Truth(is_required) => Self::Required(is_required),
        }
    }
}

/// The values of all fields.
fn values(metadata: &ClientMetadata, method: &'static str) -> Vec<(ClientField, Value)> {
    ClientField::in_words().into_iter().map(|field| (field, Value::of(metadata, method, field))).collect()
}

/// Keys are long, and no one reads them: half of the SHA-256 of their JSON distinguishes them.
fn digest(jwks: &str) -> String {
    format!("JWKS {}", hex::encode(&Sha256::digest(jwks)[..16]))
}

/// What becomes of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// The field.
    pub field: ClientField,
    /// The values that it has no longer.
    pub gone: Vec<String>,
    /// The values that it has from now on. If nothing is gone and nothing is new, the order changes.
    pub new: Vec<String>,
}

/// What a flag says.
const YES: &str = "yes";
const NO: &str = "no";

impl FieldChange {
    /// The fields that differ between two versions of a client.
    pub fn between(before: &Client, after: &Client) -> Vec<Self> {
        let sides = values(&before.metadata, before.authentication.method())
            .into_iter()
            .zip(values(&after.metadata, after.authentication.method()));
        sides
            .filter(|((_, before), (_, after))| before != after)
            .map(|((field, before), (_, after))| Self::of(field, &before.texts(), after.texts()))
            .collect()
    }

    /// The fields of a client that is about to be registered.
    pub fn of_new(metadata: &ClientMetadata, method: &'static str) -> Vec<Self> {
        let said = values(metadata, method).into_iter().filter(|(_, value)| *value != Value::Required(false));
        said.map(|(field, value)| Self::of(field, &[], value.texts()))
            .filter(|change| !change.new.is_empty())
            .collect()
    }

    /// A field that a client cannot change by itself if an operator registered it, because it would have more than
    /// before: a client may give up values, and require more. How it knows people stays.
    pub fn widened(before: &Client, after: &Client) -> Option<ClientField> {
        let is_moved = before.sector() != after.sector();
        let before = values(&before.metadata, before.authentication.method());
        let sides = before.into_iter().zip(values(&after.metadata, after.authentication.method()));
        let wider = |before: &Value, after: &Value| match (before, after) {
            (Value::One(before), Value::One(after)) => after.is_some() && before != after,
            (Value::Many(before), Value::Many(after)) => after.iter().any(|value| !before.contains(value)),
            (Value::Required(before), Value::Required(after)) => *before && !*after,
            (Value::One(_) | Value::Many(_) | Value::Required(_), _) => true,
        };
        if is_moved {
            return Some(ClientField::SubjectType);
        }
        // The kind of credential never changes, and a client with a secret may present it in both ways.
        let mut others = sides.filter(|((field, _), _)| *field != ClientField::Method);
        others.find(|((_, before), (_, after))| wider(before, after)).map(|((field, _), _)| field)
    }

    fn of(field: ClientField, before: &[String], after: Vec<String>) -> Self {
        let gone = before.iter().filter(|value| !after.contains(value)).cloned().collect();
        let new = after.into_iter().filter(|value| !before.contains(value)).collect();
        Self { field, gone, new }
    }
}

impl Value {
    fn texts(&self) -> Vec<String> {
        match self {
            Self::One(value) => value.iter().cloned().collect(),
            Self::Many(values) => values.clone(),
            Self::Required(is_required) => vec![if *is_required { YES } else { NO }.to_owned()],
        }
    }
}
