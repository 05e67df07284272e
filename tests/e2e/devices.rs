//! Devices that cannot show a page (RFC 8628): the code, the page, the response, and other people who try to
//! interfere.

use std::sync::Barrier;
use std::thread;

use countersign_tests::{
    Browser, Client, Database, Parameters, Request, Response, Server, Site, Tokens, Wallet, on_both,
};
use serde_json::json;

const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

fn device_client(site: &Site, method: &str) -> Client {
    site.register_with(&json!({
        "grant_types": [DEVICE_CODE, "refresh_token", "authorization_code"],
        "token_endpoint_auth_method": method,
    }))
}

/// A device that waits for its user.
struct Device {
    client: Client,
    code: String,
    user_code: String,
}

impl Device {
    fn begin(site: &Site, client: &Client) -> Self {
        let answer = ask(site, client, &Parameters::of(&[("scope", "profile")])).expect(200);
        Self {
            client: client.clone(),
            code: answer.field("device_code"),
            user_code: answer.field("user_code"),
        }
    }

    fn poll(&self, site: &Site) -> Response {
        let form = Parameters::of(&[("grant_type", DEVICE_CODE), ("device_code", &self.code)]);
        site.token(&self.client.identify(form))
    }

    /// The parameters of the pending request for the device.
    fn pending(&self, site: &Site) -> Parameters {
        Parameters::of(&[
            ("client_id", &self.client.id),
            ("redirect_uri", &format!("{}/device/done", site.public_url)),
            ("state", &self.user_code),
        ])
    }

    /// A user types the code, gets a text and signs it.
    fn prepare(&self, browser: &mut Browser, wallet: &Wallet) -> Parameters {
        enter(browser, &self.user_code).expect(303);
        let pending = self.pending(&browser.site);
        let challenge = browser.challenge(&pending, wallet);
        Browser::login_body(&pending, wallet, &challenge)
    }
}

fn ask(site: &Site, client: &Client, form: &Parameters) -> Response {
    site.send(&Request::form("/oauth/device_authorization", &client.identify(form.clone())))
}

fn enter(browser: &mut Browser, user_code: &str) -> Response {
    browser.press(Request::form("/device", &Parameters::of(&[("user_code", user_code)])))
}

on_both! {
    fn a_device_is_signed_in_by_a_person_elsewhere(database) {
        let server = database.start();
        for client in [device_client(&server, "client_secret_post"), device_client(&server, "none")] {
            let device = Device::begin(&server, &client);
            assert_eq!(device.poll(&server).verdict(), "400 authorization_pending");
            let (mut browser, wallet) = (server.browser(), Wallet::fresh());
            let body = device.prepare(&mut browser, &wallet);
            let page = browser.send(Request::get("/auth")).expect(200).text();
            assert!(page.contains(r#"id="device""#) && page.contains(&device.user_code), "{page}");
            let text = body.get("challenge");
            assert!(text.contains(&format!("Sign in on the device that shows {}.", device.user_code)), "{text}");
            assert!(text.contains(&format!("urn:countersign:client:{}", client.id)), "{text}");
            let done = browser.login(&body).expect(303);
            assert_eq!(done.location(), format!("{}/device/done", server.public_url), "the browser gets no code");
            assert!(browser.send(Request::get("/device/done")).expect(200).text().contains("Your device is signed in"));
            let tokens = Tokens::of(device.poll(&server));
            assert_eq!(server.userinfo(&tokens.access).expect(200).field("wallet_address"), wallet.address());
            Tokens::of(server.refresh(&client, &tokens.refresh));
        }
    }

    fn a_device_code_is_redeemed_once(database) {
        let server = database.start();
        let device = Device::begin(&server, &device_client(&server, "none"));
        let mut browser = server.browser();
        let body = device.prepare(&mut browser, &Wallet::fresh());
        browser.login(&body).expect(303);
        let tokens = Tokens::of(device.poll(&server));
        assert_eq!(device.poll(&server).verdict(), "400 invalid_grant");
        assert_eq!(server.userinfo(&tokens.access).verdict(), "401 invalid_token", "a second use revokes the tokens, as with a code");
    }

    fn a_device_is_answered_once(database) {
        let server = database.start();
        let device = Device::begin(&server, &device_client(&server, "none"));
        let [mut ann, mut bob] = [server.browser(), server.browser()];
        let (of_ann, of_bob) = (Wallet::fresh(), Wallet::fresh());
        let (by_ann, by_bob) = (device.prepare(&mut ann, &of_ann), device.prepare(&mut bob, &of_bob));
        ann.login(&by_ann).expect(303);
        assert_eq!(bob.login(&by_bob).verdict(), "401 access_denied");
        assert_eq!(enter(&mut bob, &device.user_code).status, 400, "no request is pending");
        let late = bob.press(Request::form("/oauth/deny", &Parameters::of(&[]))).expect(303);
        assert!(late.location().ends_with("/device/done"), "another user signed first: {late:?}");
        let tokens = Tokens::of(device.poll(&server));
        assert_eq!(server.userinfo(&tokens.access).expect(200).field("wallet_address"), of_ann.address());
    }

    fn a_device_is_told_no(database) {
        let server = database.start();
        let device = Device::begin(&server, &device_client(&server, "none"));
        let [mut ann, mut bob] = [server.browser(), server.browser()];
        let by_bob = device.prepare(&mut bob, &Wallet::fresh());
        enter(&mut ann, &device.user_code).expect(303);
        let denied = ann.press(Request::form("/oauth/deny", &Parameters::of(&[]))).expect(303);
        assert!(denied.location().ends_with("/device/done?done=denied"), "{denied:?}");
        assert!(ann.send(Request::get("/device/done?done=denied")).expect(200).text().contains("You denied"));
        assert_eq!(bob.login(&by_bob).verdict(), "401 access_denied", "a denial is final");
        assert_eq!(device.poll(&server).verdict(), "400 access_denied");
        assert_eq!(enter(&mut bob, &device.user_code).status, 400);
    }

    fn whoever_agreed_before_answers_a_device_with_a_click(database) {
        let server = database.start();
        let client = device_client(&server, "none");
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let first = Device::begin(&server, &client);
        let body = first.prepare(&mut browser, &wallet).with("remember", "on");
        browser.send(Request::form("/oauth/login", &body)).expect(303);
        Tokens::of(first.poll(&server));
        let second = Device::begin(&server, &client);
        enter(&mut browser, &second.user_code).expect(303);
        let page = browser.send(Request::get("/auth")).expect(200).text();
        assert!(page.contains(r#"data-state="remembered""#) && page.contains(&second.user_code), "{page}");
        let mut bob = server.browser();
        let by_bob = second.prepare(&mut bob, &Wallet::fresh());
        let done = browser.press(Request::form("/oauth/continue", &Parameters::of(&[]))).expect(303);
        assert_eq!(bob.login(&by_bob).verdict(), "401 access_denied", "the request was already answered");
        assert!(done.location().ends_with("/device/done"), "{done:?}");
        Tokens::of(second.poll(&server));
    }

    fn a_device_that_waited_too_long_begins_again(database) {
        let server = database.start();
        let device = Device::begin(&server, &device_client(&server, "none"));
        let mut browser = server.browser();
        let body = device.prepare(&mut browser, &Wallet::fresh());
        let long_ago = if database.is_postgres() { "now() - interval '1 second'" } else { "0" };
        database.change(&format!("UPDATE device_requests SET expires_at = {long_ago}"));
        assert_eq!(device.poll(&server).verdict(), "400 expired_token");
        assert_eq!(browser.login(&body).verdict(), "401 access_denied");
        assert_eq!(enter(&mut browser, &device.user_code).status, 400);
    }

    /// B-060: only the client that requested a device code can use it.
    fn b_060_a_device_code_is_its_clients_alone(database) {
        let server = database.start();
        let (client, other) = (device_client(&server, "client_secret_post"), device_client(&server, "none"));
        let device = Device::begin(&server, &client);
        let mut browser = server.browser();
        let body = device.prepare(&mut browser, &Wallet::fresh());
        browser.login(&body).expect(303);
        let foreign = Device { client: other, code: device.code.clone(), user_code: String::new() };
        assert_eq!(foreign.poll(&server).verdict(), "400 invalid_grant");
        for code in ["unknown", &device.code[..63], &format!("{}A", device.code)] {
            let bad = Device { client: client.clone(), code: code.to_owned(), user_code: String::new() };
            assert_eq!(bad.poll(&server).verdict(), "400 invalid_grant", "{code}");
        }
        assert_eq!(server.exchange(&client, &device.code).verdict(), "400 invalid_grant", "it is not an authorization code");
        Tokens::of(device.poll(&server));
    }

    fn what_a_device_may_not_ask_for_is_refused(database) {
        let server = database.start();
        let client = device_client(&server, "client_secret_post");
        let nothing = Parameters::of(&[]);
        let rows = database.rows();
        for (form, verdict) in [
            (Parameters::of(&[("scope", "wallets")]), "400 invalid_scope"),
            (Parameters::of(&[("scope", "nonsense")]), "400 invalid_scope"),
            (Parameters::of(&[("resource", "no uri")]), "400 invalid_target"),
            (Parameters::of(&[("client_secret", "twice")]), "400 invalid_request"),
        ] {
            let twice = Request::form("/oauth/device_authorization", &Parameters([client.identify(nothing.clone()).0, form.0.clone()].concat()));
            assert_eq!(server.send(&twice).verdict(), verdict, "{form:?}");
        }
        let wrong = client.identify(nothing.clone()).with("client_secret", "wrong");
        assert_eq!(server.send(&Request::form("/oauth/device_authorization", &wrong)).verdict(), "401 invalid_client");
        assert_eq!(database.rows(), rows);
        let all = ask(&server, &client, &nothing).expect(200);
        assert_eq!((all.json()["expires_in"].clone(), all.json()["interval"].clone()), (json!(600), json!(5)));
        assert_eq!(all.field("verification_uri"), format!("{}/device", server.public_url));
        let unregistered = server.register();
        assert_eq!(ask(&server, &unregistered, &nothing).verdict(), "400 unauthorized_client");
        let stranger = Device { client: unregistered, code: all.field("device_code"), user_code: String::new() };
        assert_eq!(stranger.poll(&server).verdict(), "400 unauthorized_client");
    }
}

#[test]
fn a_device_that_asks_too_often_is_told_to_slow_down() {
    let server = Server::sqlite();
    let device = Device::begin(&server, &device_client(&server, "none"));
    assert_eq!(device.poll(&server).verdict(), "400 authorization_pending");
    assert_eq!(device.poll(&server).verdict(), "400 slow_down");
    let mut browser = server.browser();
    let body = device.prepare(&mut browser, &Wallet::fresh());
    browser.login(&body).expect(303);
    Tokens::of(device.poll(&server));
}

#[test]
fn a_code_is_taken_however_it_is_typed_and_never_by_the_address_alone() {
    let server = Server::sqlite();
    let device = Device::begin(&server, &device_client(&server, "none"));
    let mut browser = server.browser();
    let page = browser.send(Request::get(&format!("/device?user_code={}", device.user_code))).expect(200);
    assert!(page.text().contains(&device.user_code), "{page:?}");
    for typed in [device.user_code.to_lowercase(), format!(" {} ", device.user_code.replace('-', " "))] {
        assert!(enter(&mut browser, &typed).expect(303).location().contains("/auth"), "{typed}");
    }
    for typed in ["BCDF-GHJK", "x", "\"><b>", &"é".repeat(100)] {
        let wrong = enter(&mut server.browser(), typed).expect(400);
        assert!(
            wrong.text().contains(r#"data-state="device-wrong""#) && !wrong.text().contains("\"><b>"),
            "{wrong:?}"
        );
    }
}

/// B-013: another site cannot put a code into a user's session.
#[test]
fn a_code_from_a_page_of_another_site_is_not_taken() {
    let server = Server::sqlite();
    let device = Device::begin(&server, &device_client(&server, "none"));
    let form = Request::form("/device", &Parameters::of(&[("user_code", &device.user_code)]));
    assert_eq!(server.send(&form.header("Origin", "https://evil.example")).status, 403);
}

/// B-076: guesses of user codes are limited.
#[test]
fn b_076_codes_cannot_be_guessed_for_long() {
    let settings = Database::sqlite().server().with_env("COUNTERSIGN_RATE_LIMIT", "on");
    let server = settings.start();
    let mut browser = server.browser();
    let refused = (0..100).find(|_| enter(&mut browser, "BCDF-GHJK").status == 429);
    assert!(refused.is_some_and(|turns| turns >= 5), "{refused:?}");
    let client = device_client(&server, "none");
    let refused = (0..100).find(|_| ask(&server, &client, &Parameters::of(&[])).status == 429);
    assert!(refused.is_some_and(|turns| turns >= 5), "{refused:?}");
}

/// Whichever replicas they reach, one response and one redemption win.
#[test]
fn d_08_one_device_is_answered_and_redeemed_once_on_two_replicas() {
    let here = Server::postgres();
    let there = here.replica();
    let client = device_client(&here, "none");
    for _ in 0..4 {
        let device = Device::begin(&here, &client);
        let mut people: Vec<_> = (0..8)
            .map(|place| {
                let mut browser = if place % 2 == 0 { here.browser() } else { there.browser() };
                let body = device.prepare(&mut browser, &Wallet::fresh());
                (browser, body)
            })
            .collect();
        let start = Barrier::new(people.len());
        let statuses: Vec<u16> = thread::scope(|scope| {
            let running: Vec<_> = people
                .iter_mut()
                .map(|(browser, body)| {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        browser.login(body).status
                    })
                })
                .collect();
            running.into_iter().map(|person| person.join().unwrap()).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
        Tokens::of(device.poll(&there));
        assert_eq!(device.poll(&here).verdict(), "400 invalid_grant");
    }
}
