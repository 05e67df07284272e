//! What the OpenAPI document says about `/oauth/authorize` and each of its parameters.

use serde_json::{Value, json};

use crate::endpoint::description::examples::{CLIENT_ID, REDIRECT_URI, STATE, WALLET};
use crate::endpoint::description::operation::{
    Example, FORM, HTML, Operation, PAGE, UNKNOWN_CLIENT, parameter,
};

const PATH: &str = "/oauth/authorize";

/// A parameter of the authorization request.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) description: &'static str,
    pub(crate) example: &'static str,
    values: &'static [&'static str],
}

impl Parameter {
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

pub(crate) fn get() -> Operation {
    let description = "The client sends the person's browser here (RFC 6749, section 4.1.1). A valid request \
                       is kept in the sealed session cookie and redirects to `/auth`. Until the server knows \
                       that the client and the redirect URI are valid, it redirects nowhere; after that, \
                       every error goes back to the redirect URI as `error`, `error_description`, `state` \
                       and `iss`.";
    let operation =
        Operation::new("GET", PATH, ("authorize", "Send the person to sign in"), description).steps(&[2]);
    let operation = PARAMETERS.iter().fold(operation, |operation, each| {
        let texts = (each.description, each.example);
        operation.parameter(parameter("query", each.name, each.required, texts, each.schema()))
    });
    answers(operation, 302)
}

pub(crate) fn post() -> Operation {
    let value = json!({
        "client_id": CLIENT_ID, "redirect_uri": REDIRECT_URI, "response_type": "code", "scope": "profile", "state": STATE,
    });
    let operation = Operation::new(
        "POST",
        PATH,
        ("authorizeByForm", "Send the person to sign in, by a form"),
        "The parameters of `GET` in a form, for requests that should not be in a URL.",
    )
    .takes(
        &[FORM],
        "AuthorizationRequest",
        vec![Example { name: "code", summary: "A request for a code", value }],
    );
    answers(operation, 303)
}

fn answers(operation: Operation, redirect: u16) -> Operation {
    operation
        .tag("Sign-in")
        .answers_nothing(
            redirect,
            "To `/auth`, or back to the client with an error.",
            &["Location", "SetCookie"],
        )
        .shows(200, "With `response_mode=form_post`: the page that posts an error to the client.", HTML, PAGE)
        .refuses(400, &[UNKNOWN_CLIENT, ("invalid_request", "Invalid redirect_uri")])
        .stores()
}

/// All parameters that have a meaning. The endpoint ignores others.
pub(crate) const PARAMETERS: [Parameter; 13] = [
    Parameter {
        name: "client_id",
        required: true,
        description: "The registered client.",
        example: CLIENT_ID,
        values: &[],
    },
    Parameter {
        name: "redirect_uri",
        required: true,
        description: "One of the client's redirect URIs, byte for byte. On a loopback IP address the port \
                      can differ.",
        example: REDIRECT_URI,
        values: &[],
    },
    Parameter {
        name: "response_type",
        required: true,
        description: "Always `code`.",
        example: "code",
        values: &["code"],
    },
    Parameter {
        name: "scope",
        required: true,
        description: "Scopes that the client registered, separated by spaces. Only a request with an S256 \
                      `code_challenge` can leave it out; then it means all of them.",
        example: "profile",
        values: &[],
    },
    Parameter {
        name: "state",
        required: true,
        description: "The response repeats it, and the client must compare it. Only a request with an S256 \
                      `code_challenge` can leave it out.",
        example: STATE,
        values: &[],
    },
    Parameter {
        name: "code_challenge",
        required: false,
        description: "PKCE: base64url of the SHA-256 of the verifier. Public clients must use it.",
        example: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        values: &[],
    },
    Parameter {
        name: "code_challenge_method",
        required: false,
        description: "PKCE: always `S256`; `plain` is refused.",
        example: "S256",
        values: &["S256"],
    },
    Parameter {
        name: "nonce",
        required: false,
        description: "OpenID Connect: the ID token repeats it. At most 512 bytes.",
        example: "n-0S6_WzA2Mj",
        values: &[],
    },
    Parameter {
        name: "prompt",
        required: false,
        description: "OpenID Connect: `login`, `consent` and `select_account` require a new signature. With \
                      `none` the server responds without a page: with a code if the person is signed in and \
                      agreed before (never for self-registered clients), otherwise with `login_required` or \
                      `consent_required`.",
        example: "login",
        values: &[],
    },
    Parameter {
        name: "max_age",
        required: false,
        description: "OpenID Connect: how old a remembered sign-in may be, in seconds.",
        example: "3600",
        values: &[],
    },
    Parameter {
        name: "login_hint",
        required: false,
        description: "The wallet address that the person is expected to use.",
        example: WALLET,
        values: &[],
    },
    Parameter {
        name: "ui_locales",
        required: false,
        description: "OpenID Connect: the languages that the person reads, the preferred one first.",
        example: "pt-BR en",
        values: &[],
    },
    Parameter {
        name: "response_mode",
        required: false,
        description: "How the response reaches the client: `query`, by a redirect, or `form_post`, by a form \
                      that the browser posts.",
        example: "form_post",
        values: &["query", "form_post"],
    },
];
