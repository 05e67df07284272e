//! What the signer produces, read by josekit's verifier; the sealing of keys; the first start and every
//! rotation.

mod rotation;
mod sealing;

use std::sync::LazyLock;

use countersign_conformance::fixtures;
use countersign_domain::grant::TokenSubject;
use countersign_domain::id::{ClientId, TokenId, UserId};
use countersign_domain::scope::{Scope, ScopeSet};
use josekit::jwk::Jwk;
use josekit::jws::{ES256, EdDSA, JwsVerifier, RS256};
use josekit::jwt;
use proptest::prelude::*;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::header::TokenType;
use super::keys::thumbprint;
use super::*;

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH.saturating_add(Duration::days(20_000));

fn claims() -> AccessClaims {
    AccessClaims {
        issuer: "https://auth.example".to_owned(),
        audience: fixtures::audience(&["https://auth.example/'quoted'"]),
        subject: TokenSubject::Person(UserId::random([7; 16]).as_public()),
        client: ClientId::at(NOW, [1; 10]).to_string(),
        scope: ScopeSet::of(&[Scope::OpenId, Scope::Email]),
        groups: None,
        authenticated_at: Some(NOW - Duration::minutes(2)),
        issued_at: NOW,
        expires_at: NOW + Duration::hours(1),
        id: TokenId::at(NOW, [2; 10]),
        key: None,
    }
}

/// RSA keys are slow to make, so the tests share them.
static KEYS: LazyLock<[SigningKey; 3]> =
    LazyLock::new(|| SigningAlgorithm::ALL.map(|algorithm| SigningKey::generate(algorithm).unwrap()));

fn es256() -> SigningKey {
    SigningKey::generate(SigningAlgorithm::Es256).unwrap()
}

fn signer() -> JosekitSigner {
    JosekitSigner::new(KEYS.as_slice()).unwrap()
}

fn secret() -> OperatorSecret {
    OperatorSecret::parse(&"c2VjcmV0".repeat(6)).unwrap()
}

fn published(signer: &JosekitSigner) -> Vec<Value> {
    let jwks: Value = serde_json::from_str(&signer.public_keys().jwks).unwrap();
    jwks["keys"].as_array().unwrap().clone()
}

fn public_key(signer: &JosekitSigner, algorithm: SigningAlgorithm) -> Value {
    published(signer).into_iter().find(|key| key["alg"] == algorithm.name()).unwrap()
}

fn verifier(key: &Value) -> Box<dyn JwsVerifier> {
    let jwk = Jwk::from_map(key.as_object().unwrap().clone()).unwrap();
    match key["kty"].as_str().unwrap() {
        "RSA" => Box::new(RS256.verifier_from_jwk(&jwk).unwrap()),
        "OKP" => Box::new(EdDSA.verifier_from_jwk(&jwk).unwrap()),
        _ => Box::new(ES256.verifier_from_jwk(&jwk).unwrap()),
    }
}

/// The id of a token that begins with our header.
fn id_of(signer: &JosekitSigner, token: &str) -> Option<TokenId> {
    signer.read_access_token(token).map(|read| read.id)
}

fn vectors(file: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(file).unwrap();
    document["cases"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_token_verifies_with_the_published_key_and_says_what_rfc_9068_asks_for() {
    let signer = signer();
    let token = signer.sign_access_token(&claims()).await.unwrap();
    let key = public_key(&signer, ACCESS_ALGORITHM);
    let (payload, header) = jwt::decode_with_verifier(&token, verifier(&key).as_ref()).unwrap();
    let header: Value = serde_json::from_str(&header.to_string()).unwrap();
    assert_eq!(header, json!({"typ": "at+jwt", "alg": "ES256", "kid": key["kid"]}));
    let payload: Value = serde_json::from_str(&payload.to_string()).unwrap();
    let expected = json!({
        "iss": "https://auth.example",
        "exp": 1_728_003_600,
        "aud": "https://auth.example/'quoted'",
        "sub": claims().subject.to_string(),
        "client_id": claims().client.to_string(),
        "iat": 1_728_000_000,
        "jti": claims().id.to_string(),
        "auth_time": 1_727_999_880,
        "scope": "openid email",
    });
    assert_eq!(payload, expected);
}

#[tokio::test]
async fn a_100_an_id_token_verifies_with_the_published_key_of_each_algorithm() {
    let signer = signer();
    for algorithm in SigningAlgorithm::ALL {
        let token = signer.sign_id_token(algorithm, &fixtures::id_token_claims()).await.unwrap();
        let key = public_key(&signer, algorithm);
        let (payload, header) = jwt::decode_with_verifier(&token, verifier(&key).as_ref()).unwrap();
        let header: Value = serde_json::from_str(&header.to_string()).unwrap();
        assert_eq!(header, json!({"typ": "JWT", "alg": algorithm.name(), "kid": key["kid"]}));
        assert_eq!(payload.claim("amr"), Some(&json!(["wallet"])));
        let logout = signer.sign_logout_token(algorithm, &fixtures::logout_claims()).await.unwrap();
        let (payload, header) = jwt::decode_with_verifier(&logout, verifier(&key).as_ref()).unwrap();
        assert_eq!(header.token_type(), Some("logout+jwt"));
        let events = json!({"http://schemas.openid.net/event/backchannel-logout": {}});
        assert_eq!(payload.claim("events"), Some(&events));
    }
}

#[test]
fn a_097_the_key_set_holds_public_members_only_and_the_thumbprint_is_the_name() {
    for key in published(&signer()) {
        let mut members: Vec<&str> = key.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        let algorithm = SigningAlgorithm::parse(key["alg"].as_str().unwrap()).unwrap();
        let expected = match algorithm {
            SigningAlgorithm::Rs256 => vec!["alg", "e", "kid", "kty", "n", "use"],
            SigningAlgorithm::Es256 => vec!["alg", "crv", "kid", "kty", "use", "x", "y"],
            SigningAlgorithm::EdDsa => vec!["alg", "crv", "kid", "kty", "use", "x"],
        };
        assert_eq!(members, expected);
        assert_eq!(key["kid"].as_str(), thumbprint(algorithm, key.as_object().unwrap()).as_deref());
    }
}

#[test]
fn thumbprints_are_those_of_rfc_7638() {
    let cases = vectors(include_str!("../../../../tests/vectors/jose/rfc7638_thumbprints.json"));
    let algorithm_of = |case: &Value| match (case["jwk"]["kty"].as_str(), case["jwk"]["crv"].as_str()) {
        (Some("RSA"), _) => Some(SigningAlgorithm::Rs256),
        (_, Some("P-256")) => Some(SigningAlgorithm::Es256),
        (_, Some("Ed25519")) => Some(SigningAlgorithm::EdDsa),
        _ => None,
    };
    // The other rows have key types that this signer does not support.
    let ours: Vec<_> = cases.iter().filter_map(|case| Some((case, algorithm_of(case)?))).collect();
    for (case, algorithm) in &ours {
        let thumbprint = thumbprint(*algorithm, case["jwk"].as_object().unwrap());
        assert_eq!(thumbprint.as_deref(), case["sha256_thumbprint"].as_str(), "{case}");
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
        assert!(josekit::jws::deserialize_compact(jws, verifier(&case["jwk"]).as_ref()).is_ok(), "{case}");
        assert_eq!(
            signer().read_access_token(jws),
            None,
            "a token signed with someone else's key is not ours"
        );
    }
    println!("rfc_jws: {} of {} cases ran", ours.len(), cases.len());
    assert!(!ours.is_empty());
}

#[tokio::test]
async fn the_id_is_read_from_our_own_tokens_only() {
    let signer = signer();
    let token = signer.sign_access_token(&claims()).await.unwrap();
    assert_eq!(id_of(&signer, &token), Some(claims().id));
    let other = JosekitSigner::new(&[es256()]).unwrap();
    assert_eq!(id_of(&other, &token), None);
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
        assert_eq!(id_of(&signer, &jws), None, "{case}");
        assert_eq!(signer.read_id_token(&jws), None, "A-105: {case}");
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
    let with_id = |jti: &str| {
        format!(r#"{{"sub":"00000000-0000-4000-8000-000000000007","aud":"a","client_id":"b","jti":"{jti}"}}"#)
    };
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
        with_payload(&json!({"jti": id.to_string()}).to_string()),
        with_payload(&json!({"aud": "a", "client_id": "b", "sub": id.to_string(), "jti": 7}).to_string()),
        with_payload(&json!({"aud": {}, "client_id": "b", "sub": id.to_string(), "jti": id.to_string()}).to_string()),
        with_payload(&json!({"aud": ["a", 1], "client_id": "b", "sub": id.to_string(), "jti": id.to_string()}).to_string()),
        with_payload(
            &json!({"aud": "a", "client_id": "b", "sub": id.to_string(), "jti": id.to_string(), "cnf": {"jkt": "short"}})
                .to_string(),
        ),
        with_payload(&json!({"aud": "a", "client_id": "b", "jti": id.to_string(), "sub": "x"}).to_string()),
        with_payload(&with_id(&id.to_string().to_uppercase())),
        with_payload(&with_id(&id.to_string().replace('-', ""))),
        with_payload(&with_id(&format!(r#"{id}","jti":"{id}"#))),
        with_payload(&format!("{} trailing", with_id(&id.to_string()))),
        with_payload(&with_id(&format!(r#"{id}","a":"{}"#, "a".repeat(1 << 20)))),
    ];
    for token in altered {
        assert_eq!(id_of(&signer, &token), None, "{}", token.chars().take(300).collect::<String>());
    }
    // The id is only for looking the token up: the hash of the whole token decides.
    let nested = with_id(&format!(r#"{id}","a":{}1{},"b":""#, "[".repeat(2_000), "]".repeat(2_000)));
    for payload in [with_id(&id.to_string()), nested] {
        assert_eq!(id_of(&signer, &with_payload(&payload)), Some(id));
    }
}

#[tokio::test]
async fn e_42_a_changed_token_or_one_with_a_signature_of_zeros_does_not_verify() {
    let signer = signer();
    let token = signer.sign_access_token(&claims()).await.unwrap();
    let verifier = verifier(&public_key(&signer, ACCESS_ALGORITHM));
    let (rest, signature) = token.rsplit_once('.').unwrap();
    let zeros = URL_SAFE_NO_PAD.encode([0; 64]);
    for forged in [format!("{rest}.{zeros}"), format!("{rest}A.{signature}"), format!("{rest}.")] {
        assert!(jwt::decode_with_verifier(&forged, verifier.as_ref()).is_err(), "{forged}");
    }
}

proptest! {
    #[test]
    fn any_text_at_all_is_a_token_or_none(text in ".{0,200}", payload in any::<Vec<u8>>()) {
        let signer = SIGNER.with(std::rc::Rc::clone);
        prop_assert_eq!(signer.read_access_token(&text), None);
        prop_assert_eq!(signer.read_id_token(&text), None);
        let signature = "A".repeat(86);
        for key in KEYS.iter() {
            let dressed_up = |typ: TokenType| {
                let header = typ.header(key.algorithm(), key.kid());
                format!("{header}{}.{signature}", URL_SAFE_NO_PAD.encode(&payload))
            };
            prop_assert_eq!(signer.read_access_token(&dressed_up(TokenType::Access)), None);
            prop_assert_eq!(signer.read_id_token(&dressed_up(TokenType::Id)), None);
        }
    }
}

thread_local! {
    static SIGNER: std::rc::Rc<JosekitSigner> = std::rc::Rc::new(signer());
}
