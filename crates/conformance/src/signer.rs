//! The clauses of a token signer, and the list that makes tests of them.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::token::AccessClaims;
use countersign_ports::TokenSigner;
use serde_json::{Map, Value, json};
use time::Duration;

use crate::fixtures;

/// Makes one test of each clause about a token signer. The argument is evaluated for every clause: a signer.
#[macro_export]
macro_rules! signer_contract {
    ($signer:expr) => {
        $crate::clauses_on_a_signer! { $signer, [
            a_token_is_three_parts_of_base64url,
            the_header_names_type_algorithm_and_a_published_key,
            the_claims_are_exactly_those_of_rfc_9068,
            times_are_whole_seconds,
            the_id_of_a_token_is_read_back,
            other_claims_give_another_signature,
            garbage_has_no_id,
            a_097_no_private_member_is_published,
            a_097_published_keys_have_ids_of_their_own_and_are_for_signing,
        ] }
    };
}

/// One test for each clause.
#[doc(hidden)]
#[macro_export]
macro_rules! clauses_on_a_signer {
    ($signer:expr, [$($clause:ident),* $(,)?]) => { $(
        #[test]
        fn $clause() {
            let signer = $signer;
            $crate::harness::run($crate::signer::$clause(&signer));
        }
    )* };
}

async fn sign(signer: &dyn TokenSigner, claims: &AccessClaims) -> [String; 3] {
    let token = signer.sign_access_token(claims).await.unwrap();
    let parts: Vec<String> = token.split('.').map(ToOwned::to_owned).collect();
    parts.try_into().unwrap()
}

fn object(part: &str) -> Map<String, Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

fn published(signer: &dyn TokenSigner) -> Vec<Map<String, Value>> {
    let set: Value = serde_json::from_str(&signer.public_keys().jwks).unwrap();
    serde_json::from_value(set["keys"].clone()).unwrap()
}

/// The compact serialization of RFC 7515, without padding.
pub async fn a_token_is_three_parts_of_base64url(signer: &dyn TokenSigner) {
    for part in sign(signer, &fixtures::access_claims()).await {
        assert!(!part.is_empty());
        assert!(URL_SAFE_NO_PAD.decode(&part).is_ok(), "{part}");
    }
}

/// `typ`, `alg` and `kid`, and nothing by which a token could bring its own key.
pub async fn the_header_names_type_algorithm_and_a_published_key(signer: &dyn TokenSigner) {
    let [header, _, _] = sign(signer, &fixtures::access_claims()).await;
    let header = object(&header);
    let names: BTreeSet<_> = header.keys().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(["typ", "alg", "kid"]));
    assert_eq!(header["typ"], "at+jwt");
    let algorithms = signer.public_keys().algorithms;
    assert!(algorithms.iter().any(|algorithm| header["alg"] == algorithm.as_str()));
    assert_ne!(header["alg"], "none");
    let keys = published(signer);
    let key = keys.iter().find(|key| key["kid"] == header["kid"]).unwrap();
    assert_eq!(key["alg"], header["alg"]);
}

/// RFC 9068 section 2.2, with the values that were given.
pub async fn the_claims_are_exactly_those_of_rfc_9068(signer: &dyn TokenSigner) {
    let claims = fixtures::access_claims();
    let [_, payload, _] = sign(signer, &claims).await;
    let expected = json!({
        "iss": claims.issuer,
        "aud": claims.audience,
        "sub": claims.subject.to_string(),
        "client_id": claims.client.to_string(),
        "scope": claims.scope.to_string(),
        "auth_time": claims.authenticated_at.unix_timestamp(),
        "iat": claims.issued_at.unix_timestamp(),
        "exp": claims.expires_at.unix_timestamp(),
        "jti": claims.id.to_string(),
    });
    assert_eq!(Value::Object(object(&payload)), expected);
}

/// Parts of a second are cut off, so that no library stumbles over them.
pub async fn times_are_whole_seconds(signer: &dyn TokenSigner) {
    let mut claims = fixtures::access_claims();
    claims.issued_at += Duration::milliseconds(999);
    claims.expires_at += Duration::nanoseconds(1);
    let [_, payload, _] = sign(signer, &claims).await;
    let payload = object(&payload);
    for (name, time) in [("iat", claims.issued_at), ("exp", claims.expires_at), ("auth_time", fixtures::NOW)]
    {
        assert_eq!(payload[name], json!(time.unix_timestamp()), "{name}");
    }
}

/// What was signed is found by its `jti`.
pub async fn the_id_of_a_token_is_read_back(signer: &dyn TokenSigner) {
    for _ in 0..16 {
        let claims = fixtures::access_claims();
        let token = signer.sign_access_token(&claims).await.unwrap();
        assert_eq!(signer.token_id(&token), Some(claims.id));
    }
}

/// The signature covers the claims.
pub async fn other_claims_give_another_signature(signer: &dyn TokenSigner) {
    let claims = fixtures::access_claims();
    let longer = AccessClaims { expires_at: claims.expires_at + Duration::seconds(1), ..claims.clone() };
    let [_, _, signature] = sign(signer, &claims).await;
    let [_, _, other] = sign(signer, &longer).await;
    assert_ne!(signature, other);
}

/// Totality: any text is read, and none of these has an id.
pub async fn garbage_has_no_id(signer: &dyn TokenSigner) {
    let [header, payload, signature] = sign(signer, &fixtures::access_claims()).await;
    let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let mut without_id = object(&payload);
    let mut with_number = without_id.clone();
    let mut with_garbage = without_id.clone();
    without_id.remove("jti");
    with_number.insert("jti".to_owned(), json!(7));
    with_garbage.insert("jti".to_owned(), json!("not an id"));
    let payloads = [
        String::new(),
        "*".to_owned(),
        format!("{payload}*"),
        encoded(b""),
        encoded(&[0xff, 0xfe, 0x80]),
        encoded(b"{"),
        encoded(b"[]"),
        encoded(b"null"),
        encoded(b"\"text\""),
        encoded(&[b'['; 100_000]),
        encoded(Value::Object(without_id).to_string().as_bytes()),
        encoded(Value::Object(with_number).to_string().as_bytes()),
        encoded(Value::Object(with_garbage).to_string().as_bytes()),
    ];
    let mut garbage: Vec<String> =
        payloads.iter().map(|payload| format!("{header}.{payload}.{signature}")).collect();
    garbage.extend(["", ".", "..", "...", "a.b.c", "🦀.🦀.🦀", "\0", " . . "].map(ToOwned::to_owned));
    garbage.extend([
        payload.clone(),
        format!("{header}.{payload}"),
        format!("{header}.{payload}.{signature}.{signature}"),
        format!(" {header}.{payload} .{signature}"),
        "a".repeat(1 << 20),
        ".".repeat(1 << 20),
        format!("{header}.{}.{signature}", "a".repeat(1 << 20)),
    ]);
    for text in garbage {
        assert_eq!(signer.token_id(&text), None, "{text:.80}");
    }
}

/// A key set that clients read holds nothing that signs.
pub async fn a_097_no_private_member_is_published(signer: &dyn TokenSigner) {
    for key in published(signer) {
        for member in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
            assert!(!key.contains_key(member), "{member}");
        }
    }
}

/// Members that libraries choose a key by.
pub async fn a_097_published_keys_have_ids_of_their_own_and_are_for_signing(signer: &dyn TokenSigner) {
    let keys = published(signer);
    let ids: BTreeSet<_> = keys.iter().map(|key| key["kid"].as_str().unwrap()).collect();
    assert!(!keys.is_empty());
    assert_eq!(ids.len(), keys.len());
    for key in &keys {
        assert_eq!(key["use"], "sig");
        assert!(key["kty"].is_string() && key["alg"].is_string());
    }
    let published_algorithms: BTreeSet<_> = keys.iter().map(|key| key["alg"].as_str().unwrap()).collect();
    let algorithms = signer.public_keys().algorithms;
    assert_eq!(algorithms.iter().map(String::as_str).collect::<BTreeSet<_>>(), published_algorithms);
}
