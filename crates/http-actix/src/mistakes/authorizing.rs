//! Mistakes in authorization requests, and at the page.

use crate::mistakes::sheet::{CHALLENGE, NOBODY, Sheet, with};
use crate::site::Kind;

pub(super) async fn mistakes(sheet: &mut Sheet) {
    clients_and_redirect_uris(sheet).await;
    parameters(sheet).await;
    let own = sheet.client(Kind::Confidential);
    let request = sheet.request(&own);
    let answer = sheet.log_in(&request, Some("another text")).await;
    sheet.enter(
        "the wallet signs another text, or with another account",
        &answer,
        "Sign the challenge byte for byte, with the account that it names.",
    );
}

async fn clients_and_redirect_uris(sheet: &mut Sheet) {
    sheet.chapter("The client and its redirect URI");
    let own = sheet.client(Kind::Confidential);
    let operators = sheet.client(Kind::Operator);
    let public = sheet.client(Kind::Public);
    let registered =
        "Send the `client_id` that this server issued. Registrations are not shared between servers.";
    for (mistake, value) in [
        ("the client id of another server", NOBODY),
        ("the client's name instead of its id", "photos"),
        ("no client id", ""),
    ] {
        sheet.authorize_with(&own, mistake, ("client_id", value), registered).await;
    }
    let same = "Send the URI exactly as it is registered, or register this one too.";
    for (mistake, value) in [
        ("a client of the operator's: a slash too many at the end", "https://op.example/cb/"),
        ("the same: http instead of https, often behind a proxy", "http://op.example/cb"),
        ("the same: another port", "https://op.example:8443/cb"),
        ("the same: another letter case", "https://op.example/Cb"),
        ("the same: a query that is not registered", "https://op.example/cb?tenant=1"),
        ("the same: a fragment", "https://op.example/cb#top"),
        ("the same: another path", "https://op.example/callback"),
        ("the same: percent-encoded twice", "https%3A%2F%2Fop.example%2Fcb"),
        ("the same: another host", "https://staging.example/cb"),
        ("the same: no redirect URI", ""),
    ] {
        sheet.authorize_with(&operators, mistake, ("redirect_uri", value), same).await;
    }
    sheet
        .authorize_with(
            &own,
            "a client that registered itself: any of these",
            ("redirect_uri", "https://self.example/cb/"),
            "The same. The client reads what it registered with its registration access token, or asks the operator.",
        )
        .await;
    sheet
        .authorize_with(
            &public,
            "`localhost` where `127.0.0.1` is registered",
            ("redirect_uri", "http://localhost/cb"),
            "Use the same host in both places. The port of either may differ.",
        )
        .await;
    let body = |uri: &str| serde_json::json!({ "client_name": "Photos", "redirect_uris": [uri] });
    for (mistake, uri, change) in [
        ("registering a wildcard", "https://*.client.example/cb", "Register each URI; there can be twenty."),
        (
            "registering http for a host that others can reach",
            "http://client.example/cb",
            "Use https, or http on a loopback host while developing.",
        ),
        (
            "registering a URI with a fragment",
            "https://client.example/#/cb",
            "Let a path without `#` answer, and route to the page from there.",
        ),
        (
            "registering a scheme of one's own without a dot, for a client with a secret",
            "photos://cb",
            "Use the reversed name of a domain that is yours: `com.example.photos:/cb`. Or register a public client.",
        ),
        (
            "registering a scheme that a browser or the system handles",
            "intent://photos",
            "Use a scheme of your own: `com.example.photos:/cb`.",
        ),
    ] {
        let answer = sheet.register(&body(uri)).await;
        sheet.enter(mistake, &answer, change);
    }
}

async fn parameters(sheet: &mut Sheet) {
    sheet.chapter("The authorization request");
    let own = sheet.client(Kind::Confidential);
    let public = sheet.client(Kind::Public);
    for (mistake, parameter, change) in [
        (
            "the implicit flow",
            ("response_type", "token"),
            "Use `response_type=code` with PKCE; tokens never come in an address.",
        ),
        (
            "the hybrid flow",
            ("response_type", "code id_token"),
            "Use `response_type=code`; the ID token comes with the code's tokens.",
        ),
        ("no `response_type`", ("response_type", ""), "Send `response_type=code`."),
        ("`response_mode=fragment`", ("response_mode", "fragment"), "Use `query` or `form_post`."),
        (
            "no scope",
            ("scope", ""),
            "Send the scopes, or a `code_challenge`, with which they may be left out.",
        ),
        (
            "a client that registered itself: no scope that it may have",
            ("scope", "roles"),
            "Ask for those in the metadata's `scopes_supported`.",
        ),
        ("no state", ("state", ""), "Send a `state`, or a `code_challenge`, with which it may be left out."),
        (
            "a nonce that is too long",
            ("nonce", &"n".repeat(600)),
            "Send a random value of some 32 characters.",
        ),
        (
            "a request object",
            ("request", "e30.e30."),
            "Send the parameters themselves, or push them to `/oauth/par`.",
        ),
        ("a request object by reference", ("request_uri", "https://self.example/request.jwt"), "The same."),
        (
            "`prompt=none` while no one is signed in",
            ("prompt", "none"),
            "Send the person through the page, without `prompt=none`.",
        ),
        ("`max_age` that is not a number", ("max_age", "1h"), "Send seconds."),
        (
            "an API that the operator did not declare",
            ("resource", "https://other.example/api"),
            "Ask the operator to add it to `resources`.",
        ),
    ] {
        sheet.authorize_with(&own, mistake, parameter, change).await;
    }
    let operators = sheet.client(Kind::Operator);
    for (mistake, scope, change) in [
        (
            "a client of the operator's: scopes separated by commas",
            "openid,profile",
            "Separate them by spaces.",
        ),
        (
            "the same: a scope that this server does not have",
            "openid roles",
            "Ask for those in the metadata's `scopes_supported`.",
        ),
        (
            "the same: a scope that the client did not register",
            "openid groups",
            "Register the scope: change the client, or ask for less.",
        ),
    ] {
        sheet.authorize_with(&operators, mistake, ("scope", scope), change).await;
    }
    let request = with(sheet.request(&public), "code_challenge_method", "");
    let request = with(request, "code_challenge", "");
    let answer = sheet.authorize(&request).await;
    sheet.enter(
        "a public client without PKCE",
        &answer,
        "Switch PKCE on in the library: `code_challenge` and `code_challenge_method=S256`.",
    );
    for (mistake, challenge, method, change) in [
        ("`code_challenge_method=plain`", CHALLENGE, "plain", "Use `S256`."),
        ("a `code_challenge` without its method", CHALLENGE, "", "Send `code_challenge_method=S256` too."),
        (
            "the hash in hex instead of base64url",
            "13d31e961a1ad8ec2f16b10c4c982e0876a878ad6df144566ee1894acb70f9c3",
            "S256",
            "Encode the 32 bytes of the hash, without padding: 43 characters.",
        ),
    ] {
        let request = with(sheet.request(&own), "code_challenge", challenge);
        let answer = sheet.authorize(&with(request, "code_challenge_method", method)).await;
        sheet.enter(mistake, &answer, change);
    }
    let mut twice = sheet.request(&own);
    twice.push(("scope".to_owned(), "email".to_owned()));
    let answer = sheet.authorize(&twice).await;
    sheet.enter("a parameter twice", &answer, "Send it once; several scopes stand in one value.");
    let pushing = sheet.client(Kind::Pushing);
    let request = with(sheet.request(&pushing), "scope", "openid profile");
    let answer = sheet.authorize(&request).await;
    sheet.enter(
        "a client that must push its requests sends one through the browser",
        &answer,
        "Push it to `/oauth/par`, and send the browser with the `request_uri` of the answer.",
    );
}
