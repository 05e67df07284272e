//! `/account/events` over HTTP: people see where they signed in and what they changed; nobody sees anything of
//! somebody else, and nobody learns of a block.

use countersign_tests::{Browser, Database, Parameters, Request, Response, Wallet, on_both};
use serde_json::{Value, json};

use crate::account::{form, page, sign_in, text_of, texts};

/// What a program gets.
fn asked(browser: &mut Browser, path: &str) -> Response {
    browser.send(Request::get(path).header("Accept", "application/json"))
}

fn events(browser: &mut Browser, path: &str) -> Vec<Value> {
    asked(browser, path).expect(200).json()["events"].as_array().unwrap().clone()
}

/// What happened, the newest first.
fn whats(browser: &mut Browser) -> Vec<String> {
    let events = events(browser, "/account/events");
    events.iter().map(|event| event["what"].as_str().unwrap().to_owned()).collect()
}

/// What the page says happened.
fn on_page(html: &str) -> Vec<String> {
    html.split("data-what=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// Links a wallet, or unlinks it.
fn change(browser: &mut Browser, change: &str, mine: &Wallet, other: &Wallet) {
    let asked = texts(browser, change, mine, other).expect(200).text();
    let text = text_of(&asked, "signer");
    let mut sent = Parameters::of(&[("challenge", &text), ("signature", &mine.sign(&text))]);
    if change == "link" {
        let text = text_of(&asked, "other");
        sent = sent.with("other_challenge", &text).with("other_signature", &other.sign(&text));
    }
    let request = Request::form(&format!("/account/wallets/{change}"), &sent).header("Accept", "text/html");
    browser.press_on(&asked, request).expect(303);
}

on_both! {
    fn people_see_where_they_signed_in_and_what_they_changed(database) {
        let server = database.start();
        let (client, wallet, other) = (server.register(), Wallet::fresh(), Wallet::fresh());
        server.browser().sign_in(&client, &wallet);
        let mut browser = sign_in(&server, &wallet);
        change(&mut browser, "link", &wallet, &other);
        sign_in(&server, &other).press(form("/account/sessions/end", &[("session", "this")])).expect(303);
        change(&mut browser, "unlink", &wallet, &other);
        browser.press(form("/account/apps/revoke", &[("client_id", &client.id)])).expect(303);
        let expected = ["consent_revoked", "wallet_unlinked", "sign_out", "sign_in", "wallet_linked", "sign_in", "sign_in"];
        assert_eq!(whats(&mut browser), expected);

        let answer = asked(&mut browser, "/account/events").expect(200).json();
        assert_eq!((&answer["kept"], answer.get("next")), (&json!(true), None));
        let first = &answer["events"][6];
        assert_eq!(first["client_id"], client.id.as_str());
        assert_eq!(first["client_name"], "Photo Album");
        assert_eq!(first["wallet_account"], format!("eip155:1:{}", wallet.address()));
        assert_eq!(first["address"], "127.0.0.0/24");
        assert_eq!(answer["events"][5].get("client_id"), None, "the account page is no client");
        assert_eq!(answer["events"][1]["wallet_account"], format!("eip155:1:{}", other.address()));
        let known = ["id", "at", "what", "client_id", "client_name", "wallet_account", "wallet_name", "address"];
        for event in answer["events"].as_array().unwrap() {
            assert!(event.as_object().unwrap().keys().all(|name| known.contains(&name.as_str())), "{event}");
        }

        let html = page(&mut browser, "/account/events");
        assert_eq!(on_page(&html), expected);
        assert!(html.contains("<bdi>Photo Album</bdi> <span class=\"badge warning\">Unverified</span>"), "{html}");
        assert!(html.contains("127.0.0.0/24") && html.contains("Your account page"), "{html}");
        assert!(html.contains("Sign out everywhere, and unlink the wallet"), "{html}");
        assert!(page(&mut browser, "/account").contains("href=\"/account/events\""));
        let german = page(&mut browser, "/account/events?lang=de");
        assert!(german.contains("Zugriff widerrufen") && german.contains("Nicht geprüft"), "{german}");
    }

    fn an_app_that_was_deleted_is_said_to_be_gone(database) {
        let server = database.start();
        let client = database.let_in();
        let wallet = Wallet::fresh();
        server.browser().sign_in(&client, &wallet);
        let mut browser = sign_in(&server, &wallet);
        assert!(page(&mut browser, "/account/events").contains("<bdi>Photo Album</bdi></dd>"));
        assert!(database.operator(&["client", "delete", &client.id, "--yes"]).output().unwrap().status.success());
        let html = page(&mut browser, "/account/events");
        assert!(html.contains("An app that was deleted") && !html.contains("Photo Album"), "{html}");
        let of_client = events(&mut browser, "/account/events").pop().unwrap();
        assert_eq!((&of_client["client_id"], of_client.get("client_name")), (&json!(client.id), None));
    }

    /// Ids of events are no secrets: they only say where in time a page begins.
    fn nobody_sees_the_events_of_somebody_else(database) {
        let server = database.start();
        let (ann, bob, shared) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        let mut of_bob = sign_in(&server, &bob);
        let mut of_ann = sign_in(&server, &ann);
        change(&mut of_ann, "link", &ann, &shared);
        change(&mut of_ann, "unlink", &ann, &shared);
        let anns: Vec<String> = events(&mut of_ann, "/account/events").iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(anns.len(), 3);
        for id in &anns {
            let seen = events(&mut of_bob, &format!("/account/events?after={id}"));
            let whats: Vec<&str> = seen.iter().map(|event| event["what"].as_str().unwrap()).collect();
            assert_eq!(whats, ["sign_in"], "Bob's own one");
            assert_eq!(seen[0]["wallet_account"], format!("eip155:1:{}", bob.address()));
        }
        // A wallet that was Ann's begins anew.
        let mut anew = sign_in(&server, &shared);
        assert_eq!(whats(&mut anew), ["sign_in"]);
        assert!(!page(&mut anew, "/account/events").contains(&ann.address()));
        // And what it does now is not Ann's any more.
        assert_eq!(events(&mut of_ann, "/account/events").len(), anns.len());
        // A deleted account leaves nothing to its wallet.
        of_bob.press(form("/account/delete", &[("confirm", "yes")])).expect(303);
        assert_eq!(asked(&mut of_bob, "/account/events").verdict(), "401 access_denied");
        assert_eq!(whats(&mut sign_in(&server, &bob)), ["sign_in"]);
    }

    /// Only operators know of blocks and groups. What an operator's sign-out ended is told.
    fn nothing_tells_of_a_block(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        server.browser().sign_in(&client, &wallet);
        sign_in(&server, &wallet);
        let who = wallet.address();
        for arguments in [
            &["user", "block", &who, "--reason", "lost phone"][..],
            &["user", "unblock", &who],
            &["wallet", "block", &who, "--reason", "lost phone"],
            &["wallet", "unblock", &who],
            &["group", "create", "staff"],
            &["group", "add", "staff", &who],
        ] {
            let ended = database.operator(arguments).output().unwrap();
            assert!(ended.status.success(), "{arguments:?}: {ended:?}");
        }
        let mut browser = sign_in(&server, &wallet);
        assert_eq!(whats(&mut browser), ["sign_in", "sign_in", "sign_in"]);
        let (told, html) = (asked(&mut browser, "/account/events").text(), page(&mut browser, "/account/events"));
        for word in ["block", "lost phone", "staff", "revoked", "root", "cli:"] {
            assert!(!told.contains(word) && !html.contains(word), "{word}: {told} {html}");
        }
        assert!(database.operator(&["user", "sign-out", &who]).output().unwrap().status.success());
        let mut browser = sign_in(&server, &wallet);
        assert_eq!(whats(&mut browser), ["sign_in", "user_signed_out", "sign_in", "sign_in", "sign_in"]);
        let told = events(&mut browser, "/account/events").swap_remove(1);
        assert_eq!(told.as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "at", "what"], "not who did it, and from where");
    }

    fn fifty_stand_on_a_page_and_older_ones_on_the_next(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        for _ in 0..51 {
            server.browser().sign_in(&client, &wallet);
        }
        let mut browser = sign_in(&server, &wallet);
        let newest = asked(&mut browser, "/account/events").expect(200).json();
        let next = newest["next"].as_str().unwrap().to_owned();
        let shown = newest["events"].as_array().unwrap();
        assert_eq!((shown.len(), shown[49]["id"].as_str()), (50, Some(next.as_str())));
        let rest = asked(&mut browser, &format!("/account/events?after={next}")).expect(200).json();
        assert_eq!((rest["events"].as_array().unwrap().len(), rest.get("next")), (2, None));
        let html = page(&mut browser, "/account/events");
        assert!(html.contains(&format!("id=\"older\" href=\"/account/events?after={next}\"")), "{html}");
        assert!(!html.contains("id=\"newest\""), "{html}");
        let html = page(&mut browser, &format!("/account/events?after={next}"));
        assert_eq!(on_page(&html).len(), 2);
        assert!(html.contains("id=\"newest\"") && !html.contains("id=\"older\""), "{html}");
        assert!(html.contains(&format!("name=\"after\" value=\"{next}\"")), "a change of language stays here: {html}");
    }

    fn whoever_is_not_signed_in_sees_nothing_and_a_wrong_id_is_refused(database) {
        let server = database.start();
        let mut stranger = server.browser();
        assert_eq!(asked(&mut stranger, "/account/events").verdict(), "401 access_denied");
        let by_browser = Request::get("/account/events").header("Accept", "text/html");
        assert_eq!(stranger.send(by_browser).expect(302).location(), "/auth");
        let mut browser = sign_in(&server, &Wallet::fresh());
        let id = "0197C2A4-6F00-7D3E-9B1A-4F6C2F0E8D12";
        for wrong in ["after=", "after=1", "after=%00", "after=%3Cscript%3E", &format!("after={id}"), "after=a&after=b"] {
            let refused = asked(&mut browser, &format!("/account/events?{wrong}"));
            assert_eq!(refused.verdict(), "400 invalid_request", "{wrong}");
        }
        asked(&mut browser, &format!("/account/events?after={}", id.to_lowercase())).expect(200);
        for of_nothing in ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"] {
            asked(&mut browser, &format!("/account/events?after={of_nothing}")).expect(400);
        }
        assert_eq!(browser.send(Request::json("/account/events", &json!({}))).status, 405);
    }
}

#[test]
fn a_server_that_keeps_no_events_says_so() {
    let server = Database::sqlite().server().with_env("COUNTERSIGN_EVENT_RETENTION", "0").start();
    let mut browser = sign_in(&server, &Wallet::fresh());
    assert_eq!(
        asked(&mut browser, "/account/events").expect(200).json(),
        json!({"kept": false, "events": []})
    );
    let html = page(&mut browser, "/account/events");
    assert!(html.contains("This server keeps no record of what happens."), "{html}");
    assert!(!html.contains("data-what") && !html.contains("id=\"unknown\""), "{html}");
}

#[test]
fn an_operator_who_keeps_whole_addresses_shows_people_their_own() {
    let server = Database::sqlite().server().with_env("COUNTERSIGN_EVENT_ADDRESSES", "full").start();
    let mut browser = sign_in(&server, &Wallet::fresh());
    assert_eq!(events(&mut browser, "/account/events")[0]["address"], "127.0.0.1");
}
