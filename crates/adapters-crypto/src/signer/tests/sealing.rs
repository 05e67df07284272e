//! How keys are sealed for storage.

use countersign_domain::signing_key::SealedKey;

use super::*;
use crate::OsEntropy;

const TIMES: KeyTimes = KeyTimes { created_at: NOW, active_from: NOW.saturating_add(Duration::DAY) };

fn seal(key: &SigningKey) -> SealedKey {
    key.seal(&secret(), TIMES, &OsEntropy)
}

#[tokio::test]
async fn a_sealed_key_opens_with_its_own_secret_and_signs_as_before() {
    for key in KEYS.iter() {
        let sealed = seal(key);
        let opened = SigningKey::open(&secret(), &sealed).unwrap();
        assert_eq!((sealed.kid.as_str(), sealed.algorithm.as_str()), (key.kid(), key.algorithm().name()));
        assert_eq!((sealed.created_at, sealed.active_from), (TIMES.created_at, TIMES.active_from));
        assert_eq!((opened.kid(), opened.algorithm()), (key.kid(), key.algorithm()));
        let signer = JosekitSigner::new(&[opened]).unwrap();
        let token = signer.sign_id_token(key.algorithm(), &fixtures::id_token_claims()).await.unwrap();
        assert!(JosekitSigner::new(std::slice::from_ref(key)).unwrap().read_id_token(&token).is_some());
    }
}

#[test]
fn the_same_key_is_never_sealed_to_the_same_bytes_twice() {
    let key = es256();
    assert_ne!(seal(&key), seal(&key));
}

#[test]
fn another_secret_is_told_apart_in_words() {
    let sealed = seal(&es256());
    let error = SigningKey::open(&OperatorSecret::generate(&OsEntropy), &sealed).unwrap_err();
    assert!(matches!(error, KeyError::WrongSecret { .. }));
    assert!(error.to_string().contains("the secret differs from the one that the keys were sealed with"));
}

#[test]
fn a_changed_row_does_not_open() {
    let (sealed, other) = (seal(&es256()), seal(&es256()));
    let mut altered = vec![
        SealedKey { kid: other.kid.clone(), ..sealed.clone() },
        SealedKey { sealed: other.sealed, ..sealed.clone() },
        SealedKey { algorithm: "RS256".to_owned(), ..sealed.clone() },
        SealedKey { algorithm: "none".to_owned(), ..sealed.clone() },
        SealedKey { sealed: Vec::new(), ..sealed.clone() },
        SealedKey { sealed: sealed.sealed[..12].to_vec(), ..sealed.clone() },
    ];
    for position in 0..sealed.sealed.len() {
        let mut changed = sealed.clone();
        changed.sealed[position] ^= 1;
        altered.push(changed);
    }
    for row in altered {
        assert!(matches!(SigningKey::open(&secret(), &row), Err(KeyError::WrongSecret { .. })));
    }
}

#[test]
fn neither_key_nor_signer_prints_the_private_key() {
    let key = es256();
    let pair = ES256.key_pair_from_der(key_der(&key)).unwrap();
    let private = josekit::jwk::KeyPair::to_jwk_private_key(&pair);
    let d = private.parameter("d").unwrap().as_str().unwrap().to_owned();
    let signer = JosekitSigner::new(std::slice::from_ref(&key)).unwrap();
    let shown = format!("{key:?} {signer:?} {}", signer.public_keys().jwks);
    assert!(shown.contains(key.kid()) && !shown.contains(&d));
}

/// The private key in the clear, opened the way the server opens it.
fn key_der(key: &SigningKey) -> Vec<u8> {
    use aes_gcm::aead::{Aead, KeyInit, Payload};
    let sealed = seal(key);
    let cipher = aes_gcm::Aes256Gcm::new(
        &secret().derive::<32>("countersign signing key at rest, AES-256-GCM, version 1").into(),
    );
    let nonce: [u8; 12] = sealed.sealed[..12].try_into().unwrap();
    let aad = format!("{}\0ES256", sealed.kid);
    cipher.decrypt(&nonce.into(), Payload { msg: &sealed.sealed[12..], aad: aad.as_bytes() }).unwrap()
}
