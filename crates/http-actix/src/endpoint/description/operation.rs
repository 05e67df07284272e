//! One operation, and its OpenAPI form.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use countersign_domain::error::CLIENT_NOT_BELIEVED;
use serde_json::{Map, Value, json};

pub(crate) const JSON: &str = "application/json";
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";
pub(crate) const HTML: &str = "text/html";

/// The example of every page.
pub(crate) const PAGE: &str = "<!doctype html>…";

pub(crate) const NO_SESSION: Refusal = ("invalid_request", "Missing or expired OAuth session");
pub(crate) const UNKNOWN_CLIENT: Refusal = ("invalid_client", "Invalid client_id");
pub(crate) const NOT_AUTHENTICATED: Refusal = ("invalid_client", CLIENT_NOT_BELIEVED);
pub(crate) const NO_FORM: Refusal =
    ("invalid_request", "Content-Type must be application/x-www-form-urlencoded");
pub(crate) const NOT_ADMITTED: Refusal = ("access_denied", "the application does not admit this wallet");
pub(crate) const FOREIGN_PAGE: Refusal = ("invalid_request", "the request comes from a page of another site");
pub(crate) const FOREIGN_FORM: Refusal =
    ("invalid_request", "this form is not from a page of this browser session: load the page again");
pub(crate) const NOTHING_HERE: Refusal = ("invalid_request", "there is nothing at this path");

/// A method at a path: what it accepts, what it answers, and how it refuses.
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    /// Which steps of a sign-in this operation performs. If there are several, its examples belong to them in
    /// the order of their names.
    steps: &'static [u8],
    parameters: Vec<Value>,
    body: Option<Value>,
    responses: BTreeMap<u16, Value>,
    security: Vec<Value>,
}

/// An example of a request, with a name by which a person can choose it.
pub(crate) struct Example {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) value: Value,
}

/// A refusal: its registered error code and its sentence.
pub(crate) type Refusal = (&'static str, &'static str);

impl Operation {
    pub(crate) fn new(
        method: &'static str,
        path: &'static str,
        (id, summary): (&'static str, &'static str),
        description: &'static str,
    ) -> Self {
        let this = Self {
            method,
            path,
            id,
            tag: "Pages",
            summary,
            description,
            steps: &[],
            parameters: Vec::new(),
            body: None,
            responses: BTreeMap::new(),
            security: Vec::new(),
        };
        this.refuses(405, &[("invalid_request", "this path does not take this method")])
            .refuses(414, &[("invalid_request", "the address is longer than 16 KiB")])
            .refuses(431, &[("invalid_request", "the headers are longer than 16 KiB")])
            .refuses(500, &[("server_error", "something went wrong on our side")])
    }

    pub(crate) const fn tag(mut self, tag: &'static str) -> Self {
        self.tag = tag;
        self
    }

    pub(crate) const fn steps(mut self, steps: &'static [u8]) -> Self {
        self.steps = steps;
        self
    }

    pub(crate) fn parameter(mut self, parameter: Value) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// The request may carry the proof of a key; the answer then carries a nonce. Call this after the answers
    /// are added: it adds a header to them.
    pub(crate) fn proven(mut self) -> Self {
        for status in [200, 201, 400, 401] {
            if let Some(response) = self.responses.get_mut(&status) {
                response["headers"]["DPoP-Nonce"] = json!({"$ref": "#/components/headers/DpopNonce"});
            }
        }
        let description = "The proof of a key (RFC 9449): a JWT for this request, with the latest nonce from \
                           `DPoP-Nonce`.";
        let example =
            "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Li4ufX0.eyJodG0iOiJQT1NUIn0.MEUCIQ";
        self.parameter(parameter("header", "DPoP", false, (description, example), json!({"type": "string"})))
    }

    /// The body, in one of several encodings with the same fields.
    pub(crate) fn takes(mut self, encodings: &[&'static str], schema: &str, examples: Vec<Example>) -> Self {
        let named: Map<String, Value> = examples
            .into_iter()
            .map(|example| {
                (example.name.to_owned(), json!({"summary": example.summary, "value": example.value}))
            })
            .collect();
        let content: Map<String, Value> = encodings
            .iter()
            .map(|encoding| {
                ((*encoding).to_owned(), json!({"schema": reference(schema), "examples": named.clone()}))
            })
            .collect();
        self.body = Some(json!({"required": true, "content": content}));
        self.refuses(408, &[("invalid_request", "the body did not arrive in time")])
            .refuses(413, &[("invalid_request", "the body is longer than 64 KiB")])
            .refuses(415, &[("invalid_request", "the body is compressed: send it as it is")])
    }

    /// The body may be left out.
    pub(crate) fn or_nothing(mut self) -> Self {
        if let Some(body) = &mut self.body {
            body["required"] = Value::Bool(false);
        }
        self
    }

    /// An answer with a schema from the components and an example.
    pub(crate) fn answers(self, status: u16, description: &str, schema: &str, example: Value) -> Self {
        self.answers_with(status, description, JSON, reference(schema), example)
    }

    /// An answer that is a page or another text.
    pub(crate) fn shows(self, status: u16, description: &str, media: &str, example: &str) -> Self {
        self.answers_with(status, description, media, json!({"type": "string"}), json!(example))
    }

    /// An answer that is any JSON object.
    pub(crate) fn answers_object(self, status: u16, description: &str, example: Value) -> Self {
        self.answers_with(status, description, JSON, json!({"type": "object"}), example)
    }

    fn answers_with(
        mut self,
        status: u16,
        description: &str,
        media: &str,
        schema: Value,
        example: Value,
    ) -> Self {
        let response = self.responses.entry(status).or_insert_with(|| {
            json!({"description": description, "headers": headers(&["RequestId", "CacheControl"]), "content": {}})
        });
        response["content"][media] = json!({"schema": schema, "example": example});
        self
    }

    /// An answer without a body, with these headers in addition to the usual ones.
    pub(crate) fn answers_nothing(mut self, status: u16, description: &str, extra: &[&str]) -> Self {
        let names: Vec<&str> = ["RequestId", "CacheControl"].iter().chain(extra).copied().collect();
        self.responses.insert(status, json!({"description": description, "headers": headers(&names)}));
        self
    }

    /// The refusals with this status.
    pub(crate) fn refuses(self, status: u16, refusals: &[Refusal]) -> Self {
        self.refuses_with(status, refusals, &[])
    }

    /// The same, with more headers.
    pub(crate) fn refuses_with(mut self, status: u16, refusals: &[Refusal], extra: &[&str]) -> Self {
        let mut names = vec!["RequestId", "CacheControl"];
        names.extend(match status {
            405 => Some("Allow"),
            429 | 503 => Some("RetryAfter"),
            _ => None,
        });
        names.extend(extra);
        let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let sentences: Vec<String> = refusals.iter().map(|(code, text)| format!("`{code}` {text}")).collect();
        let examples: Map<String, Value> = refusals
            .iter()
            .enumerate()
            .map(|(position, (code, text))| {
                let body = json!({"error": code, "error_description": text});
                (format!("{code}_{}", position + 1), json!({"summary": text, "value": body}))
            })
            .collect();
        self.responses.insert(
            status,
            json!({
                "description": format!("{}: {}", reason.unwrap_or_default(), sentences.join("; ")),
                "headers": headers(&names),
                "content": {
                    (JSON): {"schema": reference("Error"), "examples": examples},
                    (HTML): {"schema": {"type": "string"}, "example": PAGE},
                },
            }),
        );
        self
    }

    /// It reads or writes the store, which may be unavailable.
    pub(crate) fn stores(self) -> Self {
        self.refuses(503, &[("temporarily_unavailable", "the server cannot answer now; try again")])
    }

    /// It is rate-limited for each IP address.
    pub(crate) fn counted(self) -> Self {
        self.refuses(429, &[("temporarily_unavailable", "too many requests; try again in 7 s")])
    }

    /// It refuses pages of other sites. Our own pages and programs may call it.
    pub(crate) fn kept_to_our_pages(self) -> Self {
        self.refuses(403, &[FOREIGN_PAGE])
    }

    /// The same, and it also requires the secret of the form that the page showed (`form`).
    pub(crate) fn kept_to_page_forms(self) -> Self {
        self.refuses(403, &[FOREIGN_PAGE, FOREIGN_FORM])
    }

    /// Any one of these security schemes gives access. An empty name means that none is needed.
    pub(crate) fn opened_by(mut self, schemes: &[&str]) -> Self {
        self.security = schemes
            .iter()
            .map(|scheme| if scheme.is_empty() { json!({}) } else { json!({(*scheme): []}) })
            .collect();
        self
    }

    pub(crate) fn into_json(self) -> Value {
        let responses: Map<String, Value> =
            self.responses.into_iter().map(|(status, response)| (status.to_string(), response)).collect();
        let mut operation = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.description,
            "responses": responses,
            "security": self.security,
        });
        if !self.steps.is_empty() {
            operation["x-steps"] = json!(self.steps);
        }
        if !self.parameters.is_empty() {
            operation["parameters"] = json!(self.parameters);
        }
        if let Some(body) = self.body {
            operation["requestBody"] = body;
        }
        operation
    }
}

/// A parameter of the query, the path or the headers.
pub(crate) fn parameter(
    place: &str,
    name: &str,
    required: bool,
    (description, example): (&str, &str),
    schema: Value,
) -> Value {
    json!({
        "in": place,
        "name": name,
        "required": required,
        "description": description,
        "schema": schema,
        "example": example,
    })
}

pub(crate) fn reference(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

/// References to the headers of an answer; each is described once, in the components.
fn headers(names: &[&str]) -> Value {
    let named = names.iter().map(|name| {
        let wire = match *name {
            "RequestId" => "X-Request-Id",
            "CacheControl" => "Cache-Control",
            "SetCookie" => "Set-Cookie",
            "RetryAfter" => "Retry-After",
            "BearerChallenge" | "BasicChallenge" => "WWW-Authenticate",
            other => other,
        };
        (wire.to_owned(), json!({"$ref": format!("#/components/headers/{name}")}))
    });
    Value::Object(named.collect())
}
