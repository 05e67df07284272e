//! Signed tokens, made and verified by code that the server does not use: the crate `jsonwebtoken`, with ring
//! for the cryptography.

use std::fs;
use std::sync::Once;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::crypto::{CryptoProvider, JwkUtils, JwtVerifier};
use jsonwebtoken::errors::{ErrorKind, Result as JwtResult};
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::signature::{Error as SignatureError, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, Validation, decode, decode_header};
use ring::rand::{SecureRandom, SystemRandom};
use ring::rsa::KeyPairComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, KeyPair,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde_json::{Value, json};

/// Seconds since 1970.
pub fn now() -> i64 {
    jsonwebtoken::get_current_timestamp().try_into().unwrap()
}

/// A new random text: 16 bytes in base64url.
pub fn random_text() -> String {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).unwrap();
    URL_SAFE_NO_PAD.encode(bytes)
}

/// SHA-256 in base64url, as in PKCE, DPoP and thumbprints.
pub fn sha256(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()))
}

/// The left half of a hash, as in `at_hash` (OpenID Connect Core section 3.1.3.6).
fn half_hash(algorithm: Algorithm, text: &str) -> String {
    // Ed25519 uses SHA-512.
    let hash = if algorithm == Algorithm::EdDSA { &ring::digest::SHA512 } else { &ring::digest::SHA256 };
    let digest = ring::digest::digest(hash, text.as_bytes());
    let (left, _) = digest.as_ref().split_at(digest.as_ref().len() / 2);
    URL_SAFE_NO_PAD.encode(left)
}

/// A private key of a test client.
#[derive(Debug)]
pub struct SigningKey {
    kid: String,
    algorithm: &'static str,
    pair: Pair,
    private: Value,
}

#[derive(Debug)]
enum Pair {
    Ec(Box<EcdsaKeyPair>),
    Rsa(Box<RsaKeyPair>),
}

impl SigningKey {
    /// A new key for ES256.
    pub fn es256() -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap();
        // Version, algorithm and the inner headers take 36 bytes. The private key follows.
        let private = json!({"d": URL_SAFE_NO_PAD.encode(&document.as_ref()[36..68])});
        Self { kid: random_text(), algorithm: "ES256", pair: Pair::Ec(Box::new(pair)), private }
    }

    /// The RSA key of RFC 7520, for RS256 or PS256. Generating one would take long.
    pub fn rsa(algorithm: &'static str) -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/jose/rfc7520_cookbook.json");
        let table: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let cases = table["cases"].as_array().unwrap();
        let jwk = cases.iter().find(|case| case["kty"] == "RSA" && case.get("d").is_some()).unwrap();
        let number = |name: &str| URL_SAFE_NO_PAD.decode(jwk[name].as_str().unwrap()).unwrap();
        let [n, e, d, p, q, dp, dq, qi] = ["n", "e", "d", "p", "q", "dp", "dq", "qi"].map(number);
        let components = KeyPairComponents {
            public_key: RsaPublicKeyComponents { n, e },
            d,
            p,
            q,
            dP: dp,
            dQ: dq,
            qInv: qi,
        };
        let pair = RsaKeyPair::from_components(&components).unwrap();
        let private = json!({"d": jwk["d"]});
        Self { kid: random_text(), algorithm, pair: Pair::Rsa(Box::new(pair)), private }
    }

    /// The public key as a JSON Web Key, with its id.
    pub fn jwk(&self) -> Value {
        let mut jwk = self.bare_jwk();
        jwk["kid"] = json!(self.kid);
        jwk["alg"] = json!(self.algorithm);
        jwk["use"] = json!("sig");
        jwk
    }

    /// The same with the private part, which must never be sent.
    pub fn private_jwk(&self) -> Value {
        let mut jwk = self.bare_jwk();
        jwk["d"] = self.private["d"].clone();
        jwk
    }

    /// The JWK Set with this key.
    pub fn jwks(&self) -> Value {
        json!({"keys": [self.jwk()]})
    }

    /// The thumbprint of the key (RFC 7638).
    pub fn thumbprint(&self) -> String {
        // The members are in alphabetical order, without spaces, which is how `serde_json` writes a map.
        sha256(&self.bare_jwk().to_string())
    }

    fn bare_jwk(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match &self.pair {
            Pair::Ec(pair) => {
                let point = pair.public_key().as_ref();
                json!({"crv": "P-256", "kty": "EC", "x": text(&point[1..33]), "y": text(&point[33..])})
            }
            Pair::Rsa(pair) => {
                let RsaPublicKeyComponents::<Vec<u8>> { n, e } = pair.public_key().into();
                json!({"e": text(&e), "kty": "RSA", "n": text(&n)})
            }
        }
    }

    /// Signs claims. The header contains the algorithm and the key id.
    pub fn sign(&self, claims: &Value) -> String {
        self.sign_with(&json!({"alg": self.algorithm, "kid": self.kid}), claims)
    }

    /// Signs claims with any header. An RSA key uses the header's `alg`.
    pub fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let text = format!("{}.{}", encode(header), encode(claims));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Ec(pair) => pair.sign(&random, text.as_bytes()).unwrap().as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let padding: &dyn ring::signature::RsaEncoding =
                    if header["alg"] == "RS256" { &RSA_PKCS1_SHA256 } else { &RSA_PSS_SHA256 };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(padding, &random, text.as_bytes(), &mut signature).unwrap();
                signature
            }
        };
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// A token with `alg: none`.
pub fn unsigned(header: &Value, claims: &Value) -> String {
    let mut header = header.clone();
    header["alg"] = json!("none");
    format!("{}.{}.", encode(&header), encode(claims))
}

/// The claims of a token, without verifying it.
pub fn claims_of(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap_or_else(|| panic!("a token: {token}"));
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

fn encode(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

/// What an ID token is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The provider's published keys.
    pub jwks: &'a Value,
    /// The algorithm that the client registered.
    pub algorithm: &'a str,
    /// The provider's issuer.
    pub issuer: &'a str,
    /// The client's id.
    pub audience: &'a str,
    /// The access token that came with it.
    pub access_token: &'a str,
}

/// Validates an ID token as a client must (OpenID Connect Core section 3.1.3.7), and returns its claims.
#[track_caller]
pub fn judge_id_token(token: &str, expected: Expected<'_>) -> Value {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: |_, _| Err(ErrorKind::InvalidKeyFormat.into()),
        verifier_factory,
        jwk_utils: JwkUtils::new_unimplemented(),
    };
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| PROVIDER.install_default().unwrap());

    let header = decode_header(token).unwrap_or_else(|error| panic!("{error}: {token}"));
    let kid = header.kid.unwrap_or_else(|| panic!("there is no kid in {token}"));
    let keys: JwkSet = serde_json::from_value(expected.jwks.clone()).unwrap();
    let named = keys.keys.iter().filter(|key| key.common.key_id.as_ref() == Some(&kid)).collect::<Vec<_>>();
    let [key] = named.as_slice() else { panic!("not exactly one key {kid} in {}", expected.jwks) };
    let algorithm: Algorithm = expected.algorithm.parse().unwrap();
    let mut rules = Validation::new(algorithm);
    rules.leeway = 0;
    rules.set_issuer(&[expected.issuer]);
    rules.set_audience(&[expected.audience]);
    rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let key = DecodingKey::from_jwk(key).unwrap();
    let claims =
        decode::<Value>(token, &key, &rules).unwrap_or_else(|error| panic!("{error}: {token}")).claims;

    let seconds = |name: &str| claims[name].as_i64().unwrap_or_else(|| panic!("{name} in {claims}"));
    let (issued, expires) = (seconds("iat"), seconds("exp"));
    assert!((issued..=issued + 3600).contains(&expires), "it lasts an hour at most: {claims}");
    assert!((now() - 300..=now() + 5).contains(&issued), "issued now: {claims}");
    assert!(claims.get("azp").is_none_or(|party| party == expected.audience), "{claims}");
    let subject = claims["sub"].as_str().unwrap();
    assert!((1..=255).contains(&subject.len()) && subject.is_ascii(), "{claims}");
    assert_eq!(claims["at_hash"], half_hash(algorithm, expected.access_token).as_str(), "{claims}");
    claims
}

/// A public key for one algorithm, which ring verifies signatures with.
struct Judge {
    algorithm: Algorithm,
    key: DecodingKey,
}

fn verifier_factory(algorithm: &Algorithm, key: &DecodingKey) -> JwtResult<Box<dyn JwtVerifier>> {
    Ok(Box::new(Judge { algorithm: *algorithm, key: key.clone() }))
}

impl Verifier<Vec<u8>> for Judge {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), SignatureError> {
        let verified = match (self.algorithm, self.key.kind()) {
            (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (Algorithm::ES256, DecodingKeyKind::SecretOrDer(point)) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(point)) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            _ => return Err(SignatureError::new()),
        };
        verified.map_err(|_| SignatureError::new())
    }
}

impl JwtVerifier for Judge {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
