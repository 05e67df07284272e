//! What the command line can do and what the admin interface can do is the same, except for what stands here.

use std::collections::BTreeSet;

use serde_json::Value;

use super::command;

/// Nouns of the command line that are about people, clients and keys. The others are about a machine.
const NOUNS: [&str; 8] = ["client", "resource", "user", "wallet", "group", "access", "event", "key"];

/// Nouns that only the command line has, and why.
const AT_THE_TERMINAL: [(&str, &str); 9] = [
    ("admin-key", "a key that could make keys could make a mightier one"),
    ("serve", "it is the server"),
    ("migrate", "it comes before the server"),
    ("check-config", "the settings are files and variables of the machine"),
    ("challenge", "it works offline, without the server's data"),
    ("openapi", "the interface has its description at openapi.json"),
    ("templates", "it writes files"),
    ("apply", "it reads files; a program that has them can ask for each change by itself"),
    ("export", "it writes a file of what the lists show"),
];

/// The same.
const FOR_TRYING_OUT: &str = "demo-wallet";

/// Verbs that only the command line has, and why.
const OF_THE_COMMAND_LINE: [(&str, &str); 1] =
    [("event verify", "it reads all that there is, and whoever doubts a server should not ask that server")];

/// Operations that only the interface has, and why.
const OF_THE_INTERFACE: [(&str, &str); 1] =
    [("updateGroup", "design/operators.md names the verbs of `group`, and this is none of them")];

#[test]
fn every_verb_of_the_command_line_is_an_operation_and_every_operation_a_verb() {
    let command = command();
    let mut verbs = BTreeSet::new();
    for noun in command.get_subcommands() {
        if NOUNS.contains(&noun.get_name()) {
            verbs.extend(
                noun.get_subcommands().map(|verb| format!("{} {}", noun.get_name(), verb.get_name())),
            );
        } else {
            let is_named = AT_THE_TERMINAL.iter().any(|(name, _)| *name == noun.get_name());
            assert!(is_named || noun.get_name() == FOR_TRYING_OUT, "{}: say why", noun.get_name());
        }
    }
    let document: Value = serde_json::from_str(&countersign_http_actix::admin_openapi_json()).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let operations: Vec<&Value> = paths.flat_map(|path| path.as_object().unwrap().values()).collect();
    let (mut served, mut alone) = (BTreeSet::new(), BTreeSet::new());
    for operation in &operations {
        match operation["x-command"].as_str().unwrap() {
            "" => alone.insert(operation["operationId"].as_str().unwrap()),
            verb => {
                served.insert(verb.to_owned());
                continue;
            }
        };
    }
    for (verb, _) in OF_THE_COMMAND_LINE {
        assert!(verbs.remove(verb), "{verb} is gone: take it off the list");
    }
    assert_eq!(verbs, served, "left: the command line, right: the admin interface");
    assert_eq!(alone, OF_THE_INTERFACE.iter().map(|(name, _)| *name).collect());
    assert!(operations.len() >= 36, "{}", operations.len());
}
