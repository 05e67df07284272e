//! Public keys from others (RFC 7517, RFC 7518, RFC 8037).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_ports::JwsRejected;
use josekit::JoseError;
use josekit::jwk::Jwk;
use josekit::jws::{ES256, ES384, EdDSA, JwsVerifier, PS256, RS256};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Members that only a private or a symmetric key has.
const PRIVATE_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
/// Shorter RSA keys are no longer safe; longer ones only cost time.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2_048..=8_192;

/// The types of keys that others may sign with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Ps256,
    Es256,
    Es384,
    EdDsa,
}

impl Algorithm {
    pub(super) const ALL: [Self; 5] = [Self::Rs256, Self::Ps256, Self::Es256, Self::Es384, Self::EdDsa];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

/// A parsed public key, with what its owner says about its use.
#[derive(Clone, Debug)]
pub(super) struct PublicKey {
    pub(super) kid: Option<String>,
    material: Material,
    /// True if its owner says that it is not for signatures.
    for_something_else: bool,
    algorithm: Option<String>,
}

/// The members that define a key, as they were written. Each has only one valid encoding.
#[derive(Clone, Debug)]
enum Material {
    Rsa { n: String, e: String },
    Ec { curve: &'static str, x: String, y: String },
    Ed25519 { x: String },
}

impl PublicKey {
    /// Reads a key. Returns `None` for an unknown type, which is allowed in a set (RFC 7517 section 5).
    pub(super) fn read(key: &Map<String, Value>) -> Result<Option<Self>, JwsRejected> {
        if PRIVATE_MEMBERS.iter().any(|name| key.contains_key(*name)) {
            return Err(JwsRejected::Keys("a key is private or symmetric: only public keys belong here"));
        }
        let Some(kind) = text(key, "kty")? else { return Err(JwsRejected::Keys("a key has no kty")) };
        let curve = text(key, "crv")?;
        let material = match (kind.as_str(), curve.as_deref()) {
            ("RSA", _) => rsa(key)?,
            ("EC", Some("P-256")) => ec(key, "P-256", 32)?,
            ("EC", Some("P-384")) => ec(key, "P-384", 48)?,
            ("OKP", Some("Ed25519")) => Material::Ed25519 { x: fixed(key, "x", 32)? },
            ("oct", _) => return Err(JwsRejected::Keys("a key is symmetric: only public keys belong here")),
            _ => return Ok(None),
        };
        let is_for_signatures = text(key, "use")?.is_none_or(|purpose| purpose == "sig")
            && match key.get("key_ops") {
                None => true,
                Some(Value::Array(operations)) => operations.iter().any(|operation| operation == "verify"),
                Some(_) => return Err(JwsRejected::Keys("key_ops is not a list")),
            };
        let algorithm = text(key, "alg")?;
        Ok(Some(Self { kid: text(key, "kid")?, material, for_something_else: !is_for_signatures, algorithm }))
    }

    /// True if this key can verify a signature of this algorithm and its owner does not say otherwise.
    pub(super) fn fits(&self, algorithm: Algorithm) -> bool {
        let is_of_kind = match &self.material {
            Material::Rsa { .. } => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            Material::Ec { curve: "P-256", .. } => algorithm == Algorithm::Es256,
            Material::Ec { .. } => algorithm == Algorithm::Es384,
            Material::Ed25519 { .. } => algorithm == Algorithm::EdDsa,
        };
        is_of_kind
            && !self.for_something_else
            && self.algorithm.as_deref().is_none_or(|named| named == algorithm.name())
    }

    /// True if this is the signature of this key over this text. A key that is not a point on its curve
    /// verifies nothing.
    pub(super) fn verify(&self, algorithm: Algorithm, signed: &str, signature: &[u8]) -> bool {
        self.verifier(algorithm).is_ok_and(|verifier| verifier.verify(signed.as_bytes(), signature).is_ok())
    }

    fn verifier(&self, algorithm: Algorithm) -> Result<Box<dyn JwsVerifier>, JoseError> {
        let jwk = self.jwk()?;
        Ok(match algorithm {
            Algorithm::Rs256 => Box::new(RS256.verifier_from_jwk(&jwk)?),
            Algorithm::Ps256 => Box::new(PS256.verifier_from_jwk(&jwk)?),
            Algorithm::Es256 => Box::new(ES256.verifier_from_jwk(&jwk)?),
            Algorithm::Es384 => Box::new(ES384.verifier_from_jwk(&jwk)?),
            Algorithm::EdDsa => Box::new(EdDSA.verifier_from_jwk(&jwk)?),
        })
    }

    /// The key without its owner's statements about its use, which were checked here.
    fn jwk(&self) -> Result<Jwk, JoseError> {
        let (kind, members) = match &self.material {
            Material::Rsa { n, e } => ("RSA", vec![("n", n.as_str()), ("e", e)]),
            Material::Ec { curve, x, y } => ("EC", vec![("crv", *curve), ("x", x), ("y", y)]),
            Material::Ed25519 { x } => ("OKP", vec![("crv", "Ed25519"), ("x", x)]),
        };
        let mut jwk = Jwk::new(kind);
        for (name, value) in members {
            jwk.set_parameter(name, Some(value.into()))?;
        }
        Ok(jwk)
    }

    /// The thumbprint of RFC 7638.
    pub(super) fn thumbprint(&self) -> KeyThumbprint {
        // The members in alphabetical order, whatever the JSON library does. The values are base64url, so
        // nothing is escaped.
        let text = match &self.material {
            Material::Rsa { n, e } => format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#),
            Material::Ec { curve, x, y } => format!(r#"{{"crv":"{curve}","kty":"EC","x":"{x}","y":"{y}"}}"#),
            Material::Ed25519 { x } => format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#),
        };
        KeyThumbprint::from_bytes(Sha256::digest(text.as_bytes()).into())
    }
}

fn rsa(key: &Map<String, Value>) -> Result<Material, JwsRejected> {
    let (n, modulus) = number(key, "n")?;
    let (e, exponent) = number(key, "e")?;
    let bits = modulus.len() * 8 - modulus.first().map_or(0, |byte| byte.leading_zeros() as usize);
    if !RSA_BITS.contains(&bits) {
        return Err(JwsRejected::Keys("an RSA key must have 2048 to 8192 bits"));
    }
    if is_roca(&modulus) {
        return Err(JwsRejected::Keys("an RSA key was made by a broken generator (ROCA, CVE-2017-15361)"));
    }
    // With the exponent 1, every text is its own signature. A long exponent only costs time.
    if exponent.len() > 4 || exponent == [1] || exponent.last().is_none_or(|byte| byte % 2 == 0) {
        return Err(JwsRejected::Keys("the exponent of an RSA key must be odd, at most 32 bits, and not 1"));
    }
    Ok(Material::Rsa { n, e })
}

/// That generator made primes that are powers of 65537 modulo many small primes, and so their product is one
/// too. Of other keys, one in 2^28 is.
fn is_roca(modulus: &[u8]) -> bool {
    /// The primes for which 65537 does not generate the whole group.
    const PRIMES: [u32; 17] = [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157];
    PRIMES.into_iter().all(|prime| {
        let rest = modulus.iter().fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % prime);
        let powers = std::iter::successors(Some(1), |power| Some(power * 65_537 % prime));
        powers.take(prime as usize).any(|power| power == rest)
    })
}

fn ec(key: &Map<String, Value>, curve: &'static str, length: usize) -> Result<Material, JwsRejected> {
    Ok(Material::Ec { curve, x: fixed(key, "x", length)?, y: fixed(key, "y", length)? })
}

/// A member that has a fixed length.
fn fixed(key: &Map<String, Value>, name: &'static str, length: usize) -> Result<String, JwsRejected> {
    let text = text(key, name)?.unwrap_or_default();
    let is_good = URL_SAFE_NO_PAD.decode(&text).is_ok_and(|bytes| bytes.len() == length);
    if is_good {
        Ok(text)
    } else {
        Err(JwsRejected::Keys("a coordinate of a key does not have the length of its curve"))
    }
}

/// A member that is a number, in as few bytes as possible (RFC 7518 section 2), so that one key has one
/// thumbprint.
fn number(key: &Map<String, Value>, name: &'static str) -> Result<(String, Vec<u8>), JwsRejected> {
    let text = text(key, name)?.unwrap_or_default();
    match URL_SAFE_NO_PAD.decode(&text) {
        Ok(bytes) if bytes.first().is_some_and(|byte| *byte != 0) => Ok((text, bytes)),
        Ok(_) | Err(_) => {
            Err(JwsRejected::Keys("a number of an RSA key is not base64url or has leading zeros"))
        }
    }
}

/// A member that is a string, if it is present.
fn text(key: &Map<String, Value>, name: &'static str) -> Result<Option<String>, JwsRejected> {
    match key.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(JwsRejected::Keys("a member of a key is not a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thumbprints_are_those_of_the_specifications() {
        let document: Value =
            serde_json::from_str(include_str!("../../../../tests/vectors/jose/rfc7638_thumbprints.json"))
                .unwrap();
        for case in document["cases"].as_array().unwrap() {
            let mut key = case["jwk"].as_object().unwrap().clone();
            if key["kty"] == "oct" {
                assert!(PublicKey::read(&key).is_err());
                continue;
            }
            key.remove("d");
            let thumbprint = PublicKey::read(&key).unwrap().unwrap().thumbprint();
            assert_eq!(thumbprint.to_string(), case["sha256_thumbprint"].as_str().unwrap(), "{case}");
        }
    }
}
