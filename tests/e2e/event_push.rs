//! Events are pushed to a receiver, as signed Security Event Tokens.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_tests::event_receiver::{Answer, EventReceiver};
use countersign_tests::server::Settings;
use countersign_tests::{Database, Request, on_both};
use serde_json::json;

const KEY: &str = "receiver-key-Zq3xV7nT";

/// The settings of a server that pushes to this receiver.
fn pushing(database: &Database, receiver: &EventReceiver) -> Settings {
    database
        .server()
        .with_env("COUNTERSIGN_EVENT_PUSH_URL", &receiver.url())
        .with_env("COUNTERSIGN_EVENT_PUSH_SECRET", KEY)
}

/// Waits until the server knows where the receiver begins.
fn wait_for_beginning(database: &Database) {
    for _ in 0..400 {
        if database.number("SELECT count(*) FROM event_pushes") > 0 {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("nothing was pushed yet");
}

/// An id of version 7 as 32 hexadecimal digits; later ones are larger.
#[expect(clippy::disallowed_methods, reason = "these events happen now, by the clock that the server reads")]
fn id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    format!("{now:012x}7000{:016x}", 0x8000_0000_0000_0000 | NEXT.fetch_add(1, Ordering::SeqCst))
}

fn dashed(hex: &str) -> String {
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn user(number: u8) -> String {
    format!("018f0000000070008000{number:012x}")
}

/// Something happened to these users, one after the other. Returns the ids of the events by user.
fn happen(database: &Database, users: &[u8]) -> BTreeMap<String, Vec<String>> {
    let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let literal =
        |hex: &str| if database.is_postgres() { format!("'{hex}'::uuid") } else { format!("x'{hex}'") };
    let mut rows = Vec::new();
    for number in users {
        let (id, user) = (id(), user(*number));
        rows.push(format!("({}, 'sign_in', 'person', {}, '{{}}')", literal(&id), literal(&user)));
        ids.entry(dashed(&user)).or_default().push(dashed(&id));
    }
    let rows = rows.join(", ");
    database.change(&format!("INSERT INTO fresh_events (id, kind, actor, user_id, details) VALUES {rows}"));
    ids
}

fn add(all: &mut BTreeMap<String, Vec<String>>, more: BTreeMap<String, Vec<String>>) {
    for (user, ids) in more {
        all.entry(user).or_default().extend(ids);
    }
}

/// The ids that a receiver took, by user, in the order in which they first came.
fn taken(receiver: &EventReceiver) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for post in receiver.posts().iter().filter(|post| post.is_taken && !post.user().is_empty()) {
        let ids = all.entry(post.user()).or_default();
        if !ids.contains(&post.id()) {
            ids.push(post.id());
        }
    }
    all
}

/// Waits until everything arrived; then it did so in order.
fn arrived(receiver: &EventReceiver, expected: &BTreeMap<String, Vec<String>>) {
    let count: usize = expected.values().map(Vec::len).sum();
    receiver.wait_until(|receiver| taken(receiver).values().map(Vec::len).sum::<usize>() >= count);
    assert_eq!(&taken(receiver), expected);
}

on_both! {
    fn an_event_arrives_signed_with_the_secret_and_is_no_token_for_anything_else(database) {
        let receiver = EventReceiver::start();
        let server = pushing(database, &receiver).start();
        wait_for_beginning(database);
        arrived(&receiver, &happen(database, &[1]));
        let post = receiver.posts().into_iter().find(|post| !post.user().is_empty()).unwrap();
        let has = |line: &str| post.head.iter().any(|found| found.eq_ignore_ascii_case(line));
        assert!(has(&format!("Authorization: Bearer {KEY}")), "{:?}", post.head);
        assert!(has("Content-Type: application/secevent+jwt") && has("Accept: application/json"), "{:?}", post.head);
        let claims = post.claims();
        assert_eq!(claims["aud"], json!(receiver.url()));
        assert!(claims["events"]["urn:countersign:event:sign_in"].is_object(), "{claims}");

        let client = server.register();
        let mut refused = 0;
        let mut refuse = |request: &Request| {
            let answer = server.send(request);
            assert!(answer.status >= 400 || answer.json()["active"] == json!(false), "{}: {answer:?}", request.target);
            refused += 1;
        };
        refuse(&Request::get("/oauth/userinfo").bearer(&post.token));
        refuse(&Request::form("/oauth/token", &client.refresh_form(&post.token)));
        refuse(&Request::form("/oauth/token", &client.exchange_form(&post.token)));
        let wanted = client.authorization().with("id_token_hint", &post.token).with("prompt", "none");
        let silent = server.send(&Request::query("/oauth/authorize", &wanted));
        assert!(silent.answer("code").is_none(), "{silent:?}");
        let introspection = client.revocation(&post.token);
        refuse(&Request::form("/oauth/introspect", &introspection));
        refuse(&Request::get(&format!("/oauth/clients/{}", client.id)).bearer(&post.token));
        assert_eq!(refused, 5);

        let log = String::from_utf8_lossy(&server.log()).into_owned();
        let dump = database.dump();
        for secret in [KEY, &post.token] {
            assert!(!log.contains(secret), "in the log");
            assert!(!dump.windows(secret.len()).any(|found| found == secret.as_bytes()), "in the database");
        }
    }

    fn a_receiver_in_any_state_gets_everything_afterwards_and_in_order(database) {
        let (receiver, inside) = (EventReceiver::start(), EventReceiver::start());
        let server = pushing(database, &receiver).start();
        wait_for_beginning(database);
        let mut all = BTreeMap::new();
        let states = [
            Answer::Status(500, String::new()),
            Answer::Nothing(Duration::from_secs(7)),
            Answer::Redirect(inside.url()),
            Answer::Redirect("http://169.254.169.254/latest/meta-data".to_owned()),
            Answer::Status(400, "no".repeat(100_000)),
        ];
        for state in states {
            let before = receiver.posts().len();
            receiver.answer(state);
            add(&mut all, happen(database, &[1, 2, 1, 3]));
            receiver.wait_until(|receiver| receiver.posts().len() > before);
            receiver.answer(Answer::Status(202, String::new()));
            arrived(&receiver, &all);
        }
        receiver.answer(Answer::Endless);
        add(&mut all, happen(database, &[4]));
        arrived(&receiver, &all);
        assert!(inside.posts().is_empty(), "a redirect was followed");
        assert!(!String::from_utf8_lossy(&server.log()).contains(KEY));
    }

    fn what_is_refused_is_not_sent_again_and_what_fails_holds_up_nobody(database) {
        let receiver = EventReceiver::start();
        let server = pushing(database, &receiver).start();
        wait_for_beginning(database);
        receiver.answer(Answer::Status(400, json!({ "err": "invalid_request" }).to_string()));
        let refused = happen(database, &[1]);
        // The server's own event comes first, and is about nobody.
        receiver.wait_until(|receiver| receiver.posts().iter().any(|post| !post.user().is_empty()));
        receiver.answer(Answer::NotAbout(dashed(&user(2))));
        let mut expected = happen(database, &[2, 3, 2, 3]);
        let waiting = expected.remove(&dashed(&user(2))).unwrap();
        arrived(&receiver, &expected);
        receiver.answer(Answer::Status(202, String::new()));
        expected.insert(dashed(&user(2)), waiting);
        arrived(&receiver, &expected);
        let id = &refused.values().next().unwrap()[0];
        assert_eq!(receiver.posts().iter().filter(|post| post.id() == *id).count(), 1);
        let log = String::from_utf8_lossy(&server.log()).into_owned();
        let lines = log.lines().filter(|line| line.contains(id) && line.contains("invalid_request")).count();
        assert_eq!(lines, 1, "one line names the event and the code");
    }

    /// `kill -9` in turns of two replicas, while events happen and are pushed. Each kill can cost a lease's time, so
    /// there are few.
    fn whatever_happened_is_pushed_although_servers_are_killed(database) {
        let receiver = EventReceiver::start();
        let mut one = pushing(database, &receiver).start();
        let mut other = one.replica();
        wait_for_beginning(database);
        let mut all = BTreeMap::new();
        for round in 0..2_u8 {
            let users: Vec<u8> = (0..150_u8).map(|number| number % 13).collect();
            add(&mut all, happen(database, &users));
            let wanted = receiver.posts().len() + usize::from(round) * 40 + 20;
            receiver.wait_until(|receiver| receiver.posts().len() >= wanted);
            let server = if round % 2 == 0 { &mut one } else { &mut other };
            server.kill9();
            server.restart();
        }
        arrived(&receiver, &all);
        let taken = receiver.posts().iter().filter(|post| post.is_taken).count();
        println!("300 events arrived in {taken} posts, with 2 kills");
    }
}
