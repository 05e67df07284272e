//! What the signer produces, read by josekit's verifier; the sealing of keys; the first start.

use std::collections::VecDeque;
use std::sync::Mutex;

use countersign_domain::id::{ClientId, UserId};
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::signing_key::SealedKey;
use countersign_ports::StoreError;
use josekit::jwk::Jwk;
use josekit::jws::ES256;
use josekit::jwt;
use proptest::prelude::*;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::keys::thumbprint;
use super::*;
use crate::{OsEntropy, SystemClock};

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH.saturating_add(Duration::days(20_000));

fn claims() -> AccessClaims {
    AccessClaims {
        issuer: "https://auth.example".to_owned(),
        audience: "https://auth.example/\"quoted\"".to_owned(),
        subject: UserId::random([7; 16]),
        client: ClientId::at(NOW, [1; 10]),
        scope: ScopeSet::of(&[Scope::OpenId, Scope::Email]),
        authenticated_at: NOW - Duration::minutes(2),
        issued_at: NOW,
        expires_at: NOW + Duration::hours(1),
        id: TokenId::at(NOW, [2; 10]),
    }
}

fn signer() -> JosekitSigner {
    JosekitSigner::new(&SigningKey::generate().unwrap()).unwrap()
}

fn secret() -> OperatorSecret {
    OperatorSecret::parse(&"c2VjcmV0".repeat(6)).unwrap()
}

fn public_key(signer: &JosekitSigner) -> Value {
    let jwks: Value = serde_json::from_str(&signer.public_keys().jwks).unwrap();
    let keys = jwks["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 1);
    keys[0].clone()
}

fn verifier(key: &Value) -> josekit::jws::alg::ecdsa::EcdsaJwsVerifier {
    ES256.verifier_from_jwk(&Jwk::from_map(key.as_object().unwrap().clone()).unwrap()).unwrap()
}

fn vectors(file: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(file).unwrap();
    document["cases"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_token_verifies_with_the_published_key_and_says_what_rfc_9068_asks_for() {
    let signer = signer();
    let token = signer.sign_access_token(&claims()).await.unwrap();
    let key = public_key(&signer);
    let (payload, header) = jwt::decode_with_verifier(&token, &verifier(&key)).unwrap();
    let header: Value = serde_json::from_str(&header.to_string()).unwrap();
    assert_eq!(header, json!({"typ": "at+jwt", "alg": "ES256", "kid": key["kid"]}));
    let payload: Value = serde_json::from_str(&payload.to_string()).unwrap();
    let expected = json!({
        "iss": "https://auth.example",
        "exp": 1_728_003_600,
        "aud": "https://auth.example/\"quoted\"",
        "sub": claims().subject.to_string(),
        "client_id": claims().client.to_string(),
        "iat": 1_728_000_000,
        "jti": claims().id.to_string(),
        "auth_time": 1_727_999_880,
        "scope": "openid email",
    });
    assert_eq!(payload, expected);
}

#[test]
fn the_key_set_holds_public_members_only_and_the_thumbprint_is_the_name() {
    let signer = signer();
    let key = public_key(&signer);
    let mut members: Vec<&str> = key.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["alg", "crv", "kid", "kty", "use", "x", "y"]);
    assert_eq!(key["kid"], thumbprint(key["x"].as_str().unwrap(), key["y"].as_str().unwrap()));
    assert_eq!((&key["alg"], &key["use"], &key["crv"]), (&json!("ES256"), &json!("sig"), &json!("P-256")));
    assert_eq!(signer.public_keys().algorithms, ["ES256"]);
}

#[test]
fn thumbprints_are_those_of_rfc_7638() {
    let cases = vectors(include_str!("../../../../tests/vectors/jose/rfc7638_thumbprints.json"));
    // The other rows are of key types that this signer does not have.
    let ours: Vec<_> = cases.iter().filter(|case| case["jwk"]["crv"] == "P-256").collect();
    for case in &ours {
        let (x, y) = (case["jwk"]["x"].as_str().unwrap(), case["jwk"]["y"].as_str().unwrap());
        assert_eq!(thumbprint(x, y), case["sha256_thumbprint"].as_str().unwrap(), "{case}");
    }
    println!("rfc7638_thumbprints: {} of {} cases ran", ours.len(), cases.len());
    assert!(!ours.is_empty());
}

#[test]
fn the_verifier_of_these_tests_accepts_the_rfcs_token() {
    let cases = vectors(include_str!("../../../../tests/vectors/jose/rfc_jws.json"));
    let ours: Vec<_> = cases.iter().filter(|case| case["jwk"]["crv"] == "P-256").collect();
    for case in &ours {
        let jws = case["jws"].as_str().unwrap();
        assert!(josekit::jws::deserialize_compact(jws, &verifier(&case["jwk"])).is_ok(), "{case}");
        assert_eq!(signer().token_id(jws), None, "a token of somebody else's key is none of ours");
    }
    println!("rfc_jws: {} of {} cases ran", ours.len(), cases.len());
    assert!(!ours.is_empty());
}

#[tokio::test]
async fn the_id_is_read_from_our_own_tokens_only() {
    let signer = signer();
    let token = signer.sign_access_token(&claims()).await.unwrap();
    assert_eq!(signer.token_id(&token), Some(claims().id));
    let other = JosekitSigner::new(&SigningKey::generate().unwrap()).unwrap();
    assert_eq!(other.token_id(&token), None);
}

#[test]
fn tokens_of_the_negative_vectors_have_no_id() {
    let cases = vectors(include_str!("../../../../tests/vectors/jose/jws_negative.json"));
    let signer = signer();
    for case in &cases {
        assert_eq!(case["expect"].as_str().unwrap().split(' ').next(), Some("reject"), "{case}");
        let jws = match case["jws"].as_str().unwrap() {
            "build: header padded to 1 MiB" => format!("{}.e30.e30", "A".repeat(1 << 20)),
            jws => jws.to_owned(),
        };
        assert_eq!(signer.token_id(&jws), None, "{case}");
    }
    println!("jws_negative: {} cases ran", cases.len());
    assert!(!cases.is_empty());
}

#[tokio::test]
async fn the_alterations_of_the_negative_vectors_leave_our_own_token_without_an_id() {
    let signer = signer();
    let token = signer.sign_access_token(&claims()).await.unwrap();
    let parts: Vec<&str> = token.split('.').collect();
    let [header, payload, signature] = parts[..] else { panic!("{token}") };
    let with_header =
        |header: Value| format!("{}.{payload}.{signature}", URL_SAFE_NO_PAD.encode(header.to_string()));
    let with_payload = |payload: &str| format!("{header}.{}.{signature}", URL_SAFE_NO_PAD.encode(payload));
    let id = claims().id;
    let altered = [
        with_header(json!({"alg": "none"})),
        with_header(json!({"alg": "ES256"})),
        with_header(json!({"typ": "at+jwt", "alg": "ES256", "kid": "../../etc/passwd"})),
        format!("{header}.{payload}."),
        format!("{header}.{payload}"),
        format!("{token}.x"),
        format!("{token}="),
        format!("{token} "),
        format!(" {token}"),
        token[..token.len() - 1].to_owned(),
        format!("{header}.{payload}=.{signature}"),
        format!("{header}..{signature}"),
        "..".to_owned(),
        String::new(),
        with_payload("{}"),
        with_payload("null"),
        with_payload(&json!({"jti": 7}).to_string()),
        with_payload(&json!({"jti": id.to_string().to_uppercase()}).to_string()),
        with_payload(&json!({"jti": id.to_string().replace('-', "")}).to_string()),
        with_payload(&format!(r#"{{"jti":"{id}","jti":"{id}"}}"#)),
        with_payload(&format!(r#"{{"jti":"{id}"}} trailing"#)),
        with_payload(&format!(r#"{{"a":"{}","jti":"{id}"}}"#, "a".repeat(1 << 20))),
    ];
    for token in altered {
        assert_eq!(signer.token_id(&token), None, "{}", token.chars().take(300).collect::<String>());
    }
    // It is a key to look up and nothing more: the hash of the whole token decides.
    let nested = format!(r#"{{"a":{}1{},"jti":"{id}"}}"#, "[".repeat(2_000), "]".repeat(2_000));
    for payload in [format!(r#"{{"jti":"{id}"}}"#), nested] {
        assert_eq!(signer.token_id(&with_payload(&payload)), Some(id));
    }
}

#[tokio::test]
async fn e_42_a_changed_token_or_one_with_a_signature_of_zeros_does_not_verify() {
    let signer = signer();
    let token = signer.sign_access_token(&claims()).await.unwrap();
    let verifier = verifier(&public_key(&signer));
    let (rest, signature) = token.rsplit_once('.').unwrap();
    let zeros = URL_SAFE_NO_PAD.encode([0; 64]);
    for forged in [format!("{rest}.{zeros}"), format!("{rest}A.{signature}"), format!("{rest}.")] {
        assert!(jwt::decode_with_verifier(&forged, &verifier).is_err(), "{forged}");
    }
}

proptest! {
    #[test]
    fn any_text_at_all_either_has_an_id_or_has_none(text in ".{0,200}", payload in any::<Vec<u8>>()) {
        let signer = SIGNER.with(std::rc::Rc::clone);
        prop_assert_eq!(signer.token_id(&text), None);
        let dressed_up = format!("{}{}.{}", signer.header, URL_SAFE_NO_PAD.encode(payload), "A".repeat(86));
        prop_assert_eq!(signer.token_id(&dressed_up), None);
    }
}

thread_local! {
    static SIGNER: std::rc::Rc<JosekitSigner> = std::rc::Rc::new(signer());
}

#[test]
fn a_sealed_key_opens_with_its_own_secret_and_signs_as_before() {
    let key = SigningKey::generate().unwrap();
    let sealed = key.seal(&secret(), NOW, &OsEntropy);
    let opened = SigningKey::open(&secret(), &sealed).unwrap();
    assert_eq!(
        (sealed.kid.as_str(), sealed.algorithm.as_str(), sealed.created_at),
        (key.kid(), "ES256", NOW)
    );
    assert_eq!(opened.kid(), key.kid());
    let token = JosekitSigner::new(&opened).unwrap().sign(&claims()).unwrap();
    let published = public_key(&JosekitSigner::new(&key).unwrap());
    assert!(jwt::decode_with_verifier(&token, &verifier(&published)).is_ok());
}

#[test]
fn the_same_key_is_never_sealed_to_the_same_bytes_twice() {
    let key = SigningKey::generate().unwrap();
    assert_ne!(key.seal(&secret(), NOW, &OsEntropy), key.seal(&secret(), NOW, &OsEntropy));
}

#[test]
fn another_secret_is_told_apart_in_words() {
    let sealed = SigningKey::generate().unwrap().seal(&secret(), NOW, &OsEntropy);
    let error = SigningKey::open(&OperatorSecret::generate(&OsEntropy), &sealed).unwrap_err();
    assert!(matches!(error, KeyError::WrongSecret { .. }));
    assert!(error.to_string().contains("the secret differs from the one that the keys were sealed with"));
}

#[test]
fn a_changed_row_does_not_open() {
    let key = SigningKey::generate().unwrap();
    let sealed = key.seal(&secret(), NOW, &OsEntropy);
    let other = SigningKey::generate().unwrap().seal(&secret(), NOW, &OsEntropy);
    let mut altered = vec![
        SealedKey { kid: other.kid.clone(), ..sealed.clone() },
        SealedKey { sealed: other.sealed, ..sealed.clone() },
        SealedKey { algorithm: "RS256".to_owned(), ..sealed.clone() },
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
    let key = SigningKey::generate().unwrap();
    let pair = ES256.key_pair_from_der(key_der(&key)).unwrap();
    let private = josekit::jwk::KeyPair::to_jwk_private_key(&pair);
    let d = private.parameter("d").unwrap().as_str().unwrap().to_owned();
    let signer = JosekitSigner::new(&key).unwrap();
    let shown = format!("{key:?} {signer:?} {}", signer.public_keys().jwks);
    assert!(shown.contains(key.kid()) && !shown.contains(&d));
}

/// The private key in clear, by way of the same opening that the server does.
fn key_der(key: &SigningKey) -> Vec<u8> {
    use aes_gcm::aead::{Aead, KeyInit, Payload};
    let sealed = key.seal(&secret(), NOW, &OsEntropy);
    let cipher = aes_gcm::Aes256Gcm::new(
        &secret().derive::<32>("countersign signing key at rest, AES-256-GCM, version 1").into(),
    );
    let nonce: [u8; 12] = sealed.sealed[..12].try_into().unwrap();
    let aad = format!("{}\0ES256", sealed.kid);
    cipher.decrypt(&nonce.into(), Payload { msg: &sealed.sealed[12..], aad: aad.as_bytes() }).unwrap()
}

/// A store that shows what it was told to show at each reading, as if other replicas wrote in between.
struct Rows {
    readings: Mutex<VecDeque<Vec<SealedKey>>>,
    added: Mutex<Vec<SealedKey>>,
    answer: KeyAdded,
}

impl Rows {
    fn new(readings: impl IntoIterator<Item = Vec<SealedKey>>, answer: KeyAdded) -> Self {
        Self { readings: Mutex::new(readings.into_iter().collect()), added: Mutex::default(), answer }
    }
}

#[async_trait]
impl KeyStore for Rows {
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError> {
        self.added.lock().unwrap().push(command.key);
        Ok(self.answer)
    }

    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError> {
        self.readings.lock().unwrap().pop_front().ok_or(StoreError::Overloaded)
    }
}

fn kid(signer: &JosekitSigner) -> String {
    public_key(signer)["kid"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_first_start_makes_a_key_and_the_second_finds_it() {
    let empty = Rows::new([vec![]], KeyAdded::Stored);
    let first = load_or_create(&empty, &secret(), &SystemClock, &OsEntropy).await.unwrap();
    let stored = empty.added.lock().unwrap().clone();
    let full = Rows::new([stored], KeyAdded::Stored);
    let second = load_or_create(&full, &secret(), &SystemClock, &OsEntropy).await.unwrap();
    assert_eq!(first.public_keys(), second.public_keys());
    assert!(full.added.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_replica_that_comes_second_takes_the_key_of_the_first() {
    let faster = SigningKey::generate().unwrap();
    let stored = vec![faster.seal(&secret(), NOW, &OsEntropy)];
    let rows = Rows::new([vec![], stored], KeyAdded::AlgorithmTaken);
    let signer = load_or_create(&rows, &secret(), &SystemClock, &OsEntropy).await.unwrap();
    assert_eq!(kid(&signer), faster.kid());
}

#[tokio::test]
async fn a_start_with_another_secret_fails_and_makes_no_second_key() {
    let stored = vec![SigningKey::generate().unwrap().seal(&secret(), NOW, &OsEntropy)];
    let rows = Rows::new([stored], KeyAdded::Stored);
    let other = OperatorSecret::generate(&OsEntropy);
    let error = load_or_create(&rows, &other, &SystemClock, &OsEntropy).await.unwrap_err();
    assert!(matches!(error, KeyError::WrongSecret { .. }));
    assert!(rows.added.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_key_that_vanishes_and_a_store_that_fails_are_errors() {
    let rows = Rows::new([vec![], vec![]], KeyAdded::AlgorithmTaken);
    let error = load_or_create(&rows, &secret(), &SystemClock, &OsEntropy).await.unwrap_err();
    assert!(matches!(error, KeyError::Vanished));
    let rows = Rows::new([], KeyAdded::Stored);
    let error = load_or_create(&rows, &secret(), &SystemClock, &OsEntropy).await.unwrap_err();
    assert!(matches!(error, KeyError::Store(StoreError::Overloaded)));
}
