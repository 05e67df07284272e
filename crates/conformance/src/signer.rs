//! The clauses for a token signer, and the list that turns them into tests.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::audience::Audience;
use countersign_domain::checkpoint::{Checkpoint, CheckpointClaims, RecordKey};
use countersign_domain::grant::TokenSubject;
use countersign_domain::id_token::{IdTokenClaims, IdTokenRead, LogoutClaims};
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::token::{AccessClaims, AccessTokenRead};
use countersign_ports::{CheckpointProof, SecurityEventClaims, TokenSigner};
use serde_json::{Map, Value, json};
use time::Duration;

use crate::fakes::signer::{
    access_payload, checkpoint_payload, id_payload, logout_payload, security_event_payload,
};
use crate::fixtures::{self, RECORD_KEY};

/// Makes one test of each clause for a token signer. The argument is an expression for a signer; each clause
/// evaluates it anew.
#[macro_export]
macro_rules! signer_contract {
    ($signer:expr) => {
        $crate::clauses_on_a_signer! { $signer, [
            a_token_is_three_parts_of_base64url,
            the_header_names_type_algorithm_and_a_published_key,
            the_claims_are_exactly_those_of_rfc_9068,
            one_audience_is_a_text_and_several_are_a_list,
            times_are_whole_seconds,
            an_access_token_is_read_back,
            other_claims_give_another_signature,
            garbage_is_no_access_token,
            an_id_token_names_type_algorithm_and_a_published_key,
            an_id_token_says_exactly_what_it_was_given,
            an_id_token_is_read_back,
            a_logout_token_says_exactly_what_it_was_given,
            a_checkpoint_says_exactly_what_it_was_given_and_is_read_back,
            an_altered_checkpoint_is_not_verified,
            a_security_event_token_says_exactly_what_it_was_given,
            a_105_an_id_token_of_another_algorithm_key_or_payload_is_not_read,
            e_42_an_id_token_with_an_empty_or_a_zero_signature_is_not_read,
            a_107_tokens_of_one_kind_are_not_read_as_another,
            garbage_is_no_id_token,
            a_097_no_private_member_is_published,
            a_097_published_keys_have_ids_of_their_own_and_are_for_signing,
        ] }
    };
}

/// Makes one test of each clause.
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

/// `typ`, `alg` and `kid`, and nothing with which a token could bring its own key.
pub async fn the_header_names_type_algorithm_and_a_published_key(signer: &dyn TokenSigner) {
    let [header, _, _] = sign(signer, &fixtures::access_claims()).await;
    let header = object(&header);
    let names: BTreeSet<_> = header.keys().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(["typ", "alg", "kid"]));
    assert_eq!(header["typ"], "at+jwt");
    assert_eq!(header["alg"], "ES256");
    let keys = published(signer);
    let key = keys.iter().find(|key| key["kid"] == header["kid"]).unwrap();
    assert_eq!(key["alg"], header["alg"]);
}

/// RFC 9068 section 2.2, with the given values.
pub async fn the_claims_are_exactly_those_of_rfc_9068(signer: &dyn TokenSigner) {
    let claims = fixtures::access_claims();
    let [_, payload, _] = sign(signer, &claims).await;
    assert_eq!(Value::Object(object(&payload)), access_payload(&claims));
}

/// Fractions of a second are cut off, because some libraries reject them.
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

/// Resource servers compare it with their own name. The RFC 9449 key is included if there is one.
pub async fn one_audience_is_a_text_and_several_are_a_list(signer: &dyn TokenSigner) {
    let key = KeyThumbprint::from_bytes([7; 32]);
    let several = AccessClaims { audience: audiences(2), key: Some(key), ..fixtures::access_claims() };
    let [_, payload, _] = sign(signer, &several).await;
    let payload = object(&payload);
    assert_eq!(payload["aud"], json!(["https://api-0.example/'q'", "https://api-1.example/'q'"]));
    assert_eq!(payload["cnf"], json!({ "jkt": key.to_string() }));
    let one = AccessClaims { audience: audiences(1), ..fixtures::access_claims() };
    let [_, payload, _] = sign(signer, &one).await;
    assert_eq!(object(&payload)["aud"], json!("https://api-0.example/'q'"));
}

fn audiences(count: usize) -> Audience {
    let resources: Vec<String> =
        (0..count).map(|number| format!("https://api-{number}.example/'q'")).collect();
    fixtures::audience(&resources.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The signer reads its own access token: the `jti`, the subject and the audience.
pub async fn an_access_token_is_read_back(signer: &dyn TokenSigner) {
    for number in 0..8 {
        let key = (number % 2 == 1).then(|| KeyThumbprint::from_bytes([7; 32]));
        let claims = AccessClaims { audience: audiences(1 + number / 2), key, ..fixtures::access_claims() };
        let token = signer.sign_access_token(&claims).await.unwrap();
        let AccessClaims { id, audience, client, subject, .. } = claims;
        let audience = audience.as_slice().to_vec();
        let subject = match subject {
            TokenSubject::Person(subject) => subject.as_uuid(),
            TokenSubject::Client(client) => client.as_uuid(),
        };
        let expected = AccessTokenRead { id, subject, audience, key, client };
        assert_eq!(signer.read_access_token(&token), Some(expected));
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

/// Any text can be read, and none of these is a token.
pub async fn garbage_is_no_access_token(signer: &dyn TokenSigner) {
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
    garbage.extend(shapeless(&header, &payload, &signature));
    for text in garbage {
        assert_eq!(signer.read_access_token(&text), None, "{text:.80}");
    }
}

/// Texts that do not have the form of a token, or whose parts are too long.
fn shapeless(header: &str, payload: &str, signature: &str) -> Vec<String> {
    let mut garbage =
        Vec::from(["", ".", "..", "...", "a.b.c", "🦀.🦀.🦀", "\0", " . . "].map(ToOwned::to_owned));
    garbage.extend([
        payload.to_owned(),
        format!("{header}.{payload}"),
        format!("{header}.{payload}.{signature}.{signature}"),
        format!(" {header}.{payload} .{signature}"),
        "a".repeat(1 << 20),
        ".".repeat(1 << 20),
        format!("{header}.{}.{signature}", "a".repeat(1 << 20)),
    ]);
    garbage
}

async fn id_token(signer: &dyn TokenSigner, algorithm: SigningAlgorithm, claims: &IdTokenClaims) -> String {
    signer.sign_id_token(algorithm, claims).await.unwrap()
}

fn parts(token: &str) -> [&str; 3] {
    token.split('.').collect::<Vec<_>>().try_into().unwrap()
}

/// The header names the algorithm that the client registered, and a key of that algorithm.
pub async fn an_id_token_names_type_algorithm_and_a_published_key(signer: &dyn TokenSigner) {
    let keys = published(signer);
    for algorithm in SigningAlgorithm::ALL {
        let id_token = id_token(signer, algorithm, &fixtures::id_token_claims()).await;
        let logout_token = signer.sign_logout_token(algorithm, &fixtures::logout_claims()).await.unwrap();
        for (token, typ) in [(id_token, "JWT"), (logout_token, "logout+jwt")] {
            let [header, _, _] = parts(&token);
            let header = object(header);
            let names: BTreeSet<_> = header.keys().map(String::as_str).collect();
            assert_eq!(names, BTreeSet::from(["typ", "alg", "kid"]));
            assert_eq!((&header["typ"], &header["alg"]), (&json!(typ), &json!(algorithm.name())));
            let key = keys.iter().find(|key| key["kid"] == header["kid"]).unwrap();
            assert_eq!(key["alg"], header["alg"]);
        }
    }
}

/// Every claim as it was given, and no `null` for a missing one.
pub async fn an_id_token_says_exactly_what_it_was_given(signer: &dyn TokenSigner) {
    for claims in [fixtures::id_token_claims(), fixtures::short_id_token_claims()] {
        let token = id_token(signer, SigningAlgorithm::Rs256, &claims).await;
        let [_, payload, _] = parts(&token);
        assert_eq!(Value::Object(object(payload)), id_payload(&claims));
    }
}

/// As for `id_token_hint`, whatever algorithm the client chose.
pub async fn an_id_token_is_read_back(signer: &dyn TokenSigner) {
    for algorithm in SigningAlgorithm::ALL {
        for claims in [fixtures::id_token_claims(), fixtures::short_id_token_claims()] {
            let token = id_token(signer, algorithm, &claims).await;
            let expected = IdTokenRead {
                subject: claims.subject,
                audience: claims.audience,
                session: claims.session,
                authenticated_at: claims.authenticated_at,
                expires_at: claims.expires_at,
            };
            assert_eq!(signer.read_id_token(&token), Some(expected));
        }
    }
}

/// With `events` and without `nonce`, so that it cannot pass for anything else.
pub async fn a_logout_token_says_exactly_what_it_was_given(signer: &dyn TokenSigner) {
    let claims = fixtures::logout_claims();
    for claims in [LogoutClaims { session: None, ..claims.clone() }, claims] {
        let token = signer.sign_logout_token(SigningAlgorithm::EdDsa, &claims).await.unwrap();
        let [_, payload, _] = parts(&token);
        assert_eq!(Value::Object(object(payload)), logout_payload(&claims));
    }
}

/// What is sealed is what is read. The MAC shows that the secret was there.
pub async fn a_checkpoint_says_exactly_what_it_was_given_and_is_read_back(signer: &dyn TokenSigner) {
    for claims in [fixtures::checkpoint(), CheckpointClaims::of(fixtures::checkpoint().checkpoint)] {
        let jws = signer.sign_checkpoint(&claims, None, &RECORD_KEY).await.unwrap();
        let [header, payload, _] = parts(&jws);
        let (header, mut payload) = (object(header), object(payload));
        assert_eq!(header["typ"], "countersign-checkpoint+jwt");
        assert!(payload.remove("mac").is_some());
        payload.remove("jwk");
        assert_eq!(Value::Object(payload), checkpoint_payload(&claims));
        let read = signer.read_checkpoint(&jws, &RECORD_KEY).unwrap();
        assert_eq!((read.says, read.has_mac, read.proof), (claims, true, CheckpointProof::Secret));
        assert_eq!(read.kid, header["kid"]);
        assert_eq!(signer.read_checkpoint(&jws, &RecordKey::new([11; 32])), None, "another secret");
    }
}

/// Another payload, another signature, and the signature of another kind of token.
pub async fn an_altered_checkpoint_is_not_verified(signer: &dyn TokenSigner) {
    let claims = fixtures::checkpoint();
    let jws = signer.sign_checkpoint(&claims, None, &RECORD_KEY).await.unwrap();
    let checkpoint = Checkpoint { events: claims.checkpoint.events + 1, ..claims.checkpoint.clone() };
    let other = CheckpointClaims { checkpoint, ..claims };
    let other = signer.sign_checkpoint(&other, None, &RECORD_KEY).await.unwrap();
    let [header, payload, signature] = parts(&jws);
    let [_, other_payload, other_signature] = parts(&other);
    let set = signer.sign_security_event(&fixtures::security_event_claims()).await.unwrap();
    let [set_header, ..] = parts(&set);
    for altered in [
        format!("{header}.{other_payload}.{signature}"),
        format!("{header}.{payload}.{other_signature}"),
        format!("{header}.{payload}."),
        format!("{set_header}.{payload}.{signature}"),
    ] {
        assert_eq!(signer.read_checkpoint(&altered, &RECORD_KEY), None, "{altered}");
    }
    for text in shapeless(header, payload, signature) {
        assert_eq!(signer.read_checkpoint(&text, &RECORD_KEY), None, "{text:.80}");
    }
}

/// The claims of RFC 8417. No token of ours that means access can pass for one, nor the other way round.
pub async fn a_security_event_token_says_exactly_what_it_was_given(signer: &dyn TokenSigner) {
    let claims = fixtures::security_event_claims();
    let anonymous = SecurityEventClaims { subject: None, transaction: None, ..claims.clone() };
    for claims in [anonymous, claims] {
        let token = signer.sign_security_event(&claims).await.unwrap();
        let [header, payload, _] = parts(&token);
        assert_eq!(object(header)["typ"], "secevent+jwt");
        assert_eq!(Value::Object(object(payload)), security_event_payload(&claims));
        assert_eq!(signer.read_access_token(&token), None);
        assert_eq!(signer.read_id_token(&token), None);
    }
}

/// Nothing in a token decides how it is verified: each key has one algorithm and one header.
pub async fn a_105_an_id_token_of_another_algorithm_key_or_payload_is_not_read(signer: &dyn TokenSigner) {
    let claims = fixtures::id_token_claims();
    let other = IdTokenClaims { subject: fixtures::user_id().as_public(), ..claims.clone() };
    let encoded = |header: &Value| URL_SAFE_NO_PAD.encode(header.to_string());
    for algorithm in SigningAlgorithm::ALL {
        let token = id_token(signer, algorithm, &claims).await;
        let [header, payload, signature] = parts(&token);
        let of_other = id_token(signer, algorithm, &other).await;
        let [_, other_payload, other_signature] = parts(&of_other);
        let mut forged = vec![
            format!("{header}.{other_payload}.{signature}"),
            format!("{header}.{payload}.{other_signature}"),
            format!("{token}="),
            format!("{token}\n"),
        ];
        for confused in SigningAlgorithm::ALL.into_iter().filter(|confused| *confused != algorithm) {
            let token = id_token(signer, confused, &claims).await;
            let [confused_header, _, confused_signature] = parts(&token);
            forged.push(format!("{confused_header}.{payload}.{signature}"));
            forged.push(format!("{header}.{payload}.{confused_signature}"));
        }
        let kid = object(header)["kid"].clone();
        for name in ["none", "None", "NONE", "HS256", "HS384", "RS384", "PS256", "ES384", "ES256K", ""] {
            let header = encoded(&json!({ "typ": "JWT", "alg": name, "kid": kid }));
            forged.push(format!("{header}.{payload}.{signature}"));
            forged.push(format!("{header}.{payload}."));
        }
        let alg = algorithm.name();
        for header in [
            json!({ "typ": "JWT", "alg": alg }),
            json!({ "typ": "JWT", "alg": alg, "kid": "../../etc/passwd" }),
            json!({ "typ": "JWT", "alg": alg, "kid": kid, "crit": ["b64"], "b64": false }),
            json!({ "typ": "JWT", "alg": alg, "kid": kid, "jwk": published(signer)[0] }),
            json!({ "typ": "JWT", "alg": alg, "kid": kid, "jku": "https://evil.example/jwks" }),
            json!({ "typ": "JWT", "alg": alg, "kid": kid, "x5u": "https://evil.example/cert" }),
        ] {
            forged.push(format!("{}.{payload}.{signature}", encoded(&header)));
        }
        for token in forged {
            assert_eq!(signer.read_id_token(&token), None, "{algorithm:?}: {token:.120}");
        }
    }
}

/// CVE-2022-21449: a signature of zeros that was valid for every message.
pub async fn e_42_an_id_token_with_an_empty_or_a_zero_signature_is_not_read(signer: &dyn TokenSigner) {
    for algorithm in SigningAlgorithm::ALL {
        let token = id_token(signer, algorithm, &fixtures::id_token_claims()).await;
        let [header, payload, signature] = parts(&token);
        let length = URL_SAFE_NO_PAD.decode(signature).unwrap().len();
        let mut one = vec![0; length];
        one[length - 1] = 1;
        let der = [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00].to_vec();
        for bytes in [Vec::new(), vec![0; length], vec![0; length - 1], one, vec![0xff; length], der] {
            let forged = format!("{header}.{payload}.{}", URL_SAFE_NO_PAD.encode(bytes));
            assert_eq!(signer.read_id_token(&forged), None, "{forged:.120}");
        }
    }
}

/// Their `typ` tells them apart, even if the keys are the same.
pub async fn a_107_tokens_of_one_kind_are_not_read_as_another(signer: &dyn TokenSigner) {
    let access_token = signer.sign_access_token(&fixtures::access_claims()).await.unwrap();
    assert_eq!(signer.read_id_token(&access_token), None);
    for algorithm in SigningAlgorithm::ALL {
        let id_token = id_token(signer, algorithm, &fixtures::id_token_claims()).await;
        let logout_token = signer.sign_logout_token(algorithm, &fixtures::logout_claims()).await.unwrap();
        assert_eq!(signer.read_access_token(&id_token), None);
        assert_eq!(signer.read_access_token(&logout_token), None);
        assert_eq!(signer.read_id_token(&logout_token), None);
    }
}

/// Any text can be read, and none of these is a token.
pub async fn garbage_is_no_id_token(signer: &dyn TokenSigner) {
    for algorithm in SigningAlgorithm::ALL {
        let token = id_token(signer, algorithm, &fixtures::id_token_claims()).await;
        let [header, payload, signature] = parts(&token);
        for text in shapeless(header, payload, signature) {
            assert_eq!(signer.read_id_token(&text), None, "{text:.80}");
        }
    }
}

/// The published key set contains nothing that can sign.
pub async fn a_097_no_private_member_is_published(signer: &dyn TokenSigner) {
    for key in published(signer) {
        for member in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
            assert!(!key.contains_key(member), "{member}");
        }
    }
}

/// The members by which libraries choose a key.
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
