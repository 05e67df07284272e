//! `countersign key …`: what an operator sees of the signing keys and can do with them.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::place::{Place, ended};
use crate::server::Server;

const ALGORITHMS: [&str; 3] = ["RS256", "ES256", "EdDSA"];

/// A place where a server has run, so that there are keys.
fn place_with_keys() -> Place {
    let place = Place::new();
    let mut server = Server::start(&place, &[]);
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));
    place
}

/// The keys as the command lists them.
fn list(place: &Place) -> Vec<Value> {
    place.json(&["key", "list", "--output", "json"]).as_array().unwrap().clone()
}

/// The ids of the keys in this state.
fn in_state(keys: &[Value], state: &str) -> Vec<String> {
    let found = keys.iter().filter(|key| key["state"] == state);
    found.map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_first_start_makes_a_key_of_each_algorithm_and_they_are_listed() {
    let place = Place::with_database();
    assert_eq!(place.run(&["key", "list"]).out, "no keys: the first server creates them\n");
    let place = place_with_keys();
    let keys = list(&place);
    assert_eq!(keys.iter().map(|key| key["algorithm"].as_str().unwrap()).collect::<Vec<_>>(), ALGORITHMS);
    assert_eq!(in_state(&keys, "active").len(), 3);
    assert!(keys.iter().all(|key| key["withdrawn_at"].is_null() && key["created_at"] == key["active_from"]));
    let table = place.run(&["key", "list"]).out;
    assert!(table.starts_with("KEY ID "), "{table}");
    assert!(table.lines().nth(1).unwrap().contains("  RS256      active  20"), "{table}");
}

#[test]
fn a_rotation_announces_the_next_keys_once() {
    let place = place_with_keys();
    let before = list(&place);
    let one = place.json(&["key", "rotate", "--algorithm", "EdDSA", "--output", "json"]);
    assert_eq!(in_state(one.as_array().unwrap(), "announced").len(), 1);
    let rotated = place.run(&["key", "rotate"]);
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    let keys = list(&place);
    assert_eq!(
        (in_state(&keys, "active"), in_state(&keys, "announced").len()),
        (in_state(&before, "active"), 3)
    );
    let again = place.run(&["key", "rotate"]);
    assert_eq!(
        (again.code, again.err.as_str()),
        (
            1,
            "countersign: the next keys already exist; `countersign key rotate --now` replaces all keys at \
             once\n"
        )
    );
    assert_eq!(list(&place), keys);
    assert_eq!(place.run(&["key", "rotate", "--algorithm", "none"]).code, 2);
}

#[test]
fn an_emergency_gives_all_other_keys_up_at_once() {
    let place = place_with_keys();
    assert_eq!(place.run(&["key", "rotate"]).code, 0);
    let before = list(&place);
    let rs256 = place.json(&["key", "rotate", "--now", "--algorithm", "RS256", "--output", "json"]);
    let rs256 = rs256.as_array().unwrap();
    assert_eq!((in_state(rs256, "active").len(), in_state(rs256, "withdrawn").len()), (3, 2));
    assert_eq!(place.run(&["key", "rotate", "--now"]).code, 0);
    let keys = list(&place);
    assert_eq!((in_state(&keys, "active").len(), in_state(&keys, "withdrawn").len()), (3, 7));
    assert!(in_state(&keys, "announced").is_empty());
    let old: Vec<_> = before.iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect();
    assert!(in_state(&keys, "active").iter().all(|kid| !old.contains(kid)));
}

#[test]
fn a_key_is_given_up_unless_it_is_the_only_one_that_can_sign() {
    let place = place_with_keys();
    let first = in_state(&list(&place), "active");
    let only = place.run(&["key", "withdraw", &first[0]]);
    assert_eq!(only.code, 1);
    assert!(only.err.contains("is the only one that can sign with RS256"), "{}", only.err);
    assert!(only.err.contains("countersign key rotate --now --algorithm RS256"), "{}", only.err);
    assert_eq!(place.run(&["key", "rotate", "--algorithm", "RS256"]).code, 0);
    let withdrawn = place.run(&["key", "withdraw", &first[0]]);
    assert_eq!((withdrawn.code, withdrawn.out), (0, format!("withdrew {}\n", first[0])));
    let keys = list(&place);
    assert_eq!(in_state(&keys, "withdrawn"), first[..1]);
    assert_eq!(in_state(&keys, "active").len(), 3, "the next one signs at once");
    let again = place.run(&["key", "withdraw", &first[0]]);
    assert_eq!(again.err, format!("countersign: the key {} is already withdrawn\n", first[0]));
    let unknown = place.run(&["key", "withdraw", "-nobody"]);
    assert_eq!((unknown.code, unknown.err.as_str()), (1, "countersign: no signing key has the id -nobody\n"));
}

/// Runs a command at a terminal, types an answer, and returns the exit code and what the terminal showed.
fn at_a_terminal(place: &Place, command: &str, answer: &str) -> (i32, String) {
    let line = format!("{} {command}", env!("CARGO_BIN_EXE_countersign"));
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    terminal.current_dir(place.path("")).env_clear().env("PATH", "/usr/bin:/bin");
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = ended(terminal, answer);
    (ended.code, ended.out)
}

#[test]
fn a_rotation_at_once_says_what_it_does_and_asks_at_a_terminal() {
    let place = place_with_keys();
    let before = list(&place);
    let (code, shown) = at_a_terminal(&place, "key rotate --now", "no\n");
    assert!(code == 1 && shown.contains("nothing was rotated"), "{shown}");
    assert!(shown.contains("Nobody is signed out"), "{shown}");
    assert!(in_state(&before, "active").iter().all(|kid| shown.contains(kid)), "{shown}");
    assert_eq!(list(&place), before);
    let (code, shown) = at_a_terminal(&place, "key rotate --now --algorithm RS256", "yes\n");
    assert!(code == 0 && shown.matches("Type yes").count() == 1, "{shown}");
    assert_eq!(in_state(&list(&place), "withdrawn").len(), 1);
    let (code, shown) = at_a_terminal(&place, "key rotate --now --yes", "");
    assert!(code == 0 && !shown.contains("Type yes"), "{shown}");
    assert_eq!(in_state(&list(&place), "withdrawn").len(), 4);
    assert_eq!(place.run(&["key", "rotate", "--yes"]).code, 2, "there is nothing to agree to");
}

#[test]
fn what_was_rotated_or_withdrawn_at_the_command_line_is_logged_key_by_key() {
    let place = place_with_keys();
    let old = in_state(&list(&place), "active");
    let variables = [("COUNTERSIGN_LOG_FORMAT", "json"), ("COUNTERSIGN_LOG", "debug")];
    let rotated = place.run_with(&["key", "rotate", "--now", "--algorithm", "RS256"], &variables);
    let lines = rotated.err.lines().skip(1).map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let said = |line: &Value| (line["message"].clone(), line["key.algorithm"].clone());
    assert_eq!(lines.len(), 2, "{}", rotated.err);
    assert_eq!(said(&lines[0]), ("signing key made".into(), "RS256".into()));
    assert_eq!(said(&lines[1]), ("signing key withdrawn".into(), "RS256".into()));
    assert_eq!(lines[1]["key.id"], old[0]);
}

#[test]
fn a_rotation_creates_no_secret() {
    let place = place_with_keys();
    let secret = place.path("data/countersign.db.secret");
    fs::remove_file(&secret).unwrap();
    let refused = place.run(&["key", "rotate"]);
    assert!(
        refused.code == 1 && refused.err.contains("there is no file data/countersign.db.secret"),
        "{refused:?}"
    );
    assert!(!secret.exists());
}

#[test]
fn another_secret_makes_no_key_that_no_server_could_open() {
    let place = place_with_keys();
    let keys = list(&place);
    let secret = place.path("data/countersign.db.secret");
    fs::write(&secret, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8").unwrap();
    for command in [["key", "rotate"].as_slice(), &["key", "rotate", "--now"]] {
        let refused = place.run(command);
        assert_eq!(refused.code, 1);
        assert!(
            refused.err.contains("the secret differs from the one that the keys were sealed with"),
            "{refused:?}"
        );
    }
    assert_eq!(list(&place), keys);
}
