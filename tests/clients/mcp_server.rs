//! An MCP server with rmcp that accepts access tokens issued for it. It verifies them with the issuer's published keys, and one of its
//! tools needs a scope that clients ask for when they call it.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header, request::Parts};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::Extension;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::RwLock;

type Refused = Box<dyn std::error::Error + Send + Sync>;

struct Verifier {
    issuer: String,
    /// This server, as clients name it when they ask for a token.
    resource: String,
    metadata: String,
    keys: RwLock<JwkSet>,
}

#[derive(Clone, Deserialize)]
struct Claims {
    sub: String,
    #[serde(default)]
    scope: String,
}

impl Verifier {
    async fn verify(&self, token: &str) -> Result<Claims, Refused> {
        let head = decode_header(token)?;
        if head.typ.as_deref() != Some("at+jwt") {
            return Err("not an access token".into());
        }
        let kid = head.kid.ok_or("no kid")?;
        let known = self.keys.read().await.find(&kid).cloned();
        let key = match known {
            Some(key) => key,
            None => {
                // A key that we do not know may be new.
                let keys: JwkSet = reqwest::get(format!("{}/oauth/jwks", self.issuer)).await?.json().await?;
                let key = keys.find(&kid).cloned().ok_or("unknown key")?;
                *self.keys.write().await = keys;
                key
            }
        };
        let mut checks = Validation::new(Algorithm::ES256);
        checks.set_issuer(&[&self.issuer]);
        checks.set_audience(&[&self.resource]);
        Ok(decode(token, &DecodingKey::from_jwk(&key)?, &checks)?.claims)
    }

    fn refuse(&self, status: StatusCode, why: &str) -> Response {
        let challenge = format!("Bearer {why}resource_metadata=\"{}\"", self.metadata);
        (status, [(header::WWW_AUTHENTICATE, challenge)]).into_response()
    }
}

/// Lets a request pass whose token is good, and has the scope of the tool that it calls.
async fn admit(State(verifier): State<Arc<Verifier>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let token = parts
        .headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let Some(token) = token else { return verifier.refuse(StatusCode::UNAUTHORIZED, "") };
    let claims = match verifier.verify(token).await {
        Ok(claims) => claims,
        Err(error) => {
            eprintln!("{error}");
            return verifier.refuse(StatusCode::UNAUTHORIZED, "error=\"invalid_token\", ");
        }
    };
    let Ok(body) = to_bytes(body, 1 << 20).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let call: Value = serde_json::from_slice(&body).unwrap_or_default();
    let writes = call["params"]["name"] == "write_note";
    if writes && !claims.scope.split(' ').any(|granted| granted == "notes.write") {
        return verifier
            .refuse(StatusCode::FORBIDDEN, "error=\"insufficient_scope\", scope=\"notes.write\", ");
    }
    parts.extensions.insert(claims);
    next.run(Request::from_parts(parts, Body::from(body))).await
}

#[derive(Clone)]
struct Notes {
    tools: ToolRouter<Self>,
}

#[tool_router(router = tools)]
impl Notes {
    #[tool(description = "The user that the token belongs to.")]
    async fn whoami(&self, Extension(parts): Extension<Parts>) -> String {
        user(&parts)
    }

    #[tool(description = "Writes a note.")]
    async fn write_note(&self, Extension(parts): Extension<Parts>) -> String {
        format!("written for {}", user(&parts))
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Notes {}

fn user(parts: &Parts) -> String {
    parts.extensions.get::<Claims>().map(|claims| claims.sub.clone()).unwrap_or_default()
}

#[tokio::main]
async fn main() -> Result<(), Refused> {
    let (issuer, url) = (std::env::var("ISSUER")?, std::env::var("RESOURCE_URL")?);
    let (resource, path) = (format!("{url}/mcp"), "/.well-known/oauth-protected-resource/mcp");
    let keys = RwLock::new(reqwest::get(format!("{issuer}/oauth/jwks")).await?.json().await?);
    // Clients ask for these scopes first, and for more when a tool needs it.
    let about = json!({"resource": resource, "authorization_servers": [issuer], "scopes_supported": ["profile", "offline_access"]});
    let verifier = Arc::new(Verifier { issuer, resource, metadata: format!("{url}{path}"), keys });
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let notes = Notes { tools: Notes::tools() };
    let mcp =
        StreamableHttpService::new(move || Ok(notes.clone()), NeverSessionManager::default().into(), config);
    let app = Router::new()
        .nest_service("/mcp", mcp)
        .layer(from_fn_with_state(verifier, admit))
        .route(path, get(|| async { Json(about) }));
    let listener = tokio::net::TcpListener::bind(url.trim_start_matches("http://")).await?;
    Ok(axum::serve(listener, app).await?)
}
