//! How much strangers can store here: wallets and documents cost them nothing (F-07). Both are deleted later,
//! but no known user is.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::{Client, Database, Server, Tokens, Wallet, on_both};
use serde_json::{Value, json};

const CALLBACK: &str = "http://127.0.0.1:33418/callback";
/// How many sign-ins are abandoned.
const WALLETS: usize = 300;

/// Another party's web server: a document at each path, with these members added or replaced.
fn documents(change: Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let base = origin.clone();
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let read = connection.read(&mut head).unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..read]).into_owned();
            let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
            let mut document = json!({
                "client_id": format!("{base}{path}"),
                "client_name": "Throw-away",
                "redirect_uris": [CALLBACK],
                "token_endpoint_auth_method": "none",
                "application_type": "native",
            });
            for (name, value) in change.as_object().unwrap() {
                document[name] = value.clone();
            }
            let body = document.to_string();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    origin
}

fn client_of(origin: &str, place: usize) -> Client {
    let id = format!("{origin}/client-{place}.json");
    Client::described_at(id, CALLBACK)
}

/// Makes weeks pass: grants have expired, users and documents are old. The server's own cleanup does the
/// rest. It begins with the oldest rows when a server starts, and goes on from where it was for ten minutes.
fn weeks_pass(server: &mut Server) {
    server.kill9();
    let database = server.database();
    let past = if database.is_postgres() { "'2020-01-01'" } else { "1577836800000000" };
    for sql in [
        format!("UPDATE grants SET forget_after = {past}, review_at = {past}"),
        format!("UPDATE tokens SET forget_after = {past}"),
        format!("UPDATE users SET untold_since = {past} WHERE untold_since IS NOT NULL"),
        format!("UPDATE clients SET created_at = {past} WHERE document IS NOT NULL"),
    ] {
        database.change(&sql);
    }
    server.restart();
}

fn wait_for(database: &Database, sql: &str, expected: i64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while database.number(sql) != expected {
        assert!(Instant::now() < deadline, "{sql} is {}", database.number(sql));
        thread::sleep(Duration::from_millis(250));
    }
}

/// The size of the rows. In a file, only pages in use count, because the others are reused.
fn bytes(database: &Database) -> i64 {
    if database.is_postgres() {
        for table in ["users", "wallets", "consents", "grants", "tokens", "clients"] {
            database.change(&format!("VACUUM {table}"));
        }
        return database.number(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' \
             AND relname IN ('users', 'wallets', 'consents', 'grants', 'tokens', 'clients')",
        );
    }
    database.number(
        "SELECT (p.page_count - f.freelist_count) * s.page_size \
         FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s",
    )
}

fn server(database: &Database) -> Server {
    database.server().with_env("COUNTERSIGN_CLIENT_DOCUMENTS", "on").start()
}

on_both! {
    /// F-07: someone signs in with many wallets and never redeems a code. A user whose code was redeemed
    /// stays, even though the grant was deleted long ago.
    fn sign_ins_that_nobody_asked_about_are_forgotten_and_everybody_else_is_kept(database) {
        let mut server = server(database);
        let client = server.register();
        let (known, mut browser) = (Wallet::fresh(), server.browser());
        let sub = |server: &Server, browser: &mut countersign_tests::Browser| {
            let tokens = Tokens::of(server.exchange(&client, &browser.sign_in(&client, &known)));
            server.userinfo(&tokens.access).field("sub")
        };
        let told = sub(&server, &mut browser);
        let (rows, at_rest) = (database.rows(), bytes(database));
        for _ in 0..WALLETS {
            server.sign_in(&client);
        }
        let held = bytes(database);
        let users = i64::try_from(WALLETS).unwrap() + 1;
        assert_eq!(database.number("SELECT count(*) FROM users"), users);
        weeks_pass(&mut server);
        wait_for(database, "SELECT count(*) FROM users", 1);
        wait_for(database, "SELECT count(*) FROM grants", 0);
        for table in ["users", "wallets", "consents", "clients"] {
            assert_eq!(database.rows()[table], rows[table], "{table}");
        }
        assert_eq!(sub(&server, &mut browser), told, "clients identify users by it");
        let (left, each) = (bytes(database) - at_rest, (held - at_rest) / users);
        println!("{database:?}: {each} bytes for each abandoned sign-in, {left} left of all {WALLETS} after cleanup");
        assert!(each < 4_000, "{each}");
    }

    /// F-07: 60 documents that are never used again. They used to take 5 MB.
    fn sixty_documents_that_are_thrown_away_are_small_and_are_forgotten(database) {
        let mut server = server(database);
        // Close to the maximum that is stored.
        let uris: Vec<String> = (0..18).map(|place| format!("https://client.example/{place}/{}", "a".repeat(200))).collect();
        let mut redirects = vec![CALLBACK.to_owned()];
        redirects.extend(uris);
        let origin = documents(json!({"redirect_uris": redirects, "contacts": vec!["a@client.example"; 900]}));
        let at_rest = bytes(database);
        for place in 0..60 {
            let client = client_of(&origin, place);
            let (mut browser, wallet) = (server.browser(), Wallet::fresh());
            let body = browser.prepare_with(&client.shortest_authorization(), &wallet);
            assert_eq!(database.number("SELECT count(*) FROM clients WHERE document IS NOT NULL"), i64::try_from(place).unwrap(), "nothing is stored before a user has signed");
            browser.login(&body).expect(303);
        }
        let held = bytes(database) - at_rest;
        println!("{database:?}: {held} bytes for 60 documents and their sign-ins");
        assert!(held < 1_000_000, "{held}");
        weeks_pass(&mut server);
        wait_for(database, "SELECT count(*) FROM clients WHERE document IS NOT NULL", 0);
        assert_eq!(database.number("SELECT count(*) FROM users"), 0);
    }

    /// F-07: a document that is larger than what is stored is refused, with an error that says why.
    fn a_document_with_too_much_in_it_is_refused(database) {
        let server = server(database);
        let uris: Vec<String> = (0..20).map(|place| format!("https://client.example/{place}/{}", "a".repeat(300))).collect();
        let client = client_of(&documents(json!({"redirect_uris": uris})), 0);
        let client = Client { redirect_uri: format!("https://client.example/0/{}", "a".repeat(300)), ..client };
        let refused = server.browser().authorize(&client.shortest_authorization());
        assert_eq!(refused.status, 400);
        assert!(refused.text().contains("5,000 bytes"), "{refused:?}");
        assert_eq!(database.number("SELECT count(*) FROM clients"), 0);
    }

    /// A user who comes back to a client with a document is kept, even if cleanup runs in between.
    fn a_document_that_somebody_uses_is_kept(database) {
        let mut server = server(database);
        let client = client_of(&documents(json!({})), 1);
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let body = browser.prepare_with(&client.shortest_authorization(), &wallet);
        let code = browser.login(&body).expect(303).answer("code").unwrap();
        Tokens::of(server.exchange(&client, &code));
        weeks_pass(&mut server);
        wait_for(database, "SELECT count(*) FROM grants", 0);
        thread::sleep(Duration::from_secs(13));
        assert_eq!(database.number("SELECT count(*) FROM clients"), 1);
        let body = browser.prepare_with(&client.shortest_authorization(), &wallet);
        let code = browser.login(&body).expect(303).answer("code").unwrap();
        Tokens::of(server.exchange(&client, &code));
    }
}
