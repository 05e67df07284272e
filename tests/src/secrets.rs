//! Remembers every secret that was sent or received, and searches the logs of every server for all of them.
//!
//! Leaking a part is as bad as leaking the whole, so the search is for sixteen bytes of a secret's random
//! part.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use url::form_urlencoded::parse;

use crate::http::{Request, Response};

const WINDOW: usize = 16;

/// Names of fields whose values only two parties may know.
const FIELDS: [&str; 18] = [
    "client_secret",
    "registration_access_token",
    "access_token",
    "refresh_token",
    "id_token",
    "challenge",
    "signature",
    "other_challenge",
    "other_signature",
    "code",
    "device_code",
    "request_uri",
    "code_verifier",
    "token",
    "wallet_address",
    "address",
    "redirect_to",
    "link",
];

/// The secrets that must not be found.
#[derive(Default)]
pub struct Secrets(Mutex<HashMap<[u8; WINDOW], &'static str>>);

impl Secrets {
    /// Remembers the secrets in a request.
    pub fn learn_request(&self, request: &Request) {
        for (name, value) in &request.headers {
            if name.eq_ignore_ascii_case("Authorization") {
                self.learn("authorization", value.rsplit(' ').next().unwrap_or_default());
            }
        }
        if let Ok(json) = serde_json::from_slice(&request.body) {
            self.learn_json(&json);
        } else {
            self.learn_pairs(&request.body);
        }
    }

    /// Remembers the secrets in a response.
    pub fn learn_response(&self, response: &Response) {
        for cookie in response.all("Set-Cookie") {
            let value =
                cookie.split(';').next().and_then(|pair| pair.split_once('=')).map(|(_, value)| value);
            self.learn("cookie", value.unwrap_or_default());
        }
        if let Some((_, query)) = response.header("Location").and_then(|location| location.split_once('?')) {
            self.learn_pairs(query.as_bytes());
        }
        if let Ok(json) = serde_json::from_slice(&response.body) {
            self.learn_json(&json);
        }
    }

    /// Remembers one value.
    pub fn learn(&self, name: &str, value: &str) {
        let Some(kind) = FIELDS.into_iter().chain(["cookie", "authorization"]).find(|field| *field == name)
        else {
            return;
        };
        if let Some(window) = random_part(kind, value) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(window, kind);
        }
    }

    /// How many secrets are known.
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The kinds of secrets that a text contains, with the position of the first of each kind.
    pub fn found_in(&self, text: &[u8]) -> Vec<(&'static str, usize)> {
        let secrets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = text.to_ascii_lowercase();
        let mut found: Vec<(&'static str, usize)> = Vec::new();
        for (place, window) in text.windows(WINDOW).enumerate() {
            let Some(kind) = <&[u8; WINDOW]>::try_from(window).ok().and_then(|window| secrets.get(window))
            else {
                continue;
            };
            if !found.iter().any(|(known, _)| known == kind) {
                found.push((kind, place));
            }
        }
        found
    }

    /// Remembers the secrets in a JSON value.
    pub fn learn_json(&self, json: &Value) {
        for (name, value) in json.as_object().into_iter().flatten() {
            if let Some(value) = value.as_str() {
                self.learn(name, value);
            }
        }
    }

    fn learn_pairs(&self, encoded: &[u8]) {
        for (name, value) in parse(encoded) {
            self.learn(&name, &value);
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.count())
    }
}

/// The unique part of a value, in lower case. `None` if the value is too short to be a secret.
fn random_part(kind: &str, value: &str) -> Option<[u8; WINDOW]> {
    let part = match kind {
        // The code in the URL that a JSON response tells the page to go to.
        "redirect_to" => {
            return random_part(
                "code",
                parse(value.split_once('?')?.1.as_bytes()).find(|(key, _)| key == "code")?.1.as_ref(),
            );
        }
        // Only the nonce is unique in a challenge. The rest of the text is the same for everyone.
        "challenge" | "other_challenge" => value.split_once("Nonce: ")?.1.lines().next()?,
        // A JWT ends with its signature. Codes and refresh tokens end with their random bytes.
        "wallet_address" | "address" if value.len() != 42 => return None,
        "wallet_address" | "address" => value.get(2..)?,
        _ => value.get(value.len().saturating_sub(40)..)?,
    };
    part.to_ascii_lowercase().as_bytes().get(..WINDOW)?.try_into().ok()
}
