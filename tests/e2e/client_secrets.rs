//! A client with two secrets: what the operator commands holds on every replica from the moment the command ends.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::{Client, Database, Parameters, Request, Response, Server, Site, on_both};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// How many clients knock at once.
const AT_ONCE: usize = 64;
/// How far the clocks of a database and of this test can be apart on one machine.
const CLOCKS: time::Duration = time::Duration::milliseconds(50);

on_both! {
    fn without_keeping_it_the_old_secret_ends_with_the_command_on_every_replica(database) {
        let servers = replicas(database);
        let mut client = servers[0].register();
        for _ in 0..5 {
            assert_eq!(verdicts(&servers, &client), ["200", "200"]);
            let rotated = rotate(database, &client, &["--keep-old", "0"]);
            assert!(rotated.get("old_secret_expires_at").is_none(), "{rotated}");
            assert_eq!(verdicts(&servers, &client), ["401 invalid_client"; 2]);
            client = with(&client, &rotated);
        }
        assert_eq!(verdicts(&servers, &client), ["200", "200"]);
    }

    fn a_kept_secret_works_on_every_replica_until_its_end_and_not_a_moment_later(database) {
        let servers = replicas(database);
        let old = servers[0].register();
        let rotated = rotate(database, &old, &["--keep-old", "3"]);
        let new = with(&old, &rotated);
        let end = time_of(&rotated["old_secret_expires_at"]);
        assert!(end > now() + time::Duration::seconds(1), "the command waits a moment only");
        let (mut accepted, mut refused) = (0, 0);
        while refused < 40 {
            for server in &servers {
                let sent = now();
                let verdict = verdict(server, &old);
                let answered = now();
                match &*verdict {
                    "200" => {
                        assert!(sent < end + CLOCKS, "accepted at {sent}, after its end at {end}");
                        accepted += 1;
                    }
                    _ => {
                        assert_eq!(verdict, "401 invalid_client");
                        assert!(answered > end - CLOCKS, "refused at {answered}, before its end at {end}");
                        refused += 1;
                    }
                }
            }
            assert_eq!(verdicts(&servers, &new), ["200", "200"]);
        }
        assert!(accepted > 10, "{accepted}");
        println!("accepted {accepted} times before the end, refused {refused} times after it");
    }

    /// Each rotation keeps the secret before it. So a secret is accepted from the answer that shows it until the
    /// second rotation after it begins, and refused from that one's answer on.
    fn whoever_knocks_while_secrets_are_rotated_is_judged_by_the_secrets_of_that_moment(database) {
        const ROTATIONS: usize = 12;
        let servers = replicas(database);
        let first = servers[0].register();
        let secrets = Mutex::new(vec![first.clone()]);
        let shown = || secrets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let begun = AtomicUsize::new(0);
        let over = AtomicBool::new(false);
        let wrong = Client { secret: Some("a guess".to_owned()), ..first.clone() };
        let counts: Vec<[usize; 4]> = thread::scope(|scope| {
            let knocking: Vec<_> = (0..AT_ONCE)
                .map(|number| {
                    let (server, shown, begun, over, wrong) = (&servers[number % 2], &shown, &begun, &over, &wrong);
                    scope.spawn(move || {
                        let (mut knock, mut counts) = (number, [0; 4]);
                        while !over.load(Ordering::SeqCst) {
                            let known = shown();
                            let back = knock % 4;
                            knock += 1;
                            let Some(place) = known.len().checked_sub(back + 1).filter(|_| back < 3) else {
                                assert_eq!(verdict(server, wrong), "401 invalid_client");
                                counts[3] += 1;
                                continue;
                            };
                            let accepted = match &*verdict(server, &known[place]) {
                                "200" => true,
                                "401 invalid_client" => false,
                                other => panic!("{other}"),
                            };
                            match back {
                                2 => assert!(!accepted, "secret {place} of {} has ended", known.len()),
                                _ if begun.load(Ordering::SeqCst) <= place + 1 => {
                                    assert!(accepted, "secret {place} of {} works", known.len());
                                }
                                _ => {}
                            }
                            counts[back] += usize::from(accepted || back == 2);
                        }
                        counts
                    })
                })
                .collect();
            for number in 1..=ROTATIONS {
                begun.store(number, Ordering::SeqCst);
                let rotated = rotate(database, &first, &["--keep-old", "600"]);
                assert_eq!(rotated.get("older_secret_cut_short").is_some(), number > 1, "{rotated}");
                secrets.lock().unwrap_or_else(PoisonError::into_inner).push(with(&first, &rotated));
                thread::sleep(Duration::from_millis(100));
            }
            over.store(true, Ordering::SeqCst);
            knocking.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let count = |kind: usize| counts.iter().map(|counts| counts[kind]).sum::<usize>();
        let [current, old, ended, guessed] = [0, 1, 2, 3].map(count);
        println!("{current} with the current secret, {old} with the old one, {ended} ended and {guessed} wrong ones refused");
        assert!([current, old, ended, guessed].into_iter().all(|count| count > AT_ONCE));
    }

    /// The client updates its registration all the time, and changes how it authenticates, while its secret is
    /// rotated.
    fn no_update_of_a_registration_brings_an_old_secret_back(database) {
        let servers = replicas(database);
        let mut client = servers[0].register();
        let over = AtomicBool::new(false);
        let id = client.id.clone();
        let updated = thread::scope(|scope| {
            let updating: Vec<_> = (0..8)
                .map(|number| {
                    let (server, client, over) = (&servers[number % 2], client.clone(), &over);
                    scope.spawn(move || {
                        let mut updated = 0;
                        while !over.load(Ordering::SeqCst) {
                            let method = ["client_secret_post", "client_secret_basic"][updated % 2];
                            let answer = update(server, &client, method).expect(200).json();
                            assert_eq!(answer["client_secret_expires_at"], 0);
                            assert!(answer.get("client_secret").is_none());
                            updated += 1;
                        }
                        updated
                    })
                })
                .collect();
            for _ in 0..8 {
                let rotated = rotate(database, &client, &["--keep-old", "0"]);
                assert_eq!(verdicts(&servers, &client), ["401 invalid_client"; 2]);
                client = with(&client, &rotated);
                assert_eq!(verdicts(&servers, &client), ["200", "200"]);
            }
            over.store(true, Ordering::SeqCst);
            updating.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        println!("{updated} updates while the secret was rotated 8 times");
        let shown = database.operate(&["client", "show", &id]);
        assert_eq!(shown["secrets"].as_array().map(Vec::len), Some(1), "{shown}");
    }

    /// Each replica saw one of the secrets. What they saw is written when they stop, at the latest.
    fn operators_see_when_each_secret_was_last_used(database) {
        let mut servers = replicas(database);
        let old = servers[0].register();
        let new = with(&old, &rotate(database, &old, &["--keep-old", "600"]));
        let wrong = Client { secret: Some("a guess".to_owned()), ..old.clone() };
        let [began, before] = [now(), now() - time::Duration::minutes(1)];
        for (server, client, times) in [(&servers[0], &old, 3), (&servers[1], &new, 2), (&servers[1], &old, 1)] {
            (0..times).for_each(|_| assert_eq!(verdict(server, client), "200"));
            assert_eq!(verdict(server, &wrong), "401 invalid_client");
        }
        let counted: Vec<_> = servers
            .iter()
            .map(|server| {
                let figures = server.figures();
                ["current", "old"].map(|which| figures.get(&format!("countersign_client_secret_total{{secret=\"{which}\"}}")))
            })
            .collect();
        assert_eq!(counted, [[0.0, 3.0], [2.0, 1.0]], "metrics count both");
        for server in &mut servers {
            assert!(server.terminate().success());
        }
        let shown = database.operate(&["client", "show", &old.id]);
        let [current, kept] = shown["secrets"].as_array().unwrap().as_slice() else { panic!("{shown}") };
        assert!(current["expires_at"].is_null() && time_of(&kept["expires_at"]) > began, "{shown}");
        for secret in [current, kept] {
            let used = time_of(&secret["last_used_at"]);
            assert!(before < used && used <= now() && used.second() == 0, "{shown}");
            assert!(time_of(&secret["created_at"]) <= now());
        }
        let hashes = old.secret.iter().chain(&new.secret);
        assert!(hashes.clone().count() == 2 && hashes.into_iter().all(|secret| !shown.to_string().contains(secret)));
        let text = database.operator(&["client", "show", &old.id]).output().unwrap();
        let text = String::from_utf8(text.stdout).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(", last used ")).collect();
        assert!(
            matches!(lines[..], [current, old] if current.starts_with("secret ") && old.starts_with("old_secret ")
                && old.contains(", works until ")),
            "{text}"
        );
        let again = database.operator(&["client", "create", "--from-file", "-"]).output().unwrap();
        assert!(!again.status.success(), "standard input is empty");
    }
}

/// Two processes on one database.
fn replicas(database: &Database) -> [Server; 2] {
    let first = database.start();
    let second = first.replica();
    [first, second]
}

/// What a server says to a client that asks about a token which is none.
fn verdict(server: &Site, client: &Client) -> String {
    let form = client.identify(Parameters::of(&[("token", "none")]));
    let response = server.send(&Request::form("/oauth/introspect", &form));
    if response.status == 200 { "200".to_owned() } else { response.verdict() }
}

fn verdicts(servers: &[Server; 2], client: &Client) -> [String; 2] {
    [0, 1].map(|place: usize| verdict(&servers[place], client))
}

/// Gives a client a new secret. The command waits until every replica knows it, and no longer.
fn rotate(database: &Database, client: &Client, keep_old: &[&str]) -> Value {
    let began = Instant::now();
    let rotated = database.operate(&[&["client", "rotate-secret", &client.id], keep_old].concat());
    assert!(began.elapsed() > Duration::from_millis(220), "every replica forgets the client first");
    rotated
}

fn with(client: &Client, rotated: &Value) -> Client {
    Client { secret: rotated["client_secret"].as_str().map(str::to_owned), ..client.clone() }
}

fn update(server: &Site, client: &Client, method: &str) -> Response {
    let body = json!({
        "client_name": "Photo Album",
        "redirect_uris": [client.redirect_uri],
        "token_endpoint_auth_method": method,
    });
    let target = format!("/oauth/clients/{}", client.id);
    let request = Request { method: "PUT".to_owned(), ..Request::json(&target, &body) };
    server.send(&request.bearer(&client.registration_token))
}

fn time_of(value: &Value) -> OffsetDateTime {
    OffsetDateTime::parse(value.as_str().unwrap(), &Rfc3339).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the test looks at the clock that the servers follow")]
fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}
