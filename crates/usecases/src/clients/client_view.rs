//! What is shown of a client, with the names of RFC 7591.

use countersign_domain::challenge::iso8601;
use countersign_domain::client::{Client, ClientAuthentication};
use countersign_domain::client_field::{ClientField, FieldKind};
use countersign_domain::client_view::FieldValue;
use countersign_domain::repeat_key::mark_of;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::clients::registration::{is_empty_list, json_of};

/// The registered fields of a client, as the client itself is shown them (RFC 7591): lists that can be empty and flags
/// only if they say something.
#[derive(Clone, Debug)]
pub struct RegisteredView(pub Client);

impl RegisteredView {
    /// Is this field of each client shown?
    pub fn always_shows(field: ClientField) -> bool {
        field != ClientField::SubjectType
            && !ClientField::DISPLAY.contains(&field)
            && !matches!(field.kind(), FieldKind::Truth | FieldKind::Address)
    }
}

impl Serialize for RegisteredView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for field in ClientField::ALL {
            match self.0.field(*field) {
                FieldValue::Text(None) | FieldValue::Truth(false) | FieldValue::Number(None) => {}
                FieldValue::Text(Some(text)) if field.kind() != FieldKind::Keys => {
                    map.serialize_entry(field.name(), &text)?;
                }
                value @ FieldValue::Text(Some(_)) => {
                    map.serialize_entry(field.name(), &json_of(*field, value))?;
                }
                value @ FieldValue::Texts(_) if is_empty_list(*field, &value) => {}
                FieldValue::Texts(texts) => map.serialize_entry(field.name(), &texts)?,
                FieldValue::Number(Some(number)) => map.serialize_entry(field.name(), &number)?,
                FieldValue::Truth(true) => map.serialize_entry(field.name(), &true)?,
            }
        }
        map.end()
    }
}

/// A client, as operators are shown it. What has no value is left out.
#[derive(Clone, Debug)]
pub struct ClientView(pub Client);

impl ClientView {
    /// The fields of a registration that are shown.
    pub fn fields() -> impl Iterator<Item = ClientField> {
        let is_shown = |field: &ClientField| field.is_stored() || *field == ClientField::ResponseTypes;
        ClientField::ALL.iter().copied().filter(is_shown)
    }

    /// Is this field of each client shown?
    pub fn always_shows(field: ClientField) -> bool {
        let is_list_or_flag =
            matches!(field.kind(), FieldKind::List | FieldKind::RedirectUris | FieldKind::Truth);
        is_list_or_flag || RegisteredView::always_shows(field)
    }

    /// Everything that is shown, in order. `None` if a field has no value.
    pub fn of(client: &Client) -> Vec<(&'static str, Option<Value>)> {
        let Client {
            id,
            authentication,
            metadata: _,
            origin,
            document,
            resources,
            registration_token: _,
            created_at,
            // No registration decides it, and it is shown with the rule that other clients follow.
            access: _,
        } = client;
        let secret_mark = match authentication {
            ClientAuthentication::Secret { secrets, .. } => Some(mark_of(secrets.current.as_bytes())),
            ClientAuthentication::Keys | ClientAuthentication::Public => None,
        };
        let mut shown = vec![("client_id", Some(Value::from(id.to_string())))];
        shown.extend(Self::fields().map(|field| (field.name(), json_of(field, client.field(field)))));
        shown.extend([
            ("secret_mark", secret_mark.map(Value::from)),
            ("resources", Some(Value::from(resources.as_slice()))),
            ("document", document.as_deref().map(Value::from)),
            ("registered_by", Some(Value::from(origin.name()))),
            ("created_at", Some(Value::from(iso8601(*created_at)))),
        ]);
        shown
    }
}

impl Serialize for ClientView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in Self::of(&self.0) {
            if let Some(value) = value {
                map.serialize_entry(name, &value)?;
            }
        }
        map.end()
    }
}
