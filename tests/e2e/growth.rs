//! Without valid credentials, nobody can make the database grow.

use countersign_tests::http::Connection;
use countersign_tests::{Browser, Request, Response, Wallet, on_both};

const REQUESTS: usize = 10_000;

on_both! {
    /// B-082, D-20: no table gets a new row.
    fn ten_thousand_authorizations_and_challenges_leave_every_table_as_it_was(database) {
        let server = database.start();
        let client = server.register();
        server.tokens(&client);
        let before = database.rows();
        let (host, wallet) = (server.authority(), Wallet::fresh());
        let mut connection = Connection::open(server.address).unwrap();
        let mut browser = server.browser();
        let mut send = |browser: &mut Browser, request: Request| -> Response {
            let response = connection.send(&host, &browser.with_cookies(request)).unwrap();
            browser.keep(&response);
            response
        };
        for round in 0..REQUESTS / 2 {
            // A hundred users, one after the other, each with many requests.
            if round % 50 == 0 {
                browser = server.browser();
            }
            let authorization = client.authorization();
            send(&mut browser, Request::query("/oauth/authorize", &authorization)).expect(302);
            send(&mut browser, Browser::challenge_request(&authorization, &wallet.address())).expect(200);
        }
        assert_eq!(database.rows(), before);
        assert!(before.values().sum::<i64>() > 3, "the tables are not empty: {before:?}");
    }

    /// The same for every other request that the server refuses.
    fn refused_requests_leave_every_table_as_it_was(database) {
        let server = database.start();
        let client = server.register();
        let tokens = server.tokens(&client);
        let before = database.rows();
        for _ in 0..20 {
            let mut browser = server.browser();
            let body = browser.prepare(&client, &Wallet::fresh());
            browser.login(&body.clone().with("signature", "0x00")).expect(401);
            browser.login(&body.with("challenge", "anything")).expect(401);
            browser.send(Request::get("/auth")).expect(200);
            server.exchange(&client, "unknown").expect(400);
            server.refresh(&client, "unknown").expect(400);
            server.userinfo("unknown").expect(401);
            server.revoke(&client, "unknown").expect(200);
            server.token(&client.exchange_form("unknown").with("client_secret", "wrong")).expect(401);
            server.send(&Request::new("HEAD", "/oauth/token"));
        }
        assert_eq!(database.rows(), before);
        assert_eq!(server.userinfo(&tokens.access).status, 200);
    }
}
