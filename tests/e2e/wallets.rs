//! One user, many wallets: what a user does at `/account/wallets`, over HTTP.

use std::sync::Barrier;
use std::thread;

use countersign_tests::{Browser, Client, Request, Response, Site, Tokens, Wallet, on_both};
use serde_json::{Value, json};

/// Requests the texts for a change.
fn begin(browser: &mut Browser, change: &str, signer: &Wallet, other: &Wallet) -> Response {
    let body = json!({
        "change": change,
        "wallet_address": signer.address(),
        "other_wallet_address": other.address(),
    });
    browser.send(Request::json("/account/wallets/challenge", &body))
}

/// The body of a link request with both signatures.
fn link_body(browser: &mut Browser, signer: &Wallet, other: &Wallet) -> Value {
    let texts = begin(browser, "link", signer, other).expect(200);
    let (mine, theirs) = (texts.field("challenge"), texts.field("other_challenge"));
    json!({
        "form": texts.field("form"),
        "challenge": mine,
        "signature": signer.sign(&mine),
        "other_challenge": theirs,
        "other_signature": other.sign(&theirs),
    })
}

pub(crate) fn link(site: &Site, signer: &Wallet, other: &Wallet) -> Response {
    let mut browser = site.browser();
    let body = link_body(&mut browser, signer, other);
    browser.send(Request::json("/account/wallets/link", &body))
}

pub(crate) fn unlink(site: &Site, signer: &Wallet, other: &Wallet) -> Response {
    let mut browser = site.browser();
    let begun = begin(&mut browser, "unlink", signer, other).expect(200);
    let text = begun.field("challenge");
    let body = json!({"form": begun.field("form"), "challenge": text, "signature": signer.sign(&text)});
    browser.send(Request::json("/account/wallets/unlink", &body))
}

fn tokens(site: &Site, client: &Client, wallet: &Wallet) -> Tokens {
    Tokens::of(site.exchange(client, &site.browser().sign_in(client, wallet)))
}

fn subject(site: &Site, client: &Client, wallet: &Wallet) -> String {
    site.userinfo(&tokens(site, client, wallet).access).expect(200).field("sub")
}

fn account(wallet: &Wallet) -> String {
    format!("eip155:1:{}", wallet.address())
}

fn refusal(response: &Response) -> (u16, String) {
    (response.status, response.field("error_description"))
}

on_both! {
    fn a_linked_wallet_signs_in_as_the_same_user_until_it_is_unlinked(database) {
        let server = database.start();
        let client = server.register_with(&json!({"scopes": ["profile", "wallets"]}));
        let (laptop, phone) = (Wallet::fresh(), Wallet::fresh());
        let sub = subject(&server, &client, &laptop);

        let linked = link(&server, &laptop, &phone).expect(200).json();
        assert_eq!(linked, json!({"sub": sub, "wallets": [account(&laptop), account(&phone)]}));
        let by_phone = tokens(&server, &client, &phone);
        let told = server.userinfo(&by_phone.access).expect(200).json();
        assert_eq!((told["sub"].as_str(), told["address"].as_str()), (Some(sub.as_str()), Some(phone.address().as_str())));
        assert_eq!(told.get("wallets"), None, "scope profile does not release the list");
        let authorization = client.authorization().with("scope", "profile wallets");
        let code = server.browser().sign_in_with(&authorization, &phone);
        let with_list = Tokens::of(server.exchange(&client, &code));
        let told = server.userinfo(&with_list.access).expect(200).json();
        assert_eq!(told["wallets"], linked["wallets"]);

        let left = unlink(&server, &laptop, &phone).expect(200).json();
        assert_eq!(left, json!({"sub": sub, "wallets": [account(&laptop)]}));
        assert_eq!(server.userinfo(&by_phone.access).verdict(), "401 invalid_token");
        assert_eq!(server.refresh(&client, &by_phone.refresh).verdict(), "400 invalid_grant");
        assert_eq!(subject(&server, &client, &laptop), sub);
        assert_ne!(subject(&server, &client, &phone), sub, "the unlinked wallet is a new user");
    }

    fn nobody_links_a_wallet_that_they_cannot_sign_with(database) {
        let server = database.start();
        let client = server.register();
        let (mine, victims) = (Wallet::fresh(), Wallet::fresh());
        let sub = subject(&server, &client, &mine);
        let mut browser = server.browser();
        let texts = begin(&mut browser, "link", &mine, &victims).expect(200);
        let (text, other_text) = (texts.field("challenge"), texts.field("other_challenge"));
        let body = |signature: &str, other_signature: &str| {
            json!({"form": texts.field("form"), "challenge": text, "signature": signature, "other_challenge": other_text, "other_signature": other_signature})
        };
        let forged = [
            (body(&mine.sign(&text), &mine.sign(&other_text)), "Failed to verify signature of the other wallet"),
            (body(&victims.sign(&text), &victims.sign(&other_text)), "Failed to verify signature"),
            (body("0x", "0x"), "Failed to verify signature"),
        ];
        for (body, why) in forged {
            let refused = browser.send(Request::json("/account/wallets/link", &body));
            assert_eq!(refusal(&refused), (401, why.to_owned()));
        }
        // A valid sign-in text of the victim does not authorize a link.
        let sign_in = server.browser().prepare(&client, &victims);
        let stolen = body(&mine.sign(&text), sign_in.get("signature"));
        assert_eq!(browser.send(Request::json("/account/wallets/link", &stolen)).status, 401);
        let victim = subject(&server, &client, &victims);
        assert_ne!(victim, sub);
        assert_eq!(database.number("SELECT count(*) FROM spent_challenges"), 0, "a refused request uses up no challenge");
    }

    /// B-001, B-003: the texts work once, in the session that requested them, for the change that they
    /// describe.
    fn the_texts_of_a_change_work_once_and_in_their_session_only(database) {
        let server = database.start();
        let client = server.register();
        let (mine, other) = (Wallet::fresh(), Wallet::fresh());
        subject(&server, &client, &mine);
        let mut browser = server.browser();
        let body = link_body(&mut browser, &mine, &other);
        let request = Request::json("/account/wallets/link", &body);
        let nobody = server.send(&request);
        assert_eq!(refusal(&nobody), (400, "Missing or expired OAuth session".to_owned()));
        let mut stranger = server.browser();
        begin(&mut stranger, "link", &mine, &other).expect(200);
        let theirs = stranger.send(request.clone());
        assert_eq!(theirs.status, 403, "the texts of another session do not work in this one");
        let copy = browser.clone();
        assert_eq!(browser.send(request.clone()).status, 200);
        assert_eq!(browser.cookies.len(), 0, "the session contained nothing else");
        unlink(&server, &mine, &other).expect(200);
        let again = copy.clone().send(request);
        assert_eq!(refusal(&again), (401, "Challenge is not valid or has expired".to_owned()));
        assert_eq!(copy.clone().send(Request::json("/account/wallets/unlink", &body)).status, 401);
    }

    fn a_change_and_a_sign_in_share_a_session_and_do_not_disturb_each_other(database) {
        let server = database.start();
        let client = server.register();
        let (mine, other) = (Wallet::fresh(), Wallet::fresh());
        subject(&server, &client, &mine);
        let mut browser = server.browser();
        let login = browser.prepare(&client, &mine);
        let link = link_body(&mut browser, &mine, &other);
        assert_eq!(browser.login(&login).status, 303);
        assert_eq!(browser.send(Request::json("/account/wallets/link", &link)).status, 200);
    }

    fn a_wallet_has_one_user_and_a_user_keeps_one_wallet(database) {
        let server = database.start();
        let client = server.register();
        let (ann, bob, stranger) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        subject(&server, &client, &ann);
        subject(&server, &client, &bob);
        let conflicts = [
            (link(&server, &ann, &bob), "the other wallet belongs to another user"),
            (link(&server, &stranger, &Wallet::fresh()), "wallet_address has never signed in here"),
            (unlink(&server, &ann, &ann), "the last wallet cannot be unlinked"),
            (unlink(&server, &ann, &bob), "the other wallet is not one of this user's"),
        ];
        for (answer, why) in conflicts {
            assert_eq!(refusal(&answer), (409, why.to_owned()));
        }
        let same = begin(&mut server.browser(), "link", &ann, &ann);
        assert_eq!(same.status, 400, "{same:?}");
    }

    fn f_26_a_user_has_at_most_the_wallets_that_the_setting_allows_on_all_servers(database) {
        let start = || database.server().with_env("COUNTERSIGN_WALLETS_PER_USER", "3").start();
        let servers: Vec<_> = (0..if database.is_postgres() { 2 } else { 1 }).map(|_| start()).collect();
        let server = &servers[0];
        let (client, ann) = (server.register(), Wallet::fresh());
        subject(server, &client, &ann);
        let barrier = Barrier::new(8);
        let answers: Vec<Response> = thread::scope(|scope| {
            let race = |number: usize| {
                let server = &servers[number % servers.len()];
                let mut browser = server.browser();
                let body = link_body(&mut browser, &ann, &Wallet::fresh());
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    browser.send(Request::json("/account/wallets/link", &body))
                })
            };
            let runners: Vec<_> = (0..8).map(race).collect();
            runners.into_iter().map(|runner| runner.join().unwrap()).collect()
        });
        let (linked, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
        assert_eq!((linked.len(), refused.len()), (2, 6));
        let said = "this user has as many wallets as a user may have (3): unlink one first";
        for answer in refused {
            assert_eq!(refusal(answer), (409, said.to_owned()));
        }
    }

    fn two_users_race_for_one_wallet_and_one_wins(database) {
        let server = database.start();
        let client = server.register();
        for _ in 0..8 {
            let (ann, bob, wanted) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
            let subjects = [subject(&server, &client, &ann), subject(&server, &client, &bob)];
            let start = Barrier::new(2);
            let answers: Vec<Response> = thread::scope(|scope| {
                let race = |signer| {
                    let mut browser = server.browser();
                    let body = link_body(&mut browser, signer, &wanted);
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        browser.send(Request::json("/account/wallets/link", &body))
                    })
                };
                let runners = [race(&ann), race(&bob)];
                runners.into_iter().map(|runner| runner.join().unwrap()).collect()
            });
            let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            let winner = statuses.iter().position(|status| *status == 200).unwrap();
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409]);
            assert_eq!(subject(&server, &client, &wanted), subjects[winner]);
        }
    }
}
