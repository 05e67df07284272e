//! What `check-config` and the start say about a desk that nobody or everybody could use.

use std::process::{Command, Stdio};

use countersign_tests::server::binary;
use countersign_tests::{Database, Wallet};

use super::account;
use crate::people::Ended;

fn check_config(variables: &[(&str, &str)]) -> Ended {
    let database = Database::new_sqlite();
    let mut command = Command::new(binary());
    command.current_dir(database.folder()).env_clear().arg("check-config");
    command.envs(variables.iter().map(|(name, value)| (format!("COUNTERSIGN_{name}"), (*value).to_owned())));
    Ended::of(&command.stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_desk_without_a_record_or_a_listener_and_accounts_that_are_none_are_mistakes() {
    let admins = account(&Wallet::fresh());
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("ADMINS", &admins), ("EVENT_RETENTION", "0")], "nothing would prove a change"),
        (&[("ADMINS", &admins), ("DESK", "private")], "a private desk is served on admin_listen alone"),
        (&[("ADMINS", "eip155:1:0x12")], "no wallet family knows this account"),
        (&[("ADMINS", &admins), ("ADMIN_QUORUM", "3")], "neither 1 nor 2"),
        (&[("ADMIN_GROUP", "No Name")], "it cannot be the name of a group"),
    ];
    for (variables, reason) in cases {
        let ended = check_config(variables);
        assert!(ended.code == 2 && ended.err.contains(reason), "{reason}: {ended:?}");
    }
}

#[test]
fn a_desk_that_nobody_or_everybody_could_use_is_warned_about() {
    let admins = account(&Wallet::fresh());
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[("ADMINS", &admins), ("ADMIN_QUORUM", "2")], "only one wallet can be an operator's"),
        (
            &[("ADMIN_GROUP", "staff"), ("DEFAULT_ACCESS", "groups:staff")],
            "everyone you add to it is an operator too",
        ),
        (&[("ADMIN_QUORUM", "2")], "there is no desk without admins or admin_group"),
        (&[("DESK", "private")], "there is no desk without admins or admin_group"),
    ];
    for (variables, warning) in cases {
        let ended = check_config(variables);
        assert!(ended.code == 0 && ended.out.contains(warning), "{warning}: {ended:?}");
        assert!(ended.out.contains("ok, with 1 warning"), "{ended:?}");
    }
    let good = check_config(&[("ADMINS", &admins)]);
    assert!(good.code == 0 && good.out.ends_with("\nok\n"), "{good:?}");
    assert!(good.out.contains(&admins), "who is an operator is shown: {good:?}");
}
