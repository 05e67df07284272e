//! Public keys that checkpoints are verified with, by somebody who cannot sign.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::checkpoint::Checkpoint;
use countersign_domain::signing_key::SealedKey;
use countersign_ports::{CheckpointRead, JwsReader, JwsRejected};
use serde_json::json;

use super::header::TokenType;
use super::keys::SigningKey;
use super::payload;
use crate::{JosekitReader, OperatorSecret};

/// A JSON Web Key Set with which checkpoints are verified: the one that the server publishes, or keys that it does not
/// publish any more.
#[derive(Clone, Debug)]
pub struct CheckpointKeys {
    jwks: String,
}

impl CheckpointKeys {
    /// Takes a set as the server publishes it.
    pub fn published(jwks: String) -> Result<Self, JwsRejected> {
        JosekitReader.check_keys(&jwks)?;
        Ok(Self { jwks })
    }

    /// Opens the keys among these that were withdrawn. One that another secret sealed is left out: its checkpoints read as
    /// those of a key that is gone.
    pub fn withdrawn(stored: &[SealedKey], secret: &OperatorSecret) -> Self {
        let withdrawn = stored.iter().filter(|key| key.withdrawn_at.is_some());
        let opened = withdrawn.filter_map(|key| SigningKey::open(secret, key).ok());
        let keys: Vec<_> = opened.map(|key| key.jwk()).collect();
        Self { jwks: json!({ "keys": keys }).to_string() }
    }

    /// Reads a checkpoint, as [`TokenSigner::read_checkpoint`](countersign_ports::TokenSigner::read_checkpoint) does.
    pub fn read(&self, jws: &str) -> Option<CheckpointRead> {
        match JosekitReader.read_signed(jws, &self.jwks) {
            Ok(read) if read.typ.as_deref() == Some(TokenType::Checkpoint.name()) => {
                Some(CheckpointRead::Verified(payload::read_checkpoint(&read.payload)?))
            }
            Err(JwsRejected::KeyUnknown) => Some(CheckpointRead::KeyGone(unverified(jws)?)),
            Ok(_)
            | Err(
                JwsRejected::TooLong
                | JwsRejected::Malformed
                | JwsRejected::Algorithm
                | JwsRejected::Header
                | JwsRejected::Keys(_)
                | JwsRejected::Signature,
            ) => None,
        }
    }
}

/// What a checkpoint says whose key is not there.
pub(super) fn unverified(jws: &str) -> Option<Checkpoint> {
    let (signed, _) = super::within_length(jws)?.rsplit_once('.')?;
    let (_, payload) = signed.split_once('.')?;
    payload::read_checkpoint(&URL_SAFE_NO_PAD.decode(payload).ok()?)
}

#[cfg(test)]
mod tests {
    use countersign_domain::checkpoint::Digest256;
    use countersign_domain::signing_algorithm::SigningAlgorithm;
    use countersign_ports::TokenSigner;
    use time::OffsetDateTime;
    use time::macros::datetime;

    use super::*;
    use crate::signer::{JosekitSigner, KeyTimes};
    use crate::{OsEntropy, SigningKey};

    const NOW: OffsetDateTime = datetime!(2026-11-23 12:00 UTC);

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            number: 7,
            sealed_at: NOW,
            first: 1,
            events: 3,
            root: Digest256::new([1; 32]),
            previous: Digest256::NOTHING,
            kept_from: 1,
        }
    }

    /// A checkpoint, the set that the server publishes, and the key that signed it.
    async fn signed() -> (String, CheckpointKeys, SigningKey) {
        let key = SigningKey::generate(SigningAlgorithm::Es256).unwrap();
        let signer = JosekitSigner::new(std::slice::from_ref(&key)).unwrap();
        let jws = signer.sign_checkpoint(&checkpoint()).await.unwrap();
        (jws, CheckpointKeys::published(signer.public_keys().jwks).unwrap(), key)
    }

    #[tokio::test]
    async fn whoever_has_the_published_keys_verifies_a_checkpoint() {
        let (jws, keys, _) = signed().await;
        assert_eq!(keys.read(&jws), Some(CheckpointRead::Verified(checkpoint())));
        let (_, others, _) = signed().await;
        assert_eq!(others.read(&jws), Some(CheckpointRead::KeyGone(checkpoint())));
    }

    #[tokio::test]
    async fn an_altered_checkpoint_and_another_kind_of_token_are_none() {
        let (jws, keys, key) = signed().await;
        let (head, signature) = jws.rsplit_once('.').unwrap();
        let (header, _) = head.split_once('.').unwrap();
        let other = Checkpoint { number: 8, ..checkpoint() };
        let signer = JosekitSigner::new(&[key]).unwrap();
        let other = signer.sign_checkpoint(&other).await.unwrap();
        let payload = other.split('.').nth(1).unwrap();
        assert_eq!(keys.read(&format!("{header}.{payload}.{signature}")), None);
        assert_eq!(keys.read("a.b.c"), None);
        assert_eq!(keys.read(""), None);
    }

    #[tokio::test]
    async fn a_withdrawn_key_is_told_apart_from_one_that_is_gone() {
        let (jws, _, key) = signed().await;
        let secret = OperatorSecret::generate(&OsEntropy);
        let times = KeyTimes { created_at: NOW, active_from: NOW };
        let good = key.seal(&secret, times, &OsEntropy);
        let withdrawn = SealedKey { withdrawn_at: Some(NOW), ..good.clone() };
        let of = |stored: &[SealedKey]| CheckpointKeys::withdrawn(stored, &secret).read(&jws);
        assert_eq!(of(&[withdrawn]), Some(CheckpointRead::Verified(checkpoint())));
        assert_eq!(of(&[good]), Some(CheckpointRead::KeyGone(checkpoint())));
        assert_eq!(of(&[]), Some(CheckpointRead::KeyGone(checkpoint())));
    }
}
