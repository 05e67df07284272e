//! What the command line, the admin interface and the desk can do is the same, except for what stands here (K-09).

use std::collections::BTreeSet;

use countersign_domain::desk::change::Change;
use serde_json::Value;

use super::command;

/// Nouns of the command line that are about people, clients and keys. The others are about a machine.
const NOUNS: [&str; 8] = ["client", "resource", "user", "wallet", "group", "access", "event", "key"];

/// Nouns that only the command line has, and why.
const AT_THE_TERMINAL: [(&str, &str); 15] = [
    ("admin-key", "a key that could make keys could make a mightier one"),
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
];

/// The same.
const FOR_TRYING_OUT: &str = "demo-wallet";

/// Verbs that only the command line has, and why.
const OF_THE_COMMAND_LINE: [(&str, &str); 1] =
    [("event verify", "it reads all that there is, and whoever doubts a server should not ask that server")];

/// Operations that only the interface has, and why.
const OF_THE_INTERFACE: [(&str, &str); 1] =
    [("updateGroup", "design/operators.md names the verbs of `group`, and this is none of them")];

/// The changes of the desk, with the verb of the command line that does the same.
const AT_THE_DESK: [(&str, &str); 24] = [
    ("user-block", "user block"),
    ("user-unblock", "user unblock"),
    ("user-sign-out", "user sign-out"),
    ("user-delete", "user delete"),
    ("wallet-block", "wallet block"),
    ("wallet-unblock", "wallet unblock"),
    ("group-create", "group create"),
    ("group-delete", "group delete"),
    ("member-add", "group add"),
    ("member-remove", "group remove"),
    ("client-register", "client create"),
    ("client-change", "client update"),
    ("client-delete", "client delete"),
    ("client-rotate-secret", "client rotate-secret"),
    ("client-open-resources", "client open-resource"),
    ("client-close-resources", "client close-resource"),
    ("client-access", "access set"),
    ("resource-create", "resource create"),
    ("resource-update", "resource update"),
    ("resource-delete", "resource delete"),
    ("keys-rotate", "key rotate"),
    ("key-withdraw", "key retire"),
    ("admin-key-create", "admin-key create"),
    ("admin-key-revoke", "admin-key revoke"),
];

/// Changes that the command line has no verb for, and why.
const OF_THE_DESK: [(&str, &str); 2] = [
    ("group-retitle", "the admin interface has it as updateGroup"),
    ("proposal-withdraw", "only the desk has proposals"),
];

/// Verbs that only read. The desk shows the same on its pages.
const SHOWN_AT_THE_DESK: [&str; 15] = [
    "access show",
    "admin-key list",
    "client list",
    "client show",
    "event checkpoints",
    "event list",
    "event show",
    "group list",
    "group show",
    "key list",
    "resource list",
    "user list",
    "user show",
    "wallet list",
    // It reads all that there is, and whoever doubts a server should not ask that server.
    "event verify",
];

#[test]
fn k_09_every_change_of_the_command_line_is_one_of_the_desk_and_every_change_of_the_desk_one_of_it() {
    let mut changing = BTreeSet::new();
    for noun in command().get_subcommands() {
        if NOUNS.contains(&noun.get_name()) || noun.get_name() == "admin-key" {
            let verbs = noun.get_subcommands().map(|verb| format!("{} {}", noun.get_name(), verb.get_name()));
            changing.extend(verbs.filter(|verb| !SHOWN_AT_THE_DESK.contains(&verb.as_str())));
        }
    }
    let at_the_desk: BTreeSet<String> = AT_THE_DESK.iter().map(|(_, verb)| (*verb).to_owned()).collect();
    assert_eq!(changing, at_the_desk, "left: the command line, right: the desk");
    let named: BTreeSet<&str> = AT_THE_DESK.iter().chain(&OF_THE_DESK).map(|(change, _)| *change).collect();
    assert_eq!(named, Change::NAMES.iter().copied().collect(), "left: this list, right: the desk");
}

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
