//! A session alone changes nothing, and no signature but the right one does (K-02, K-03, K-04, K-05).

use std::thread;
use std::time::Duration;

use countersign_tests::{Parameters, Request, Response, Server, Wallet, on_both};

use super::changes::{Things, every_change};
use super::{Begun, Seat, account, change_id, events, everything, run_by, wanted};
use crate::wallets::link;

/// A refusal: never an error of the server, and never a success.
#[track_caller]
fn refused(what: &str, answer: &Response) {
    assert!((400..500).contains(&answer.status), "{what}: {answer:?}");
}

/// The request of a page for a signature, with these fields.
fn signing(begun: &Begun, fields: &Parameters) -> Request {
    Request::form(&begun.action, fields).header("Accept", "text/html")
}

on_both! {
    /// Each change of the list, with everything but the right signature.
    fn k_02_k_04_no_change_is_made_without_the_signature_of_its_own_text(database) {
        let (ann, bob, stranger) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        let server = run_by(database, &[&ann, &bob]).start();
        let things = Things::of(&server);
        let (mut seat, mut elsewhere) = (Seat::of(&server, &ann), Seat::of(&server, &ann));
        let mut colleague = Seat::of(&server, &bob);
        let sign_in_text = {
            let client = server.register();
            let mut browser = server.browser();
            let authorization = client.authorization();
            browser.authorize(&authorization).expect(302);
            browser.challenge(&authorization, &ann)
        };
        let harmless = wanted("/admin/groups", "group-create", &[("group", "harmless")]);
        let before = everything(database);
        let mut tried = 0;
        for change in every_change(&things) {
            let what = change.change;
            let older = seat.begin(&change);
            let another = seat.begin(&harmless);
            let of_colleague = colleague.begin(&change);
            let begun = seat.begin(&change);
            let good = ann.sign(&begun.text);
            let altered = begun.text.replacen("urn:countersign:change:", "urn:countersign:change:x", 1);
            let signatures = [
                ("no signature", String::new()),
                ("zeros", format!("0x{}", "00".repeat(65))),
                ("half of it", good[..66].to_owned()),
                ("an older signature", ann.sign(&older.text)),
                ("a signature for another change", ann.sign(&another.text)),
                ("a signature of a sign-in", ann.sign(&sign_in_text)),
                ("a signature of an altered text", ann.sign(&altered)),
                ("another operator's signature", bob.sign(&begun.text)),
            ];
            for (name, signature) in &signatures[..4] {
                refused(&format!("{what}: {name}"), &seat.send(&begun, signature));
                tried += 1;
            }
            // Each text takes five signatures, so the rest is tried on a fresh one.
            let begun = seat.begin(&change);
            for (name, signature) in &signatures[4..] {
                refused(&format!("{what}: {name}"), &seat.send(&begun, signature));
                tried += 1;
            }
            let begun = seat.begin(&change);
            refused(&format!("{what}: a stranger's signature"), &seat.send(&begun, &stranger.sign(&begun.text)));
            let good = ann.sign(&begun.text);
            let field = |name: &str, value: &str| begun.hidden.clone().with("signature", &good).with(name, value);
            let text_field = begun.hidden.0.iter().find(|(_, value)| *value == begun.text).unwrap().0.clone();
            let secret = elsewhere.begin(&change).hidden.get("form").to_owned();
            let requests = [
                ("no field", signing(&begun, &begun.hidden)),
                ("without the form's secret", signing(&begun, &field("form", "").without("form"))),
                ("an empty secret", signing(&begun, &field("form", ""))),
                ("the secret of another session", signing(&begun, &field("form", &secret))),
                ("an altered text", signing(&begun, &field(&text_field, &altered))),
                ("an older text", signing(&begun, &field(&text_field, &older.text).with("signature", &ann.sign(&older.text)))),
                ("a colleague's text", signing(&begun, &field(&text_field, &of_colleague.text).with("signature", &bob.sign(&of_colleague.text)))),
                ("a sign-in's text", signing(&begun, &field(&text_field, &sign_in_text).with("signature", &ann.sign(&sign_in_text)))),
                ("from another site", signing(&begun, &field("x", "")).header("Origin", "https://evil.example")),
                ("from a sibling site", signing(&begun, &field("x", "")).header("Sec-Fetch-Site", "same-site")),
                ("from a page without origin", signing(&begun, &field("x", "")).header("Origin", "null")),
                ("by GET", Request::query(&begun.action, &field("x", "")).header("Accept", "text/html")),
                ("by PUT", Request::new("PUT", &begun.action).typed("application/x-www-form-urlencoded", field("x", "").encoded())),
            ];
            for (name, request) in requests {
                let answer = seat.browser.site.send(&seat.browser.with_cookies(request));
                refused(&format!("{what}: {name}"), &answer);
                tried += 1;
            }
            // The right request, from a browser of the same person that did not ask, and from a colleague's.
            let whole = begun.hidden.clone().with("signature", &good);
            refused(&format!("{what}: in another browser"), &elsewhere.post(&begun.action, &whole));
            refused(&format!("{what}: in a colleague's browser"), &colleague.post(&begun.action, &whole));
            let asked = seat.filled_in(&change);
            for (name, request) in [
                ("asking without the form's secret", Request::form("/admin/changes", &asked.clone().without("form"))),
                ("asking from another site", Request::form("/admin/changes", &asked).header("Origin", "https://evil.example")),
                ("asking from a sibling site", Request::form("/admin/changes", &asked).header("Sec-Fetch-Site", "cross-site")),
            ] {
                refused(&format!("{what}: {name}"), &seat.browser.send(request.header("Accept", "text/html")));
                tried += 1;
            }
            tried += 3;
        }
        println!("{tried} attempts");
        assert_eq!(everything(database), before, "nothing changed");
    }

    fn k_04_a_text_that_carried_out_a_change_carries_out_nothing_more(database) {
        let ann = Wallet::fresh();
        let server = run_by(database, &[&ann]).start();
        let replica = server.replica();
        let mut seat = Seat::of(&server, &ann);
        let begun = seat.begin(&wanted("/admin/groups", "group-create", &[("group", "staff")]));
        // The cookie as it was before: whoever keeps it sends the same request again.
        let before = seat.browser.clone();
        let good = ann.sign(&begun.text);
        assert!(matches!(seat.send(&begun, &good).status, 200 | 303));
        let after = everything(database);
        database.operate(&["group", "delete", "staff", "--force"]);
        let gone = everything(database);
        assert_ne!(after.0, gone.0);
        for (name, site) in [("here", server.site()), ("on the other replica", replica.site())] {
            for mut browser in [seat.browser.clone(), before.clone()] {
                browser.site.address = site.address;
                let mut again = Seat { browser, wallet: &ann };
                refused(&format!("the same once more, {name}"), &again.send(&begun, &good));
            }
        }
        assert_eq!(everything(database), gone);
        assert_eq!(events(database, "group_created"), 1);
    }

    fn k_03_a_wallet_that_is_no_operators_any_more_signs_nothing(database) {
        let (first, second) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by(database, &[&first, &second]).start();
        sign_in_and_link(&server, &first, &second);
        let mut seat = Seat::of(&server, &first);
        let change = wanted("/admin/groups", "group-create", &[("group", "staff")]);
        let begun = seat.begin(&change);
        let public_url = server.public_url.clone();
        drop(server);
        // The person still is an operator, by another wallet.
        let server = run_by(database, &[&second]).with_public_url(&public_url).start();
        seat.browser.site.address = server.address;
        let before = everything(database);
        seat.get("/admin").expect(200);
        refused("a text from before", &seat.sign(&begun));
        let anew = seat.begin(&change);
        assert!(anew.text.contains(&second.address()), "the text is for the wallet that may sign: {}", anew.text);
        refused("the wallet that may not sign any more", &seat.sign(&anew));
        assert_eq!(everything(database), before);
        seat.wallet = &second;
        let anew = seat.begin(&change);
        assert!(matches!(seat.sign(&anew).status, 200 | 303));
        drop(server);
        let server = run_by(database, &[&Wallet::fresh()]).with_public_url(&public_url).start();
        seat.browser.site.address = server.address;
        seat.get("/admin").expect(404);
    }

    fn k_03_a_wallet_that_left_the_account_signs_nothing_for_it(database) {
        let (first, second) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by(database, &[&first, &second]).start();
        sign_in_and_link(&server, &first, &second);
        let mut seat = Seat::of(&server, &first);
        let begun = seat.begin(&wanted("/admin/groups", "group-create", &[("group", "staff")]));
        crate::wallets::unlink(&server, &second, &first).expect(200);
        let answer = seat.sign(&begun);
        refused("a wallet that was unlinked", &answer);
        assert_eq!(events(database, "group_created"), 0);
    }

    fn k_05_a_change_of_what_changed_meanwhile_is_refused_and_what_changed_is_said(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by(database, &[&ann, &bob]).start();
        let things = Things::of(&server);
        let (mut one, mut other) = (Seat::of(&server, &ann), Seat::of(&server, &bob));
        let block = things.block_wallet("first");
        let begun = one.begin(&block);
        other.make(&things.block_wallet("second"));
        let before = everything(database);
        let answer = one.sign(&begun).expect(409).text();
        assert!(answer.contains("second"), "the page says what changed: {answer}");
        assert_eq!(everything(database), before);
        refused("a text that was refused once", &one.sign(&begun));
        let rename = things.rename_client("Album 2");
        let begun = one.begin(&rename);
        database.operate(&["client", "update", &things.client.id, "--name", "Album 3"]);
        let answer = one.sign(&begun).expect(409).text();
        assert!(answer.contains("Album 3"), "{answer}");
        assert_eq!(database.operate(&["client", "show", &things.client.id])["client_name"], "Album 3");
    }

    fn k_04_of_many_requests_with_one_signature_one_is_carried_out(database) {
        let ann = Wallet::fresh();
        let server = run_by(database, &[&ann]).start();
        let replica = server.replica();
        let things = Things::of(&server);
        let mut seat = Seat::of(&server, &ann);
        for round in 0..8 {
            let begun = seat.begin(&things.rotate_secret());
            let fields = begun.hidden.clone().with("signature", &ann.sign(&begun.text));
            let request = seat.browser.with_cookies(signing(&begun, &fields));
            let answers: Vec<u16> = thread::scope(|scope| {
                let sent = (0..12).map(|turn| {
                    let (site, request) = (if turn % 2 == 0 { server.site() } else { replica.site() }, request.clone());
                    scope.spawn(move || site.send(&request).status)
                });
                let sent: Vec<_> = sent.collect();
                sent.into_iter().map(|answer| answer.join().unwrap()).collect()
            });
            let won = answers.iter().filter(|status| matches!(status, 200 | 303)).count();
            assert_eq!(won, 1, "{round}: {answers:?}");
        }
        assert_eq!(events(database, "secret_rotated"), 8);
    }
}

/// K-04
#[test]
fn k_04_a_text_is_not_good_for_longer_than_it_says() {
    let database = countersign_tests::Database::sqlite();
    let ann = Wallet::fresh();
    let server = run_by(&database, &[&ann]).with_env("COUNTERSIGN_CHALLENGE_TTL", "5").start();
    let mut seat = Seat::of(&server, &ann);
    let begun = seat.begin(&wanted("/admin/groups", "group-create", &[("group", "staff")]));
    thread::sleep(Duration::from_secs(6));
    refused("an old text", &seat.sign(&begun));
    assert_eq!(events(&database, "group_created"), 0);
}

/// What a change was about is in the text that was signed, and in no other.
#[test]
fn the_text_names_the_change_and_the_server_and_what_it_is_about() {
    let database = countersign_tests::Database::sqlite();
    let ann = Wallet::fresh();
    let server = run_by(&database, &[&ann]).start();
    let things = Things::of(&server);
    let mut seat = Seat::of(&server, &ann);
    let mut ids = std::collections::BTreeSet::new();
    for change in every_change(&things) {
        let Begun { text, .. } = seat.begin(&change);
        let first = format!("{} wants you to sign in with your Ethereum account:", server.authority());
        assert_eq!(text.lines().next(), Some(first.as_str()));
        assert!(text.contains(&format!("- urn:countersign:change:{}\n", change.change)), "{text}");
        assert!(text.contains("- urn:countersign:seen:") && text.is_ascii() && text.len() <= 4_000, "{text}");
        assert!(ids.insert(change_id(&text)), "each has an id of its own");
    }
    assert!(ids.len() >= 20, "{}", ids.len());
}

fn sign_in_and_link(server: &Server, wallet: &Wallet, other: &Wallet) {
    let client = server.register();
    server.browser().sign_in(&client, wallet);
    link(server, wallet, other).expect(200);
    assert_eq!(
        server.database().operate(&["user", "show", &account(other)])["wallets"].as_array().map(Vec::len),
        Some(2)
    );
}
