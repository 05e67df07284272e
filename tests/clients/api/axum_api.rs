//! An API in axum. jsonwebtoken checks the token; the proof of its key is checked below, because it knows no DPoP.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, JwkSet, ThumbprintHash};
use jsonwebtoken::{DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::sync::RwLock;

type Refused = Box<dyn std::error::Error + Send + Sync>;

struct Api {
    issuer: String,
    resource: String,
    /// The client that asks whether tokens still count.
    client: Option<(String, String)>,
    server: Endpoints,
    keys: RwLock<JwkSet>,
    http: reqwest::Client,
}

#[derive(Deserialize)]
struct Endpoints {
    jwks_uri: String,
    introspection_endpoint: String,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    #[serde(default)]
    scope: String,
    cnf: Option<Confirmation>,
}

#[derive(Deserialize)]
struct Confirmation {
    jkt: String,
}

#[derive(Deserialize)]
struct Proof {
    htm: String,
    htu: String,
    ath: String,
    iat: u64,
}

#[derive(Deserialize)]
struct Introspected {
    active: bool,
}

impl Api {
    /// The server's key with this id. A key that we do not know may be new.
    async fn key(&self, kid: &str) -> Result<Jwk, Refused> {
        if let Some(key) = self.keys.read().await.find(kid) {
            return Ok(key.clone());
        }
        let keys: JwkSet = self.http.get(&self.server.jwks_uri).send().await?.json().await?;
        let key = keys.find(kid).cloned().ok_or("unknown key")?;
        *self.keys.write().await = keys;
        Ok(key)
    }

    async fn check(&self, headers: &HeaderMap, method: &str, path: &str) -> Result<Claims, Refused> {
        let authorization = headers.get(header::AUTHORIZATION).ok_or("no token")?.to_str()?;
        let (scheme, token) = authorization.split_once(' ').ok_or("no token")?;
        let head = decode_header(token)?;
        if head.typ.as_deref() != Some("at+jwt") {
            return Err("not an access token".into());
        }
        let key = self.key(&head.kid.ok_or("no kid")?).await?;
        let mut rules = Validation::new(head.alg);
        rules.set_audience(&[&self.resource]);
        rules.set_issuer(&[&self.issuer]);
        rules.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        let claims: Claims = decode(token, &DecodingKey::from_jwk(&key)?, &rules)?.claims;
        let wanted = if claims.cnf.is_some() { "DPoP" } else { "Bearer" };
        if !scheme.eq_ignore_ascii_case(wanted) {
            return Err("a token that is bound to a key needs its proof".into());
        }
        if let Some(bound) = &claims.cnf {
            let proof = headers.get("dpop").ok_or("no proof")?.to_str()?;
            self.check_proof(proof, &bound.jkt, token, method, path)?;
        }
        if let Some((id, secret)) = &self.client {
            let asked = self.http.post(&self.server.introspection_endpoint).basic_auth(id, Some(secret));
            let answer: Introspected = asked.form(&[("token", token)]).send().await?.json().await?;
            if !answer.active {
                return Err("revoked".into());
            }
        }
        Ok(claims)
    }

    /// RFC 9449 section 4.3: this request was made by the holder of the key.
    fn check_proof(
        &self,
        proof: &str,
        jkt: &str,
        token: &str,
        method: &str,
        path: &str,
    ) -> Result<(), Refused> {
        let head = decode_header(proof)?;
        let key = head.jwk.filter(|_| head.typ.as_deref() == Some("dpop+jwt")).ok_or("not a proof")?;
        let mut rules = Validation::new(head.alg);
        rules.required_spec_claims.clear();
        rules.validate_aud = false;
        let says: Proof = decode(proof, &DecodingKey::from_jwk(&key)?, &rules)?.claims;
        let is_good = key.thumbprint(ThumbprintHash::SHA256) == jkt
            && says.htm == method
            && says.htu == format!("{}{path}", self.resource.trim_end_matches('/'))
            && says.ath == URL_SAFE_NO_PAD.encode(Sha256::digest(token))
            && jsonwebtoken::get_current_timestamp().abs_diff(says.iat) < 60;
        if is_good { Ok(()) } else { Err("the proof is for another key, token or request".into()) }
    }

    /// Lets a request pass whose token has the scope, and says who calls.
    async fn admit(&self, call: &Call, scope: &str) -> Result<String, Response> {
        let refuse = |status: StatusCode, challenge: String| {
            (status, [(header::WWW_AUTHENTICATE, challenge)]).into_response()
        };
        if !call.headers.contains_key(header::AUTHORIZATION) {
            return Err(refuse(StatusCode::UNAUTHORIZED, "Bearer".to_owned()));
        }
        let checked = self.check(&call.headers, call.method.as_str(), call.uri.path()).await;
        let claims = checked.map_err(|error| {
            eprintln!("{error}");
            refuse(StatusCode::UNAUTHORIZED, "Bearer error=\"invalid_token\"".to_owned())
        })?;
        if !claims.scope.split(' ').any(|granted| granted == scope) {
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
            return Err(refuse(StatusCode::FORBIDDEN, challenge));
        }
        Ok(claims.sub)
    }
}

/// The parts of a request that the check needs.
#[derive(FromRequestParts)]
struct Call {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
}

async fn photos(State(api): State<Arc<Api>>, call: Call) -> Result<String, Response> {
    let caller = api.admit(&call, "photos.read").await?;
    Ok(format!("{{\"photos\":[],\"of\":\"{caller}\"}}"))
}

async fn delete(State(api): State<Arc<Api>>, call: Call) -> Result<String, Response> {
    let caller = api.admit(&call, "photos.admin").await?;
    Ok(format!("{{\"deleted\":0,\"by\":\"{caller}\"}}"))
}

#[tokio::main]
async fn main() -> Result<(), Refused> {
    let (issuer, resource) = (std::env::var("ISSUER")?, std::env::var("RESOURCE")?);
    let http = reqwest::Client::new();
    let metadata = http.get(format!("{issuer}/.well-known/openid-configuration")).send().await?;
    let server: Endpoints = metadata.json().await?;
    let keys = RwLock::new(http.get(&server.jwks_uri).send().await?.json().await?);
    let client = std::env::var("API_CLIENT_ID").ok().zip(std::env::var("API_CLIENT_SECRET").ok());
    let api = Arc::new(Api { issuer, resource, client, server, keys, http });
    let app = Router::new().route("/photos", get(photos).delete(delete)).with_state(api);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", std::env::var("PORT")?.parse()?)).await?;
    println!("ready");
    Ok(axum::serve(listener, app).await?)
}
