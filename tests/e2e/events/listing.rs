//! Operators read events: `event list`, `event show`, `event checkpoints` and `event list --follow`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use countersign_tests::{Client, Database, Server, Wallet, on_both};
use serde_json::{Value, json};

use super::{event, told, verified, wait_until_sealed, with_hyphens};
use crate::people::{Ended, Operator};

const FIELDS: [&str; 10] =
    ["id", "at", "kind", "actor", "user", "wallet", "client", "address", "request", "details"];

#[track_caller]
fn listed(database: &Database, arguments: &[&str]) -> Vec<Value> {
    let ended = event(database, &[&["list", "--output", "json"], arguments].concat());
    assert_eq!(ended.code, 0, "{arguments:?}: {ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

fn ids(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["id"].as_str().unwrap()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["kind"].as_str().unwrap()).collect()
}

fn caip10(wallet: &Wallet) -> String {
    format!("eip155:1:{}", wallet.address())
}

/// Somebody whose events are listed.
struct Somebody {
    wallet: Wallet,
    user: String,
    client: Client,
}

impl Somebody {
    fn signs_in(server: &Server) -> Self {
        let (client, wallet) = (server.register(), Wallet::fresh());
        let code = server.browser().sign_in(&client, &wallet);
        let access = server.exchange(&client, &code).field("access_token");
        Self { user: server.userinfo(&access).field("sub"), wallet, client }
    }
}

on_both! {
    fn an_event_is_shown_to_people_and_to_scripts_alike(database) {
        let mut server = database.start();
        let ann = Somebody::signs_in(&server);
        // Nothing is sealed while no server runs.
        assert!(server.terminate().success());
        let events = listed(database, &["--type", "sign_in"]);
        let [signed_in] = &events[..] else { panic!("{events:?}") };
        let fields: Vec<&str> = signed_in.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, FIELDS);
        assert_eq!((&signed_in["kind"], &signed_in["actor"]), (&json!("sign_in"), &json!("person")));
        assert_eq!((&signed_in["user"], &signed_in["client"]), (&json!(ann.user), &json!(ann.client.id)));
        assert_eq!((&signed_in["wallet"], &signed_in["address"]), (&json!(caip10(&ann.wallet)), &json!("127.0.0.0/24")));
        assert_eq!((&signed_in["details"]["way"], &signed_in["details"]["session"]), (&json!("browser"), &json!(false)));
        assert!(signed_in["request"].is_string() && signed_in["at"].as_str().unwrap().ends_with('Z'), "{signed_in}");

        let id = signed_in["id"].as_str().unwrap();
        let show = |more: &[&str]| {
            let ended = event(database, &[&["show", id], more].concat());
            assert_eq!(ended.code, 0, "{ended:?}");
            ended.out
        };
        let text = show(&[]);
        let lines: Vec<&str> = text.lines().collect();
        let name = |line: &&str| line.split_whitespace().next().unwrap_or_default().to_owned();
        let names = ["id", "at", "kind", "actor", "user", "wallet", "client", "address", "request", "details", "position"];
        assert_eq!(lines.iter().map(name).collect::<Vec<_>>(), names, "{text}");
        assert!(text.contains(&caip10(&ann.wallet)) && lines[10].ends_with("not sealed yet"), "{text}");
        let shown: Value = serde_json::from_str(&show(&["--output", "json"])).unwrap();
        assert_eq!(shown["position"], Value::Null);
        for field in FIELDS {
            assert_eq!(shown[field], signed_in[field], "{field}");
        }
        let table = event(database, &["list", "--type", "sign_in"]).out;
        let [heading, row] = table.lines().collect::<Vec<_>>()[..] else { panic!("{table}") };
        let columns = ["TIME", "KIND", "ACTOR", "ABOUT", "CLIENT", "ADDRESS", "DETAILS", "ID"];
        assert_eq!(heading.split_whitespace().collect::<Vec<_>>(), columns);
        for cell in [id, "sign_in", &ann.user, &caip10(&ann.wallet), &ann.client.id, "127.0.0.0/24"] {
            assert!(row.contains(cell), "{cell} in {table}");
        }
        assert_eq!(event(database, &["list", "--type", "restored"]).out, "no events\n");
        assert_eq!(listed(database, &["--type", "restored"]), Vec::<Value>::new());
        assert_eq!(event(database, &["checkpoints"]).out, "no checkpoints\n");

        server.restart();
        wait_until_sealed(database, 1);
        let shown: Value = serde_json::from_str(&show(&["--output", "json"])).unwrap();
        assert!(shown["position"].as_u64() > Some(0), "{shown}");
        let checkpoints = event(database, &["checkpoints"]).out;
        let [heading, row] = checkpoints.lines().collect::<Vec<_>>()[..] else { panic!("{checkpoints}") };
        assert_eq!(heading.split_whitespace().collect::<Vec<_>>(), ["CHECKPOINT", "SEALED", "EVENTS", "FIRST", "POSITION", "HASH"]);
        let saved: Value = serde_json::from_str(&event(database, &["checkpoints", "--output", "json"]).out).unwrap();
        let mut fields: Vec<&str> = saved[0].as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["checkpoint", "events", "first_position", "hash", "kept_from", "previous", "root", "sealed_at", "signed"]);
        assert_eq!((&saved[0]["checkpoint"], &saved[0]["first_position"]), (&json!(1), &json!(1)));
        assert!(row.contains(saved[0]["hash"].as_str().unwrap()), "{checkpoints}");
        assert_eq!(event(database, &["checkpoints", "--after", "1"]).out, "no checkpoints\n");
        let verified = event(database, &["verify"]).out;
        assert!(verified.starts_with("everything holds: ") && verified.contains(" in 1 checkpoint\n"), "{verified}");
    }

    /// Some of the events are sealed, and some are not.
    fn pages_show_each_event_once_and_filters_choose(database) {
        // A new one, because one that was prepared has events that can be older than an hour.
        let database = &database.sibling();
        let server = database.start();
        let ann = Somebody::signs_in(&server);
        for _ in 0..3 {
            server.browser().sign_in(&ann.client, &ann.wallet);
        }
        wait_until_sealed(database, 1);
        let bob = Somebody::signs_in(&server);
        for _ in 0..3 {
            server.browser().sign_in(&ann.client, &ann.wallet);
        }
        let all = listed(database, &[]);
        let mut newest_first: Vec<String> = told(database).into_iter().map(|told| with_hyphens(&told.id)).collect();
        newest_first.reverse();
        assert_eq!(ids(&all), newest_first);
        for limit in ["1", "2", "5"] {
            let mut pages: Vec<Value> = Vec::new();
            loop {
                let after = pages.last().map(|event: &Value| event["id"].as_str().unwrap().to_owned());
                let mut arguments = vec!["--limit", limit];
                arguments.extend(after.iter().flat_map(|after| ["--after", after.as_str()]));
                let page = listed(database, &arguments);
                if page.is_empty() {
                    break;
                }
                pages.extend(page);
            }
            assert_eq!(pages, all, "{limit} at a time");
        }
        let told = event(database, &["list", "--limit", "2"]);
        assert!(told.err.contains(&format!("--after {}", newest_first[1])), "{told:?}");

        let signed_in = |arguments: &[&str]| listed(database, &[&["--type", "sign_in"], arguments].concat()).len();
        assert_eq!((signed_in(&[]), signed_in(&["--client", &ann.client.id]), signed_in(&["--client", &bob.client.id])), (8, 7, 1));
        for who in [&ann.user, &ann.user.to_uppercase(), &ann.wallet.address(), &ann.wallet.address().to_lowercase(), &caip10(&ann.wallet)] {
            assert_eq!(signed_in(&["--user", who]), 7, "{who}");
            assert_eq!(signed_in(&["--user", who, "--client", &bob.client.id]), 0, "{who}");
        }
        let of_bob = listed(database, &["--client", &bob.client.id]);
        assert_eq!(kinds(&of_bob), ["sign_in", "client_registered"]);
        let both = listed(database, &["--type", "client_registered", "--type", "sign_in"]);
        assert_eq!(both.len(), 10);
        let at = of_bob[1]["at"].as_str().unwrap();
        let (since, until) = (listed(database, &["--since", at]), listed(database, &["--until", at]));
        assert_eq!((since.len() + until.len(), kinds(&since).iter().filter(|kind| **kind == "sign_in").count()), (all.len(), 4));
        assert_eq!((listed(database, &["--since", "1h"]).len(), listed(database, &["--until", "1h"]).len()), (all.len(), 0));
        assert_eq!(listed(database, &["--since", "2020-01-01", "--until", "2020-01-02"]), Vec::<Value>::new());
        let nobody = Wallet::fresh();
        assert_eq!(listed(database, &["--user", &nobody.address()]), Vec::<Value>::new(), "nobody has this wallet");
        Operator::of(&server).text(&["wallet", "block", &nobody.address()]);
        assert_eq!(kinds(&listed(database, &["--user", &nobody.address()])), ["wallet_blocked"]);
    }

    /// Nothing leads from the wallet or the user to what they did, and all of it is together under one pseudonym.
    fn events_of_a_deleted_account_are_found_by_their_pseudonym_alone(database) {
        let server = database.start();
        let gone = Somebody::signs_in(&server);
        wait_until_sealed(database, 1);
        server.browser().sign_in(&gone.client, &gone.wallet);
        Operator::of(&server).text(&["user", "delete", &gone.user, "--yes"]);
        let deleted = listed(database, &["--type", "account_deleted"]);
        let [deletion] = &deleted[..] else { panic!("{deleted:?}") };
        let pseudonym = deletion["user"].as_str().unwrap();
        assert!(pseudonym.starts_with("deleted:") && deletion["details"]["events"] == 2, "{deletion}");
        assert!(deletion["actor"].as_str().unwrap().starts_with("cli:"), "{deletion}");
        let theirs = listed(database, &["--user", pseudonym]);
        assert_eq!(kinds(&theirs), ["account_deleted", "sign_in", "sign_in"]);
        for event in &theirs {
            assert_eq!((&event["wallet"], &event["address"]), (&Value::Null, &Value::Null));
        }
        assert_eq!(listed(database, &["--user", &gone.wallet.address()]), Vec::<Value>::new());
        let everything = event(database, &["list", "--output", "json"]).out.to_lowercase();
        assert!(!everything.contains(&gone.user) && !everything.contains(&gone.wallet.address().to_lowercase()));
        assert_eq!(listed(database, &["--user", &gone.user]), Vec::<Value>::new());
        wait_until_sealed(database, 2);
        assert_eq!(kinds(&listed(database, &["--user", pseudonym])), ["account_deleted", "sign_in", "sign_in"]);
        verified(database);
    }

    fn who_follows_sees_each_event_once_as_it_happens(database) {
        let server = database.start();
        let before = Somebody::signs_in(&server);
        let mut following = database
            .operator(&["event", "list", "--follow", "--output", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(following.stdout.take().unwrap()).lines();
        let (tell, heard) = mpsc::channel();
        thread::spawn(move || lines.map_while(Result::ok).all(|line| tell.send(line).is_ok()));
        // It begins with what happens from now on; until it listens, nobody can tell when that is.
        let next = || heard.recv_timeout(Duration::from_secs(2)).ok();
        let first = (0..30).find_map(|_| {
            server.browser().sign_in(&before.client, &before.wallet);
            next()
        });
        let mut seen = vec![first.unwrap()];
        let after = Somebody::signs_in(&server);
        while !seen.iter().any(|line| line.contains(&after.user)) {
            seen.push(next().unwrap());
        }
        // Being sealed is nothing that happens.
        wait_until_sealed(database, 1);
        let late = next();
        following.kill().unwrap();
        following.wait().unwrap();
        assert_eq!(late, None);
        let seen: Vec<Value> = seen.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut oldest_first = listed(database, &["--limit", &seen.len().to_string()]);
        oldest_first.reverse();
        assert_eq!(seen, oldest_first);
    }

    fn what_is_asked_wrongly_is_refused_with_the_reason(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let nothing = "5f3c2d1e-0000-7000-8000-000000000001";
        for (arguments, code, told) in [
            (&["show", nothing][..], 1, "there is no event 5f3c2d1e"),
            (&["list", "--user", "nonsense"], 2, "is neither"),
            (&["list", "--user", "deleted:00"], 2, "is neither"),
            (&["list", "--user", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLz"], 2, "is neither"),
        ] {
            let (ended, why) = operator.refused(&[&["event"], arguments].concat());
            assert!(ended == code && why.contains(told), "{arguments:?}: {ended}: {why}");
        }
        for (arguments, told) in [
            (&[][..], "Usage: "),
            (&["lst"], "'list'"),
            (&["show"], "<ID>"),
            (&["show", "1"], "it is not an event's id"),
            (&["show", "deleted:00000000000000000000000000000000"], "it is not an event's id"),
            (&["list", "--type", "sign-in"], "sign-in"),
            (&["list", "--type", ""], "--type"),
            (&["list", "--since", "yesterday"], "it takes 2026-11-23T12:00:00Z"),
            (&["list", "--until", "5y"], "it takes 2026-11-23T12:00:00Z"),
            (&["list", "--client", "Photo Album"], "it is not a client's id"),
            (&["list", "--limit", "0"], "--limit"),
            (&["list", "--limit", "-1"], "unexpected argument"),
            (&["list", "--after", "1"], "it is not an event's id"),
            (&["list", "--after", nothing, "--follow"], "cannot be used with"),
            (&["checkpoints", "--after", "-1"], "unexpected argument"),
            (&["checkpoints", "--limit", "0"], "--limit"),
            (&["verify", "--against"], "<FILE>"),
            (&["verify", "--output", "xml"], "xml"),
        ] {
            let ended: Ended = event(database, arguments);
            assert!(ended.code == 2 && ended.out.is_empty() && ended.err.contains(told), "{arguments:?}: {ended:?}");
        }
    }
}
