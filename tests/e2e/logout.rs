//! Signing out at a client's request, and telling clients about it (OpenID Connect RP-Initiated Logout and
//! Back-Channel Logout).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_tests::site::REDIRECT_URI;
use countersign_tests::{Browser, Client, Parameters, Request, Response, Server, Wallet, on_both};
use serde_json::{Value, json};

const GOODBYE: &str = "https://client.example/goodbye";
const COOKIE: &str = "countersign_login";
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

fn register(server: &Server, more: &Value) -> Client {
    let mut metadata = json!({
        "scopes": ["openid", "profile", "offline_access"],
        "post_logout_redirect_uris": [GOODBYE],
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        metadata[name] = value.clone();
    }
    server.register_with(&metadata)
}

/// The results of one sign-in in a browser that remembers it.
struct SignedIn {
    access: String,
    refresh: String,
    id: String,
}

fn sign_in(
    server: &Server,
    browser: &mut Browser,
    client: &Client,
    wallet: &Wallet,
    scope: &str,
) -> SignedIn {
    let authorization = client.authorization().with("scope", scope).with("prompt", "login");
    let body = browser.prepare_with(&authorization, wallet).json();
    let mut body = body;
    body["remember"] = json!(true);
    let code = browser.send(Request::json("/oauth/login", &body)).expect(303).answer("code").unwrap();
    let tokens = server.exchange(client, &code).expect(200);
    let [access, refresh, id] = ["access_token", "refresh_token", "id_token"].map(|name| tokens.field(name));
    SignedIn { access, refresh, id }
}

fn page(browser: &mut Browser, request: Request) -> Response {
    browser.send(request.header("Accept", "text/html"))
}

fn logout(browser: &mut Browser, pairs: &[(&str, &str)]) -> Response {
    page(browser, Request::query("/oauth/logout", &Parameters::of(pairs)))
}

/// The state that a page says it is in.
fn state_of(page: &Response) -> String {
    let html = page.text();
    html.split("data-state=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
}

fn claims(token: &str) -> (Value, Value) {
    let mut parts = token.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap());
    let mut next = || serde_json::from_slice(&parts.next().unwrap()).unwrap();
    (next(), next())
}

/// A client's own server. It responds to each post with the next of these statuses, and passes on what was
/// posted.
pub(crate) fn listen(statuses: &'static [u16]) -> (String, Receiver<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let uri = format!("http://127.0.0.1:{}/logged-out", listener.local_addr().unwrap().port());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for (status, connection) in statuses.iter().zip(listener.incoming()) {
            sender.send(take_post(connection.unwrap(), *status)).unwrap();
        }
    });
    (uri, receiver)
}

fn take_post(connection: TcpStream, status: u16) -> String {
    let mut reader = BufReader::new(connection);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).unwrap() > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let answer = format!("HTTP/1.1 {status} Answer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    reader.get_mut().write_all(answer.as_bytes()).unwrap();
    String::from_utf8(body).unwrap()
}

fn logout_token(body: &str) -> (Value, Value) {
    claims(body.strip_prefix("logout_token=").unwrap_or_else(|| panic!("{body}")))
}

pub(crate) fn heard(posts: &Receiver<String>) -> (Value, Value) {
    logout_token(&posts.recv_timeout(Duration::from_secs(20)).unwrap())
}

on_both! {
    fn a_hint_signs_out_at_once_and_leads_back(database) {
        let server = database.start();
        let client = register(&server, &json!({}));
        let mut browser = server.browser();
        let gone = sign_in(&server, &mut browser, &client, &Wallet::fresh(), "openid profile");
        assert!(browser.cookies.contains_key(COOKIE));
        let answer = logout(
            &mut browser,
            &[("id_token_hint", &gone.id), ("post_logout_redirect_uri", GOODBYE), ("state", "a b&c")],
        );
        assert_eq!(answer.expect(303).location(), format!("{GOODBYE}?state=a+b%26c"));
        assert!(!browser.cookies.contains_key(COOKIE));
        assert_eq!(server.userinfo(&gone.access).verdict(), "401 invalid_token");
        assert_eq!(server.refresh(&client, &gone.refresh).verdict(), "400 invalid_grant");
        let silent = client.authorization().with("scope", "openid").with("prompt", "none");
        assert_eq!(browser.authorize(&silent).expect(302).answer("error").as_deref(), Some("login_required"));

        let again = logout(&mut browser, &[("id_token_hint", &gone.id), ("post_logout_redirect_uri", GOODBYE)]);
        assert_eq!(again.expect(303).location(), GOODBYE, "no one is signed in");
        let shown = logout(&mut browser, &[("id_token_hint", &gone.id)]).expect(200);
        assert_eq!(state_of(&shown), "signed-out");
    }

    fn access_while_the_person_is_away_and_other_browsers_stay(database) {
        let server = database.start();
        let client = register(&server, &json!({}));
        let (mut here, mut there, wallet) = (server.browser(), server.browser(), Wallet::fresh());
        let kept = sign_in(&server, &mut here, &client, &wallet, "openid profile offline_access");
        let elsewhere = sign_in(&server, &mut there, &client, &wallet, "openid profile");
        logout(&mut here, &[("id_token_hint", &kept.id)]).expect(200);
        for alive in [&kept, &elsewhere] {
            assert_eq!(server.userinfo(&alive.access).status, 200);
            assert_eq!(server.refresh(&client, &alive.refresh).status, 200);
        }
        assert!(there.cookies.contains_key(COOKIE));
        let silent = client.authorization().with("scope", "openid");
        there.authorize(&silent).expect(302);
        assert_eq!(there.press(Request::form("/oauth/continue", &Parameters::of(&[]))).status, 303);
    }

    fn whoever_cannot_show_whom_they_mean_makes_a_page_ask(database) {
        let server = database.start();
        let client = register(&server, &json!({"client_name": "<b>Album</b>"}));
        let (mut anns, mut bobs) = (server.browser(), server.browser());
        let ann = sign_in(&server, &mut anns, &client, &Wallet::fresh(), "openid profile");
        let bob = sign_in(&server, &mut bobs, &client, &Wallet::fresh(), "openid profile");
        let named = [("client_id", client.id.as_str()), ("post_logout_redirect_uri", GOODBYE), ("state", "\"><i>")];
        for pairs in [&named[..], &[], &[("id_token_hint", bob.id.as_str())], &[("logout_hint", "x")]] {
            let asked = logout(&mut anns, pairs).expect(200);
            assert_eq!(state_of(&asked), "sign-out", "{pairs:?}");
            assert!(!asked.text().contains("<b>Album") && !asked.text().contains("\"><i>"), "{asked:?}");
        }
        assert_eq!(server.userinfo(&ann.access).status, 200);

        let confirmed = Parameters::of(&named).and("confirm", "yes");
        let foreign = Request::form("/oauth/logout", &confirmed)
            .header("Origin", "https://evil.example")
            .header("Sec-Fetch-Site", "cross-site");
        assert_eq!(page(&mut anns, foreign).status, 403);
        assert_eq!(server.userinfo(&ann.access).status, 200);

        let ours = Request::form("/oauth/logout", &confirmed)
            .header("Origin", &server.public_url)
            .header("Sec-Fetch-Site", "same-origin");
        let ours = anns.filled(ours);
        let done = page(&mut anns, ours).expect(200);
        assert_eq!(state_of(&done), "signed-out");
        let leads = format!("content=\"0; url={GOODBYE}?state=%22%3E%3Ci%3E\"");
        assert!(done.text().contains(&leads), "form-action forbids a redirect: {done:?}");
        assert!(!anns.cookies.contains_key(COOKIE));
        assert_eq!(server.userinfo(&ann.access).status, 401);
        assert_eq!(server.userinfo(&bob.access).status, 200);
    }

    /// A form on another site is sent without the cookie; the same request by GET is sent with it.
    fn a_form_of_the_client_works_like_its_link(database) {
        let server = database.start();
        let client = register(&server, &json!({}));
        let mut browser = server.browser();
        let gone = sign_in(&server, &mut browser, &client, &Wallet::fresh(), "openid profile");
        let sent = Parameters::of(&[("id_token_hint", &gone.id), ("post_logout_redirect_uri", GOODBYE)]);
        let without_cookies = Request::form("/oauth/logout", &sent).header("Sec-Fetch-Site", "cross-site");
        let on = server.send(&without_cookies).expect(303).location().to_owned();
        assert!(on.starts_with("/oauth/logout?id_token_hint="), "{on}");
        assert_eq!(page(&mut browser, Request::get(&on)).expect(303).location(), GOODBYE);
        assert_eq!(server.userinfo(&gone.access).status, 401);

        let next = sign_in(&server, &mut browser, &client, &Wallet::fresh(), "openid profile");
        let sent = Parameters::of(&[("id_token_hint", &next.id), ("post_logout_redirect_uri", GOODBYE)]);
        assert_eq!(page(&mut browser, Request::form("/oauth/logout", &sent)).expect(303).location(), GOODBYE);
        assert_eq!(server.userinfo(&next.access).status, 401);
    }

    fn a_104_b_058_a_page_and_never_a_redirect_to_an_unregistered_address(database) {
        let server = database.start();
        let (client, other) = (register(&server, &json!({})), register(&server, &json!({})));
        let mut browser = server.browser();
        let alive = sign_in(&server, &mut browser, &client, &Wallet::fresh(), "openid profile");
        let hint = ("id_token_hint", alive.id.as_str());
        for uri in [
            "https://evil.example/",
            REDIRECT_URI,
            "https://client.example/goodbye/",
            "https://client.example/goodbye?x=1",
            "https://client.example/goodbye#x",
            "https://client.example.evil.example/goodbye",
            "https://client.example@evil.example/goodbye",
            "//client.example/goodbye",
            "/goodbye",
            "javascript:alert(1)",
        ] {
            let refused = logout(&mut browser, &[hint, ("post_logout_redirect_uri", uri)]).expect(400);
            assert!(refused.header("Location").is_none() && !refused.text().contains("http-equiv"), "{refused:?}");
        }
        let changed = format!("{}x", alive.id);
        let (header, _) = alive.id.split_once('.').unwrap();
        let forged = format!("{header}.{}.c2ln", URL_SAFE_NO_PAD.encode(json!({"sub": "x"}).to_string()));
        for bad in [changed.as_str(), &forged, &alive.access, "x", "a.b.c"] {
            let refused = logout(&mut browser, &[("id_token_hint", bad), ("post_logout_redirect_uri", GOODBYE)]);
            assert!(refused.expect(400).header("Location").is_none());
        }
        logout(&mut browser, &[hint, ("client_id", &other.id), ("post_logout_redirect_uri", GOODBYE)]).expect(400);
        logout(&mut browser, &[("client_id", "nobody")]).expect(400);
        logout(&mut browser, &[hint, hint]).expect(400);
        let unnamed = logout(&mut browser, &[("post_logout_redirect_uri", GOODBYE), ("state", "x")]).expect(200);
        assert_eq!(state_of(&unnamed), "sign-out", "it is unknown which client this redirect URI belongs to");
        assert_eq!(server.userinfo(&alive.access).status, 200, "none of this signed the user out");

        let nobody = &mut server.browser();
        let shown = logout(nobody, &[("client_id", &client.id), ("post_logout_redirect_uri", GOODBYE)]).expect(200);
        assert_eq!(state_of(&shown), "signed-out");
        assert!(!shown.text().contains("http-equiv"), "anyone can register, so the page does not redirect: {shown:?}");
    }

    /// OpenID Connect Back-Channel Logout, sections 2.4 and 2.5.
    fn a_client_is_told_that_the_session_ended(database) {
        let server = database.start();
        let (uri, posts) = listen(&[200, 204]);
        let client = register(&server, &json!({"backchannel_logout_uri": uri, "id_token_signed_response_alg": "ES256"}));
        let mut browser = server.browser();
        let gone = sign_in(&server, &mut browser, &client, &Wallet::fresh(), "openid profile");
        let (_, signed_in) = claims(&gone.id);
        logout(&mut browser, &[("id_token_hint", &gone.id)]).expect(200);
        let (header, told) = heard(&posts);
        assert_eq!((&header["typ"], &header["alg"]), (&json!("logout+jwt"), &json!("ES256")));
        for name in ["iss", "aud", "sub", "sid"] {
            assert_eq!(told[name], signed_in[name], "{name}");
        }
        assert_eq!(told["events"], json!({EVENT: {}}));
        assert!(told["jti"].is_string() && told["sid"].is_string() && told.get("nonce").is_none(), "{told}");
        let seconds = told["exp"].as_i64().unwrap() - told["iat"].as_i64().unwrap();
        assert!((1..=120).contains(&seconds), "{told}");

        sign_in(&server, &mut browser, &client, &Wallet::fresh(), "openid profile");
        let everywhere = Request::form("/account/sessions/end", &Parameters::of(&[("session", "all")]));
        browser.press(everywhere).expect(303);
        assert_ne!(heard(&posts).1["jti"], told["jti"]);
    }

    fn a_client_that_did_not_hear_is_told_again_and_nobody_waits_for_it(database) {
        let server = database.start();
        let (uri, posts) = listen(&[500, 200]);
        let client = register(&server, &json!({"backchannel_logout_uri": uri}));
        let dead = register(&server, &json!({"backchannel_logout_uri": "http://127.0.0.1:9/gone"}));
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        sign_in(&server, &mut browser, &client, &wallet, "openid profile");
        let first = browser.cookies[COOKIE].clone();
        let authorization = dead.authorization().with("scope", "openid profile");
        let body = browser.prepare_with(&authorization, &wallet);
        browser.login(&body).expect(303);
        browser.cookies.insert(COOKIE.to_owned(), first);
        let deletion = Request::form("/account/delete", &Parameters::of(&[("confirm", "yes")]));
        let started = std::time::Instant::now();
        browser.press(deletion).expect(303);
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        let [failed, heard] = [heard(&posts).1, heard(&posts).1];
        assert_eq!(failed["sid"], heard["sid"]);
    }

    fn a_registration_says_that_the_session_is_always_named(database) {
        let server = database.start();
        let metadata = json!({
            "client_name": "Album", "redirect_uris": [REDIRECT_URI], "backchannel_logout_uri": "https://client.example/out",
            "backchannel_logout_session_required": false,
        });
        let registered = server.send(&Request::json("/oauth/clients", &metadata)).expect(201).json();
        assert_eq!(registered["backchannel_logout_session_required"], json!(true));
        let metadata = server.get("/.well-known/openid-configuration").expect(200).json();
        assert_eq!(metadata["end_session_endpoint"], json!(format!("{}/oauth/logout", server.public_url)));
        assert_eq!(metadata["backchannel_logout_supported"], json!(true));
        assert_eq!(metadata["backchannel_logout_session_supported"], json!(true));
        assert_eq!(metadata["response_modes_supported"], json!(["query", "form_post"]));
    }
}
