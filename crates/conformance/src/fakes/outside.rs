//! Stand-ins for what is outside: clients' signatures and documents.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::claims::{Claim, Claims};
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_ports::{FetchError, Fetched, Fetcher, JwsReader, JwsRejected, Post, Posted, ReadJws};
use serde_json::{Value, json};

use super::keccak;

/// Reads what [`FakeReader::sign`] makes. A key is its name, and the signature is a hash that anyone can
/// compute.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeReader;

impl FakeReader {
    /// Signs claims with the key of this name.
    pub fn sign(kid: &str, claims: &Value) -> String {
        Self::sign_with(&json!({ "alg": "ES256", "kid": kid }), kid, claims)
    }

    /// Signs claims as a token of this type.
    pub fn sign_as(kid: &str, typ: &str, claims: &Value) -> String {
        Self::sign_with(&json!({ "alg": "ES256", "kid": kid, "typ": typ }), kid, claims)
    }

    fn sign_with(header: &Value, kid: &str, claims: &Value) -> String {
        let [header, payload] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let signed = format!("{header}.{payload}");
        let signature = URL_SAFE_NO_PAD.encode(Self::signature(kid, &signed));
        format!("{signed}.{signature}")
    }

    /// A key set that contains the key of this name.
    pub fn jwks(kid: &str) -> String {
        json!({ "keys": [{ "kty": "fake", "kid": kid }] }).to_string()
    }

    fn signature(kid: &str, signed: &str) -> [u8; 32] {
        keccak(format!("{kid} signs {signed}").as_bytes())
    }

    fn read(jws: &str) -> Option<(String, ReadJws, bool)> {
        let (signed, signature) = jws.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
        let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
        let kid = header["kid"].as_str()?.to_owned();
        let is_good = signature == URL_SAFE_NO_PAD.encode(Self::signature(&kid, signed));
        let typ = header["typ"].as_str().map(ToOwned::to_owned);
        Some((kid, ReadJws { algorithm: "ES256".to_owned(), typ, payload }, is_good))
    }
}

impl JwsReader for FakeReader {
    fn read_signed(&self, jws: &str, jwks: &str) -> Result<ReadJws, JwsRejected> {
        self.check_keys(jwks)?;
        let (kid, read, is_good) = Self::read(jws).ok_or(JwsRejected::Malformed)?;
        let keys: Value = serde_json::from_str(jwks).unwrap_or_default();
        if !keys["keys"].as_array().is_some_and(|keys| keys.iter().any(|key| key["kid"] == kid.as_str())) {
            return Err(JwsRejected::KeyUnknown);
        }
        if is_good { Ok(read) } else { Err(JwsRejected::Signature) }
    }

    fn read_self_signed(&self, jws: &str) -> Result<(ReadJws, KeyThumbprint), JwsRejected> {
        let (kid, read, is_good) = Self::read(jws).ok_or(JwsRejected::Malformed)?;
        let thumbprint = KeyThumbprint::from_bytes(keccak(kid.as_bytes()));
        if is_good { Ok((read, thumbprint)) } else { Err(JwsRejected::Signature) }
    }

    fn check_keys(&self, jwks: &str) -> Result<(), JwsRejected> {
        let keys: Value = serde_json::from_str(jwks).unwrap_or_default();
        let is_set =
            keys["keys"].as_array().is_some_and(|keys| keys.iter().all(|key| key["kid"].is_string()));
        if is_set { Ok(()) } else { Err(JwsRejected::Keys("not a set of fake keys")) }
    }

    fn read_claims(&self, payload: &[u8]) -> Option<Claims> {
        let Value::Object(claims) = serde_json::from_slice(payload).ok()? else { return None };
        let claims = claims.into_iter().map(|(name, value)| {
            let claim = match value {
                Value::String(text) => Claim::Text(text),
                Value::Number(number) => number.as_i64().map_or(Claim::Other, Claim::Number),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Claim::Other,
            };
            (name, claim)
        });
        Some(Claims::new(claims.collect()))
    }
}

/// An outside world that contains the documents that a test puts there. A fetched document is remembered
/// until it is fetched again.
#[derive(Debug, Default)]
pub struct FakeFetcher {
    outside: Mutex<Outside>,
}

#[derive(Default)]
struct Outside {
    documents: BTreeMap<String, String>,
    known: BTreeMap<String, String>,
    asked: Vec<String>,
    posted: Vec<(String, Vec<(String, String)>)>,
    received: Vec<Received>,
    receiver: Option<Judge>,
}

/// Answers what was posted.
type Judge = Box<dyn FnMut(&Received) -> Result<Posted, FetchError> + Send>;

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outside")
            .field("asked", &self.asked)
            .field("posted", &self.posted)
            .finish_non_exhaustive()
    }
}

/// A body that was posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Where to.
    pub url: String,
    /// The secret of the sender.
    pub bearer: Option<String>,
    /// The body.
    pub body: String,
}

impl FakeFetcher {
    /// Stores a document at a URL.
    pub fn put(&self, url: &str, document: &str) {
        self.outside().documents.insert(url.to_owned(), document.to_owned());
    }

    /// The URLs that were fetched, in order.
    pub fn asked(&self) -> Vec<String> {
        self.outside().asked.clone()
    }

    /// The forms that were posted, in order.
    pub fn posted(&self) -> Vec<(String, Vec<(String, String)>)> {
        self.outside().posted.clone()
    }

    /// The bodies that were posted since this was last asked, in order.
    pub fn received(&self) -> Vec<Received> {
        std::mem::take(&mut self.outside().received)
    }

    /// From now on this answers bodies that are posted. Before, nobody does.
    pub fn receive(&self, judge: impl FnMut(&Received) -> Result<Posted, FetchError> + Send + 'static) {
        self.outside().receiver = Some(Box::new(judge));
    }

    fn outside(&self) -> std::sync::MutexGuard<'_, Outside> {
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fetched(document: String) -> Fetched {
    Fetched { content_type: Some("application/json".to_owned()), max_age: None, body: document.into_bytes() }
}

#[async_trait]
impl Fetcher for FakeFetcher {
    async fn get(&self, url: &str) -> Result<Fetched, FetchError> {
        let known = self.outside().known.get(url).cloned();
        match known {
            Some(document) => Ok(fetched(document)),
            None => self.get_anew(url).await,
        }
    }

    async fn get_anew(&self, url: &str) -> Result<Fetched, FetchError> {
        let mut outside = self.outside();
        outside.asked.push(url.to_owned());
        let document = outside.documents.get(url).cloned().ok_or(FetchError::Unreachable)?;
        outside.known.insert(url.to_owned(), document.clone());
        Ok(fetched(document))
    }

    async fn post_form(&self, url: &str, form: &[(&str, &str)]) -> Result<u16, FetchError> {
        let form = form.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.outside().posted.push((url.to_owned(), form));
        Ok(200)
    }

    async fn post(&self, post: Post<'_>) -> Result<Posted, FetchError> {
        let bearer = post.bearer.map(|secret| secret.expose().to_owned());
        let received = Received { url: post.url.to_owned(), bearer, body: post.body.to_owned() };
        let mut outside = self.outside();
        let answer = outside.receiver.as_mut().map_or(Err(FetchError::Unreachable), |judge| judge(&received));
        outside.received.push(received);
        answer
    }
}
