//! Who may come in, from outside: groups, rules and blocks that an operator sets at the command line, while
//! clients and people go on.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::site::REDIRECT_URI;
use countersign_tests::{Client, Database, Parameters, Request, Response, Site, Tokens, Wallet, on_both};
use serde_json::{Value, json};

use crate::wallets::{link, unlink};

const SCOPES: &str = "openid profile offline_access groups";

/// A client that the operator registered, with this rule.
fn client_with(database: &Database, rule: &str) -> Client {
    let client = Client::of(&database.create_client(&["--redirect-uri", REDIRECT_URI, "--scope", SCOPES]));
    database.operate(&["access", "set", &client.id, rule]);
    client
}

fn group_of(database: &Database, name: &str, wallet: &Wallet) {
    database.operate(&["group", "create", name]);
    database.operate(&["group", "add", name, &wallet.address()]);
}

fn tokens(site: &Site, client: &Client, wallet: &Wallet) -> Tokens {
    let authorization = client.authorization().with("scope", SCOPES);
    Tokens::of(site.exchange(client, &site.browser().sign_in_with(&authorization, wallet)))
}

fn introspect(site: &Site, client: &Client, token: &str) -> Value {
    let form = client.identify(Parameters::of(&[("token", token)]));
    site.send(&Request::form("/oauth/introspect", &form)).expect(200).json()
}

fn user_of(site: &Site, tokens: &Tokens) -> String {
    site.userinfo(&tokens.access).expect(200).field("sub")
}

/// The groups in the access token itself.
fn groups_in(access_token: &str) -> Value {
    countersign_tests::jose::claims_of(access_token)["groups"].clone()
}

/// What differs between two answers that say the same.
fn without_chance(response: &Response) -> (u16, BTreeSet<(String, String)>, String) {
    let differing = ["date", "x-request-id", "set-cookie", "content-length"];
    let headers = response.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    let kept = headers.filter(|(name, _)| !differing.contains(&name.as_str())).collect();
    (response.status, kept, response.text())
}

on_both! {
    /// 64 connections of one user refresh, ask userinfo and introspect over two replicas, while the operator
    /// blocks the user. Not one request that began after the command's answer succeeds.
    fn nothing_of_a_blocked_user_works_once_the_command_has_answered(database) {
        let first = database.start();
        let second = first.replica();
        let sites = [first.site(), second.site()];
        let client = client_with(database, "everyone");
        let (wallet, bystander) = (Wallet::fresh(), Wallet::fresh());
        let families: Vec<Tokens> = (0..64).map(|turn| tokens(&sites[turn % 2], &client, &wallet)).collect();
        let others = tokens(&first, &client, &bystander);
        let code = first.browser().sign_in(&client, &wallet);
        let (answered, is_over) = (OnceLock::<Instant>::new(), AtomicBool::new(false));
        let (before, after) = ([const { AtomicU64::new(0) }; 3], AtomicU64::new(0));
        thread::scope(|scope| {
            for (turn, family) in families.iter().enumerate() {
                let (sites, client, answered, is_over, before, after) =
                    (&sites, &client, &answered, &is_over, &before, &after);
                scope.spawn(move || {
                    let (mut access, mut refresh) = (family.access.clone(), family.refresh.clone());
                    while !is_over.load(Ordering::SeqCst) {
                        let began = Instant::now();
                        let site = &sites[(turn / 3) % 2];
                        let is_good = match turn % 3 {
                            0 => {
                                let answer = site.refresh(client, &refresh);
                                if answer.status == 200 {
                                    let next = Tokens::of(answer);
                                    (access, refresh) = (next.access, next.refresh);
                                    true
                                } else {
                                    false
                                }
                            }
                            1 => site.userinfo(&access).status == 200,
                            _ => introspect(site, client, &access)["active"] == json!(true),
                        };
                        if is_good {
                            let is_late = answered.get().is_some_and(|at| began >= *at);
                            let counter = if is_late { after } else { &before[turn % 3] };
                            counter.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
            thread::sleep(Duration::from_millis(1_500));
            let told = database.operate(&["user", "block", &wallet.address(), "--reason", "seen in the press"]);
            answered.set(Instant::now()).unwrap();
            assert!(told.is_object(), "{told}");
            thread::sleep(Duration::from_millis(1_000));
            is_over.store(true, Ordering::SeqCst);
        });
        let before = before.each_ref().map(|count| count.load(Ordering::SeqCst));
        assert!(before.iter().all(|count| *count > 0), "refreshes, userinfo, introspections before: {before:?}");
        assert_eq!(after.load(Ordering::SeqCst), 0, "successes after the answer, of {before:?} before");

        assert_eq!(first.exchange(&client, &code).verdict(), "400 invalid_grant");
        let again = second.browser().prepare(&client, &wallet);
        assert_eq!(second.browser().login(&again).status, 400, "a login needs its own session");
        let mut browser = first.browser();
        let body = browser.prepare(&client, &wallet);
        assert_eq!(browser.login(&body).verdict(), "403 access_denied");
        assert_eq!(first.userinfo(&others.access).status, 200, "others do not notice");

        database.operate(&["user", "unblock", &wallet.address()]);
        let fresh = tokens(&second, &client, &wallet);
        assert_eq!(second.userinfo(&fresh.access).status, 200);
        for family in &families {
            assert_eq!(first.userinfo(&family.access).status, 401);
            assert_eq!(second.refresh(&client, &family.refresh).verdict(), "400 invalid_grant");
        }
        assert_eq!(first.exchange(&client, &code).verdict(), "400 invalid_grant");
    }

    /// Sixteen browsers sign in with the wallet again and again while it is blocked. Whatever they got before
    /// is dead when the command answers, and they get nothing afterwards.
    fn no_sign_in_that_was_under_way_outlives_a_block(database) {
        let first = database.start();
        let second = first.replica();
        let sites = [first.site(), second.site()];
        let client = client_with(database, "everyone");
        let wallet = Wallet::fresh();
        let is_over = AtomicBool::new(false);
        let got: Vec<Vec<Tokens>> = thread::scope(|scope| {
            let browsers: Vec<_> = (0..16)
                .map(|turn| {
                    let (site, client, wallet, is_over) = (&sites[turn % 2], &client, &wallet, &is_over);
                    scope.spawn(move || {
                        let mut got = Vec::new();
                        while !is_over.load(Ordering::SeqCst) {
                            let mut browser = site.browser();
                            let body = browser.prepare(client, wallet);
                            let answer = browser.login(&body);
                            if answer.status != 303 {
                                assert_eq!(answer.verdict(), "403 access_denied");
                                continue;
                            }
                            let code = answer.answer("code").unwrap();
                            let exchanged = site.exchange(client, &code);
                            if exchanged.status == 200 {
                                got.push(Tokens::of(exchanged));
                            }
                        }
                        got
                    })
                })
                .collect();
            thread::sleep(Duration::from_millis(800));
            database.operate(&["wallet", "block", &wallet.address()]);
            thread::sleep(Duration::from_millis(500));
            is_over.store(true, Ordering::SeqCst);
            browsers.into_iter().map(|browser| browser.join().unwrap()).collect()
        });
        let got: Vec<Tokens> = got.into_iter().flatten().collect();
        assert!(got.len() >= 16, "{} sign-ins before the block", got.len());
        for tokens in &got {
            assert_eq!(first.userinfo(&tokens.access).status, 401);
            assert_eq!(second.refresh(&client, &tokens.refresh).verdict(), "400 invalid_grant");
        }
        let living = "SELECT count(*) FROM grants WHERE revoked_at IS NULL AND redeemed_at IS NOT NULL";
        assert_eq!(database.number(living), 0, "no grant of the wallet lives");
    }

    /// A wallet is in a group before its first sign-in, and gets in at the first try.
    fn a_wallet_of_a_group_gets_in_at_its_first_sign_in_and_others_do_not(database) {
        let server = database.start();
        let staff = Wallet::fresh();
        group_of(database, "staff", &staff);
        let client = client_with(database, "groups:staff");
        let tokens = tokens(&server, &client, &staff);
        assert_eq!(groups_in(&tokens.access), json!(["staff"]));
        assert_eq!(server.userinfo(&tokens.access).expect(200).json()["groups"], json!(["staff"]));
        assert_eq!(introspect(&server, &client, &tokens.access)["groups"], json!(["staff"]));

        let mut browser = server.browser();
        let body = browser.prepare(&client, &Wallet::fresh());
        assert_eq!(browser.login(&body).verdict(), "403 access_denied");
        assert_eq!(database.number("SELECT count(*) FROM users"), 1, "nothing is stored of who was not let in");
        assert_eq!(database.number("SELECT count(*) FROM grants"), 1);
    }

    /// A rule that changes while somebody is on the sign-in page counts when they sign, both ways.
    fn the_rule_of_the_moment_of_signing_counts(database) {
        let server = database.start();
        let wallet = Wallet::fresh();
        group_of(database, "staff", &wallet);
        let client = client_with(database, "nobody");
        let mut waiting = server.browser();
        let body = waiting.prepare(&client, &wallet);
        assert_eq!(waiting.login(&body).verdict(), "403 access_denied");
        database.operate(&["access", "set", &client.id, "groups:staff"]);
        let mut browser = server.browser();
        let body = browser.prepare(&client, &wallet);
        assert_eq!(browser.login(&body).status, 303);
        let mut later = server.browser();
        let body = later.prepare(&client, &wallet);
        database.operate(&["access", "set", &client.id, "nobody"]);
        assert_eq!(later.login(&body).verdict(), "403 access_denied");
    }

    /// The rule is judged again at every refresh, and a refusal burns nothing.
    fn a_refresh_is_refused_while_the_rule_keeps_the_person_out(database) {
        let server = database.start();
        let wallet = Wallet::fresh();
        group_of(database, "staff", &wallet);
        let client = client_with(database, "groups:staff");
        let first = tokens(&server, &client, &wallet);
        database.operate(&["group", "remove", "staff", &wallet.address()]);
        assert_eq!(server.refresh(&client, &first.refresh).verdict(), "400 invalid_grant");
        database.operate(&["group", "add", "staff", &wallet.address()]);
        let next = Tokens::of(server.refresh(&client, &first.refresh));
        assert_eq!(groups_in(&next.access), json!(["staff"]));
    }

    /// Blocked, unknown and in the wrong group: the same status, headers and text.
    fn nothing_tells_a_stranger_why_a_wallet_is_not_admitted(database) {
        let server = database.start();
        let (wrong, blocked, both) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        group_of(database, "guests", &wrong);
        group_of(database, "staff", &both);
        let open = client_with(database, "everyone");
        for known in [&wrong, &blocked] {
            tokens(&server, &open, known);
        }
        database.operate(&["wallet", "block", &blocked.address()]);
        database.operate(&["wallet", "block", &both.address()]);
        let client = client_with(database, "groups:staff");
        let unknown = Wallet::fresh();
        let answers: Vec<_> = [&wrong, &blocked, &both, &unknown]
            .map(|wallet| {
                let mut browser = server.browser();
                let body = browser.prepare(&client, wallet);
                let (status, headers, text) = without_chance(&browser.login(&body));
                (status, headers, text.replace(&wallet.address(), "…"))
            })
            .into();
        assert_eq!(answers[0].0, 403);
        for answer in &answers[1..] {
            assert_eq!(answer, &answers[0]);
        }
    }

    /// A blocked user cannot free a wallet by unlinking it, link another one, or come back by deleting the
    /// account.
    fn a_block_is_not_evaded_by_linking_unlinking_or_deleting(database) {
        let server = database.start();
        let client = client_with(database, "everyone");
        let (mine, second, third) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        let user = user_of(&server, &tokens(&server, &client, &mine));
        link(&server, &mine, &second).expect(200);
        database.operate(&["user", "block", &user]);
        for wallet in [&mine, &second] {
            assert_eq!(unlink(&server, wallet, &second).status, 403);
            assert_eq!(link(&server, wallet, &third).status, 403);
            let mut browser = server.browser();
            let body = browser.prepare(&client, wallet);
            assert_eq!(browser.login(&body).verdict(), "403 access_denied");
        }
        database.operate(&["user", "delete", &user, "--yes"]);
        for wallet in [&mine, &second] {
            let mut browser = server.browser();
            let body = browser.prepare(&client, wallet);
            assert_eq!(browser.login(&body).verdict(), "403 access_denied");
        }
    }

    /// Groups never travel with a wallet that was unlinked or moved. The race is run often by `ROUNDS=1000`.
    fn no_token_has_a_group_that_the_user_lost_before_it_was_asked_for(database) {
        let server = database.start();
        let rounds: u32 = std::env::var("ROUNDS").map_or(25, |rounds| rounds.parse().unwrap());
        let (main, other, badge) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        group_of(database, "staff", &badge);
        let client = client_with(database, "everyone");
        database.operate(&["access", "set", &client.id, "everyone", "--release", "all"]);
        let mut family = tokens(&server, &client, &main);
        tokens(&server, &client, &other);
        let mut with = 0;
        for round in 0..rounds {
            let (owner, next) = if round % 2 == 0 { (&main, &other) } else { (&other, &main) };
            link(&server, owner, &badge).expect(200);
            let unlinked = OnceLock::<Instant>::new();
            let seen: Vec<(Instant, Value)> = thread::scope(|scope| {
                let refreshing = scope.spawn(|| {
                    let mut seen = Vec::new();
                    for _ in 0..4 {
                        let began = Instant::now();
                        family = Tokens::of(server.refresh(&client, &family.refresh));
                        seen.push((began, groups_in(&family.access)));
                    }
                    seen
                });
                let signing = scope.spawn(|| {
                    let began = Instant::now();
                    vec![(began, groups_in(&tokens(&server, &client, &main).access))]
                });
                unlink(&server, owner, &badge).expect(200);
                unlinked.set(Instant::now()).unwrap();
                [refreshing, signing].into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            let unlinked = *unlinked.get().unwrap();
            for (began, groups) in seen {
                let has = groups == json!(["staff"]);
                assert!(has || groups == json!([]), "{groups}");
                with += u32::from(has);
                assert!(!has || (began < unlinked && round % 2 == 0), "round {round}: a lost group in a new token");
            }
            assert_eq!(groups_in(&tokens(&server, &client, next).access), json!([]), "round {round}");
        }
        assert!(with > 0, "in no round did a token have the group while the wallet was linked");
    }
}

/// A client that registered itself never gets the scope, however it asks.
#[test]
fn a_client_that_registered_itself_is_never_told_groups() {
    let database = Database::sqlite();
    let server = database.start();
    let wallet = Wallet::fresh();
    group_of(&database, "staff", &wallet);
    let registered = server.send(&Site::registration(&json!({"scope": "openid profile groups"}))).expect(201);
    assert_eq!(registered.field("scope"), "openid profile");
    let client = Site::client(&registered);
    let asked = server.browser().authorize(&client.authorization().with("scope", "groups"));
    assert_eq!(asked.answer("error").as_deref(), Some("invalid_scope"), "{asked:?}");
    let more = client.authorization().with("scope", "openid groups");
    let told = server.exchange(&client, &server.browser().sign_in_with(&more, &wallet)).expect(200);
    assert_eq!(told.field("scope"), "openid");
    assert_eq!(server.userinfo(&told.field("access_token")).expect(200).json().get("groups"), None);
    let claims = json!({"userinfo": {"groups": null}, "id_token": {"groups": null}}).to_string();
    let authorization = client.authorization().with("scope", "openid profile").and("claims", &claims);
    let tokens =
        Tokens::of(server.exchange(&client, &server.browser().sign_in_with(&authorization, &wallet)));
    assert_eq!(server.userinfo(&tokens.access).expect(200).json().get("groups"), None);
    assert_eq!(groups_in(&tokens.access), Value::Null);
}
