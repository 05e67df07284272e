//! An operator gives a client lifetimes of its own, and shortens them while tokens are out.

use countersign_tests::{Client, Database, Request, Server, Tokens, on_both};
use serde_json::json;

use crate::requests::introspect;

/// Everything about tokens becomes ten minutes older.
fn ten_minutes_pass(database: &Database) {
    let older = |column: &str| {
        let then = if database.is_postgres() { "interval '10 minutes'" } else { "600000000" };
        format!("{column} = {column} - {then}")
    };
    let [issued, ends] = ["issued_at", "access_expires_at"].map(older);
    database.change(&format!("UPDATE tokens SET {issued}, {ends}"));
}

fn lasting(server: &Server, database: &Database, flags: &[&str]) -> (Client, Tokens, i64) {
    let client =
        Client::of(&database.create_client(&[&["--redirect-uri", "https://app.example/cb"], flags].concat()));
    let answer = server.exchange(&client, &server.sign_in(&client));
    let seconds = answer.json()["expires_in"].as_i64().unwrap();
    (client, Tokens::of(answer), seconds)
}

on_both! {
    fn each_client_has_its_lifetimes_and_a_shortening_counts_on_every_replica_at_once(database) {
        let first = database.start();
        let second = first.replica();
        let (_, _, usual) = lasting(&first, database, &[]);
        let (_, _, long) = lasting(&first, database, &["--access-token-ttl", "8h"]);
        let (client, tokens, short) = lasting(&first, database, &["--access-token-ttl", "15m"]);
        assert_eq!((usual, long, short), (3_600, 28_800, 900));
        ten_minutes_pass(database);
        for server in [&first, &second] {
            server.userinfo(&tokens.access).expect(200);
            let facts = introspect(server, &client, &tokens.access);
            assert_eq!(facts["exp"].as_i64().unwrap() - facts["iat"].as_i64().unwrap(), 900);
        }
        let before = database.texts();
        database.operate(&["client", "update", &client.id, "--access-token-ttl", "5m", "--refresh-token-idle-ttl", "20m"]);
        for server in [&first, &second] {
            server.userinfo(&tokens.access).expect(401);
            assert_eq!(introspect(server, &client, &tokens.access), json!({"active": false}));
        }
        assert_eq!(database.texts()["tokens"], before["tokens"], "nothing is rewritten");
        let refreshed = second.refresh(&client, &tokens.refresh);
        assert_eq!(refreshed.json()["expires_in"], 300);
        let refreshed = Tokens::of(refreshed);
        first.userinfo(&refreshed.access).expect(200);
        // What was unused for longer than that ends. In the settings it is thirty days.
        ten_minutes_pass(database);
        ten_minutes_pass(database);
        let ended = first.refresh(&client, &refreshed.refresh).expect(400).json();
        assert_eq!(ended["error"], "invalid_grant");

        let described = first.send(&Request::get("/.well-known/openid-configuration")).expect(200).json();
        let bounds = json!({"default": 3_600, "min": 60, "max": 86_400});
        assert_eq!(described["client_lifetimes"]["access_token_ttl"], bounds);
        for (wrong, reason) in [
            ("59", "access_token_ttl takes 60 to 86400 seconds"),
            ("2d", "access_token_ttl takes 60 to 86400 seconds"),
            ("soon", "it takes a time such as 15m"),
        ] {
            let refused = database.operator(&["client", "update", &client.id, "--access-token-ttl", wrong]).output().unwrap();
            let said = String::from_utf8_lossy(&refused.stderr);
            assert!(!refused.status.success() && said.contains(reason), "{wrong}: {said}");
        }
        database.operate(&["client", "update", &client.id, "--clear", "access_token_ttl"]);
        assert_eq!(first.exchange(&client, &first.sign_in(&client)).json()["expires_in"], 3_600);
    }

    /// A client that registers itself, or changes what it registered, decides no lifetime.
    fn a_client_cannot_give_itself_a_lifetime(database) {
        let server = database.start();
        let body = json!({
            "client_name": "Longer", "redirect_uris": ["https://longer.example/cb"], "scope": "openid profile email offline_access",
            "access_token_ttl": 86_400, "refresh_token_ttl": 31_536_000, "refresh_token_idle_ttl": 31_536_000,
        });
        let registered = server.send(&Request::json("/oauth/clients", &body)).expect(201).json();
        assert_eq!(registered.get("access_token_ttl"), None, "{registered}");
        let client = Client::of(&registered);
        assert_eq!(server.exchange(&client, &server.sign_in(&client)).json()["expires_in"], 3_600);
        database.operate(&["client", "update", &client.id, "--access-token-ttl", "5m"]);
        let mut again = body;
        again["client_id"] = json!(client.id);
        let configuration = format!("/oauth/clients/{}", client.id);
        let put = Request::new("PUT", &configuration).typed("application/json", again.to_string());
        let changed = server.send(&put.bearer(&client.registration_token));
        assert_eq!(changed.expect(200).json()["access_token_ttl"], 300);
        assert_eq!(server.exchange(&client, &server.sign_in(&client)).json()["expires_in"], 300);
    }
}
