//! Mistakes in token requests with a code: their form, the code, and PKCE.

use actix_web::test::TestRequest;
use time::Duration;
use url::form_urlencoded::Serializer;

use crate::mistakes::sheet::{CHALLENGE, Pairs, Sheet, VERIFIER, exchange_of, pairs, unknown, with};
use crate::site::{Kind, TestClient};

pub(super) async fn mistakes(sheet: &mut Sheet) {
    forms(sheet).await;
    codes(sheet).await;
    pkce(sheet).await;
}

async fn forms(sheet: &mut Sheet) {
    sheet.chapter("The token request");
    let own = sheet.client(Kind::Confidential);
    let good = sheet.exchange(&own).await;
    let encoded = Serializer::new(String::new()).extend_pairs(&good).finish();
    let answer = sheet.site.send(TestRequest::get().uri(&format!("/oauth/token?{encoded}"))).await;
    sheet.enter("GET instead of POST", &answer, "Send a POST with the parameters in its body.");
    let form = "Send `Content-Type: application/x-www-form-urlencoded` and a body of that form.";
    let json: serde_json::Map<_, _> =
        good.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let answer = sheet.site.send(TestRequest::post().uri("/oauth/token").set_json(&json)).await;
    sheet.enter("a JSON body", &answer, form);
    let answer = sheet.site.send(TestRequest::post().uri("/oauth/token").set_payload(encoded.clone())).await;
    sheet.enter("a form without its content type", &answer, form);
    let multipart = TestRequest::post()
        .uri("/oauth/token")
        .insert_header(("Content-Type", "multipart/form-data; boundary=x"))
        .set_payload("--x--");
    let answer = sheet.site.send(multipart).await;
    sheet.enter(
        "a multipart form, as `FormData` sends it",
        &answer,
        "Send `new URLSearchParams(…)` as the body.",
    );
    let empty = TestRequest::post()
        .uri(&format!("/oauth/token?{encoded}"))
        .insert_header(("Content-Type", "application/x-www-form-urlencoded"));
    let answer = sheet.site.send(empty).await;
    sheet.enter(
        "the parameters in the address",
        &answer,
        "Move them into the body; addresses end up in logs.",
    );
    for (mistake, name, value, change) in [
        ("no grant type", "grant_type", "", "Send `grant_type=authorization_code`."),
        (
            "the password grant",
            "grant_type",
            "password",
            "There are no passwords here: send people to `/oauth/authorize`.",
        ),
        (
            "a grant type that is misspelled",
            "grant_type",
            "authorisation_code",
            "Send one of the metadata's `grant_types_supported`.",
        ),
        (
            "a grant type that the client did not register",
            "grant_type",
            "client_credentials",
            "Register it in `grant_types`; the operator gives `client_credentials`.",
        ),
        ("no code", "code", "", "Read `code` from the query of the redirect, and send it."),
        ("no redirect URI", "redirect_uri", "", "Send that of the authorization request once more."),
    ] {
        let answer = sheet.token(&with(good.clone(), name, value)).await;
        sheet.enter(mistake, &answer, change);
    }
    let mut twice = good.clone();
    twice.push(("code".to_owned(), "x".to_owned()));
    let answer = sheet.token(&twice).await;
    sheet.enter("a parameter twice", &answer, "Send it once.");
}

async fn codes(sheet: &mut Sheet) {
    sheet.chapter("The code");
    let own = sheet.client(Kind::Confidential);
    let other = sheet.client(Kind::Operator);
    let good = sheet.exchange(&own).await;
    let code =
        good.iter().find(|(name, _)| name == "code").map(|(_, value)| value.clone()).unwrap_or_default();
    let whole = "Take the code from the redirect as it is: decode it once, and keep its letter case.";
    for (mistake, value) in [
        ("a code that was cut, or still carries what stood behind it", &code[..40]),
        ("a code with `&state=…` behind it", &format!("{code}&state=s1")),
    ] {
        let answer = sheet.token(&with(good.clone(), "code", value)).await;
        sheet.enter(mistake, &answer, whole);
    }
    let answer = sheet.token(&with(good.clone(), "code", &unknown())).await;
    sheet.enter(
        "a code of another server, or in lower case",
        &answer,
        "Exchange it where it was issued; the redirect's `iss` says where.",
    );
    let answer = sheet.token(&exchange_of(&other, &code)).await;
    sheet.enter(
        "a code of another client",
        &answer,
        "Exchange it with the `client_id` of the authorization request; look for two configurations that were mixed up.",
    );
    for (mistake, value) in [
        ("another redirect URI than in the authorization request", "https://self.example:8443/cb"),
        ("the same, by a slash", "https://self.example/cb/"),
    ] {
        let answer = sheet.token(&with(good.clone(), "redirect_uri", value)).await;
        sheet.enter(mistake, &answer, "Send the very same value in both requests; keep it with the `state`.");
    }
    sheet.token(&good).await;
    let answer = sheet.token(&good).await;
    sheet.enter(
        "a code twice: a reload of the callback, React's strict mode, a retry",
        &answer,
        "Exchange each code once, and redirect to another page afterwards. The tokens of the first exchange are revoked too.",
    );
    let late = sheet.exchange(&own).await;
    sheet.site.clock.advance(Duration::seconds(60));
    let answer = sheet.token(&late).await;
    sheet.enter("a code that is older than a minute", &answer, "Exchange it in the request that brings it.");
}

async fn pkce(sheet: &mut Sheet) {
    sheet.chapter("PKCE");
    let own = sheet.client(Kind::Confidential);
    let public = sheet.client(Kind::Public);
    let keep = "Keep the verifier with the `state` until the redirect comes back, in the session and not in a variable.";
    for (mistake, verifier, change) in [
        ("no verifier", "", keep),
        (
            "a verifier that is too short",
            "secret",
            "Make 32 random bytes and encode them in base64url: 43 characters.",
        ),
        (
            "a verifier with characters of base64",
            "dBjftJeZ4CVP+mB92K27uhbUJU1p1r/wW1gFWFOEjXk=",
            "Encode in base64url, without padding.",
        ),
        (
            "the challenge instead of the verifier",
            CHALLENGE,
            "Send the text itself here, and its hash in the authorization request.",
        ),
    ] {
        let form = with_pkce(sheet, &own).await;
        let answer = sheet.token(&with(form, "code_verifier", verifier)).await;
        sheet.enter(mistake, &answer, change);
    }
    let form = sheet.exchange(&own).await;
    let answer = sheet.token(&with(form, "code_verifier", VERIFIER)).await;
    sheet.enter(
        "a verifier, although the authorization request had no challenge",
        &answer,
        "Send both or neither; if the challenge was sent, something on the way dropped it.",
    );
    for (mistake, verifier) in [
        ("a public client: no verifier", ""),
        (
            "the same: that of another sign-in, from a second tab",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ),
    ] {
        let form = sheet.exchange(&public).await;
        let answer = sheet.token(&with(form, "code_verifier", verifier)).await;
        sheet.enter(mistake, &answer, keep);
    }
}

/// A good exchange of a code whose request had a challenge.
async fn with_pkce(sheet: &mut Sheet, client: &TestClient) -> Pairs {
    let mut request = sheet.request(client);
    request.extend(pairs(&[("code_challenge", CHALLENGE), ("code_challenge_method", "S256")]));
    let code = sheet.code(&request).await;
    with(exchange_of(client, &code), "code_verifier", VERIFIER)
}
