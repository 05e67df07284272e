//! The schemas of the authorization request.

use serde_json::{Map, Value, json};

use crate::endpoint::sign_in::authorize::description::PARAMETERS;

/// The authorization request has no type of its own: the server judges its parameters one by one, and some of
/// them must not repeat.
pub(super) fn authorization_request() -> Value {
    let mut properties = Map::new();
    for parameter in PARAMETERS {
        let mut schema = parameter.schema();
        schema["description"] = json!(parameter.description);
        properties.insert(parameter.name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "description": "An authorization request.",
        "required": required_authorization_parameters(),
        "properties": properties,
    })
}

/// The same for a pushed request, where a confidential client must authenticate.
pub(super) fn pushed_authorization_request() -> Value {
    let mut schema = authorization_request();
    schema["description"] = json!("A pushed authorization request.");
    schema["properties"]["client_secret"] = json!({
        "type": "string",
        "description": "The client's secret, unless it is in HTTP Basic or the client is public.",
    });
    schema
}

fn required_authorization_parameters() -> Vec<&'static str> {
    PARAMETERS.iter().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect()
}
