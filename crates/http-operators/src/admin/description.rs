//! The OpenAPI document of the admin interface, made of the operations and of the types.

use countersign_http_actix::openapi::formats;
use serde_json::{Map, Value, json};

use super::all;
use super::operations::{BASE, Operation, Parameter};
use super::problem::{self, PROBLEM, kind_of};
use super::schemas::Schema;

const INTRODUCTION: &str = "What the command line can do, for programs. Send an admin key as `Authorization: Bearer csak_…`; \
`countersign admin-key create` makes one. Each operation names the scope that it needs, and a scope to write includes \
reading.\n\nErrors are problem documents (RFC 9457). Times are ISO 8601 in UTC, and unknown values are left out. Unknown \
fields and parameters are refused. Lists have pages: send `next` of one as `after` for the following one. A body can have up \
to 64 KiB, the URL and the headers up to 16 KiB each.\n\nAn answer with an `ETag` can be changed with `If-Match`: of two who \
read the same, one is answered and the other gets 412. A creation with an `Idempotency-Key` can be repeated for a day: the \
repeat gets the same answer, with the same secrets.";

/// The name of the security scheme.
const ADMIN_KEY: &str = "adminKey";

/// Makes the document of the admin interface.
pub fn admin_openapi_json() -> String {
    document().to_string()
}

/// The document.
pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    for operation in all::operations() {
        let path = paths.entry(format!("{BASE}{}", operation.path)).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            path.insert(operation.method.to_lowercase(), described(operation));
        }
    }
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Countersign admin interface",
            "version": env!("CARGO_PKG_VERSION"),
            "description": INTRODUCTION,
            "license": {"name": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [
            {"name": "clients", "description": "Clients, who can sign in to them, and resources."},
            {"name": "users", "description": "Users and wallets."},
            {"name": "groups", "description": "Groups and their members."},
            {"name": "events", "description": "What happened."},
            {"name": "keys", "description": "Signing keys."},
        ],
        "paths": paths,
        "components": {
            "schemas": all::schemas(),
            "headers": headers(),
            "securitySchemes": {
                (ADMIN_KEY): {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An admin key, sent as `Authorization: Bearer csak_…`.",
                },
            },
        },
    })
}

fn described(operation: &Operation) -> Value {
    let mut parameters: Vec<Value> = operation.path_parts().map(of_path).collect();
    parameters.extend(operation.query.iter().copied().map(of_query));
    if operation.is_guarded {
        let text = "The ETag of what was read. If it is another by now, nothing is changed.";
        let mut header = header("If-Match", text, "\"h7Qk2vXbT0mA1c9dYwZeLg\"");
        header["schema"] = json!({"type": "string"});
        parameters.push(header);
    }
    if operation.is_repeatable {
        let text =
            "A name for this request, 1 to 255 characters. A repeat within a day gets the same answer.";
        parameters.push(header("Idempotency-Key", text, "4b8c1a52-deploy-17"));
    }
    let needs = operation.needs.to_string();
    let mut described = json!({
        "operationId": operation.id,
        "tags": [operation.needs.area.name()],
        "summary": operation.summary,
        "description": format!("{} Needs the scope `{needs}`.", operation.text),
        "x-scope": needs,
        "x-command": operation.verb,
        "responses": responses(operation),
        "security": [{(ADMIN_KEY): []}],
    });
    if !parameters.is_empty() {
        described["parameters"] = Value::Array(parameters);
    }
    if let Some(schema) = operation.takes {
        described["requestBody"] = json!({
            "required": true,
            "content": {"application/json": {"schema": reference(schema), "examples": {
                "usual": {"summary": "An example", "value": schema.example.map(|example| (example.make)())},
            }}},
        });
    }
    described
}

fn responses(operation: &Operation) -> Value {
    let mut responses = Map::new();
    let mut good = json!({"description": "Done.", "headers": headers_of(&["RequestId", "CacheControl"])});
    if operation.is_tagged {
        good["headers"]["ETag"] = json!({"$ref": "#/components/headers/ETag"});
    }
    if let Some(schema) = operation.answers {
        good["content"] = json!({"application/json": {"schema": reference(schema)}});
    }
    responses.insert(operation.status.to_string(), good);
    let mut refusals = vec![400, 401, 403, 405, 414, 431, 500, 503];
    refusals.extend(operation.names_something().then_some(404));
    if operation.query.iter().any(|parameter| matches!(parameter, Parameter::Group | Parameter::User)) {
        refusals.push(404);
    }
    if operation.takes.is_some() {
        refusals.extend([408, 413, 415]);
    }
    refusals.extend(operation.conflicts.then_some(409));
    let is_about_user = operation.path.contains("{who}") && operation.method != "GET";
    refusals.extend((operation.is_guarded || is_about_user).then_some(412));
    refusals.extend(operation.is_repeatable.then_some(422));
    refusals.sort_unstable();
    for status in refusals {
        let status = actix_web::http::StatusCode::from_u16(status).unwrap_or_default();
        let (kind, title) = kind_of(status);
        let mut names = vec!["RequestId", "CacheControl"];
        match status.as_u16() {
            401 | 403 => names.push("BearerChallenge"),
            405 => names.push("Allow"),
            503 => names.push("RetryAfter"),
            _ => {}
        }
        let refused = json!({
            "description": format!("{title}: `{kind}`"),
            "headers": headers_of(&names),
            "content": {PROBLEM: {"schema": reference(problem::SCHEMA)}},
        });
        responses.insert(status.as_u16().to_string(), refused);
    }
    Value::Object(responses)
}

fn of_path(name: &'static str) -> Value {
    let (text, example, schema) = match name {
        "client_id" => ("The client's id.", "01a1fd8c-0000-7000-8000-000000000001", formats::id()),
        "uri" => ("The resource.", "https://api.example.com", json!({"type": "string", "format": "uri"})),
        "who" => (
            "A user's id, the address of a wallet, or a wallet with its chain (CAIP-10).",
            "eip155:1:0x2c7536E3605D9C16a7a3D7b1898e529396a65c23",
            formats::who(),
        ),
        "name" => ("The group's name.", "staff", json!({"type": "string", "pattern": formats::GROUP})),
        "event_id" => ("The event's id.", "019a1fd8-0000-7000-8000-000000000001", formats::id()),
        _ => {
            ("The key's id.", "2026-11-es256", json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,100}$"}))
        }
    };
    json!({"in": "path", "name": name, "required": true, "description": text, "schema": schema, "example": example})
}

fn of_query(parameter: Parameter) -> Value {
    let truth = || json!({"type": "boolean"});
    let moment = || json!({"type": "string", "format": "date-time"});
    let (name, text, example, schema) = match parameter {
        Parameter::Limit => (
            "limit",
            "How many there are in the answer; 100 if it is not sent.",
            json!(100),
            json!({"type": "integer", "minimum": 1, "maximum": 500}),
        ),
        Parameter::After(cursor) => {
            ("after", "`next` of the list before.", json!(cursor.example()), cursor.schema())
        }
        Parameter::Blocked => ("blocked", "Only those that are blocked.", json!(true), truth()),
        Parameter::Group => (
            "group",
            "Only users who are in this group.",
            json!("staff"),
            json!({"type": "string", "pattern": formats::GROUP}),
        ),
        Parameter::Kind => (
            "kind",
            "What an EVM address is. Only needed if it could be either.",
            json!("key"),
            json!({"type": "string", "enum": ["key", "contract"]}),
        ),
        Parameter::Since => {
            ("since", "Only events since this time.", json!("2026-11-23T12:00:00Z"), moment())
        }
        Parameter::Until => {
            ("until", "Only events before this time.", json!("2026-11-23T13:00:00Z"), moment())
        }
        Parameter::Type => (
            "type",
            "Only events of these kinds, separated by commas.",
            json!("sign_in,sign_out"),
            json!({"type": "string", "pattern": "^(sign_in|sign_out|grant_revoked|client_changed)$"}),
        ),
        Parameter::User => (
            "user",
            "Only events about this user: an id, an address, a wallet with its chain, or `deleted:…`.",
            json!("eip155:1:0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"),
            {
                let mut schema = formats::who();
                let deleted = json!({"type": "string", "pattern": "^deleted:[0-9a-f]{32}$"});
                schema["anyOf"].as_array_mut().into_iter().for_each(|kinds| kinds.push(deleted.clone()));
                schema
            },
        ),
        Parameter::Client => (
            "client",
            "Only events about this client.",
            json!("01a1fd8c-0000-7000-8000-000000000001"),
            formats::id(),
        ),
        Parameter::KeepOffline => (
            "keep_offline",
            "Keep the tokens with `offline_access`, which apps use while the person is away.",
            json!(true),
            truth(),
        ),
        Parameter::Force => ("force", "Do it although it is in use.", json!(true), truth()),
    };
    json!({"in": "query", "name": name, "required": false, "description": text, "schema": schema, "example": example})
}

fn header(name: &str, text: &str, example: &str) -> Value {
    json!({
        "in": "header",
        "name": name,
        "required": false,
        "description": text,
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        "example": example,
    })
}

fn reference(schema: Schema) -> Value {
    json!({"$ref": format!("#/components/schemas/{}", schema.name)})
}

fn headers_of(names: &[&str]) -> Value {
    let named = names.iter().map(|name| {
        let wire = match *name {
            "RequestId" => "X-Request-Id",
            "CacheControl" => "Cache-Control",
            "BearerChallenge" => "WWW-Authenticate",
            "RetryAfter" => "Retry-After",
            other => other,
        };
        (wire.to_owned(), json!({"$ref": format!("#/components/headers/{name}")}))
    });
    Value::Object(named.collect())
}

fn headers() -> Value {
    let header = |text: &str, example: &str| json!({"description": text, "required": true, "schema": {"type": "string"}, "example": example});
    json!({
        "RequestId": header("Identifies this response in the log.", "3f0e6a0c5d8f4f0f9d0a7a2f0b9c4e11"),
        "CacheControl": header("Never cached.", "no-store"),
        "BearerChallenge": header("The scheme of RFC 6750, and the scope that is missing.", "Bearer realm=\"countersign admin\""),
        "Allow": header("The methods that the path takes.", "GET, PATCH, DELETE"),
        "ETag": header("What this is now. Send it as `If-Match`.", "\"h7Qk2vXbT0mA1c9dYwZeLg\""),
        "RetryAfter": {
            "description": "Seconds to wait.",
            "required": true,
            "schema": {"type": "integer", "minimum": 0},
            "example": 2,
        },
    })
}
