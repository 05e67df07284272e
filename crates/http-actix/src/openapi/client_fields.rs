//! The fields of a client in both descriptions, made of the table of fields.

use countersign_domain::client_field::{ClientField, FieldKind};
use countersign_domain::lifetimes::{Lifetimes, SHORTEST};
use serde_json::{Value, json};

use crate::openapi::formats::readable;

/// Adds fields to the schema of an object.
pub fn add(
    schema: &mut Value,
    fields: impl Iterator<Item = ClientField>,
    is_required: impl Fn(ClientField) -> bool,
) {
    for field in fields {
        schema["properties"][field.name()] = schema_of(field);
        if is_required(field) {
            if schema.get("required").is_none() {
                schema["required"] = json!([]);
            }
            schema["required"].as_array_mut().into_iter().for_each(|names| names.push(json!(field.name())));
        }
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.sort_by_key(|name| name.as_str().map(str::to_owned));
    }
}

/// The schema of a field.
fn schema_of(field: ClientField) -> Value {
    let mut schema = match field.kind() {
        FieldKind::Text | FieldKind::Address | FieldKind::OneOf(..) => json!({"type": "string"}),
        FieldKind::Keys => json!({"type": "object", "additionalProperties": {}}),
        FieldKind::Truth => json!({"type": "boolean"}),
        FieldKind::Seconds => json!({"type": "integer", "format": "int64"}),
        FieldKind::List | FieldKind::RedirectUris => json!({"type": "array", "items": {"type": "string"}}),
    };
    schema["description"] = json!(field.description());
    schema
}

/// What a request can say in a field, where that is the same in both interfaces. `address` is the rule for addresses on
/// the web, `redirect` that for a redirect URI.
pub fn rules(address: &Value, redirect: &Value) -> Vec<(&'static str, Value)> {
    let contact = json!({"type": "string", "maxLength": 254, "pattern": readable()});
    let mut rules = vec![
        (ClientField::Name.name(), json!({"minLength": 1, "maxLength": 100, "pattern": readable()})),
        (ClientField::Contacts.name(), json!({"maxItems": 10, "items": contact})),
    ];
    for field in ClientField::ALL {
        let rule = match field.kind() {
            FieldKind::Address => address.clone(),
            FieldKind::OneOf(values, _) => {
                let values = values.iter().copied().map(Value::from).chain([Value::Null]);
                json!({"enum": values.collect::<Vec<_>>()})
            }
            FieldKind::RedirectUris => json!({"maxItems": 20, "items": redirect}),
            FieldKind::Seconds => {
                json!({"minimum": SHORTEST.whole_seconds(), "maximum": Lifetimes::FAMILY.whole_seconds()})
            }
            FieldKind::Text | FieldKind::Keys | FieldKind::Truth | FieldKind::List => continue,
        };
        rules.push((field.name(), rule));
    }
    rules
}
