//! The clauses for a JWS reader, and the list that turns them into tests. The vectors are those in
//! `tests/vectors`.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::claims::{Claim, Claims};
use countersign_ports::{JwsReader, JwsRejected, READ_ALGORITHMS};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::jose::{ClientKey, sign_with_secret, unsigned};

/// Makes one test of each clause for a JWS reader. The argument is an expression for a reader; each clause
/// evaluates it anew.
#[macro_export]
macro_rules! jws_contract {
    ($reader:expr) => {
        $crate::clauses_on_a_reader! { $reader, [
            signatures_of_the_specifications_are_read,
            a_105_e_42_altered_signatures_are_refused,
            a_105_wycheproof_signatures_get_equal_verdicts,
            a_105_wycheproof_keys_get_equal_verdicts,
            what_clients_sign_is_read,
            a_105_what_nobody_signed_is_refused,
            sets_with_secrets_in_them_are_refused,
            keys_that_cannot_be_used_are_refused,
            what_a_key_is_for_is_respected,
            a_header_that_says_something_twice_is_refused,
            nothing_long_is_read,
            claims_are_one_object_with_no_name_twice,
            garbage_is_refused,
        ] }
    };
}

/// Makes one test of each clause.
#[doc(hidden)]
#[macro_export]
macro_rules! clauses_on_a_reader {
    ($reader:expr, [$($clause:ident),* $(,)?]) => { $(
        #[test]
        fn $clause() {
            let reader = $reader;
            $crate::jws::$clause(&reader);
        }
    )* };
}

/// Parses a document of vectors.
fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn cases(document: &Value) -> &[Value] {
    document["cases"].as_array().unwrap()
}

/// The public half of a key. Of the other members, only `kid` is kept.
fn public(key: &Value) -> Value {
    let mut key = key.as_object().unwrap().clone();
    key.retain(|name, _| !matches!(name.as_str(), "d" | "p" | "q" | "dp" | "dq" | "qi" | "oth"));
    Value::Object(key)
}

fn set(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// The key and the signed text of RFC 7515, appendix A.3.
fn es256() -> (Value, String) {
    let document = document(include_str!("../../../tests/vectors/jose/rfc_jws.json"));
    let case = cases(&document).iter().find(|case| case["name"] == "RFC 7515 A.3 ES256").unwrap();
    (case["jwk"].clone(), case["jws"].as_str().unwrap().to_owned())
}

/// The examples in the appendices of RFC 7515 and RFC 8037 and in the cookbook of RFC 7520, for the accepted
/// algorithms.
pub fn signatures_of_the_specifications_are_read(reader: &dyn JwsReader) {
    let rfc = document(include_str!("../../../tests/vectors/jose/rfc_jws.json"));
    let cookbook = document(include_str!("../../../tests/vectors/jose/rfc7520_cookbook.json"));
    let of_rfc = cases(&rfc).iter().map(|case| (case["jwk"].clone(), case["jws"].clone()));
    let of_cookbook =
        cases(&cookbook).iter().map(|case| (case["input"]["key"].clone(), case["output"]["compact"].clone()));
    let mut read = 0;
    for (key, jws) in of_rfc.chain(of_cookbook) {
        let (Value::Object(_), Value::String(jws)) = (&key, jws) else { continue };
        let header = jws.split('.').next().unwrap();
        let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap();
        let is_taken =
            READ_ALGORITHMS.iter().any(|name| header["alg"] == *name) && header.get("b64").is_none();
        let answer = reader.read_signed(&jws, &set(&[public(&key)]));
        assert_eq!(answer.is_ok(), is_taken, "{jws} {answer:?}");
        if let Ok(answer) = answer {
            assert_eq!(answer.algorithm, header["alg"].as_str().unwrap());
            assert_eq!(URL_SAFE_NO_PAD.encode(answer.payload), jws.split('.').nth(1).unwrap());
            read += 1;
        }
    }
    assert!(read >= 5, "{read}");
}

/// Twenty-two ways to alter one valid signature.
pub fn a_105_e_42_altered_signatures_are_refused(reader: &dyn JwsReader) {
    let (key, good) = es256();
    let keys = set(&[key]);
    assert!(reader.read_signed(&good, &keys).is_ok());
    let document = document(include_str!("../../../tests/vectors/jose/jws_negative.json"));
    for case in cases(&document) {
        let jws = match case["jws"].as_str().unwrap() {
            text if text.starts_with("build:") => {
                let header = json!({ "alg": "ES256", "x": "x".repeat(1024 * 1024) });
                good.replacen(good.split('.').next().unwrap(), &encode(&header), 1)
            }
            text => text.to_owned(),
        };
        assert!(reader.read_signed(&jws, &keys).is_err(), "{case}");
        assert!(reader.read_self_signed(&jws).is_err(), "{case}");
    }
}

/// The verdicts of Wycheproof, except for what is never accepted: shared secrets and other algorithms.
pub fn a_105_wycheproof_signatures_get_equal_verdicts(reader: &dyn JwsReader) {
    for file in [
        include_str!("../../../tests/vectors/wycheproof/json_web_signature_test.json"),
        include_str!("../../../tests/vectors/wycheproof/json_web_crypto_test.json"),
    ] {
        wycheproof(reader, file);
    }
}

/// The same for its key sets.
pub fn a_105_wycheproof_keys_get_equal_verdicts(reader: &dyn JwsReader) {
    wycheproof(reader, include_str!("../../../tests/vectors/wycheproof/json_web_key_test.json"));
}

fn wycheproof(reader: &dyn JwsReader, file: &str) {
    let (mut all, mut valid) = (0, 0);
    for group in document(file)["testGroups"].as_array().unwrap() {
        let keys = group.get("public").unwrap_or(&group["private"]);
        let keys = if keys.get("keys").is_some() { keys.clone() } else { json!({ "keys": [keys] }) };
        for test in group["tests"].as_array().unwrap() {
            let Some(jws) = test["jws"].as_str() else { continue };
            all += 1;
            let answer = reader.read_signed(jws, &keys.to_string());
            if test["result"] == "invalid" {
                assert!(answer.is_err(), "{} {test}", group["comment"]);
            } else {
                let is_taken = is_taken(jws, &keys);
                assert_eq!(answer.is_ok(), is_taken, "{} {test} {answer:?}", group["comment"]);
                valid += usize::from(is_taken);
            }
        }
    }
    assert!(all > 10, "{all} cases ran, {valid} of them valid here");
}

/// True if the algorithm is accepted and all keys are public.
fn is_taken(jws: &str, keys: &Value) -> bool {
    let header = jws.split('.').next().and_then(|header| URL_SAFE_NO_PAD.decode(header).ok());
    let header: Value = header.and_then(|header| serde_json::from_slice(&header).ok()).unwrap_or_default();
    let is_secret = |key: &Value| key["kty"] == "oct" || key.get("d").is_some();
    READ_ALGORITHMS.iter().any(|name| header["alg"] == *name)
        && !keys["keys"].as_array().unwrap().iter().any(is_secret)
}

/// Every algorithm, with a key set and with the key in the header, which is identified by its RFC 7638
/// thumbprint.
pub fn what_clients_sign_is_read(reader: &dyn JwsReader) {
    let claims = json!({ "sub": "x" });
    for algorithm in READ_ALGORITHMS {
        let (key, other) = (ClientKey::generate(algorithm, "a"), ClientKey::generate(algorithm, "a"));
        let (keys, jws) = (key.jwks().to_string(), key.sign(&claims));
        assert_eq!(reader.check_keys(&keys), Ok(()), "{keys}");
        let read = reader.read_signed(&jws, &keys).unwrap();
        assert_eq!((read.algorithm.as_str(), read.typ), (algorithm, None));
        assert_eq!(read.payload, claims.to_string().into_bytes());
        assert_eq!(reader.read_signed(&jws, &other.jwks().to_string()), Err(JwsRejected::Signature));
        assert_eq!(reader.read_self_signed(&jws), Err(JwsRejected::Header), "its header contains no key");

        let header = json!({ "typ": "application/dpop+jwt", "alg": algorithm, "jwk": key.public() });
        let (read, thumbprint) = reader.read_self_signed(&key.sign_with(&header, &claims)).unwrap();
        assert_eq!(read.typ.as_deref(), Some("dpop+jwt"));
        assert_eq!(*thumbprint.as_bytes(), hash_of(&key.public()));
        assert_eq!(reader.read_self_signed(&other.sign_with(&header, &claims)), Err(JwsRejected::Signature));
        let mut private = header;
        private["jwk"]["d"] = "AA".into();
        assert!(matches!(
            reader.read_self_signed(&key.sign_with(&private, &claims)),
            Err(JwsRejected::Keys(_))
        ));
    }
}

/// The members are sorted, and there are no others.
fn hash_of(key: &Value) -> [u8; 32] {
    let sorted: BTreeMap<String, Value> = serde_json::from_value(key.clone()).unwrap();
    let text = serde_json::to_string(&sorted).unwrap();
    Sha256::digest(text.as_bytes()).into()
}

/// A public key used as the secret of an HMAC, and no signature at all (A-105).
pub fn a_105_what_nobody_signed_is_refused(reader: &dyn JwsReader) {
    let key = ClientKey::generate("ES256", "a");
    let (keys, claims) = (key.jwks().to_string(), json!({}));
    for algorithm in ["none", "None", "NONE", "", "HS256", "HS384", "HS512"] {
        let header = json!({ "alg": algorithm, "kid": "a" });
        for jws in [
            unsigned(&header, &claims),
            sign_with_secret(&header, &claims, keys.as_bytes()),
            sign_with_secret(&header, &claims, &[key.jwk().to_string().as_bytes(), &[0; 32]].concat()),
            key.sign_with(&header, &claims),
        ] {
            assert_eq!(reader.read_signed(&jws, &keys), Err(JwsRejected::Algorithm), "{jws}");
        }
    }
}

/// A published secret is not secret. Where both kinds are mixed, a public key can be used as the secret of an
/// HMAC (A-105).
pub fn sets_with_secrets_in_them_are_refused(reader: &dyn JwsReader) {
    let (key, good) = es256();
    let symmetric = json!({ "kty": "oct", "kid": "s", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ" });
    let private = json!({
        "kty": "OKP", "crv": "Ed25519", "kid": "p", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
    });
    let mut both_named = [key.clone(), key.clone()];
    both_named.iter_mut().for_each(|key| key["kid"] = "same".into());
    for keys in [set(&[key.clone(), symmetric]), set(&[key, private]), set(&both_named)] {
        assert!(matches!(reader.check_keys(&keys), Err(JwsRejected::Keys(_))), "{keys}");
        assert!(reader.read_signed(&good, &keys).is_err(), "{keys}");
    }
}

/// Too short, without meaning, or missing.
pub fn keys_that_cannot_be_used_are_refused(reader: &dyn JwsReader) {
    let (key, _) = es256();
    let with = |name: &str, value: Value| {
        let mut key = key.clone();
        key[name] = value;
        set(&[key])
    };
    let rsa = |bytes: usize, e: &str| {
        let mut n = vec![0xff; bytes];
        n[0] = 0x80;
        set(&[json!({ "kty": "RSA", "n": URL_SAFE_NO_PAD.encode(n), "e": e })])
    };
    for good in [set(std::slice::from_ref(&key)), rsa(256, "AQAB"), rsa(512, "Aw"), with("kid", "a".into())] {
        assert_eq!(reader.check_keys(&good), Ok(()), "{good}");
    }
    for bad in [
        rsa(128, "AQAB"),
        rsa(255, "AQAB"),
        rsa(2048, "AQAB"),
        rsa(256, "AQ"),
        rsa(256, "AgAA"),
        rsa(256, ""),
        with("x", "".into()),
        with("x", 1.into()),
        with("y", "AAAA".into()),
        with("kty", "oct".into()),
        with("kty", Value::Null),
        with("crv", "P-521".into()),
        with("crv", "secp256k1".into()),
        with("use", "enc".into()),
        with("key_ops", json!(["sign"])),
        with("key_ops", "verify".into()),
        with("alg", "HS256".into()),
        set(&[]),
        set(&["x".into()]),
        "{}".to_owned(),
        "[]".to_owned(),
        String::new(),
        r#"{"keys":[],"keys":[]}"#.to_owned(),
    ] {
        assert!(reader.check_keys(&bad).is_err(), "{bad}");
    }
}

/// The owner's `use`, `key_ops` and `alg` say what a key is for, and `kid` selects one.
pub fn what_a_key_is_for_is_respected(reader: &dyn JwsReader) {
    let (key, good) = es256();
    let with = |members: Value| {
        let mut key: Map<String, Value> = key.as_object().unwrap().clone();
        key.extend(members.as_object().unwrap().clone());
        set(&[Value::Object(key)])
    };
    for members in [
        json!({}),
        json!({ "use": "sig" }),
        json!({ "key_ops": ["verify"] }),
        json!({ "alg": "ES256" }),
        json!({ "kid": "a", "x5u": "https://other.example" }),
    ] {
        assert!(reader.read_signed(&good, &with(members.clone())).is_ok(), "{members}");
    }
    for members in [
        json!({ "use": "enc" }),
        json!({ "key_ops": [] }),
        json!({ "alg": "ES384" }),
        json!({ "alg": "RS256" }),
    ] {
        assert_eq!(
            reader.read_signed(&good, &with(members.clone())),
            Err(JwsRejected::KeyUnknown),
            "{members}"
        );
    }
    let header = encode(&json!({ "alg": "ES256", "kid": "b" }));
    let named = format!("{header}.{}", good.split_once('.').unwrap().1);
    assert_eq!(reader.read_signed(&named, &with(json!({ "kid": "a" }))), Err(JwsRejected::KeyUnknown));
    assert_eq!(reader.read_signed(&named, &with(json!({}))), Err(JwsRejected::KeyUnknown));
    assert_eq!(reader.read_signed(&named, &with(json!({ "kid": "b" }))), Err(JwsRejected::Signature));
}

/// Headers with duplicate names, and headers with extensions that are not supported.
pub fn a_header_that_says_something_twice_is_refused(reader: &dyn JwsReader) {
    let (key, good) = es256();
    let keys = set(&[key]);
    let (_, rest) = good.split_once('.').unwrap();
    for (header, why) in [
        (r#"{"alg":"ES256","alg":"ES256"}"#, JwsRejected::Malformed),
        (r#"{"alg":"ES256","x":{"a":1,"a":1}}"#, JwsRejected::Malformed),
        (r#"{"alg":"ES256","kid":1}"#, JwsRejected::Malformed),
        (r#"{"alg":"ES256","crit":["exp"]}"#, JwsRejected::Header),
        (r#"{"alg":"ES256","crit":[]}"#, JwsRejected::Header),
        (r#"{"alg":"ES256","b64":false}"#, JwsRejected::Header),
        (r#"{"alg":"none"}"#, JwsRejected::Algorithm),
        (r#"{"alg":"HS256"}"#, JwsRejected::Algorithm),
        (r#"{"alg":"ES256K"}"#, JwsRejected::Algorithm),
        (r#"{"alg":["ES256"]}"#, JwsRejected::Algorithm),
        ("{}", JwsRejected::Algorithm),
        ("", JwsRejected::Malformed),
    ] {
        let jws = format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header));
        assert_eq!(reader.read_signed(&jws, &keys), Err(why), "{header}");
    }
}

/// Long texts are refused without being parsed.
pub fn nothing_long_is_read(reader: &dyn JwsReader) {
    let (key, good) = es256();
    let long = "a".repeat(1024 * 1024);
    assert_eq!(reader.read_signed(&format!("{good}{long}"), &set(&[key])), Err(JwsRejected::TooLong));
    assert_eq!(reader.read_self_signed(&long), Err(JwsRejected::TooLong));
    assert_eq!(reader.check_keys(&long), Err(JwsRejected::TooLong));
}

/// Strings, lists of strings and times are read; other claims are ignored.
pub fn claims_are_one_object_with_no_name_twice(reader: &dyn JwsReader) {
    let read = reader.read_claims(br#"{"a":"x","b":["y"],"c":5,"d":true}"#);
    let claims = [
        ("a", Claim::Text("x".to_owned())),
        ("b", Claim::Texts(vec!["y".to_owned()])),
        ("c", Claim::Number(5)),
        ("d", Claim::Other),
    ];
    let claims: BTreeMap<_, _> = claims.into_iter().map(|(name, claim)| (name.to_owned(), claim)).collect();
    assert_eq!(read, Some(Claims::new(claims)));
    for payload in [&br#"{"a":1,"a":1}"#[..], b"[]", b"x", b"", b"{}{}", b"\xff{}"] {
        assert_eq!(reader.read_claims(payload), None);
    }
}

/// Any input at all leads to a refusal and nothing else.
pub fn garbage_is_refused(reader: &dyn JwsReader) {
    let (key, good) = es256();
    let keys = set(&[key]);
    for (place, _) in good.char_indices() {
        let (before, after) = good.split_at(place);
        for inserted in ["", ".", "=", "é", "\0", " "] {
            let changed = format!("{before}{inserted}{}", after.get(1..).unwrap_or_default());
            assert!(changed == good || reader.read_signed(&changed, &keys).is_err(), "{changed}");
        }
        assert!(reader.read_signed(before, &keys).is_err(), "{before}");
    }
    for place in (0..keys.len()).filter(|place| keys.is_char_boundary(*place)) {
        assert!(reader.check_keys(&keys[..place]).is_err());
    }
}
