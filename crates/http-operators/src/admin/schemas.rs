//! The schemas of what the admin interface reads and writes. Names, types, descriptions and required fields come from
//! the types; rules about values are added here.

use countersign_domain::client_field::ClientField;
use countersign_http_actix::openapi::client_fields;
use countersign_http_actix::openapi::formats::{self, GROUP, ID, readable};
use countersign_usecases::clients::client_view::ClientView;
use countersign_usecases::clients::registration::Writer;
use paperclip::v2::schema::Apiv2Schema;
use serde_json::{Map, Value, json};

use super::operations::Cursor;
use super::problem::ProblemBody;
use super::{clients, events, groups, keys, resources, users};

/// A rule of access.
const RULE: &str = "^(default|everyone|nobody|groups:[a-z][a-z0-9_.:-]{0,63}(,[a-z][a-z0-9_.:-]{0,63})*)$";
/// Groups to release.
const RELEASE: &str = "^(rule|all|[a-z][a-z0-9_.:-]{0,63}(,[a-z][a-z0-9_.:-]{0,63})*)$";
/// An address on the web.
const ADDRESS: &str = "^https://[a-z]{1,20}\\.example(/[a-z0-9]{1,20}){0,3}$";

pub(crate) fn all() -> Map<String, Value> {
    let uuid = || json!({"format": "uuid", "pattern": ID});
    let block = || answer::<users::BlockBody>(&[("at", json!({"format": "date-time"}))]);
    let user_listed = || with(answer::<users::UserListed>(&[("id", uuid())]), &[("blocked", block())]);
    let title = || json!({"maxLength": 100, "pattern": readable()});
    let scope = answer::<resources::ScopeBody>(&[]);
    let resource = || items(answer::<resources::ResourceBody>(&[]), "scopes", scope.clone());
    let scope_request = request::<resources::ScopeRequest>(
        &["name"],
        &[
            ("name", json!({"pattern": "^[a-z]{1,20}\\.[a-z]{1,20}$"})),
            ("title", title()),
            ("titles", json!({"maxProperties": 0})),
            ("needs", json!({"pattern": GROUP})),
        ],
    );
    let open_to = || json!({"enum": ["everyone", "named", null]});
    let event = || answer::<events::EventBody>(&[("id", uuid()), ("at", json!({"format": "date-time"}))]);
    let group = || answer::<groups::GroupBody>(&[]);
    let key = answer::<keys::KeyBody>(&[]);
    let wallet = with(answer::<users::WalletBody>(&[]), &[("blocked", block())]);
    let mut user = with(answer::<users::UserBody>(&[("id", uuid())]), &[("blocked", block())]);
    for (field, schema) in [
        ("blocked_wallets", answer::<users::BlockedWalletBody>(&[])),
        ("groups", answer::<users::MembershipBody>(&[])),
        ("sessions", answer::<users::SessionBody>(&[])),
        ("grants", answer::<users::GrantBody>(&[])),
    ] {
        user = items(user, field, schema);
    }
    let schemas = [
        ("Registration", registration(&["client_name", "redirect_uris"])),
        ("RegistrationUpdate", without(registration(&[]), "resources")),
        ("Client", client()),
        (
            "ClientList",
            items(answer::<clients::ClientList>(&[("next", Cursor::Id.schema())]), "items", client()),
        ),
        (
            "NewSecret",
            request::<clients::NewSecret>(&[], &[("keep_old", json!({"minimum": 0, "maximum": 7_776_000}))]),
        ),
        ("Secret", answer::<clients::SecretBody>(&[])),
        (
            "SecretList",
            items(answer::<clients::SecretList>(&[]), "items", answer::<clients::SecretRecordBody>(&[])),
        ),
        (
            "ResourceUris",
            request::<clients::ResourceUris>(
                &["resources"],
                &[("resources", json!({"items": {"type": "string", "pattern": ADDRESS}}))],
            ),
        ),
        // Anything can be closed: it may be open since other rules held.
        ("ResourcesToClose", request::<clients::ResourceUris>(&["resources"], &[])),
        (
            "NewAccess",
            request::<clients::NewAccess>(
                &["rule"],
                &[("rule", json!({"pattern": RULE})), ("release", json!({"pattern": RELEASE}))],
            ),
        ),
        ("Access", items(answer::<clients::AccessBody>(&[]), "groups", answer::<clients::AccessGroup>(&[]))),
        (
            "NewResource",
            items(
                request::<resources::NewResource>(
                    &["uri", "scopes"],
                    &[("uri", json!({"pattern": ADDRESS})), ("name", title()), ("open_to", open_to())],
                ),
                "scopes",
                scope_request.clone(),
            ),
        ),
        (
            "ResourceUpdate",
            items(
                request::<resources::ResourceUpdate>(
                    &["scopes"],
                    &[("name", title()), ("open_to", open_to())],
                ),
                "scopes",
                scope_request,
            ),
        ),
        ("Resource", resource()),
        (
            "ResourceList",
            items(answer::<resources::ResourceList>(&[("next", Cursor::Uri.schema())]), "items", resource()),
        ),
        (
            "BlockRequest",
            request::<users::BlockRequest>(
                &[],
                &[("reason", json!({"maxLength": 200, "pattern": readable()}))],
            ),
        ),
        ("BlockedNow", answer::<users::BlockedNowBody>(&[])),
        ("Unblocked", answer::<users::UnblockedBody>(&[])),
        ("SignedOut", answer::<users::SignedOutBody>(&[("id", uuid())])),
        ("UserDeleted", answer::<users::UserDeletedBody>(&[("id", uuid())])),
        ("User", user),
        (
            "UserList",
            items(answer::<users::UserList>(&[("next", Cursor::Id.schema())]), "items", user_listed()),
        ),
        (
            "WalletList",
            items(answer::<users::WalletList>(&[("next", Cursor::Row.schema())]), "items", wallet),
        ),
        (
            "NewGroup",
            request::<groups::NewGroup>(
                &["name"],
                &[
                    ("name", json!({"pattern": GROUP})),
                    ("title", json!({"maxLength": 100, "pattern": readable()})),
                ],
            ),
        ),
        ("GroupUpdate", {
            let title = ("title", json!({"maxLength": 100, "pattern": readable()}));
            let mut schema = request::<groups::GroupUpdate>(&[], &[title]);
            schema["required"] = json!(["title"]);
            schema
        }),
        ("Group", group()),
        (
            "GroupList",
            items(answer::<groups::GroupList>(&[("next", Cursor::Group.schema())]), "items", group()),
        ),
        ("GroupDeleted", answer::<groups::GroupDeletedBody>(&[])),
        (
            "MemberList",
            items(
                answer::<groups::MemberList>(&[("next", Cursor::Row.schema())]),
                "items",
                answer::<groups::MemberBody>(&[]),
            ),
        ),
        (
            "Members",
            request::<groups::Members>(
                &["members"],
                &[
                    ("members", json!({"minItems": 1, "maxItems": 1000, "items": formats::who()})),
                    ("kind", json!({"enum": ["key", "contract", null]})),
                ],
            ),
        ),
        (
            "MembersAdded",
            items(answer::<groups::MembersAdded>(&[]), "items", answer::<groups::MemberAddedBody>(&[])),
        ),
        (
            "MembersRemoved",
            items(answer::<groups::MembersRemoved>(&[]), "items", answer::<groups::MemberRemovedBody>(&[])),
        ),
        ("Event", event()),
        ("EventList", items(answer::<events::EventList>(&[("next", Cursor::Id.schema())]), "items", event())),
        (
            "CheckpointList",
            items(
                answer::<events::CheckpointList>(&[("next", Cursor::Number.schema())]),
                "items",
                answer::<events::CheckpointBody>(&[]),
            ),
        ),
        ("KeyList", items(answer::<keys::KeyList>(&[]), "items", key)),
        (
            "KeyRotation",
            request::<keys::KeyRotationRequest>(
                &[],
                &[("algorithm", json!({"enum": ["RS256", "ES256", "EdDSA", null]}))],
            ),
        ),
        ("KeyWithdrawn", answer::<keys::KeyWithdrawn>(&[("state", json!({"enum": ["withdrawn"]}))])),
        ("Problem", answer::<ProblemBody>(&[])),
    ];
    schemas.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

/// An example of a body.
pub(crate) fn example(schema: &str) -> Value {
    match schema {
        "Registration" => json!({
            "client_name": "Photo Album",
            "redirect_uris": ["https://photos.example/callback"],
            "scope": "openid profile",
        }),
        "RegistrationUpdate" => json!({"client_name": "Photo Album, renamed", "logo_uri": null}),
        "NewSecret" => json!({"keep_old": 86_400}),
        "ResourceUris" | "ResourcesToClose" => json!({"resources": ["https://api.example"]}),
        "NewAccess" => json!({"rule": "groups:staff", "release": "rule"}),
        "NewResource" => json!({
            "uri": "https://api.example",
            "name": "Photo Store",
            "scopes": [{"name": "photos.read", "title": "See your photos"}],
        }),
        "ResourceUpdate" => json!({"open_to": "named", "scopes": [{"name": "photos.read"}]}),
        "BlockRequest" => json!({"reason": "lost phone"}),
        "NewGroup" => json!({"name": "staff", "title": "Everyone who works here"}),
        "GroupUpdate" => json!({"title": "Everyone"}),
        "Members" => json!({"members": ["0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"]}),
        _ => json!({}),
    }
}

fn registration(required: &[&str]) -> Value {
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

fn client() -> Value {
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
fn request<T: Apiv2Schema>(required: &[&str], rules: &[(&str, Value)]) -> Value {
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
fn answer<T: Apiv2Schema>(rules: &[(&str, Value)]) -> Value {
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
fn items(mut schema: Value, field: &str, item: Value) -> Value {
    schema["properties"][field]["items"] = item;
    schema
}

/// Says what fields are objects.
fn with(mut schema: Value, fields: &[(&str, Value)]) -> Value {
    for (field, object) in fields {
        schema["properties"][*field] = object.clone();
    }
    schema
}

/// Takes a field away.
fn without(mut schema: Value, field: &str) -> Value {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove(field);
    }
    schema
}
