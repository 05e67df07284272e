//! The playground runs on the developer's own computer, or where the operator enables it. A browser tests
//! what it does (`tests/peers/playground.mjs`).

use countersign_tests::{Database, Request, Server};

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
