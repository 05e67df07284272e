//! Reads JWS that others signed: their compact form and their keys. OpenSSL verifies the signatures.

mod json;
mod keys;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::claims::Claims;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_ports::{JwsReader, JwsRejected, ReadJws};
use countersign_strict_json as strict_json;
use serde_json::{Map, Value};

use keys::{Algorithm, PublicKey};

/// The longest accepted JWS, in bytes.
const MAX_JWS: usize = 16 * 1024;
/// The longest accepted header, in characters of base64url.
const MAX_HEADER: usize = 4 * 1024;
/// The longest accepted key set, in bytes.
const MAX_JWKS: usize = 64 * 1024;
/// How many keys are tried for a signature that does not name its key.
const MAX_TRIED: usize = 8;

/// Verifies signatures with OpenSSL, through josekit. Where josekit is lenient, this reader checks strictly
/// first.
#[derive(Clone, Copy, Debug, Default)]
pub struct JosekitReader;

/// The parts of a JWS.
struct Parts<'a> {
    header: Header,
    /// The text that the signature covers.
    signed: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

/// The header parameters that matter here.
struct Header {
    algorithm: Algorithm,
    typ: Option<String>,
    kid: Option<String>,
    jwk: Option<Value>,
}

impl JwsReader for JosekitReader {
    fn read_signed(&self, jws: &str, jwks: &str) -> Result<ReadJws, JwsRejected> {
        let parts = Parts::read(jws)?;
        let keys = read_set(jwks)?;
        let named = keys.iter().filter(|key| parts.header.kid.is_none() || key.kid == parts.header.kid);
        let mut tried = 0;
        for key in named.filter(|key| key.fits(parts.header.algorithm)).take(MAX_TRIED) {
            tried += 1;
            if key.verify(parts.header.algorithm, parts.signed, &parts.signature) {
                return Ok(parts.done());
            }
        }
        Err(if tried == 0 { JwsRejected::KeyUnknown } else { JwsRejected::Signature })
    }

    fn read_self_signed(&self, jws: &str) -> Result<(ReadJws, KeyThumbprint), JwsRejected> {
        let mut parts = Parts::read(jws)?;
        let Some(Value::Object(key)) = parts.header.jwk.take() else { return Err(JwsRejected::Header) };
        let key =
            PublicKey::read(&key)?.ok_or(JwsRejected::Keys("the key in the header has an unknown type"))?;
        if !key.fits(parts.header.algorithm) {
            return Err(JwsRejected::KeyUnknown);
        }
        if !key.verify(parts.header.algorithm, parts.signed, &parts.signature) {
            return Err(JwsRejected::Signature);
        }
        Ok((parts.done(), key.thumbprint()))
    }

    fn check_keys(&self, jwks: &str) -> Result<(), JwsRejected> {
        if read_set(jwks)?.iter().any(|key| Algorithm::ALL.into_iter().any(|algorithm| key.fits(algorithm))) {
            Ok(())
        } else {
            Err(JwsRejected::Keys("none of the keys can verify a signature"))
        }
    }

    fn read_claims(&self, payload: &[u8]) -> Option<Claims> {
        strict_json::object(payload).map(json::claims)
    }
}

impl<'a> Parts<'a> {
    fn read(jws: &'a str) -> Result<Self, JwsRejected> {
        if jws.len() > MAX_JWS {
            return Err(JwsRejected::TooLong);
        }
        let (signed, signature) = jws.rsplit_once('.').ok_or(JwsRejected::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(JwsRejected::Malformed)?;
        if header.len() > MAX_HEADER {
            return Err(JwsRejected::TooLong);
        }
        // A dot is not a character of base64url, so a fourth part is refused here.
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| JwsRejected::Malformed);
        let header = strict_json::object(&decode(header)?).ok_or(JwsRejected::Malformed)?;
        Ok(Self {
            header: Header::read(header)?,
            signed,
            payload: decode(payload)?,
            signature: decode(signature)?,
        })
    }

    fn done(self) -> ReadJws {
        let Header { algorithm, typ, .. } = self.header;
        ReadJws { algorithm: algorithm.name().to_owned(), typ, payload: self.payload }
    }
}

impl Header {
    fn read(mut header: Map<String, Value>) -> Result<Self, JwsRejected> {
        // Extensions that must be understood; `b64` would change what is signed (RFC 7797).
        if header.contains_key("crit") || header.contains_key("b64") {
            return Err(JwsRejected::Header);
        }
        let algorithm = header.get("alg").and_then(Value::as_str).and_then(Algorithm::parse);
        let algorithm = algorithm.ok_or(JwsRejected::Algorithm)?;
        let mut text = |name: &str| match header.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(JwsRejected::Malformed),
        };
        let (typ, kid) = (text("typ")?, text("kid")?);
        let typ = typ.map(|typ| match typ.split_at_checked("application/".len()) {
            Some((prefix, rest)) if prefix.eq_ignore_ascii_case("application/") => rest.to_owned(),
            Some(_) | None => typ,
        });
        Ok(Self { algorithm, typ, kid, jwk: header.remove("jwk") })
    }
}

/// The keys of a set whose type is known.
fn read_set(jwks: &str) -> Result<Vec<PublicKey>, JwsRejected> {
    if jwks.len() > MAX_JWKS {
        return Err(JwsRejected::TooLong);
    }
    let set = strict_json::object(jwks.as_bytes())
        .ok_or(JwsRejected::Keys("not a JSON object without duplicate names"))?;
    let Some(Value::Array(keys)) = set.get("keys") else {
        return Err(JwsRejected::Keys("keys is not a list"));
    };
    let mut read: Vec<PublicKey> = Vec::new();
    for key in keys {
        let Value::Object(key) = key else { return Err(JwsRejected::Keys("a key is not an object")) };
        let Some(key) = PublicKey::read(key)? else { continue };
        if key.kid.is_some() && read.iter().any(|other| other.kid == key.kid) {
            return Err(JwsRejected::Keys("one kid names several keys"));
        }
        read.push(key);
    }
    Ok(read)
}

#[cfg(test)]
mod tests;
