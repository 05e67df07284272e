//! Mistakes of clients that prove who they are: secrets, HTTP Basic, assertions, and keys of their tokens.

use actix_web::test::TestRequest;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use countersign_conformance::fakes::FakeReader;
use countersign_ports::Clock;
use serde_json::{Value, json};

use crate::mistakes::sheet::{NOBODY, Pairs, Sheet, pairs, with};
use crate::site::{Answer, Kind};

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

pub(super) async fn mistakes(sheet: &mut Sheet) {
    secrets(sheet).await;
    assertions(sheet).await;
    proofs(sheet).await;
}

async fn basic(sheet: &Sheet, form: &Pairs, credentials: &str) -> Answer {
    let request = TestRequest::post().uri("/oauth/token").insert_header(("Authorization", credentials));
    sheet.site.send(request.set_form(form)).await
}

async fn secrets(sheet: &mut Sheet) {
    sheet.chapter("The client's secret");
    let own = sheet.client(Kind::Confidential);
    let public = sheet.client(Kind::Public);
    let good = sheet.exchange(&own).await;
    let check =
        "Compare both with what registration answered; look for quotes, spaces and line breaks around them.";
    for (mistake, name, value, change) in [
        ("a wrong secret", "client_secret", "wrong", check),
        ("a secret with a line break behind it, out of a file", "client_secret", "wrong\n", check),
        (
            "the client id of another server",
            "client_id",
            NOBODY,
            "Send the `client_id` that this server issued.",
        ),
        ("no secret", "client_secret", "", "Send it, in the form or by HTTP Basic; is the variable set?"),
    ] {
        let answer = sheet.token(&with(good.clone(), name, value)).await;
        sheet.enter(mistake, &answer, change);
    }
    let nameless = with(with(good.clone(), "client_secret", ""), "client_id", "");
    let answer = sheet.token(&nameless).await;
    sheet.enter("no client at all", &answer, "Send `client_id` in the form, or HTTP Basic.");
    let form = sheet.exchange(&public).await;
    let answer = sheet.token(&with(form, "client_secret", "secret")).await;
    sheet.enter(
        "a secret, although the client is public",
        &answer,
        "Leave `client_secret` out; PKCE takes its place.",
    );
    let (id, secret) = (own.id.clone(), own.secret.clone().unwrap_or_default());
    let encode = "Encode `id:secret` in base64 with padding, both halves form-encoded first.";
    for (mistake, header) in [
        ("HTTP Basic without base64", format!("Basic {id}:{secret}")),
        ("HTTP Basic of the secret alone", format!("Basic {}", STANDARD.encode(&secret))),
        ("HTTP Basic in base64url", format!("Basic {}", URL_SAFE_NO_PAD.encode(format!("{id}:???>>>")))),
        (
            "HTTP Basic with a `%` that is not encoded",
            format!("Basic {}", STANDARD.encode(format!("{id}:100%"))),
        ),
        ("`Bearer` instead of `Basic`", format!("Bearer {secret}")),
    ] {
        let answer = basic(sheet, &nameless, &header).await;
        sheet.enter(mistake, &answer, encode);
    }
    let header = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
    let answer = basic(sheet, &good, &header).await;
    sheet.enter(
        "HTTP Basic and `client_secret` in the form",
        &answer,
        "Use one of the two; most libraries have a setting for it.",
    );
    let answer = basic(sheet, &with(nameless, "client_id", NOBODY), &header).await;
    sheet.enter(
        "HTTP Basic for one client, and another one in the form",
        &answer,
        "Leave `client_id` out of the form, or send the same.",
    );
}

async fn assertions(sheet: &mut Sheet) {
    sheet.chapter("The client's signature (`private_key_jwt`)");
    let body = json!({
        "client_name": "Signs", "redirect_uris": ["https://signs.example/cb"],
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks": serde_json::from_str::<Value>(&FakeReader::jwks("k1")).unwrap_or_default(),
    });
    let registered = sheet.register(&body).await.json();
    let id = registered["client_id"].as_str().unwrap_or_else(|| panic!("{registered}")).to_owned();
    let now = sheet.site.clock.now().unix_timestamp();
    let issuer = sheet.site.issuer;
    let claims =
        |jti: &str| json!({ "iss": id, "sub": id, "aud": issuer, "exp": now + 60, "iat": now, "jti": jti });
    let changed = |jti: &str, name: &str, value: Value| {
        let mut claims = claims(jti);
        claims[name] = value;
        claims
    };
    let form = |assertion: &str| {
        pairs(&[
            ("grant_type", "authorization_code"),
            ("code", "x"),
            ("redirect_uri", "https://signs.example/cb"),
            ("client_id", &id),
            ("client_assertion_type", ASSERTION),
            ("client_assertion", assertion),
        ])
    };
    for (mistake, assertion, change) in [
        (
            "an assertion for the token endpoint or another server",
            FakeReader::sign("k1", &changed("1", "aud", json!("https://other.example/token"))),
            "Set `aud` to the issuer, as one string; `assertion_audience` allows the token endpoint.",
        ),
        (
            "an assertion that has expired, or a clock that is wrong",
            FakeReader::sign("k1", &changed("2", "exp", json!(now - 1))),
            "Set `exp` a minute ahead, at most five; synchronize the clock.",
        ),
        (
            "an assertion signed by a key that is not registered",
            FakeReader::sign("k2", &claims("3")),
            "Register the new key, or publish it at `jwks_uri` before it signs.",
        ),
        (
            "an assertion of another client",
            FakeReader::sign("k1", &changed("4", "iss", json!(NOBODY))),
            "Set both `iss` and `sub` to the `client_id`.",
        ),
        (
            "an assertion that is not a JWT",
            "secret".to_owned(),
            "Sign a JWT (RFC 7523) with the registered key.",
        ),
    ] {
        let answer = sheet.token(&form(&assertion)).await;
        sheet.enter(mistake, &answer, change);
    }
    let once = FakeReader::sign("k1", &claims("5"));
    sheet.token(&form(&once)).await;
    let answer = sheet.token(&form(&once)).await;
    sheet.enter(
        "an assertion that is kept and sent again",
        &answer,
        "Sign a new one, with a new `jti`, for each request.",
    );
    let answer = sheet.token(&with(form(&once), "client_assertion_type", "jwt")).await;
    sheet.enter("another type of assertion", &answer, "Send the type that the text names.");
    let secret = with(with(form("x"), "client_assertion", ""), "client_assertion_type", "");
    let answer = sheet.token(&with(secret, "client_secret", "secret")).await;
    sheet.enter(
        "a secret, although the client registered a key",
        &answer,
        "Sign; or register another client with a secret.",
    );
}

async fn proofs(sheet: &mut Sheet) {
    sheet.chapter("The proof of a key (DPoP)");
    let bound = sheet.client(Kind::Bound);
    let form = sheet.exchange(&bound).await;
    let answer = sheet.token(&form).await;
    sheet.enter(
        "no proof, although the client's tokens are bound",
        &answer,
        "Send the header `DPoP` with a proof for this request.",
    );
    let (issuer, now) = (sheet.site.issuer, sheet.site.clock.now());
    let nonce = sheet.site.context.keys.nonces.nonce(now);
    let now = now.unix_timestamp();
    let claims = |jti: &str| json!({ "jti": jti, "htm": "POST", "htu": format!("{issuer}/oauth/token"), "iat": now, "nonce": nonce });
    let changed = |jti: &str, name: &str, value: Value| {
        let mut claims = claims(jti);
        claims[name] = value;
        claims
    };
    for (mistake, proof, change) in [
        (
            "a proof without the server's nonce",
            FakeReader::sign_as("key", "dpop+jwt", &changed("1", "nonce", Value::Null)),
            "Repeat the request with the `DPoP-Nonce` of this answer; libraries do.",
        ),
        (
            "a proof for another address: an internal host, http behind a proxy",
            FakeReader::sign_as(
                "key",
                "dpop+jwt",
                &changed("2", "htu", json!("http://countersign:8080/oauth/token")),
            ),
            "Set `htu` to the address that the metadata names.",
        ),
        (
            "a proof for another method",
            FakeReader::sign_as("key", "dpop+jwt", &changed("3", "htm", json!("GET"))),
            "Set `htm` to `POST`, in capitals.",
        ),
        (
            "a clock that is wrong by an hour",
            FakeReader::sign_as("key", "dpop+jwt", &changed("4", "iat", json!(now - 3600))),
            "Synchronize the clock, or go by the `Date` of an answer; a minute off is accepted.",
        ),
        ("another type of JWT", FakeReader::sign_as("key", "JWT", &claims("5")), "Set `typ` to `dpop+jwt`."),
        (
            "a proof that is not a JWT",
            "proof".to_owned(),
            "Sign a JWT whose header carries the public key (RFC 9449).",
        ),
    ] {
        let request = TestRequest::post().uri("/oauth/token").insert_header(("DPoP", proof));
        let answer = sheet.site.send(request.set_form(&form)).await;
        sheet.enter(mistake, &answer, change);
    }
}
