//! The parameters of the authorization request, and its schemas.

use serde_json::{Map, Value, json};

use crate::openapi::examples;

/// The authorization request has no type of its own: it is judged by its parameters, some of which may not repeat.
pub(super) fn authorization_request() -> Value {
    let mut properties = Map::new();
    for parameter in AUTHORIZATION_PARAMETERS {
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

/// The same, from a client that may have to prove who it is.
pub(super) fn pushed_authorization_request() -> Value {
    let mut schema = authorization_request();
    schema["description"] = json!("An authorization request that is sent ahead.");
    schema["properties"]["client_secret"] = json!({
        "type": "string",
        "description": "The client's secret, unless HTTP Basic carries it or the client is public.",
    });
    schema
}

/// A parameter of the authorization request.
pub(crate) struct AuthorizationParameter {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) description: &'static str,
    pub(crate) example: &'static str,
    values: &'static [&'static str],
}

impl AuthorizationParameter {
    pub(crate) fn schema(&self) -> Value {
        let mut schema = json!({"type": "string"});
        if self.required {
            schema["minLength"] = json!(1);
        }
        if !self.values.is_empty() {
            schema["enum"] = json!(self.values);
        }
        schema
    }
}

fn required_authorization_parameters() -> Vec<&'static str> {
    AUTHORIZATION_PARAMETERS
        .iter()
        .filter(|parameter| parameter.required)
        .map(|parameter| parameter.name)
        .collect()
}

/// All parameters that mean something; others are ignored.
pub(crate) const AUTHORIZATION_PARAMETERS: [AuthorizationParameter; 13] = [
    AuthorizationParameter {
        name: "client_id",
        required: true,
        description: "The registered client.",
        example: examples::CLIENT_ID,
        values: &[],
    },
    AuthorizationParameter {
        name: "redirect_uri",
        required: true,
        description: "One of its redirect URIs, byte for byte; on a loopback IP address the port may differ.",
        example: examples::REDIRECT_URI,
        values: &[],
    },
    AuthorizationParameter {
        name: "response_type",
        required: true,
        description: "Always `code`.",
        example: "code",
        values: &["code"],
    },
    AuthorizationParameter {
        name: "scope",
        required: true,
        description: "Scopes that the client registered, separated by spaces. Only a request with an S256 `code_challenge` may \
                      leave it out, and then means all of them.",
        example: "profile",
        values: &[],
    },
    AuthorizationParameter {
        name: "state",
        required: true,
        description: "Comes back with the answer; the client compares it. Only a request with an S256 `code_challenge` may \
                      leave it out.",
        example: examples::STATE,
        values: &[],
    },
    AuthorizationParameter {
        name: "code_challenge",
        required: false,
        description: "PKCE: base64url of the SHA-256 of the verifier. Public clients must use it.",
        example: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        values: &[],
    },
    AuthorizationParameter {
        name: "code_challenge_method",
        required: false,
        description: "PKCE: always `S256`; `plain` is refused.",
        example: "S256",
        values: &["S256"],
    },
    AuthorizationParameter {
        name: "nonce",
        required: false,
        description: "OpenID Connect: at most 512 bytes.",
        example: "n-0S6_WzA2Mj",
        values: &[],
    },
    AuthorizationParameter {
        name: "prompt",
        required: false,
        description: "OpenID Connect: `login`, `consent` and `select_account` ask for a new signature; `none` is answered \
                      without a page: with a code for whoever is signed in and agreed before (never for self-registered \
                      clients), otherwise with `login_required` or `consent_required`.",
        example: "login",
        values: &[],
    },
    AuthorizationParameter {
        name: "max_age",
        required: false,
        description: "OpenID Connect: how old a remembered sign-in may be, in seconds.",
        example: "3600",
        values: &[],
    },
    AuthorizationParameter {
        name: "login_hint",
        required: false,
        description: "The wallet address that the person is expected to use.",
        example: examples::WALLET,
        values: &[],
    },
    AuthorizationParameter {
        name: "ui_locales",
        required: false,
        description: "OpenID Connect: the languages that the person reads, the best first.",
        example: "pt-BR en",
        values: &[],
    },
    AuthorizationParameter {
        name: "response_mode",
        required: false,
        description: "How the answer reaches the client: `query`, by a redirect, or `form_post`, by a form that the browser posts.",
        example: "form_post",
        values: &["query", "form_post"],
    },
];
