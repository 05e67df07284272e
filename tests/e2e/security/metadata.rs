//! What clients discover. No request header can change it.

use countersign_tests::{Database, Request, Server};
use serde_json::{Value, json};

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn a_096_discovery_names_what_works_and_only_that() {
    let server = Server::sqlite();
    for path in ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"] {
        let response = server.get(path).expect(200);
        assert_eq!(response.header("Content-Type"), Some("application/json"));
        let metadata = response.json();
        assert_eq!(
            metadata["issuer"],
            json!(server.public_url),
            "the issuer is the public URL, byte for byte"
        );
        for (name, endpoint) in [
            ("authorization_endpoint", "/oauth/authorize"),
            ("token_endpoint", "/oauth/token"),
            ("userinfo_endpoint", "/oauth/userinfo"),
            ("revocation_endpoint", "/oauth/revoke"),
            ("registration_endpoint", "/oauth/clients"),
            ("jwks_uri", "/oauth/jwks"),
        ] {
            assert_eq!(metadata[name], json!(format!("{}{endpoint}", server.public_url)), "{name}");
        }
        assert_eq!(metadata["response_types_supported"], json!(["code"]));
        assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));
        assert_eq!(metadata["authorization_response_iss_parameter_supported"], json!(true), "A-042");
        assert!(texts(&metadata["scopes_supported"]).contains(&"profile"));
        let methods = texts(&metadata["token_endpoint_auth_methods_supported"]);
        assert!(
            methods.contains(&"client_secret_post") && methods.contains(&"client_secret_basic"),
            "{methods:?}"
        );
        // Every URL that is listed as an endpoint exists.
        for (name, value) in metadata.as_object().unwrap() {
            let Some(path) = value.as_str().and_then(|url| url.strip_prefix(&server.public_url)) else {
                continue;
            };
            if (name.ends_with("_endpoint") || name.ends_with("_uri")) && !path.is_empty() {
                assert_ne!(server.get(path).status, 404, "{name}: {path}");
            }
        }
    }
}

#[test]
fn a_097_the_keys_are_public_and_verify_our_tokens_by_their_kid() {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let server = Server::sqlite();
    let response = server.get("/oauth/jwks").expect(200);
    let keys = response.json()["keys"].as_array().unwrap().clone();
    let mut kids = Vec::new();
    for key in &keys {
        for private in ["d", "p", "q", "dp", "dq", "qi", "k"] {
            assert!(key.get(private).is_none(), "{private} in {key}");
        }
        assert_eq!(key["use"], json!("sig"));
        assert!(key["alg"].is_string());
        kids.push(key["kid"].as_str().unwrap().to_owned());
    }
    kids.sort();
    kids.dedup();
    assert_eq!(kids.len(), keys.len(), "every kid is unique");
    let access = server.tokens(&server.register()).access;
    let decode = |place: usize| -> Value {
        let part = access.split('.').nth(place).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    let (header, claims) = (decode(0), decode(1));
    assert_eq!(header["typ"], json!("at+jwt"), "A-106");
    assert_eq!(header["alg"], json!("ES256"));
    assert!(kids.iter().any(|kid| header["kid"] == json!(kid)), "{header}");
    let names: Vec<&str> = ["iss", "sub", "aud", "client_id", "scope", "iat", "exp", "jti"].into();
    assert!(names.iter().all(|name| claims.get(*name).is_some()), "{claims}");
    assert_eq!(claims["iss"], json!(server.public_url));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 3600);
    assert!(!claims.to_string().contains("0x"), "A-106: no address: {claims}");
}

/// headers do not change the metadata.
#[test]
fn a_098_no_header_of_a_request_changes_what_we_say_about_ourselves() {
    let server = Server::sqlite();
    let client = server.register();
    let plain = server.get("/.well-known/openid-configuration").json();
    let headers = [
        ("Host", "evil.example"),
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "https"),
        ("Forwarded", "host=evil.example;proto=https"),
        ("X-Original-Host", "evil.example"),
    ];
    for (name, value) in headers {
        let with = |request: Request| server.send(&request.header(name, value));
        assert_eq!(with(Request::get("/.well-known/openid-configuration")).json(), plain, "{name}");
        let begun = with(Request::query("/oauth/authorize", &client.authorization())).expect(302);
        assert!(!format!("{begun:?}").contains("evil.example"), "{name}: {begun:?}");
        let refused =
            with(Request::query("/oauth/authorize", &client.authorization().with("scope", "admin")));
        assert_eq!(refused.answer("iss").as_deref(), Some(server.public_url.as_str()), "{name}");
        let page = with(Request::get("/auth").header("Accept", "text/html"));
        assert!(!page.text().contains("evil.example"), "{name}");
        let registered = with(countersign_tests::Site::registration(&json!({}))).expect(201);
        assert!(registered.field("registration_client_uri").starts_with(&server.public_url), "{name}");
    }
    let absolute = server.send(&Request::get("http://evil.example/.well-known/openid-configuration"));
    if absolute.status == 200 {
        assert_eq!(absolute.json(), plain);
    }
}

/// RFC 8414 puts the well-known part before the issuer's path; OpenID Connect puts it after.
#[test]
fn a_096_an_issuer_with_a_path_is_found_in_both_ways() {
    let server = Database::sqlite()
        .server()
        .with_public_url("https://example.test/sso")
        .with_env("COUNTERSIGN_REGISTRATION", "open")
        .start();
    for path in ["/.well-known/oauth-authorization-server/sso", "/sso/.well-known/openid-configuration"] {
        let metadata = server.get(path).expect(200).json();
        assert_eq!(metadata["issuer"], json!("https://example.test/sso"));
        assert_eq!(metadata["token_endpoint"], json!("https://example.test/sso/oauth/token"));
    }
}

/// People paste the issuer with a slash at its end. Its metadata is found, and names the issuer as it is.
#[test]
fn the_metadata_of_an_issuer_pasted_with_a_slash_is_found_and_names_it_without() {
    for (issuer, base) in [("http://localhost:9", ""), ("http://localhost:9/sso", "/sso")] {
        let server = Database::sqlite().server().with_public_url(issuer).start();
        let plain = server.get(&format!("{base}/.well-known/openid-configuration")).expect(200).json();
        for path in [
            format!("{base}//.well-known/openid-configuration"),
            format!("{base}//.well-known/oauth-authorization-server"),
            format!("/.well-known/oauth-authorization-server{base}/"),
            format!("/.well-known/openid-configuration{base}/"),
        ] {
            let found = server.get(&path).expect(200);
            assert_eq!(found.header("Access-Control-Allow-Origin"), Some("*"), "{path}");
            assert_eq!(found.json(), plain, "{path}");
            assert_eq!(found.json()["issuer"], json!(issuer), "{path}");
        }
        // Only metadata: nothing else is served twice.
        server.get(&format!("{base}//oauth/jwks")).expect(404);
    }
}

/// our pages load nothing from another host.
#[test]
fn a_099_the_interactive_description_is_served_by_us_alone() {
    let server = Server::sqlite();
    let page = server.send(&Request::get("/docs").header("Accept", "text/html")).expect(200);
    let text = page.text();
    let mut assets = 0;
    for (attribute, skip) in [("src=\"", 5), ("href=\"", 6)] {
        for (place, _) in text.match_indices(attribute) {
            let target = text[place + skip..].split('"').next().unwrap_or_default();
            if target.starts_with('#') {
                continue;
            }
            assert!(target.starts_with('/') && !target.starts_with("//"), "{target}");
            // The account page redirects users who are not signed in to the sign-in page.
            let wanted = if target == "/account" { 302 } else { 200 };
            assert_eq!(server.get(target).status, wanted, "{target}");
            assets += 1;
        }
    }
    assert!(assets > 0, "{text}");
    let document = server.get("/openapi.json").expect(200).json();
    for path in [
        "/oauth/clients",
        "/oauth/authorize",
        "/auth",
        "/oauth/login",
        "/oauth/token",
        "/oauth/userinfo",
        "/oauth/revoke",
    ] {
        assert!(document["paths"][path].is_object(), "{path} is described");
    }
}
