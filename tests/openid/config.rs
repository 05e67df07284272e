//! The plan "Config OP" (`oidcc-config-certification-test-plan`): what the provider says about itself (C-02).

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_tests::Database;
use countersign_tests::openid::Provider;
use serde_json::Value;
use url::Url;

/// The metadata contains what OpenID Connect requires, every endpoint is https, and the keys are public,
/// complete and have different ids.
#[test]
fn oidcc_discovery_endpoint_verification() {
    let server = Database::sqlite().server().with_public_url("https://auth.example.com").start();
    verify(&Provider::discover(&server));
}

/// The suite's checks of the metadata and of the keys that it points to.
#[track_caller]
pub(crate) fn verify(provider: &Provider) {
    assert!(provider.list("response_types_supported").contains("code"));
    let issuer = Url::parse(provider.issuer()).unwrap();
    assert!(issuer.query().is_none() && issuer.fragment().is_none(), "RFC 8414 section 2");
    let subjects = provider.list("subject_types_supported");
    assert!(subjects.is_subset(&["public", "pairwise"].into()), "{subjects:?}");
    assert!(provider.list("id_token_signing_alg_values_supported").contains("RS256"));
    assert!(provider.list("grant_types_supported").contains("authorization_code"));
    assert!(provider.list("scopes_supported").contains("openid"));
    for scope in provider.list("scopes_supported") {
        let plain = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5B | 0x5D..=0x7E);
        assert!(scope.bytes().all(plain), "RFC 6749 section 3.3: {scope}");
    }
    for locale in provider.list("ui_locales_supported") {
        let mut parts = locale.split('-');
        let language = parts.next().unwrap();
        assert!((2..=3).contains(&language.len()) && language.bytes().all(|byte| byte.is_ascii_lowercase()));
        assert!(parts.all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_uppercase())));
    }
    assert!(provider.list("claims_supported").contains("sub"));
    assert!(provider.list("code_challenge_methods_supported").contains("S256"));
    for name in
        ["claims_parameter_supported", "request_parameter_supported", "request_uri_parameter_supported"]
    {
        assert!(
            provider.metadata[name].is_boolean(),
            "{name}: if this is left out, it means true for request_uri"
        );
    }
    for name in ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"] {
        provider.path(name);
    }
    for (name, value) in provider.metadata.as_object().unwrap() {
        if name.ends_with("_endpoint") || name.ends_with("_uri") {
            let url = Url::parse(value.as_str().unwrap()).unwrap();
            assert!(url.scheme() == issuer.scheme() && url.fragment().is_none(), "{name}: {url}");
        }
    }
    verify_keys(&provider.jwks());
}

/// Public keys of the usual types, each with its own id.
#[track_caller]
pub(crate) fn verify_keys(jwks: &Value) {
    let keys = jwks["keys"].as_array().unwrap();
    let bytes = |key: &Value, name: &str| URL_SAFE_NO_PAD.decode(key[name].as_str().unwrap()).unwrap().len();
    let mut ids = BTreeSet::new();
    for key in keys {
        for private in ["d", "p", "q", "dp", "dq", "qi", "k"] {
            assert!(key.get(private).is_none(), "{private} is nobody's business");
        }
        assert_eq!(key["use"], "sig");
        assert!(ids.insert(key["kid"].as_str().unwrap()), "RFC 7517 section 4.5: {jwks}");
        match key["kty"].as_str().unwrap() {
            "RSA" => assert!(bytes(key, "n") >= 256 && bytes(key, "e") > 0, "{key}"),
            "EC" => assert_eq!((bytes(key, "x"), bytes(key, "y")), (32, 32), "{key}"),
            "OKP" => assert_eq!(bytes(key, "x"), 32, "{key}"),
            other => panic!("{other}: {key}"),
        }
    }
    assert!(keys.iter().any(|key| key["kty"] == "RSA"), "for RS256: {jwks}");
}
