//! A registration in JSON, with the names of RFC 7591.
//!
//! Requests and documents are read as they arrive. Files, flags and changes of a part are objects that are
//! put together first ([`Fields`]). There are no rules of registration here: only the types of the fields are
//! checked.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use countersign_domain::client::Client;
use countersign_domain::client_field::{ClientField, FieldKind, FieldSlot};
use countersign_domain::client_view::FieldValue;
use countersign_domain::registration::RequestedMetadata;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

/// What someone registers, and what they say beside it.
#[derive(Clone, Debug, Default)]
pub struct Registration {
    /// The fields.
    pub requested: RequestedMetadata,
    /// `client_id`
    pub client_id: Option<String>,
    /// `client_secret`
    pub client_secret: Option<String>,
    /// Does it name a secret, whatever its value?
    pub names_a_secret: bool,
    /// `resources`
    pub resources: Option<Vec<String>>,
}

/// Who wrote a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A client, in a request. It may say more than we know. What only operators decide is ignored.
    Client,
    /// The host of a document. The same document is for every server, so it says only what is in RFC 7591, and may say
    /// more than we know. We never write to contacts.
    Document,
    /// An operator, or a program of theirs. It says nothing twice, and nothing that we do not know.
    Operator,
}

impl Writer {
    /// Can it say this?
    pub const fn says(self, field: ClientField) -> bool {
        match self {
            Self::Client => !field.is_operators(),
            Self::Document => {
                !field.is_operators() && !matches!(field, ClientField::ScopeList | ClientField::Contacts)
            }
            Self::Operator => field.is_stored(),
        }
    }
}

/// The names that an operator's registration can have.
static OF_OPERATORS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let fields = ClientField::ALL.iter().filter(|field| Writer::Operator.says(**field));
    fields.map(|field| field.name()).chain([RESOURCES]).collect()
});

const RESOURCES: &str = "resources";

/// Where the names beside the fields begin, among those that were seen. All of them fit into 64 bits.
const BESIDE: usize = ClientField::ALL.len();
const _: () = assert!(BESIDE + 4 <= 64);

/// A name in an object.
enum Name {
    Field(ClientField),
    ClientId,
    ClientSecret,
    SecretEnd,
    Resources,
    Unknown,
}

/// Reads a name.
struct NameOf(Writer);

impl<'de> DeserializeSeed<'de> for NameOf {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for NameOf {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
        if let Some(field) = ClientField::named(name).filter(|field| self.0.says(*field)) {
            return Ok(Name::Field(field));
        }
        Ok(match (self.0, name) {
            (Writer::Client | Writer::Document, "client_id") => Name::ClientId,
            (Writer::Client | Writer::Document, "client_secret") => Name::ClientSecret,
            (Writer::Document, "client_secret_expires_at") => Name::SecretEnd,
            (Writer::Operator, RESOURCES) => Name::Resources,
            (Writer::Operator, _) => return Err(E::unknown_field(name, &OF_OPERATORS)),
            (Writer::Client | Writer::Document, _) => Name::Unknown,
        })
    }
}

impl Registration {
    /// Reads what this writer wrote.
    pub fn read<'de, D: Deserializer<'de>>(writer: Writer, deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RegistrationVisitor(writer))
    }
}

struct RegistrationVisitor(Writer);

impl<'de> Visitor<'de> for RegistrationVisitor {
    type Value = Registration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a registration")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Registration, A::Error> {
        let mut read = Registration::default();
        let mut seen = 0_u64;
        while let Some(name) = map.next_key_seed(NameOf(self.0))? {
            let (bit, known) = match name {
                Name::Field(field) => (field as usize, field.name()),
                Name::ClientId => (BESIDE, "client_id"),
                Name::ClientSecret => (BESIDE + 1, "client_secret"),
                Name::SecretEnd => (BESIDE + 2, "client_secret_expires_at"),
                Name::Resources => (BESIDE + 3, RESOURCES),
                Name::Unknown => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if seen & (1 << bit) != 0 {
                return Err(A::Error::duplicate_field(known));
            }
            seen |= 1 << bit;
            match name {
                Name::Field(field) => match read.requested.slot(field) {
                    FieldSlot::Text(text) if field.kind() == FieldKind::Keys => {
                        let keys = map.next_value::<Option<BTreeMap<String, Value>>>()?;
                        *text = keys.map(|keys| Value::from_iter(keys).to_string());
                    }
                    FieldSlot::Text(text) => *text = map.next_value()?,
                    FieldSlot::Truth(truth) => *truth = map.next_value()?,
                    FieldSlot::Number(number) => *number = map.next_value()?,
                    FieldSlot::Texts(texts) => *texts = map.next_value()?,
                    FieldSlot::Several(texts) => {
                        *texts = map.next_value::<Option<_>>()?.unwrap_or_default();
                    }
                },
                Name::ClientId => read.client_id = map.next_value()?,
                Name::ClientSecret if self.0 == Writer::Client => read.client_secret = map.next_value()?,
                Name::ClientSecret | Name::SecretEnd => {
                    read.names_a_secret |= map.next_value::<Option<IgnoredAny>>()?.is_some();
                }
                Name::Resources => read.resources = map.next_value()?,
                Name::Unknown => {}
            }
        }
        Ok(read)
    }
}

/// The fields of a registration by name, as they are put together. [`Value::Null`] says that a field shall have no
/// value.
pub type Fields = Map<String, Value>;

/// A field has a value of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} must be {rule}")]
pub struct WrongType {
    /// The field.
    pub field: ClientField,
    /// What its value must be.
    pub rule: &'static str,
}

/// What the fields ask for. Checks their types and nothing else.
pub fn requested(fields: &Fields) -> Result<RequestedMetadata, WrongType> {
    let mut requested = RequestedMetadata::default();
    for field in ClientField::ALL {
        let value = match fields.get(field.name()) {
            None | Some(Value::Null) => continue,
            Some(value) => value,
        };
        let wrong = |rule| WrongType { field: *field, rule };
        match requested.slot(*field) {
            // A key set that was stored before it had to be JSON is shown as text, and stays what it is.
            FieldSlot::Text(text) if field.kind() == FieldKind::Keys => {
                let keys = value.as_object().map(|_| value.to_string());
                let keys = keys.or_else(|| value.as_str().map(str::to_owned));
                *text = Some(keys.ok_or_else(|| wrong("a JSON Web Key Set"))?);
            }
            FieldSlot::Text(text) => {
                *text = Some(value.as_str().ok_or_else(|| wrong("a string"))?.to_owned());
            }
            FieldSlot::Truth(truth) => {
                *truth = Some(value.as_bool().ok_or_else(|| wrong("true or false"))?);
            }
            FieldSlot::Number(number) => {
                let whole = value.as_u64().and_then(|whole| u32::try_from(whole).ok());
                *number = Some(whole.ok_or_else(|| wrong("a whole number"))?);
            }
            FieldSlot::Texts(texts) => *texts = Some(list(value).ok_or_else(|| wrong("a list of strings"))?),
            FieldSlot::Several(texts) => *texts = list(value).ok_or_else(|| wrong("a list of strings"))?,
        }
    }
    Ok(requested)
}

fn list(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|entry| entry.as_str().map(str::to_owned)).collect()
}

/// The registration of a client, as a change of some of its fields begins.
pub fn fields_of(client: &Client) -> Fields {
    let stored = ClientField::ALL.iter().filter(|field| field.is_stored());
    let values = stored.map(|field| (field, client.field(*field)));
    let said = values.filter(|(field, value)| !is_empty_list(**field, value));
    said.filter_map(|(field, value)| Some((field.name().to_owned(), json_of(*field, value)?))).collect()
}

/// A list that says nothing because it is empty.
pub(crate) fn is_empty_list(field: ClientField, value: &FieldValue<'_>) -> bool {
    let is_empty = matches!(value, FieldValue::Texts(texts) if texts.is_empty());
    is_empty && ClientField::DISPLAY.contains(&field)
}

/// A value for programs, if there is one.
pub(crate) fn json_of(field: ClientField, value: FieldValue<'_>) -> Option<Value> {
    Some(match value {
        FieldValue::Text(text) if field.kind() == FieldKind::Keys => {
            let text = text?;
            serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text))
        }
        FieldValue::Text(text) => Value::from(text?),
        FieldValue::Texts(texts) => Value::from(texts),
        FieldValue::Truth(truth) => Value::from(truth),
        FieldValue::Number(number) => Value::from(number?),
    })
}

/// Says on top of `fields` what `changes` says; null takes a field away.
pub fn change(fields: &mut Fields, changes: Fields) {
    if [ClientField::Scopes, ClientField::ScopeList].iter().any(|field| changes.contains_key(field.name())) {
        // Two spellings of one field.
        clear(fields, ClientField::Scopes.name());
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
pub fn clear(fields: &mut Fields, name: &str) {
    fields.remove(name);
    if name == ClientField::Scopes.name() {
        fields.remove(ClientField::ScopeList.name());
    }
}
