//! A client of the provider, and how it authenticates.

use serde_json::{Value, json};

use super::Provider;
use crate::http::{Parameters, Request};
use crate::jose::{SigningKey, now, random_text};
use crate::site::CODE_CHALLENGE;

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// How a client authenticates.
#[derive(Debug)]
pub enum Method {
    /// `client_secret_basic`
    Basic(String),
    /// `client_secret_post`
    Post(String),
    /// `private_key_jwt`
    Key(SigningKey),
    /// `none`
    Nothing,
}

/// A registered client.
#[derive(Debug)]
pub struct Party {
    /// The provider's response to the registration.
    pub registration: Value,
    /// `client_id`
    pub id: String,
    /// The first of the client's redirect URIs.
    pub redirect_uri: String,
    /// How the client authenticates.
    pub method: Method,
    /// The key that the client's tokens are bound to, if there is one.
    pub dpop: Option<SigningKey>,
}

impl Party {
    /// Reads a registration. `key` is the client's own key, if it has one.
    #[track_caller]
    pub fn of(registration: Value, key: Option<SigningKey>) -> Self {
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
        let secret = || text(&registration["client_secret"]).unwrap();
        let method = match (registration["token_endpoint_auth_method"].as_str().unwrap(), key) {
            ("client_secret_basic", None) => Method::Basic(secret()),
            ("client_secret_post", None) => Method::Post(secret()),
            ("private_key_jwt", Some(key)) => Method::Key(key),
            ("none", None) => Method::Nothing,
            (other, _) => panic!("{other}: {registration}"),
        };
        Self {
            id: text(&registration["client_id"]).unwrap(),
            redirect_uri: text(&registration["redirect_uris"][0]).unwrap(),
            method,
            dpop: None,
            registration,
        }
    }

    /// The algorithm that the client's ID tokens must be signed with.
    pub fn id_token_algorithm(&self) -> &str {
        self.registration["id_token_signed_response_alg"].as_str().unwrap_or("RS256")
    }

    /// The client's own key. Panics if it has none.
    pub fn key(&self) -> &SigningKey {
        match &self.method {
            Method::Key(key) => key,
            Method::Basic(_) | Method::Post(_) | Method::Nothing => panic!("{} has a key", self.id),
        }
    }

    /// A valid authorization request with scope `openid`, a state and a nonce.
    pub fn request(&self) -> Parameters {
        let (state, nonce) = (random_text(), random_text());
        Parameters::of(&[
            ("client_id", &self.id),
            ("redirect_uri", &self.redirect_uri),
            ("scope", "openid"),
            ("state", &state),
            ("nonce", &nonce),
            ("response_type", "code"),
        ])
    }

    /// The same with PKCE.
    pub fn request_with_pkce(&self) -> Parameters {
        self.request().with("code_challenge", CODE_CHALLENGE).with("code_challenge_method", "S256")
    }

    /// Adds client authentication to a form.
    pub fn prove(&self, provider: &Provider, request: Request) -> Request {
        match &self.method {
            Method::Basic(secret) => request.basic(&self.id, secret),
            Method::Post(secret) => {
                with_fields(request, &[("client_id", &self.id), ("client_secret", secret)])
            }
            Method::Nothing => with_fields(request, &[("client_id", &self.id)]),
            Method::Key(key) => with_assertion(request, &key.sign(&self.assertion(provider))),
        }
    }

    /// The claims of the client's assertion (RFC 7523 section 3), valid for a minute.
    pub fn assertion(&self, provider: &Provider) -> Value {
        json!({
            "iss": self.id, "sub": self.id, "aud": provider.issuer(),
            "jti": random_text(), "iat": now(), "exp": now() + 60,
        })
    }
}

/// Adds an assertion to a form.
pub fn with_assertion(request: Request, assertion: &str) -> Request {
    with_fields(request, &[("client_assertion_type", ASSERTION_TYPE), ("client_assertion", assertion)])
}

fn with_fields(mut request: Request, fields: &[(&str, &str)]) -> Request {
    if !request.body.is_empty() {
        request.body.push(b'&');
    }
    request.body.extend_from_slice(Parameters::of(fields).encoded().as_bytes());
    request
}
