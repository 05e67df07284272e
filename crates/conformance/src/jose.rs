//! Clients' keys, for tests that sign as clients do.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use josekit::jwk::{Jwk, KeyPair};
use josekit::jws::{ES256, ES384, EdDSA, HS256, JwsSigner, PS256, RS256};
use serde_json::{Map, Value, json};

/// A client's key pair.
#[derive(Clone, Debug)]
pub struct ClientKey {
    algorithm: &'static str,
    kid: String,
    private: Jwk,
    public: Value,
}

impl ClientKey {
    /// Makes a key for an algorithm that servers accept. RSA keys take a moment.
    pub fn generate(algorithm: &'static str, kid: &str) -> Self {
        match algorithm {
            "RS256" => Self::of(algorithm, kid, &RS256.generate_key_pair(2048).unwrap()),
            "PS256" => Self::of(algorithm, kid, &PS256.generate_key_pair(2048).unwrap()),
            "ES256" => Self::of(algorithm, kid, &ES256.generate_key_pair().unwrap()),
            "ES384" => Self::of(algorithm, kid, &ES384.generate_key_pair().unwrap()),
            "EdDSA" => Self::of(
                algorithm,
                kid,
                &EdDSA.generate_key_pair(josekit::jwk::alg::ed::EdCurve::Ed25519).unwrap(),
            ),
            other => panic!("no client signs with {other}"),
        }
    }

    fn of(algorithm: &'static str, kid: &str, pair: &dyn KeyPair) -> Self {
        let mut public: Map<String, Value> = pair.to_jwk_public_key().into();
        public.retain(|name, _| ["kty", "crv", "x", "y", "n", "e"].contains(&name.as_str()));
        Self { algorithm, kid: kid.to_owned(), private: pair.to_jwk_private_key(), public: public.into() }
    }

    /// The public key without its `kid`.
    pub fn public(&self) -> Value {
        self.public.clone()
    }

    /// The public key with its `kid`.
    pub fn jwk(&self) -> Value {
        let mut key = self.public();
        key["kid"] = self.kid.clone().into();
        key
    }

    /// A key set with only this key.
    pub fn jwks(&self) -> Value {
        json!({ "keys": [self.jwk()] })
    }

    /// Signs claims. The header names the key.
    pub fn sign(&self, claims: &Value) -> String {
        self.sign_with(&json!({ "alg": self.algorithm, "kid": self.kid }), claims)
    }

    /// Signs claims under any header.
    pub fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let signer: Box<dyn JwsSigner> = match self.algorithm {
            "RS256" => Box::new(RS256.signer_from_jwk(&self.private).unwrap()),
            "PS256" => Box::new(PS256.signer_from_jwk(&self.private).unwrap()),
            "ES256" => Box::new(ES256.signer_from_jwk(&self.private).unwrap()),
            "ES384" => Box::new(ES384.signer_from_jwk(&self.private).unwrap()),
            _ => Box::new(EdDSA.signer_from_jwk(&self.private).unwrap()),
        };
        signed(header, claims, |text| signer.sign(text).unwrap())
    }
}

/// Signs claims with a shared secret, which no client may do.
pub fn sign_with_secret(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let signer = HS256.signer_from_bytes(secret).unwrap();
    signed(header, claims, |text| signer.sign(text).unwrap())
}

/// Claims without a signature.
pub fn unsigned(header: &Value, claims: &Value) -> String {
    signed(header, claims, |_| Vec::new())
}

fn signed(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let text = format!("{header}.{claims}");
    let signature = URL_SAFE_NO_PAD.encode(sign(text.as_bytes()));
    format!("{text}.{signature}")
}
