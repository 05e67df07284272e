//! The playground runs on the developer's own computer, or where the operator enables it. A browser tests
//! what it does (`tests/peers/playground.mjs`).

use countersign_tests::{Client, Database, Request, Response, Server, Site, Tokens, Wallet};
use serde_json::json;

#[test]
fn the_playground_is_there_while_the_public_url_is_loopback() {
    let page = Server::sqlite().send(&Request::get("/playground").header("Accept", "text/html")).expect(200);
    assert!(page.text().contains("data-registration=\"open\""), "{page:?}");
}

#[test]
fn there_is_no_playground_at_a_public_address_unless_the_operator_wants_it() {
    let server = Database::sqlite().server().with_public_url("https://auth.example.com").start();
    server.send(&Request::get("/playground").header("Accept", "text/html")).expect(404);
}

/// The page of what applications received.
fn received(site: &Site, query: &str) -> Response {
    site.send(&Request::get(&format!("/playground/received{query}")).header("Accept", "text/html"))
}

#[test]
fn a_trial_server_shows_what_an_application_received_and_what_else_it_can_ask_for() {
    let server = Server::sqlite();
    assert!(!received(&server, "").expect(200).text().contains("data-client"), "nothing yet");
    let client = server.register_with(&json!({
        "client_name": "Shop", "redirect_uris": ["https://shop.example/cb"], "scope": "openid profile",
    }));
    let authorization = client.authorization().with("scope", "openid profile");
    let code = server.browser().sign_in_with(&authorization, &Wallet::fresh());
    let tokens = Tokens::of(server.exchange(&client, &code));
    let page = received(&server, &format!("?client_id={}", client.id)).expect(200).text();
    for shown in ["Shop", "openid profile", "wallet_address", "scope &quot;openid profile email&quot;"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("profile groups&quot;"), "only operators give that scope");
    for secret in [&tokens.access, &tokens.refresh, client.secret.as_ref().unwrap()] {
        assert!(!page.contains(secret.as_str()), "no token is kept");
    }
    let signature = tokens.access.rsplit('.').next().unwrap();
    assert!(!page.contains(signature));
    let other = Client { id: "01a1fd8c-6900-7000-8000-599900000001".to_owned(), ..client };
    assert!(
        !received(&server, &format!("?client_id={}", other.id)).expect(200).text().contains("data-client")
    );
}

#[test]
fn a_real_server_keeps_nothing_of_what_applications_received() {
    let server = Database::sqlite().server().with_public_url("https://auth.example.com").start();
    received(&server, "").expect(404);
    let quiet = Database::sqlite().server().with_env("COUNTERSIGN_PLAYGROUND", "off").start();
    received(&quiet, "").expect(404);
}
