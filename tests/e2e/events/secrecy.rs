//! Whatever happens, no event holds a secret, a token, a signature, or a text that somebody wrote.

use std::collections::BTreeSet;

use countersign_tests::{Database, Request, Server, Tokens, Wallet, on_both};
use serde_json::json;

use super::{told, wait_until_sealed};
use crate::account::form;
use crate::people::Operator;
use crate::remembering::{go_on, remember};
use crate::wallets::{link, unlink};

/// What people and operators write. Each is found in the database, and in no event.
const WRITTEN: [&str; 6] =
    ["Zyzzyva", "lost phone", "Everyone who works here", "See your photos", "ada@", "Album"];

/// The texts of all rows that tell of events, in order.
fn texts(database: &Database) -> Vec<u8> {
    let columns = ["kind", "actor", "family", "chain", "address", "peer", "request", "details"];
    let columns = columns.map(|column| format!("coalesce({column}, '')")).join(" || ' ' || ");
    let fresh = database.words(&format!("SELECT {columns} AS word FROM fresh_events"));
    let sealed = database.words(&format!("SELECT {columns} AS word FROM events"));
    [fresh, sealed].concat().join("\n").into_bytes()
}

/// Everything that happens without a mail server, an admin key or a backup.
fn everything(server: &Server) {
    let operator = Operator::of(server);
    let client = server
        .register_with(&json!({"client_name": "Zyzzyva Album", "scopes": ["openid", "profile", "email"]}));
    let change =
        json!({"client_id": client.id, "client_name": "Zyzzyva", "redirect_uris": [client.redirect_uri]});
    let change = Request::json(&format!("/oauth/clients/{}", client.id), &change);
    server
        .send(&Request { method: "PUT".to_owned(), ..change }.bearer(&client.registration_token))
        .expect(200);

    let (mine, other) = (Wallet::fresh(), Wallet::fresh());
    let mut browser = server.browser();
    let answer = remember(&mut browser, &client.authorization(), &mine);
    let code = answer.answer("code").unwrap();
    let tokens = Tokens::of(server.exchange(&client, &code));
    server.exchange(&client, &code).expect(400);
    assert_eq!(server.userinfo(&tokens.access).status, 401, "the family is dead");
    let again = client.authorization();
    browser.authorize(&again).expect(302);
    let code = go_on(&mut browser, &again).expect(303).answer("code").unwrap();
    let tokens = Tokens::of(server.exchange(&client, &code));
    server.refresh(&client, &tokens.refresh).expect(200);
    server.refresh(&client, &tokens.refresh).expect(400);
    let tokens = server.tokens(&client);
    server.revoke(&client, &tokens.access).expect(200);
    server.revoke(&client, &tokens.refresh).expect(200);
    link(server, &mine, &other).expect(200);
    unlink(server, &mine, &other).expect(200);
    browser.press(form("/account/email", &[("email", "ada@example.com")])).expect(303);
    browser.press(form("/account/apps/revoke", &[("client_id", &client.id)])).expect(303);
    browser.press(form("/account/sessions/end", &[("session", "all")])).expect(303);
    crate::account::sign_in(server, &mine)
        .press(form("/account/sessions/end", &[("session", "this")]))
        .expect(303);
    crate::account::sign_in(server, &other).press(form("/account/delete", &[("confirm", "yes")])).expect(303);

    let created =
        operator.json(&["client", "create", "--name", "Zyzzyva", "--redirect-uri", "https://z.example/cb"]);
    server.database().secrets().learn_json(&created);
    let id = created["client_id"].as_str().unwrap();
    for arguments in [
        &["client", "rotate-secret", id, "--keep-old", "60"][..],
        &["client", "update", id, "--name", "Zyzzyva Two"],
        &["group", "create", "staff", "--title", "Everyone who works here"],
        &["group", "add", "staff", &mine.address()],
        &["group", "remove", "staff", &mine.address()],
        &["access", "set", id, "groups:staff"],
        &["resource", "create", "https://photos.example", "--scope", "photos.read=See your photos"],
        &["resource", "update", "https://photos.example", "--scope", "photos.write=Change your photos"],
        &["client", "open-resource", id, "https://photos.example"],
        &["resource", "delete", "https://photos.example", "--force"],
        &["user", "sign-out", &mine.address()],
        &["user", "block", &mine.address(), "--reason", "lost phone"],
        &["user", "unblock", &mine.address()],
        &["wallet", "block", &other.address(), "--reason", "lost phone"],
        &["wallet", "unblock", &other.address()],
        &["key", "rotate"],
        &["group", "delete", "staff", "--force"],
        &["client", "delete", id, "--yes"],
    ] {
        let answer = operator.json(arguments);
        server.database().secrets().learn_json(&answer);
    }
}

on_both! {
    /// A-010, B-071: the same search as in every log.
    fn no_event_of_any_kind_holds_a_secret_or_what_somebody_wrote(database) {
        let server = database.start();
        everything(&server);
        let kinds: BTreeSet<String> = told(database).into_iter().map(|event| event.kind).collect();
        let missing = ["group_changed", "email_confirmed", "admin_key_created", "admin_key_revoked", "key_activated", "restored"];
        println!("{} kinds: {kinds:?}", kinds.len());
        assert!(kinds.len() >= 25, "{kinds:?}");
        assert!(missing.iter().filter(|kind| kinds.contains(**kind)).count() <= 1, "{kinds:?}");
        let texts = texts(database);
        let found = database.secrets().found_in(&texts);
        let found: Vec<_> = found.iter().filter(|(kind, _)| !matches!(*kind, "wallet_address" | "address")).collect();
        assert!(found.is_empty(), "{found:?} in {}", String::from_utf8_lossy(&texts));
        let shown = String::from_utf8(texts).unwrap();
        for text in WRITTEN {
            assert!(!shown.contains(text), "{text} in {shown}");
        }
        assert!(!shown.contains("wants you to sign in"), "{shown}");
    }
}

/// The tables in which one of these words is found.
fn places(database: &Database, words: &[String]) -> BTreeSet<String> {
    let is_named = |rows: &Vec<String>| rows.iter().any(|row| words.iter().any(|word| row.contains(word)));
    database.texts().into_iter().filter(|(_, rows)| is_named(rows)).map(|(table, _)| table).collect()
}

on_both! {
    /// F-24: events of a deleted account name grants, and the grants stay for a month. A person who signed in, whose code
    /// was replayed, whose tokens were revoked and refreshed, with two wallets, a session and an address, is deleted.
    fn f_24_nothing_that_stays_in_the_database_leads_to_a_person_whose_account_was_deleted(database) {
        let server = database.start();
        let client = server.register_with(&json!({"client_name": "Album", "scopes": ["openid", "profile", "email"]}));
        let (mine, other) = (Wallet::fresh(), Wallet::fresh());
        let mut browser = server.browser();
        let answer = remember(&mut browser, &client.authorization(), &mine);
        let code = answer.answer("code").unwrap();
        Tokens::of(server.exchange(&client, &code));
        let replayed = code.clone();
        server.exchange(&client, &code).expect(400);
        let mut refreshed = Vec::new();
        for _ in 0..2 {
            let again = client.authorization();
            browser.authorize(&again).expect(302);
            let code = go_on(&mut browser, &again).expect(303).answer("code").unwrap();
            let tokens = Tokens::of(server.exchange(&client, &code));
            server.refresh(&client, &tokens.refresh).expect(200);
            refreshed.push(tokens.refresh);
        }
        let revoked = Tokens::of(server.exchange(&client, &server.browser().sign_in(&client, &mine)));
        server.revoke(&client, &revoked.refresh).expect(200);
        link(&server, &mine, &other).expect(200);
        browser.press(form("/account/email", &[("email", "ada@example.com")])).expect(303);
        wait_until_sealed(database, 1);
        server.browser().sign_in(&client, &other);
        let user = if database.is_postgres() { "id::text" } else { "lower(hex(id))" };
        let user = database.words(&format!("SELECT {user} AS word FROM users")).concat().replace('-', "");
        let words = [user, mine.address().to_lowercase(), other.address().to_lowercase(), "ada@".to_owned()];
        let named = places(database, &words);
        let expected = ["events", "grants", "login_sessions", "users", "wallets"];
        assert!(expected.iter().all(|table| named.contains(*table)), "{named:?}");

        Operator::of(&server).text(&["user", "delete", &mine.address(), "--yes"]);
        wait_until_sealed(database, 2);
        assert_eq!(places(database, &words), BTreeSet::new());

        let of_grants = if database.is_postgres() {
            "SELECT count(*) FROM events JOIN grants ON grants.id::text = details::jsonb ->> 'grant' \
             WHERE pseudonym = decode(replace(grants.user_id::text, '-', ''), 'hex')"
        } else {
            "SELECT count(*) FROM events JOIN grants \
             ON lower(hex(grants.id)) = replace(json_extract(details, '$.grant'), '-', '') WHERE pseudonym = grants.user_id"
        };
        assert!(database.number(of_grants) >= 6, "sign-ins and revocations still name their grants");
        let requests = "SELECT count(*) FROM events WHERE kind = 'account_deleted' AND request IS NOT NULL";
        assert_eq!(database.number(requests), 0, "the log's line of that request names the person");
        for token in &refreshed {
            assert_eq!(server.refresh(&client, token).verdict(), "400 invalid_grant");
        }
        assert_eq!(server.exchange(&client, &replayed).verdict(), "400 invalid_grant");
        assert_eq!(places(database, &words), BTreeSet::new(), "what is refused brings nothing back");
    }
}
