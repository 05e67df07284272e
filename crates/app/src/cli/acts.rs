//! What the command line, the admin interface and the desk can do is the same, except for what stands here (K-09).
//!
//! The desk and the admin interface have their acts from the table of acts. The commands are compared with it here.

use std::collections::BTreeSet;

use countersign_domain::act::ActName;
use serde_json::Value;

use super::command;

/// Nouns that only the command line has, and why.
const AT_THE_TERMINAL: [(&str, &str); 16] = [
    ("admin-key", "a key that could make keys could make one that may do more"),
    ("serve", "it is the server"),
    ("migrate", "it comes before the server"),
    ("check-config", "the settings are files and variables of the machine"),
    ("backup", "it writes a file with everything in it"),
    ("restore", "no server may run meanwhile"),
    ("copy", "the same"),
    ("healthcheck", "it asks the probe that everyone can ask"),
    ("doctor", "the settings are files and variables of the machine"),
    ("challenge", "it works offline, without the server's data"),
    ("openapi", "the interface has its description at openapi.json"),
    ("templates", "it writes files"),
    ("generate", "it writes files"),
    ("apply", "it reads files; a program that has them can ask for each change by itself"),
    ("export", "it writes a file of what the lists show"),
    ("demo-wallet", "it is for trying the server out"),
];

/// Verbs that only the command line has, and why.
const OF_THE_COMMAND_LINE: [(&str, &str); 2] = [
    (
        "event verify",
        "it reads all that there is, and a person who doubts a server should not ask that server",
    ),
    ("event accept", "the database was altered, so it is for the person who keeps it"),
];

/// The verbs of the nouns that `is_asked` names.
fn verbs(is_asked: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let command = command();
    let nouns = command.get_subcommands().filter(|noun| is_asked(noun.get_name()));
    nouns
        .flat_map(|noun| {
            noun.get_subcommands().map(|verb| format!("{} {}", noun.get_name(), verb.get_name()))
        })
        .collect()
}

fn is_at_the_terminal(noun: &str) -> bool {
    AT_THE_TERMINAL.iter().any(|(name, _)| *name == noun)
}

#[test]
fn k_09_every_act_is_a_command_and_every_command_an_act_or_an_operation_that_reads() {
    let document: Value = serde_json::from_str(&countersign_http_operators::admin_openapi_json()).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let operations: Vec<&Value> = paths.flat_map(|path| path.as_object().unwrap().values()).collect();
    assert!(operations.len() >= 36, "{}", operations.len());
    let served = operations.iter().map(|operation| operation["x-command"].as_str().unwrap().to_owned());
    let served: BTreeSet<String> = served.filter(|verb| !verb.is_empty()).collect();

    let acts: BTreeSet<String> =
        ActName::ALL.iter().filter_map(|name| name.row().verb).map(str::to_owned).collect();
    let nouns = |noun: &str| !is_at_the_terminal(noun) || noun == "admin-key";
    let missing: Vec<_> = acts.difference(&verbs(nouns)).cloned().collect();
    assert!(missing.is_empty(), "the command line cannot {missing:?}");

    let mut commands = verbs(|noun| !is_at_the_terminal(noun));
    for (verb, _) in OF_THE_COMMAND_LINE {
        assert!(commands.remove(verb), "{verb} is gone: take it off the list");
    }
    assert_eq!(commands, served, "left: the command line, right: the admin interface");
    let of_keys = verbs(|noun| noun == "admin-key");
    let shown: Vec<_> = of_keys.difference(&acts).collect();
    assert_eq!(shown, ["admin-key list"], "the desk shows the list");
}

#[test]
fn an_operation_that_changes_something_is_an_act() {
    let document: Value = serde_json::from_str(&countersign_http_operators::admin_openapi_json()).unwrap();
    for path in document["paths"].as_object().unwrap().values() {
        for (method, operation) in path.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let is_act = ActName::ALL.iter().any(|name| name.row().operation.is_some_and(|act| act.id == id));
            assert_eq!(is_act, method != "get", "{id}");
        }
    }
    for name in ActName::ALL {
        let row = name.row();
        let is_for_one_front = row.verb.is_none() && row.operation.is_none();
        assert_eq!(
            is_for_one_front,
            matches!(name, ActName::WithdrawProposal | ActName::RefuseProposal),
            "{name}: only the desk has proposals"
        );
    }
}
