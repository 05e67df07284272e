//! Reads the checkpoints of a whole record: with the operator's secret, or with the public keys that the server publishes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use countersign_domain::checkpoint::RecordKey;
use countersign_domain::signing_key::SealedKey;
use countersign_ports::{CheckpointProof, CheckpointRead, JwsReader, JwsRejected, RecordReader, TokenSigner};
use josekit::jwk::Jwk;
use josekit::jws::{ES256, JwsVerifier};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::checkpoint::Parsed;
use super::keys::{SigningKey, comes_with_macs, thumbprint};
use super::{ACCESS_ALGORITHM, JosekitSigner};
use crate::{JosekitReader, OperatorSecret};

/// Reads checkpoints. Besides the keys that it is given, it uses those that earlier checkpoints name.
pub struct CheckpointReader {
    record: Option<RecordKey>,
    /// The ids of the keys that can have signed checkpoints without a MAC; `None` if that is not known.
    old: Option<BTreeSet<String>>,
    published: Keys,
    withdrawn: Keys,
    recorded: Keys,
}

/// Public keys by their ids, which are their thumbprints. So one key cannot be passed off as another.
#[derive(Default)]
struct Keys(BTreeMap<String, Box<dyn JwsVerifier>>);

impl CheckpointReader {
    /// A reader who has the secret, and all keys that are stored. A withdrawn key that another secret sealed is left out.
    pub fn of_server(signer: &JosekitSigner, stored: &[SealedKey], secret: &OperatorSecret) -> Self {
        let withdrawn = stored.iter().filter(|key| key.withdrawn_at.is_some());
        let old = stored.iter().filter(|key| !comes_with_macs(secret, key));
        let opened = withdrawn.filter_map(|key| SigningKey::open(secret, key).ok());
        Self {
            record: Some(secret.record_key()),
            old: Some(old.map(|key| key.kid.clone()).collect()),
            published: Keys::of_set(&signer.public_keys().jwks),
            withdrawn: Keys::of(opened.map(|key| key.jwk())),
            recorded: Keys::default(),
        }
    }

    /// A reader who has a key set as the server publishes it, or keys that it does not publish any more.
    pub fn of_keys(jwks: &str) -> Result<Self, JwsRejected> {
        JosekitReader.check_keys(jwks)?;
        let published = Keys::of_set(jwks);
        Ok(Self { record: None, old: None, published, withdrawn: Keys::default(), recorded: Keys::default() })
    }
}

impl RecordReader for CheckpointReader {
    fn read(&mut self, jws: &str) -> Option<CheckpointRead> {
        let parsed = Parsed::of(jws)?;
        if let Some(jwk) = &parsed.jwk
            && jwk.get("kid").and_then(Value::as_str) == Some(&parsed.kid)
        {
            self.recorded.add(jwk);
        }
        let known = [
            (&self.published, CheckpointProof::PublishedKey),
            (&self.withdrawn, CheckpointProof::WithdrawnKey),
            (&self.recorded, CheckpointProof::RecordedKey),
        ];
        let known = known.into_iter().find_map(|(keys, proof)| Some((keys.0.get(&parsed.kid)?, proof)));
        let signed_by = match known {
            Some((key, proof)) => {
                key.verify(parsed.signed.as_bytes(), &parsed.signature).ok()?;
                let is_old = self.old.as_ref().is_none_or(|old| old.contains(&parsed.kid));
                if parsed.has_mac() || is_old { proof } else { CheckpointProof::Nothing }
            }
            None => CheckpointProof::Nothing,
        };
        parsed.judge(self.record.as_ref(), signed_by)
    }

    fn record_key(&self) -> Option<&RecordKey> {
        self.record.as_ref()
    }
}

impl Keys {
    fn of_set(jwks: &str) -> Self {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        serde_json::from_str(jwks).map(|Set { keys }| Self::of(keys)).unwrap_or_default()
    }

    fn of(keys: impl IntoIterator<Item = Value>) -> Self {
        let mut found = Self::default();
        for key in keys {
            if let Value::Object(jwk) = &key {
                found.add(jwk);
            }
        }
        found
    }

    /// Takes a key that can have signed checkpoints.
    fn add(&mut self, jwk: &Map<String, Value>) {
        let Some(kid) = thumbprint(ACCESS_ALGORITHM, jwk) else { return };
        if self.0.contains_key(&kid) {
            return;
        }
        let verifier = Jwk::from_map(jwk.clone()).and_then(|jwk| ES256.verifier_from_jwk(&jwk));
        if let Ok(verifier) = verifier {
            self.0.insert(kid, Box::new(verifier));
        }
    }
}

impl fmt::Debug for CheckpointReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |keys: &Keys| keys.0.keys().cloned().collect::<Vec<_>>();
        f.debug_struct("CheckpointReader").field("published", &names(&self.published)).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::checkpoint::{Checkpoint, CheckpointClaims, Digest256, SignedCheckpoint};
    use countersign_domain::signing_algorithm::SigningAlgorithm;
    use time::OffsetDateTime;
    use time::macros::datetime;

    use super::*;
    use crate::signer::KeyTimes;
    use crate::{OsEntropy, SigningKey};

    const NOW: OffsetDateTime = datetime!(2026-11-23 12:00 UTC);

    fn claims(number: u64) -> CheckpointClaims {
        CheckpointClaims::of(Checkpoint {
            number,
            sealed_at: NOW,
            first: 1,
            events: 3,
            root: Digest256::new([1; 32]),
            previous: Digest256::NOTHING,
            kept_from: 1,
        })
    }

    /// A server with one key, which was withdrawn or not.
    struct Server {
        secret: OperatorSecret,
        signer: JosekitSigner,
        stored: SealedKey,
        /// The same key, as builds sealed it before there were MACs.
        before: SealedKey,
    }

    impl Server {
        fn new() -> Self {
            let (key, secret) = (
                SigningKey::generate(SigningAlgorithm::Es256).unwrap(),
                OperatorSecret::generate(&OsEntropy),
            );
            let signer = JosekitSigner::new(std::slice::from_ref(&key)).unwrap();
            let times = KeyTimes { created_at: NOW, active_from: NOW };
            let stored = key.seal(&secret, times, &OsEntropy);
            let before = key.seal_as_before(&secret, times, &OsEntropy);
            Self { stored, before, secret, signer }
        }

        async fn sign(&self, number: u64, after: Option<&SignedCheckpoint>) -> SignedCheckpoint {
            let claims = claims(number);
            let jws = self.signer.sign_checkpoint(&claims, after, &self.secret.record_key()).await.unwrap();
            SignedCheckpoint { checkpoint: claims.checkpoint, jws }
        }

        fn reader(&self) -> CheckpointReader {
            CheckpointReader::of_server(&self.signer, &[], &self.secret)
        }
    }

    fn proof(reader: &mut CheckpointReader, signed: &SignedCheckpoint) -> Option<CheckpointProof> {
        let read = reader.read(&signed.jws)?;
        assert_eq!(read.says.checkpoint, signed.checkpoint);
        Some(read.proof)
    }

    #[tokio::test]
    async fn the_secret_authenticates_a_checkpoint_whatever_became_of_its_key() {
        let (server, other) = (Server::new(), Server::new());
        let first = server.sign(1, None).await;
        assert_eq!(proof(&mut server.reader(), &first), Some(CheckpointProof::Secret));
        let mut without_key = CheckpointReader::of_server(&other.signer, &[], &server.secret);
        assert_eq!(proof(&mut without_key, &first), Some(CheckpointProof::Secret));
        assert_eq!(proof(&mut other.reader(), &first), None, "another secret");
    }

    #[tokio::test]
    async fn a_stolen_signing_key_makes_no_checkpoint_that_the_secret_authenticates() {
        let server = Server::new();
        let stolen = &server.signer;
        let forged = stolen.sign_checkpoint(&claims(1), None, &RecordKey::new([7; 32])).await.unwrap();
        let forged = SignedCheckpoint { checkpoint: claims(1).checkpoint, jws: forged };
        assert_eq!(proof(&mut server.reader(), &forged), None);
    }

    #[tokio::test]
    async fn the_published_keys_verify_a_checkpoint_and_its_own_key_is_told_apart() {
        let (server, other) = (Server::new(), Server::new());
        let first = server.sign(1, None).await;
        let second = server.sign(2, Some(&first)).await;
        let mut published = CheckpointReader::of_keys(&server.signer.public_keys().jwks).unwrap();
        assert_eq!(proof(&mut published, &second), Some(CheckpointProof::PublishedKey));
        let mut others = CheckpointReader::of_keys(&other.signer.public_keys().jwks).unwrap();
        assert_eq!(proof(&mut others, &second), Some(CheckpointProof::Nothing), "it names no key");
        assert_eq!(proof(&mut others, &first), Some(CheckpointProof::RecordedKey));
        assert_eq!(proof(&mut others, &second), Some(CheckpointProof::RecordedKey));
    }

    #[tokio::test]
    async fn a_checkpoint_has_one_form_and_nothing_in_it_can_be_altered() {
        let server = Server::new();
        let jws = server.sign(1, None).await.jws;
        let (signed, signature) = jws.rsplit_once('.').unwrap();
        let (header, payload) = signed.split_once('.').unwrap();
        let other = server.sign(2, None).await.jws;
        let other = other.split('.').nth(1).unwrap();
        let mut high = base64_bytes(signature);
        crate::signer::checkpoint::negate(&mut high[32..]);
        let high = to_base64(&high);
        let text = String::from_utf8(base64_bytes(payload)).unwrap();
        let changed = |from: &str, to: &str| to_base64(text.replace(from, to).as_bytes());
        let strangers = Server::new().sign(1, None).await.jws;
        for altered in [
            format!("{header}.{other}.{signature}"),
            format!("{header}.{payload}.{high}"),
            format!("{header}.{payload}.{}", strangers.rsplit_once('.').unwrap().1),
            format!("{}.{payload}.{signature}", strangers.split_once('.').unwrap().0),
            format!("{header}.{}.{signature}", changed("\"events\":3", "\"events\":4")),
            format!("{header}.{}.{signature}", changed("\"mac\":\"", "\"mac\":\"0")),
            "a.b.c".to_owned(),
            String::new(),
            strangers,
        ] {
            assert_eq!(server.reader().read(&altered), None, "{altered}");
        }
    }

    fn base64_bytes(text: &str) -> Vec<u8> {
        use base64::Engine;
        base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    fn to_base64(bytes: &[u8]) -> String {
        use base64::Engine;
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Checkpoints of builds before there were MACs.
    #[tokio::test]
    async fn without_a_mac_the_keys_of_the_builds_before_decide() {
        let server = Server::new();
        let jws = crate::signer::checkpoint::without_mac(&server.signer, &claims(1));
        let old = SignedCheckpoint { checkpoint: claims(1).checkpoint, jws };
        let nobody = JosekitSigner::new(&[]).unwrap();
        let withdrawn = |key: &SealedKey| SealedKey { withdrawn_at: Some(NOW), ..key.clone() };
        for (signer, stored, expected) in [
            (&server.signer, server.before.clone(), CheckpointProof::PublishedKey),
            (&server.signer, server.stored.clone(), CheckpointProof::Nothing),
            (&nobody, withdrawn(&server.before), CheckpointProof::WithdrawnKey),
            (&nobody, withdrawn(&server.stored), CheckpointProof::Nothing),
            (&nobody, server.before.clone(), CheckpointProof::Nothing),
        ] {
            let mut reader = CheckpointReader::of_server(signer, &[stored], &server.secret);
            assert_eq!(proof(&mut reader, &old), Some(expected));
        }
        let published = JosekitSigner::new(&[SigningKey::open(&server.secret, &server.before).unwrap()]);
        for (signer, expected) in
            [(&published.unwrap(), CheckpointProof::PublishedKey), (&server.signer, CheckpointProof::Nothing)]
        {
            let read = signer.read_checkpoint(&old.jws, &server.secret.record_key()).unwrap();
            assert_eq!(read.proof, expected);
        }
    }
}
