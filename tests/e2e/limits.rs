//! Rate limits (B-076 to B-078). Counters are kept in the process, so testing with one database is enough.

use countersign_tests::{Browser, Database, Request, Response, Server, Site, Wallet};
use serde_json::json;

/// More requests than any limit per minute.
const PATIENCE: usize = 400;

fn limited(trusted_proxies: Option<&str>) -> Server {
    let settings = Database::sqlite().server().with_env("COUNTERSIGN_RATE_LIMIT", "on");
    match trusted_proxies {
        Some(networks) => settings.with_env("COUNTERSIGN_TRUSTED_PROXIES", networks).start(),
        None => settings.start(),
    }
}

/// How many requests are accepted before the first 429. That every 429 has a `Retry-After` is checked on
/// every response.
fn asked_until_429(mut ask: impl FnMut(usize) -> Response) -> Option<usize> {
    (0..PATIENCE).find(|turn| {
        let response = ask(*turn);
        assert!(response.status < 500, "{response:?}");
        response.status == 429
    })
}

fn registration() -> Request {
    Site::registration(&json!({}))
}

///
#[test]
fn registrations_are_limited() {
    let server = limited(None);
    let client = server.register();
    let turns = asked_until_429(|_| server.send(&registration()));
    assert!(turns.is_some_and(|turns| turns >= 5), "{turns:?}");
    assert_eq!(server.send(&registration()).status, 429);
    assert_eq!(server.userinfo(&server.tokens(&client).access).status, 200, "other endpoints still work");
}

#[test]
fn challenges_are_limited() {
    let server = limited(None);
    let client = server.register();
    let tokens = server.tokens(&client);
    let mut browser = server.browser();
    let authorization = client.authorization();
    browser.authorize(&authorization).expect(302);
    let wallet = Wallet::fresh();
    let turns =
        asked_until_429(|_| browser.send(Browser::challenge_request(&authorization, &wallet.address())));
    assert!(turns.is_some_and(|turns| turns >= 10), "{turns:?}");
    assert_eq!(server.userinfo(&tokens.access).status, 200, "other endpoints still work");
    assert_eq!(server.refresh(&client, &tokens.refresh).status, 200);
}

#[test]
fn logins_are_limited() {
    let server = limited(None);
    let client = server.register();
    let tokens = server.tokens(&client);
    let mut browser = server.browser();
    let body = browser.prepare(&client, &Wallet::fresh()).with("signature", "0x00");
    let turns = asked_until_429(|_| browser.login(&body));
    assert!(turns.is_some_and(|turns| turns >= 10), "{turns:?}");
    assert_eq!(server.userinfo(&tokens.access).status, 200, "other endpoints still work");
}

/// B-078: guessing is limited, and the real client is not locked out.
#[test]
fn failed_client_authentications_are_limited_for_whoever_fails() {
    let server = limited(Some("127.0.0.1/32"));
    let client = server.register();
    let (code, other) = (server.sign_in(&client), server.sign_in(&client));
    let guess = Request::form("/oauth/token", &client.exchange_form(&code).with("client_secret", "guess"));
    let guess = guess.header("X-Forwarded-For", "203.0.113.9");
    let turns = asked_until_429(|_| server.send(&guess));
    assert!(turns.is_some_and(|turns| turns >= 5), "{turns:?}");
    let exchange =
        Request::form("/oauth/token", &client.exchange_form(&code)).header("X-Forwarded-For", "203.0.113.10");
    assert_eq!(
        server.send(&exchange).status,
        200,
        "the real client, from another address, still gets through"
    );
    assert_eq!(server.exchange(&client, &other).status, 200);
}

/// anyone can send that header.
#[test]
fn a_forwarded_address_is_not_believed_unless_the_proxy_is_trusted() {
    let server = limited(None);
    let spoofed = |turn: usize| {
        server.send(&registration().header("X-Forwarded-For", &format!("198.51.100.{}", turn % 250)))
    };
    assert!(asked_until_429(spoofed).is_some());
}

#[test]
fn a_trusted_proxy_speaks_for_many_addresses() {
    let server = limited(Some("127.0.0.1/32"));
    let from = |address: &str| server.send(&registration().header("X-Forwarded-For", address));
    assert!(asked_until_429(|_| from("198.51.100.1")).is_some());
    assert_eq!(from("198.51.100.2").status, 201);
    // Anyone could have written the entries to the left of the proxy's own.
    assert_eq!(from("198.51.100.2, 198.51.100.1").status, 429);
}

/// A proxy adds an address behind whatever the visitor sent. That must not hide the visitor behind the proxy.
#[test]
fn a_forwarded_header_that_is_not_text_hides_nobody() {
    let server = limited(Some("127.0.0.1/32"));
    let from = |sent: &str| server.send(&registration().header("X-Forwarded-For", sent));
    assert!(asked_until_429(|_| from("198.51.100.1")).is_some());
    for sent in ["é, 198.51.100.1", "\u{a0}198.51.100.2,198.51.100.1 ", "127.0.0.1, é, , 198.51.100.1"] {
        assert_eq!(from(sent).status, 429, "{sent}");
    }
    assert_eq!(from("198.51.100.1, é").status, 201, "this one the proxy itself would have sent");
}

/// B-076: one household has a whole /64.
#[test]
fn the_addresses_of_one_ipv6_network_count_as_one() {
    let server = limited(Some("127.0.0.1/32"));
    let from = |address: &str| server.send(&registration().header("X-Forwarded-For", address));
    assert!(asked_until_429(|turn| from(&format!("2001:db8:1:2::{turn:x}"))).is_some());
    assert_eq!(from("2001:db8:1:2:ffff::1").status, 429);
    assert_eq!(from("2001:db8:1:3::1").status, 201);
    assert!(asked_until_429(|_| from("203.0.113.7")).is_some());
    assert_eq!(from("::ffff:203.0.113.7").status, 429, "the same address, written as IPv6");
}
