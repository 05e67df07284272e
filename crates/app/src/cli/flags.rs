//! The flags for settings: which command shows and takes which.
//!
//! A command has flags for the settings that it uses, and its help shows them. `serve` and `check-config` use
//! all. Before the command, every setting is accepted: a script may put the same flags in front of each. What
//! follows a command and is not used by it is refused, because it would have no effect.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::config::settings::{self, Spec};

/// What every command on a database uses.
const DATABASE: [&str; 4] = ["public_url", "database_url", "log", "log_format"];

/// What reading an address uses: the families and chains that the server knows.
const ADDRESSES: [&str; 3] = ["ethereum_rpc", "ethereum_rpc_private", "coins"];

const HEADING: &str = "Settings (also as COUNTERSIGN_… in the environment, and in the settings file)";

/// Adds the flags to the derived commands.
pub(super) fn with_settings(root: Command) -> Command {
    let every: Vec<&str> = settings::ALL.iter().map(|spec| spec.name).collect();
    let all = |command| with(command, &every, |flag| flag.hide_short_help(true));
    let root = with(root, &every, |flag| {
        let is_of_every_command = flag.get_id() == settings::CONFIG;
        flag.hide(!is_of_every_command)
    });
    root.mut_subcommands(|command| match command.get_name() {
        "serve" | "check-config" | "doctor" => all(command),
        "healthcheck" => with(command, &["bind"], |flag| flag),
        "migrate" => with(command, &DATABASE, |flag| flag),
        "backup" => with(command, &[&DATABASE[..], &["secret", "backup_directory"]].concat(), |flag| flag),
        "restore" => with(command, &[&DATABASE[..], &["secret"]].concat(), |flag| flag),
        "copy" => with(command, &["log", "log_format"], |flag| flag),
        "client" => with(command, &[&DATABASE[..], &["resources"]].concat(), |flag| flag.global(true)),
        // What takes WHO reads addresses, and what ends access signs the notifications for clients.
        "user" => of_people(
            command,
            &["show", "block", "unblock", "name", "sign-out", "delete"],
            &["block", "sign-out", "delete"],
        ),
        "wallet" => of_people(command, &["list", "block", "unblock", "name"], &["block"]),
        "operator" => of_people(
            with_these(command, &["admins", "admin_group"], |flag| flag.global(true)),
            &["suspend", "restore"],
            &[],
        ),
        "group" => of_people(
            with_these(command, &["default_access"], |flag| flag.global(true)),
            &["show", "add", "remove"],
            &[],
        ),
        "apply" => with(command, &[&DATABASE[..], &ADDRESSES, &["resources"]].concat(), |flag| flag),
        "export" => with(command, &[&DATABASE[..], &["resources"]].concat(), |flag| flag),
        "access" | "invite" => {
            with(command, &[&DATABASE[..], &["default_access"]].concat(), |flag| flag.global(true))
        }
        "key" => with(command, &DATABASE, |flag| flag.global(true))
            .mut_subcommand("rotate", |rotate| with_these(rotate, &["secret"], |flag| flag)),
        "challenge" => command.mut_subcommand("verify", |verify| with(verify, &["coins"], |flag| flag)),
        "openapi" => with(command, &["public_url"], |flag| flag),
        _ => command,
    })
}

/// Adds the flags of a command about people: those of these verbs that read addresses, and those of these that
/// sign.
fn of_people(command: Command, reading: &[&str], signing: &[&str]) -> Command {
    with(command, &DATABASE, |flag| flag.global(true)).mut_subcommands(|verb| {
        let name = verb.get_name().to_owned();
        let is_one_of = |verbs: &[&str]| verbs.contains(&name.as_str());
        let addresses = if is_one_of(reading) { &ADDRESSES[..] } else { &[] };
        let secret = if is_one_of(signing) { &["secret"][..] } else { &[] };
        with_these(verb, &[addresses, secret].concat(), |flag| flag)
    })
}

/// Adds the flag for the settings file, and those of these settings.
fn with(command: Command, names: &[&str], finish: impl Fn(Arg) -> Arg) -> Command {
    let file = flag(settings::CONFIG, "FILE").help(settings::CONFIG_DOC);
    with_these(command.arg(finish(file)), names, finish)
}

/// Adds the flags of these settings.
fn with_these(command: Command, names: &[&str], finish: impl Fn(Arg) -> Arg) -> Command {
    let used = settings::ALL.iter().filter(|spec| names.contains(&spec.name));
    used.flat_map(|spec| flags(spec)).fold(command, |command, flag| command.arg(finish(flag)))
}

/// The flags of one setting: for its value, and for a file that contains it.
fn flags(spec: &Spec) -> impl Iterator<Item = Arg> {
    let value = spec.flag().map(|name| flag(name, "VALUE").help(spec.help()));
    let file = spec.file_key().map(|name| {
        let help = format!("A file that contains the value of {}", spec.name);
        flag(name, "FILE").help(help)
    });
    value.into_iter().chain(file)
}

/// A flag. Its id is the setting's name.
fn flag(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(name.replace('_', "-")).value_name(value).help_heading(HEADING)
}

/// Explains the error about a flag that exists, but not for this command.
pub(crate) fn explain(mut error: clap::Error) -> clap::Error {
    let flag = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(given))) => {
            given.trim_start_matches('-').to_owned()
        }
        _ => return error,
    };
    let text = if flag == "dev" {
        "'countersign serve --dev' starts a server to try out, and the commands about clients, people and keys reach it \
         with --dev"
            .to_owned()
    } else if settings::names().any(|name| name.replace('_', "-") == flag) {
        format!(
            "'--{flag}' is a setting that this command does not use; leave it out ('countersign serve --help' lists \
             the settings)"
        )
    } else {
        return error;
    };
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![text.into()]));
    error
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    /// The long flags that the help of a command shows, without those that every command has.
    fn shown(words: &[&str]) -> Vec<String> {
        let words = ["countersign"].iter().chain(words).chain(&["--help"]);
        let help = command().try_get_matches_from(words).unwrap_err();
        assert_eq!(help.kind(), ErrorKind::DisplayHelp);
        let text = help.to_string();
        let (_, settings) = text.split_once(HEADING).unwrap_or_default();
        let settings = settings.split("Examples:").next().unwrap_or_default();
        let words = settings.split_whitespace().filter(|word| word.starts_with("--"));
        words.map(str::to_owned).collect()
    }

    #[test]
    fn a_command_shows_the_settings_that_it_uses_and_no_others() {
        let database =
            ["--config", "--public-url", "--database-url", "--database-url-file", "--log", "--log-format"];
        assert_eq!(shown(&["migrate"]), database);
        assert_eq!(shown(&["key", "list"]), database);
        let rotate = shown(&["key", "rotate"]);
        let (secret, others): (Vec<_>, Vec<_>) = rotate.into_iter().partition(|flag| flag == "--secret-file");
        assert_eq!((secret.len(), others), (1, database.map(str::to_owned).to_vec()));
        let of_clients = |verb| shown(&["client", verb]);
        for verb in
            ["create", "update", "list", "show", "rotate-secret", "open-resource", "close-resource", "delete"]
        {
            let mut shown = of_clients(verb);
            assert!(shown.iter().any(|flag| flag == "--resources"), "{verb}: {shown:?}");
            shown.retain(|flag| !flag.starts_with("--resources"));
            assert_eq!(shown, database, "{verb}");
        }
        let more = |words: &[&str]| {
            let mut shown = shown(words);
            assert!(
                database.iter().all(|flag| shown.iter().any(|shown| shown == flag)),
                "{words:?}: {shown:?}"
            );
            shown.retain(|flag| !database.contains(&flag.as_str()));
            shown
        };
        let addresses = ["--ethereum-rpc", "--ethereum-rpc-file", "--ethereum-rpc-private", "--coins"];
        assert_eq!(more(&["user", "list"]), [""; 0]);
        assert_eq!(more(&["user", "show"]), addresses);
        for verb in [["user", "block"], ["user", "sign-out"], ["user", "delete"], ["wallet", "block"]] {
            assert_eq!(more(&verb), [&["--secret-file"], &addresses[..]].concat(), "{verb:?}");
        }
        assert_eq!(more(&["group", "list"]), ["--default-access"]);
        assert_eq!(more(&["access", "set"]), ["--default-access"]);
        let of_files: Vec<_> =
            more(&["apply"]).into_iter().filter(|flag| !flag.starts_with("--resources")).collect();
        assert_eq!(of_files, addresses);
        assert_eq!(shown(&["openapi"]), ["--config", "--public-url"]);
        assert_eq!(shown(&["demo-wallet", "sign"]), Vec::<String>::new());
        assert!(
            shown(&["challenge", "verify"])
                .iter()
                .all(|flag| flag == "--config" || flag.starts_with("--coins"))
        );
        for all in ["serve", "check-config", "doctor"] {
            let shown = shown(&[all]);
            assert!(
                settings::ALL
                    .iter()
                    .filter_map(|spec| spec.flag())
                    .all(|name| { shown.contains(&format!("--{}", name.replace('_', "-"))) })
            );
        }
    }

    #[test]
    fn before_a_command_every_setting_is_accepted_and_after_it_those_that_it_uses() {
        let is_taken =
            |words: &[&str]| command().try_get_matches_from(["countersign"].iter().chain(words)).is_ok();
        assert!(is_taken(&["--bind", "127.0.0.1:9", "--workers=2", "client", "list"]));
        assert!(is_taken(&["--bind", "127.0.0.1:9"]), "a server without the word");
        for place in [
            ["--log", "debug", "client", "list"],
            ["client", "--log", "debug", "list"],
            ["client", "list", "--log", "debug"],
        ] {
            assert!(is_taken(&place), "{place:?}");
        }
        assert!(!is_taken(&["client", "list", "--bind", "127.0.0.1:9"]));
        assert!(!is_taken(&["demo-wallet", "address", "--key-file", "k", "--config", "x"]));
    }

    #[test]
    fn a_setting_that_a_command_does_not_use_is_refused_with_the_reason() {
        let refused = |words: &[&str]| {
            let words = ["countersign"].iter().chain(words);
            explain(command().try_get_matches_from(words).unwrap_err()).to_string()
        };
        let unused = refused(&["client", "list", "--access-token-ttl", "60"]);
        assert!(
            unused.contains("'--access-token-ttl' is a setting that this command does not use"),
            "{unused}"
        );
        assert_eq!(unused.matches("tip:").count(), 1, "{unused}");
        for words in [&["--dev"][..], &["migrate", "--dev"]] {
            let trial = refused(words);
            assert!(trial.contains("'countersign serve --dev' starts"), "{trial}");
        }
        let misspelt = refused(&["client", "list", "--databse-url", "x"]);
        assert!(misspelt.contains("'--database-url'"), "{misspelt}");
        let nothing_near = refused(&["client", "list", "--wrokers", "2"]);
        assert!(!nothing_near.contains("--workers"), "{nothing_near}");
    }
}
