//! How the schemas of what the admin interface reads and writes are made, and what several subjects have in
//! common. The schemas themselves are beside their types. Names, types, descriptions and required fields come from
//! the types; rules about values are added there.

use countersign_domain::client_field::ClientField;
use countersign_http_actix::openapi::client_fields;
use countersign_http_actix::openapi::formats::{self, ID, readable};
use countersign_usecases::clients::client_view::ClientView;
use countersign_usecases::clients::registration::Writer;
use paperclip::v2::schema::Apiv2Schema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A schema of the document.
#[derive(Clone, Copy)]
pub(super) struct Schema {
    /// Its name in the document. Two schemas with one name are the same.
    pub(super) name: &'static str,
    pub(super) make: fn() -> Value,
    /// Only of a body that a request has.
    pub(super) example: Option<Example>,
}

/// An example of a body.
#[derive(Clone, Copy)]
pub(super) struct Example {
    pub(super) make: fn() -> Value,
    /// Reads a body as the handler does.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test reads the examples"))]
    pub(super) read: fn(Value) -> Result<(), serde_json::Error>,
}

impl Schema {
    /// The schema of a body that a handler reads as `T`.
    pub(super) const fn body<T: DeserializeOwned>(
        name: &'static str,
        make: fn() -> Value,
        example: fn() -> Value,
    ) -> Self {
        Self { name, make, example: Some(Example { make: example, read: read::<T> }) }
    }

    /// The schema of an answer.
    pub(super) const fn answer(name: &'static str, make: fn() -> Value) -> Self {
        Self { name, make, example: None }
    }

    /// The schema of an answer whose type says everything.
    pub(super) const fn of<T: Apiv2Schema>(name: &'static str) -> Self {
        Self::answer(name, || answer::<T>(&[]))
    }

    /// Adds it, unless it is there.
    pub(super) fn add_to(&self, schemas: &mut Map<String, Value>) {
        if !schemas.contains_key(self.name) {
            schemas.insert(self.name.to_owned(), (self.make)());
        }
    }
}

/// An address on the web.
pub(super) const ADDRESS: &str = "^https://[a-z]{1,20}\\.example(/[a-z0-9]{1,20}){0,3}$";

fn read<T: DeserializeOwned>(body: Value) -> Result<(), serde_json::Error> {
    serde_json::from_value::<T>(body).map(drop)
}

/// The rules of a title.
pub(super) fn title() -> Value {
    json!({"maxLength": 100, "pattern": readable()})
}

/// The body of a registration.
pub(super) fn registration(required: &[&str]) -> Value {
    let address = json!({"maxLength": 2048, "pattern": ADDRESS});
    let redirect = json!({"type": "string", "pattern": ADDRESS});
    let mut schema = json!({
        "description": "The registration of a client, with the names of RFC 7591.",
        "type": "object",
        "properties": {"resources": {
            "description": "For a new client: the resources to open to it.",
            "type": "array",
            "items": redirect,
            "maxItems": 8,
            "uniqueItems": true,
        }},
    });
    let fields = ClientField::ALL.iter().copied().filter(|field| Writer::Operator.says(*field));
    client_fields::add(&mut schema, fields, |_| false);
    let mut rules = client_fields::rules(&address, &redirect);
    rules.extend([
        (ClientField::RedirectUris.name(), json!({"minItems": 1, "uniqueItems": true})),
        (ClientField::PostLogoutRedirectUris.name(), json!({"uniqueItems": true})),
        (
            ClientField::Scopes.name(),
            json!({"pattern": "^(openid|profile|email|offline_access)( (openid|profile|email|offline_access))*$"}),
        ),
        (
            ClientField::GrantTypes.name(),
            json!({"minItems": 1, "items": {"type": "string", "enum": ["authorization_code", "refresh_token"]}}),
        ),
        (
            ClientField::Method.name(),
            json!({"enum": ["client_secret_post", "client_secret_basic", "none", null]}),
        ),
        (ClientField::Jwks.name(), json!({"maxProperties": 0})),
    ]);
    let mut schema = request_of(ruled(schema, &rules), required);
    // Null is the same as leaving out.
    let both = json!({"jwks": {"type": "object"}, "jwks_uri": {"type": "string"}});
    schema["allOf"] = json!([{"not": {"required": ["jwks", "jwks_uri"], "properties": both}}]);
    schema
}

/// A client, as answers show it.
pub(super) fn client() -> Value {
    let text = |description| json!({"description": description, "type": "string"});
    let texts =
        |description| json!({"description": description, "type": "array", "items": {"type": "string"}});
    let mut id = text("Its id.");
    id["format"] = json!("uuid");
    id["pattern"] = json!(ID);
    let mut schema = json!({
        "description": "A client. What has no value is left out.",
        "type": "object",
        "properties": {
            "client_id": id,
            "client_secret": text("Its secret. Only when it was created."),
            "registration_access_token": text("The token for its own management (RFC 7592). Only when it was created."),
            "secret_mark": text("Changes when its secret does, and says nothing of it. Only if it has one."),
            "resources": texts("The resources that are open to it."),
            "document": text("The address of the document that describes it."),
            "registered_by": text("Who registered it: `operator`, `self` or `document`."),
            "created_at": text("When it was registered."),
        },
        "required": ["client_id", "resources", "registered_by", "created_at"],
    });
    client_fields::add(&mut schema, ClientView::fields(), ClientView::always_shows);
    formats::name(&mut schema);
    schema
}

/// The schema of a request, which takes no other fields. A field that is not required may also be null.
pub(super) fn request<T: Apiv2Schema>(required: &[&str], rules: &[(&str, Value)]) -> Value {
    request_of(derived::<T>(rules), required)
}

fn request_of(mut schema: Value, required: &[&str]) -> Value {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            if !required.contains(&name.as_str()) {
                property["nullable"] = Value::Bool(true);
            }
        }
    }
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
    }
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = Value::Bool(false);
    schema
}

/// The schema of an answer.
pub(super) fn answer<T: Apiv2Schema>(rules: &[(&str, Value)]) -> Value {
    let mut schema = derived::<T>(rules);
    formats::name(&mut schema);
    schema
}

/// The schema that the derive made, with `rules` added.
fn derived<T: Apiv2Schema>(rules: &[(&str, Value)]) -> Value {
    ruled(serde_json::to_value(T::raw_schema()).unwrap_or_default(), rules)
}

/// Adds rules to the fields of a schema.
fn ruled(mut schema: Value, rules: &[(&str, Value)]) -> Value {
    for (name, rule) in rules {
        let property = &mut schema["properties"][*name];
        if let (Value::Object(property), Value::Object(rule)) = (property, rule) {
            property.extend(rule.clone());
        }
    }
    schema
}

/// Says what the items of a list are.
pub(super) fn items(mut schema: Value, field: &str, item: Value) -> Value {
    schema["properties"][field]["items"] = item;
    schema
}

/// The schema of an answer that lists such items.
pub(super) fn list<T: Apiv2Schema>(item: Value) -> Value {
    items(answer::<T>(&[]), "items", item)
}

/// The schema of a page of a list, of which `next` names the last row.
pub(super) fn page<T: Apiv2Schema>(next: Value, item: Value) -> Value {
    items(answer::<T>(&[("next", next)]), "items", item)
}

/// Says what fields are objects.
pub(super) fn with(mut schema: Value, fields: &[(&str, Value)]) -> Value {
    for (field, object) in fields {
        schema["properties"][*field] = object.clone();
    }
    schema
}

/// Takes a field away.
pub(super) fn without(mut schema: Value, field: &str) -> Value {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove(field);
    }
    schema
}
