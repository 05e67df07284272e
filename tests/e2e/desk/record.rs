//! What was signed stands in the record, and nobody alters it unseen (K-06, K-11).

use std::process::Command;

use countersign_tests::server::{OPERATOR_SECRET, binary, project};
use countersign_tests::{Database, Server, Wallet, on_both};
use serde_json::Value;

use super::changes::Things;
use super::{Seat, account, events, run_by, signed};
use crate::events::{end_leases, wait_until_sealed};
use crate::people::Ended;

/// What the operator signed, of the one event of this kind that was made at the desk.
fn signed_at_the_desk(database: &Database, kind: &str) -> Value {
    signed(database, kind).into_iter().find(|signed| !signed.is_null()).unwrap()
}

/// The same for somebody who has no secret.
fn without_the_secret(database: &Database, public_url: &str, arguments: &[&str]) -> Ended {
    let mut command = Command::new(binary());
    command.current_dir(database.folder()).args(["event", "verify"]).args(arguments).env_clear();
    command.env("COUNTERSIGN_DATABASE_URL", database.url()).env("COUNTERSIGN_PUBLIC_URL", public_url);
    Ended::of(&command.output().unwrap())
}

/// `event verify` with nothing but the database, its secret and the name of the server: no other settings, no network.
fn verify(database: &Database, public_url: &str) -> Ended {
    let mut command = Command::new(binary());
    command.current_dir(database.folder()).args(["event", "verify"]).env_clear();
    command.env("COUNTERSIGN_DATABASE_URL", database.url()).env("COUNTERSIGN_PUBLIC_URL", public_url);
    if database.is_postgres() {
        command.env("COUNTERSIGN_SECRET", OPERATOR_SECRET);
    }
    Ended::of(&command.output().unwrap())
}

/// A server at whose desk a wallet was blocked, and the event of it sealed.
fn sealed_block(database: &Database) -> Server {
    let ann = Wallet::fresh();
    let server = run_by(database, &[&ann]).start();
    Seat::of(&server, &ann).make(&Things::of(&server).block_wallet("ticket 4711"));
    wait_until_sealed(database, 1);
    server
}

on_both! {
    fn k_06_an_altered_text_signature_or_subject_is_found_offline(database) {
        let ann = Wallet::fresh();
        let mut server = run_by(database, &[&ann]).start();
        let things = Things::of(&server);
        let mut seat = Seat::of(&server, &ann);
        seat.make(&things.block_wallet("ticket 4711"));
        seat.make(&things.rename_client("Album 2"));
        seat.make(&things.block_user("rude"));
        wait_until_sealed(database, 1);
        server.kill9();
        let url = server.public_url.clone();
        let good = verify(database, &url);
        assert_eq!(good.code, 0, "{good:?}");
        // The record says which host the server had, whatever the settings say now.
        assert_eq!(verify(database, "https://other.example").code, 0);
        let told = signed_at_the_desk(database, "wallet_blocked").to_string();
        assert!(told.contains("ticket 4711"), "{told}");
        let signature = signed_at_the_desk(database, "wallet_blocked")["signatures"][0]["signature"].as_str().unwrap().to_owned();
        let other = signed_at_the_desk(database, "client_changed")["signatures"][0]["signature"].as_str().unwrap().to_owned();
        database.change("CREATE TABLE saved AS SELECT * FROM events");
        let kind = "kind = 'wallet_blocked' AND signed IS NOT NULL";
        let stranger = Wallet::fresh();
        let alterations = [
            ("the words", format!("UPDATE events SET signed = replace(signed, '4711', '4712') WHERE {kind}")),
            ("the signature", format!("UPDATE events SET signed = replace(signed, '{signature}', '{other}') WHERE {kind}")),
            ("some digits of it", format!("UPDATE events SET signed = replace(signed, '{}', '{}00000000') WHERE {kind}", &signature[..18], &signature[..10])),
            ("no signature", format!("UPDATE events SET signed = NULL WHERE {kind}")),
            ("no signatures", format!("UPDATE events SET signed = '{{\"change\":\"x\",\"signatures\":[]}}' WHERE {kind}")),
            ("something else", format!("UPDATE events SET signed = 'x' WHERE {kind}")),
            ("the kind of act", format!("UPDATE events SET kind = 'wallet_unblocked' WHERE {kind}")),
            ("the wallet that it is about", format!("UPDATE events SET address = '{}' WHERE {kind}", stranger.address())),
            ("who did it", format!("UPDATE events SET actor = 'wallet:{}' WHERE {kind}", account(&stranger))),
            ("the client", "UPDATE events SET client_id = NULL WHERE kind = 'client_changed' AND signed IS NOT NULL".to_owned()),
            ("the user", "UPDATE events SET user_id = NULL WHERE kind = 'user_blocked'".to_owned()),
            ("what was signed for another change",
                format!("UPDATE events SET signed = (SELECT signed FROM saved WHERE kind = 'user_blocked') WHERE {kind}")),
            ("an act of the command line made a wallet's",
                format!("UPDATE events SET actor = 'wallet:{}' WHERE kind = 'resource_created'", account(&ann))),
            ("a signature under an act of the command line",
                "UPDATE events SET signed = (SELECT signed FROM saved WHERE kind = 'user_blocked') WHERE kind = 'resource_created'".to_owned()),
        ];
        let mut found = 0;
        for (what, sql) in alterations {
            database.change(&sql);
            let altered = verify(database, &url);
            assert_eq!(altered.code, 1, "{what}: {altered:?}");
            database.change("DELETE FROM events");
            database.change("INSERT INTO events SELECT * FROM saved");
            found += 1;
        }
        println!("{found} alterations found");
        assert_eq!(verify(database, &url).code, 0);
    }

    /// After a restart with another `public_url`, old and new texts verify with either.
    fn k_06_the_record_holds_after_the_public_url_changed(database) {
        let ann = Wallet::fresh();
        let (mut urls, mut things) = (Vec::new(), None);
        for (checkpoints, reason) in [(1, "first"), (2, "second"), (3, "third")] {
            let mut server = run_by(database, &[&ann]).start();
            let things = things.get_or_insert_with(|| Things::of(&server));
            Seat::of(&server, &ann).make(&things.block_wallet(reason));
            wait_until_sealed(database, checkpoints);
            urls.push(server.public_url.clone());
            server.kill9();
            end_leases(database);
        }
        assert!(urls[0] != urls[1] && urls[1] != urls[2], "{urls:?}");
        for url in &urls {
            let verified = verify(database, url);
            assert_eq!(verified.code, 0, "{verified:?}");
            assert_eq!(verified.out.matches("signed for ").count(), 3, "{verified:?}");
        }
    }

    /// F-20: anyone who has only the database can store an event that names a host before events are sealed.
    fn k_06_a_host_that_the_server_did_not_write_down_is_named(database) {
        let server = sealed_block(database);
        let columns = "kind, actor, details";
        let id = if database.is_postgres() { "gen_random_uuid()" } else { "randomblob(16)" };
        let host = server.authority();
        database.change(&format!(
            "INSERT INTO fresh_events (id, {columns}) SELECT {id}, kind, actor, replace(details, '{host}', 'evil.example') \
             FROM events WHERE kind = 'host_noted'"
        ));
        wait_until_sealed(database, 2);
        let verified = verify(database, &server.public_url);
        assert_eq!(verified.code, 1, "{verified:?}");
        assert!(verified.out.contains("the server did not write it"), "{verified:?}");
    }

    /// Somebody with a copy of the database and the keys that the server publishes, and not its secret.
    fn k_06_a_stranger_verifies_the_record_with_the_published_keys(database) {
        let mut server = sealed_block(database);
        let keys = database.folder().join("jwks.json");
        std::fs::write(&keys, server.get("/oauth/jwks").expect(200).text()).unwrap();
        server.kill9();
        let url = server.public_url.clone();
        for entry in std::fs::read_dir(database.folder()).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.to_string_lossy().ends_with("secret") {
                std::fs::remove_file(entry).unwrap();
            }
        }
        assert_ne!(without_the_secret(database, &url, &[]).code, 0, "it needs keys");
        let with_keys = ["--keys", keys.to_str().unwrap()];
        let good = without_the_secret(database, &url, &with_keys);
        assert!(good.code == 0 && good.out.contains("everything holds"), "{good:?}");
        for (file, text) in [("none.json", "{\"keys\":[]}"), ("torn.json", "{\"keys\":"), ("events.json", "[]")] {
            std::fs::write(database.folder().join(file), text).unwrap();
            assert_eq!(without_the_secret(database, &url, &["--keys", file]).code, 2, "{file}");
        }
        let mut other: Value = serde_json::from_str(&std::fs::read_to_string(&keys).unwrap()).unwrap();
        for key in other["keys"].as_array_mut().unwrap() {
            // The key of RFC 7515, A.3.
            key["x"] = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU".into();
            key["y"] = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0".into();
        }
        std::fs::write(database.folder().join("other.json"), other.to_string()).unwrap();
        let foreign = without_the_secret(database, &url, &["--keys", "other.json"]);
        assert_eq!(foreign.code, 1, "{foreign:?}");
        let altered = "UPDATE events SET signed = replace(signed, '4711', '4712') WHERE kind = 'wallet_blocked'";
        database.change(altered);
        assert_eq!(without_the_secret(database, &url, &with_keys).code, 1);
    }

    /// Right after the keys were replaced, a key that was withdrawn sealed the end. The secret authenticates it all the same.
    fn k_06_replacing_the_keys_at_once_breaks_no_record(database) {
        let mut server = sealed_block(database);
        server.kill9();
        let url = server.public_url.clone();
        database.operate(&["key", "rotate", "--now", "--yes"]);
        let before = verify(database, &url);
        assert!(before.code == 0 && !before.out.contains("a key that was withdrawn"), "{before:?}");
        let sealed = database.number("SELECT count(*) FROM checkpoints");
        end_leases(database);
        server.restart();
        wait_until_sealed(database, sealed + 1);
        server.kill9();
        let after = verify(database, &url);
        assert!(after.code == 0 && !after.out.contains("a key that was withdrawn"), "{after:?}");
    }

    /// The commands of docs/desk.md, for somebody who has nothing but the events.
    fn k_06_events_in_a_file_are_checked_by_the_commands_of_the_page(database) {
        let ann = Wallet::fresh();
        let server = run_by(database, &[&ann]).start();
        let things = Things::of(&server);
        let mut seat = Seat::of(&server, &ann);
        seat.make(&things.block_wallet("ticket 4711"));
        let page = std::fs::read_to_string(project().join("docs/desk.md")).unwrap();
        let block = page.split("```sh\n").find(|block| block.contains("event list")).unwrap();
        let commands = block.split_once("```").unwrap().0.replace("countersign ", "\"$COUNTERSIGN\" ");
        let run = |commands: &str| {
            let mut shell = database.operator(&[]);
            let binary = shell.get_program().to_owned();
            let environment: Vec<_> = shell.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
            shell = Command::new("bash");
            for (name, value) in environment {
                match value {
                    Some(value) => shell.env(name, value),
                    None => shell.env_remove(name),
                };
            }
            shell.current_dir(database.folder()).env("COUNTERSIGN", binary);
            Ended::of(&shell.args(["-o", "pipefail", "-c", commands]).output().unwrap())
        };
        let good = run(&commands);
        assert_eq!(good.code, 0, "{good:?}");
        assert_eq!(good.out.matches("\"valid\":true").count() + good.out.matches("\"valid\": true").count(), 1, "{good:?}");
        let altered = commands.replace("jq -c", "sed -i s/4711/4712/ events.json; jq -c");
        assert_ne!(altered, commands);
        let bad = run(&altered);
        assert_ne!(bad.code, 0, "{bad:?}");
    }

    /// Whoever alters an event before it is sealed gets it sealed. Its signature shows it all the same.
    fn k_06_what_was_altered_before_its_seal_is_found_by_its_signature(database) {
        let ann = Wallet::fresh();
        let mut server = run_by(database, &[&ann]).start();
        let things = Things::of(&server);
        let mut seat = Seat::of(&server, &ann);
        wait_until_sealed(database, 1);
        seat.make(&things.block_wallet("ticket 4711"));
        server.kill9();
        let sealed = database.number("SELECT count(*) FROM checkpoints");
        assert_eq!(database.number("SELECT count(*) FROM fresh_events WHERE kind = 'wallet_blocked'"), 1, "not sealed yet");
        database.change("UPDATE fresh_events SET signed = replace(signed, '4711', '4712') WHERE kind = 'wallet_blocked'");
        end_leases(database);
        server.restart();
        wait_until_sealed(database, sealed + 1);
        server.kill9();
        let altered = verify(database, &server.public_url);
        assert!(altered.code == 1 && altered.out.contains("sign"), "{altered:?}");
    }

    fn k_11_a_deleted_account_takes_along_what_was_signed_about_the_person(database) {
        let ann = Wallet::fresh();
        let mut server = run_by(database, &[&ann]).start();
        let things = Things::of(&server);
        let mut seat = Seat::of(&server, &ann);
        seat.make(&things.block_user("a private reason"));
        wait_until_sealed(database, 1);
        seat.make(&things.unblock_user());
        database.operate(&["user", "delete", &things.user, "--yes"]);
        wait_until_sealed(database, 2);
        server.kill9();
        for kind in ["user_blocked", "user_unblocked"] {
            assert_eq!(signed(database, kind), [Value::Null], "{kind}");
        }
        let sealed = verify(database, &server.public_url);
        assert_eq!(sealed.code, 0, "the seal holds without it: {sealed:?}");
        assert_eq!(events(database, "account_deleted"), 1);
        assert_eq!(database.number("SELECT count(*) FROM users"), 1, "the operator's account stays");
    }

    fn no_secret_that_a_change_made_is_in_an_event_or_in_the_log(database) {
        let ann = Wallet::fresh();
        let server = run_by(database, &[&ann]).with_env("COUNTERSIGN_LOG", "debug").start();
        let things = Things::of(&server);
        let mut seat = Seat::of(&server, &ann);
        let mut secrets = Vec::new();
        for change in [things.rotate_secret(), things.register_client(), things.create_admin_key()] {
            let page = seat.make(&change).text();
            let shown = page.split("<pre class=\"secret\"").skip(1);
            let shown = shown.filter_map(|rest| rest.split_once('>')?.1.split_once('<').map(|(secret, _)| secret.to_owned()));
            let found: Vec<String> = shown.filter(|secret| secret.len() >= 40).collect();
            assert!(!found.is_empty(), "{}: no secret on {page}", change.change);
            secrets.extend(found);
        }
        let (stored, log) = (database.dump(), server.log());
        for secret in secrets {
            for (place, bytes) in [("database", &stored), ("log", &log)] {
                let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!is_there, "a secret in the {place}");
            }
        }
        assert!(!String::from_utf8_lossy(&log).contains("wants you to sign in"), "a text in the log");
    }
}
