//! What an attacker signs: a checkpoint in the form of this build or of builds before, with any key but the secret.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::checkpoint::{Checkpoint, Digest256};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};

use crate::scene::Scene;

/// A key pair that the attacker has, and the name that it goes by.
pub(crate) struct Forger {
    pair: EcdsaKeyPair,
    kid: String,
}

/// The form of a forged checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// As builds signed before there were MACs.
    Before,
    /// With a MAC that is none, and the key that made the signature.
    Lookalike,
}

impl Forger {
    /// A key of the attacker's own, under its own name or another one's.
    pub(crate) fn stranger(kid: Option<&str>) -> Self {
        let random = SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref(), &random).unwrap();
        let mut forger = Self { pair, kid: String::new() };
        forger.kid = kid.map_or_else(|| thumbprint(&forger.jwk()), str::to_owned);
        forger
    }

    /// A key of the server's that was stolen from its memory.
    pub(crate) fn thief(scene: &Scene<'_>, kid: &str) -> Self {
        let stored = scene.runtime.block_on(scene.storage.signing_keys()).unwrap();
        let sealed = stored.into_iter().find(|key| key.kid == kid).unwrap();
        let purpose = "countersign signing key at rest, AES-256-GCM, version 1";
        let key =
            LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &scene.secret.derive::<32>(purpose)).unwrap());
        let (nonce, rest) = sealed.sealed.split_at(12);
        let mut rest = rest.to_vec();
        let bound = [kid.as_bytes(), &[0], b"ES256"].concat();
        let nonce = Nonce::try_assume_unique_for_key(nonce).unwrap();
        let der = key.open_in_place(nonce, Aad::from(bound), &mut rest).unwrap();
        // The number and the point, as RFC 5915 section 3 has them: ring takes fewer forms of it than OpenSSL writes.
        let after = |start: &[u8], length: usize| {
            let place = der.windows(start.len()).position(|window| window == start).unwrap() + start.len();
            der[place..place + length].to_vec()
        };
        let (number, point) = (after(&[2, 1, 1, 4, 32], 32), after(&[3, 66, 0], 65));
        let (form, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pair = EcdsaKeyPair::from_private_key_and_public_key(form, &number, &point, &random).unwrap();
        Self { pair, kid: kid.to_owned() }
    }

    fn jwk(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let [x, y] = [&point[1..33], &point[33..]].map(|half| URL_SAFE_NO_PAD.encode(half));
        json!({ "crv": "P-256", "kty": "EC", "x": x, "y": y })
    }

    pub(crate) fn sign(&self, checkpoint: &Checkpoint, form: Form) -> String {
        let mut payload = json!({
            "checkpoint": checkpoint.number,
            "iat": checkpoint.sealed_at.unix_timestamp(),
            "first": checkpoint.first,
            "events": checkpoint.events,
            "root": checkpoint.root.to_string(),
            "previous": checkpoint.previous.to_string(),
            "kept_from": checkpoint.kept_from,
        });
        if let Form::Lookalike = form {
            payload["jwk"] = self.jwk();
            payload["jwk"]["kid"] = self.kid.clone().into();
        }
        let mut payload = payload.to_string();
        if let Form::Lookalike = form {
            payload.pop();
            payload.push_str(&format!(r#","mac":"{}"}}"#, Digest256::of(b"a guess")));
        }
        let header = format!(r#"{{"typ":"countersign-checkpoint+jwt","alg":"ES256","kid":"{}"}}"#, self.kid);
        let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
        // Half of all signatures are in the lower form.
        loop {
            let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
            if signature.as_ref()[32] < 0x7f {
                return format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()));
            }
        }
    }
}

/// RFC 7638.
fn thumbprint(jwk: &Value) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, jwk.to_string().as_bytes());
    URL_SAFE_NO_PAD.encode(digest.as_ref())
}
