//! Access tokens: signed like the real ones, and recognized by a MAC over their id and client.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use josekit::JoseError;
use josekit::jwk::alg::ec::{EcCurve, EcKeyPair};
use josekit::jws::ES256;
use josekit::jws::JwsSigner;
use josekit::jws::alg::ecdsa::EcdsaJwsSigner;
use serde::Deserialize;
use sha2::Sha256;
use uuid::Uuid;

use super::clock::random;
use super::store::{ACCESS_LIFE, SCOPE, SECOND};

/// Makes tokens and recognizes them.
pub(super) struct Issuer {
    /// The `iss` claim, and the address of the floor.
    pub(super) url: String,
    signer: EcdsaJwsSigner,
    header: String,
    mac_key: [u8; 64],
}

#[derive(Deserialize)]
struct Claims<'a> {
    client_id: Uuid,
    jti: Uuid,
    mac: &'a str,
}

impl Issuer {
    pub(super) fn new(url: String) -> Result<Self, super::FloorError> {
        let key = EcKeyPair::generate(EcCurve::P256)?;
        // As long as a thumbprint (RFC 7638).
        let kid = URL_SAFE_NO_PAD.encode(random::<32>()?);
        let header = format!(r#"{{"typ":"at+jwt","alg":"ES256","kid":"{kid}"}}"#);
        Ok(Self {
            url,
            signer: ES256.signer_from_der(key.to_der_private_key())?,
            header: format!("{}.", URL_SAFE_NO_PAD.encode(header)),
            mac_key: random()?,
        })
    }

    /// Signs an access token.
    pub(super) fn sign(&self, id: Uuid, user: Uuid, client: Uuid, now: i64) -> Result<String, JoseError> {
        let (url, issued_at, expires_at) = (&self.url, now / SECOND, (now + ACCESS_LIFE) / SECOND);
        let mac = URL_SAFE_NO_PAD.encode(&self.mac(id, client)[..16]);
        let claims = format!(
            r#"{{"iss":"{url}","exp":{expires_at},"aud":"{url}","sub":"{user}","client_id":"{client}","iat":{issued_at},"jti":"{id}","mac":"{mac}","scope":"{SCOPE}"}}"#
        );
        let mut token = String::with_capacity(640);
        token.push_str(&self.header);
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signature = self.signer.sign(token.as_bytes())?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }

    /// The id and the client of a token that this issuer made.
    pub(super) fn open(&self, token: &str) -> Option<(Uuid, Uuid)> {
        let mut parts = token.strip_prefix(self.header.as_str())?.split('.');
        let claims = URL_SAFE_NO_PAD.decode(parts.next()?).ok()?;
        let claims: Claims<'_> = serde_json::from_slice(&claims).ok()?;
        let presented = URL_SAFE_NO_PAD.decode(claims.mac).ok()?;
        let verified = self.started(claims.jti, claims.client_id).verify_truncated_left(&presented);
        (presented.len() == 16 && verified.is_ok()).then_some((claims.jti, claims.client_id))
    }

    /// The value that storage keeps for the token.
    pub(super) fn mac(&self, id: Uuid, client: Uuid) -> [u8; 32] {
        self.started(id, client).finalize().into_bytes().into()
    }

    fn started(&self, id: Uuid, client: Uuid) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.mac_key.into());
        mac.update(id.as_bytes());
        mac.update(client.as_bytes());
        mac
    }
}

/// A secret that contains the id of its row: 16 bytes of id, 32 random ones.
pub(super) fn secret_of(id: Uuid) -> Result<String, getrandom::Error> {
    let mut bytes = [0; 48];
    bytes[..16].copy_from_slice(id.as_bytes());
    getrandom::fill(&mut bytes[16..])?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The id in a secret.
pub(super) fn id_in(secret: &str) -> Option<Uuid> {
    let mut bytes = [0; 48];
    let length = URL_SAFE_NO_PAD.decode_slice(secret, &mut bytes).ok()?;
    (length == bytes.len()).then(|| Uuid::from_slice(&bytes[..16]).ok())?
}
