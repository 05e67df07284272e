//! The commands about who may come in: users, wallets, groups, and the access to clients.

use clap::Subcommand;
use countersign_domain::admission::{AccessRule, AccessRuleRejected, Block, Release};
use countersign_domain::group::{GroupName, GroupNameRejected, GroupTitle};
use countersign_domain::id::UserId;
use countersign_domain::person_name::PersonName;
use countersign_domain::wallet::AccountKind;

use crate::cli::OutputChoice;

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// List users, in the order of their ids.
    #[command(after_help = USER_EXAMPLES)]
    List {
        /// Only users who are in this group, themselves or by one of their wallets.
        #[arg(long, value_name = "GROUP", value_parser = GroupName::parse)]
        group: Option<GroupName>,
        /// Only users who are blocked. `wallet list --blocked` lists single wallets that are.
        #[arg(long)]
        blocked: bool,
        /// List at most this many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = limit())]
        limit: u32,
        /// Begin after the user with this id.
        #[arg(long, value_name = "ID", value_parser = user_id)]
        after: Option<UserId>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Show a user: wallets, groups, block, sessions, and what applications were allowed.
    #[command(after_help = USER_EXAMPLES)]
    Show {
        #[command(flatten)]
        who: WhoChoice,
        /// The id is the `sub` by which this client knows the user. With `subject_type` pairwise, each site gets another one.
        #[arg(long, value_name = "CLIENT", conflicts_with = "kind")]
        client: Option<String>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Keep a user out, with every wallet of theirs.
    ///
    /// All sessions and tokens end at once, and clients that asked for it are notified.
    #[command(after_help = USER_EXAMPLES)]
    Block {
        #[command(flatten)]
        who: WhoChoice,
        #[command(flatten)]
        reason: ReasonChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Let a blocked user in again.
    ///
    /// What the block ended stays ended: they sign in anew.
    #[command(after_help = USER_EXAMPLES)]
    Unblock {
        #[command(flatten)]
        who: WhoChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Give a user a name, so that lists and texts do not show only an id.
    ///
    /// Operators see it everywhere, and no application ever does. It goes with the account.
    #[command(after_help = USER_EXAMPLES)]
    Name {
        #[command(flatten)]
        who: WhoChoice,
        #[command(flatten)]
        name: NameChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// End all sessions and all tokens of a user.
    ///
    /// They can sign in again.
    #[command(after_help = USER_EXAMPLES)]
    SignOut {
        #[command(flatten)]
        who: WhoChoice,
        /// Keep the tokens that apps use while the user is away (`offline_access`).
        #[arg(long)]
        keep_offline: bool,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Delete a user with everything that is theirs.
    ///
    /// Their wallets can sign in again, as a new user. Those of a blocked user are blocked.
    #[command(after_help = USER_EXAMPLES)]
    Delete {
        #[command(flatten)]
        who: WhoChoice,
        /// Delete without asking first.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The examples in the help of the commands about users.
const USER_EXAMPLES: &str = "\
Examples:
  countersign user list --group staff
  countersign user show 0x2c7536E3605D9C16a7a3D7b1898e529396a65c23
  countersign user show 4f0c2a5e-… --client Photos
  countersign user name 7b0f6c1e-… 'Ann Lee'
  countersign user block eip155:1:0x2c7536E3605D9C16a7a3D7b1898e529396a65c23 --reason 'lost phone, ticket 4711'
  countersign user unblock 7b0f6c1e-…

A wallet means the user it belongs to.
Exit code: 0 done, 1 refused or not found, 2 bad usage.";

#[derive(Debug, Subcommand)]
pub(crate) enum WalletCommand {
    /// Keep a wallet out, whether anybody has signed in with it or not.
    ///
    /// What was given by it ends at once. Its user can sign in with other wallets; `user block` keeps out all.
    #[command(after_help = WALLET_EXAMPLES)]
    Block {
        #[command(flatten)]
        who: WalletChoice,
        #[command(flatten)]
        reason: ReasonChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Let a blocked wallet in again.
    ///
    /// What the block ended stays ended.
    #[command(after_help = WALLET_EXAMPLES)]
    Unblock {
        #[command(flatten)]
        who: WalletChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Give a wallet a name, whether anybody has signed in with it or not.
    ///
    /// Its user is called the same, unless they have a name of their own.
    #[command(after_help = WALLET_EXAMPLES)]
    Name {
        #[command(flatten)]
        who: WalletChoice,
        #[command(flatten)]
        name: NameChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// List the wallets that belong to users, by user.
    #[command(after_help = WALLET_EXAMPLES)]
    List {
        /// Only wallets that are blocked themselves, also those that were never used to sign in.
        #[arg(long)]
        blocked: bool,
        #[command(flatten)]
        paging: Paging,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The examples in the help of the commands about wallets.
const WALLET_EXAMPLES: &str = "\
Examples:
  countersign wallet block 0x2c7536E3605D9C16a7a3D7b1898e529396a65c23 --reason 'stolen'
  countersign wallet block eip155:8453:0x2c75… --kind contract
  countersign wallet name 0x2c7536E3605D9C16a7a3D7b1898e529396a65c23 'Ann Lee'
  countersign wallet list --blocked --output json

Exit code: 0 done, 1 refused or not found, 2 bad usage.";

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// List the operators: wallets of the setting `admins`, members of the group of `admin_group`, and suspended ones.
    #[command(after_help = OPERATOR_EXAMPLES)]
    List {
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Suspend an operator, with every wallet that is known to be theirs.
    ///
    /// From the next request on, the desk is gone for them, and nothing that they sign counts. Their proposals end. They can
    /// still sign in to applications; `user block` ends that.
    #[command(after_help = OPERATOR_EXAMPLES)]
    Suspend {
        #[command(flatten)]
        who: WhoChoice,
        #[command(flatten)]
        reason: ReasonChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Let a suspended operator act again, with every wallet that was suspended with them.
    ///
    /// Proposals that ended stay so.
    #[command(after_help = OPERATOR_EXAMPLES)]
    Restore {
        #[command(flatten)]
        who: WhoChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The examples in the help of the commands about operators.
const OPERATOR_EXAMPLES: &str = "\
Examples:
  countersign operator list
  countersign operator suspend 0x2c7536E3605D9C16a7a3D7b1898e529396a65c23 --reason 'last day'
  countersign operator restore 7b0f6c1e-…

A wallet means the user it belongs to, if it belongs to one.
Exit code: 0 done, 1 refused or not found, 2 bad usage.";

#[derive(Debug, Subcommand)]
pub(crate) enum GroupCommand {
    /// List all groups, with the number of their members.
    #[command(after_help = GROUP_EXAMPLES)]
    List {
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Create a group.
    ///
    /// The clients that it is released to see its name; only operators see its title.
    #[command(after_help = GROUP_EXAMPLES)]
    Create {
        #[command(flatten)]
        group: GroupChoice,
        /// What operators call it.
        #[arg(long, value_name = "TEXT", value_parser = GroupTitle::parse)]
        title: Option<GroupTitle>,
        /// A member from the beginning (repeatable): a user's id, or the address of a wallet.
        #[arg(long, value_name = "WHO")]
        member: Vec<String>,
        #[command(flatten)]
        kind: KindChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Show a group, its members, and the clients that let them in.
    #[command(after_help = GROUP_EXAMPLES)]
    Show {
        #[command(flatten)]
        group: GroupChoice,
        #[command(flatten)]
        paging: Paging,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Put users and wallets into a group.
    ///
    /// A user's id adds the user, no matter which wallet they sign in with. An address adds the wallet, also
    /// before anyone signs in with it: its owner is in the group.
    #[command(after_help = GROUP_EXAMPLES)]
    Add {
        #[command(flatten)]
        group: GroupChoice,
        #[command(flatten)]
        who: SeveralChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Take users and wallets out of a group.
    ///
    /// Users leave by their ids and wallets by their addresses, as they were put in.
    #[command(after_help = GROUP_EXAMPLES)]
    Remove {
        #[command(flatten)]
        group: GroupChoice,
        #[command(flatten)]
        who: SeveralChoice,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Delete a group.
    #[command(after_help = GROUP_EXAMPLES)]
    Delete {
        #[command(flatten)]
        group: GroupChoice,
        /// Delete it although it has members, or although clients let people in by it.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The examples in the help of the commands about groups.
const GROUP_EXAMPLES: &str = "\
Examples:
  countersign group create staff --title 'Everyone who works here'
  countersign group add staff 0x2c7536E3605D9C16a7a3D7b1898e529396a65c23 7b0f6c1e-…
  countersign group show staff
  countersign access set 'Photo Album' groups:staff

Exit code: 0 done, 1 refused or not found, 2 bad usage.";

#[derive(Debug, Subcommand)]
pub(crate) enum AccessCommand {
    /// Show who can sign in to a client, and which groups it gets.
    #[command(after_help = ACCESS_EXAMPLES)]
    Show {
        /// The client's id, or its name if no other client has it.
        client: String,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Decide who can sign in to a client.
    ///
    /// It counts from the next sign-in and the next refresh on. Access tokens work until they expire.
    #[command(after_help = ACCESS_EXAMPLES)]
    Set {
        /// The client's id, or its name if no other client has it.
        client: String,
        /// `everyone`, `nobody`, `groups:a,b` (one of them suffices), or `default` to follow the setting
        /// `default_access`.
        #[arg(value_parser = new_rule)]
        rule: NewRule,
        /// The groups of its users that the client gets: `all`, `a,b`, or `rule` for those of its rule (the
        /// default).
        #[arg(long, value_name = "GROUPS", value_parser = new_release)]
        release: Option<Release>,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The examples in the help of the commands about access.
const ACCESS_EXAMPLES: &str = "\
Examples:
  countersign access show 01a1fd8c-…
  countersign access set 'Photo Album' groups:staff,guests
  countersign access set 01a1fd8c-… groups:staff --release staff,admins
  countersign access set 01a1fd8c-… everyone

Exit code: 0 done, 1 refused or not found, 2 bad usage.";

#[derive(Debug, clap::Args)]
pub(crate) struct WhoChoice {
    /// A user's id, the address of a wallet, or a wallet with its chain (CAIP-10, as in `eip155:1:0x…`).
    pub(crate) who: String,
    #[command(flatten)]
    pub(crate) kind: KindChoice,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WalletChoice {
    /// The address of a wallet, or a wallet with its chain (CAIP-10, as in `eip155:1:0x…`).
    pub(crate) who: String,
    #[command(flatten)]
    pub(crate) kind: KindChoice,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SeveralChoice {
    /// A user's id, the address of a wallet, or a wallet with its chain (CAIP-10, as in `eip155:1:0x…`).
    #[arg(required = true)]
    pub(crate) who: Vec<String>,
    #[command(flatten)]
    pub(crate) kind: KindChoice,
}

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct KindChoice {
    /// What an EVM address is: a key's account, or a contract wallet on the chain before it. Only needed if it
    /// could be either.
    #[arg(long, value_name = "KIND", value_parser = account_kind)]
    pub(crate) kind: Option<AccountKind>,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct NameChoice {
    /// The name, for operators only: up to 64 characters.
    #[arg(value_parser = PersonName::parse)]
    pub(crate) name: Option<PersonName>,
    /// Take the name away.
    #[arg(long)]
    remove: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReasonChoice {
    /// Why, for operators only.
    #[arg(long, value_name = "TEXT", value_parser = Block::judge_reason)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GroupChoice {
    /// The group's name: up to 64 of `a-z 0-9 _ . : -`, first a letter.
    #[arg(value_name = "GROUP", value_parser = GroupName::parse)]
    pub(crate) group: GroupName,
}

/// Which part of a list is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Paging {
    /// List at most this many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = limit())]
    pub(crate) limit: u32,
    /// Begin after this one, the last of the list before.
    #[arg(long, value_name = "WHO")]
    pub(crate) after: Option<String>,
    #[command(flatten)]
    pub(crate) kind: KindChoice,
}

/// A client's new rule; `None` if it follows the setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewRule(pub(crate) Option<AccessRule>);

pub(super) fn limit() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=10_000)
}

fn user_id(text: &str) -> Result<UserId, &'static str> {
    UserId::parse(&text.to_ascii_lowercase()).ok_or("it is not a user's id")
}

fn account_kind(text: &str) -> Result<AccountKind, &'static str> {
    AccountKind::parse(text).ok_or("it is key or contract")
}

pub(crate) fn new_rule(text: &str) -> Result<NewRule, AccessRuleRejected> {
    match text {
        "default" => Ok(NewRule(None)),
        rule => AccessRule::parse(rule).map(|rule| NewRule(Some(rule))),
    }
}

pub(crate) fn new_release(text: &str) -> Result<Release, GroupNameRejected> {
    if text == "rule" { Ok(Release::OfRule) } else { Release::parse(text) }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;
    use crate::cli::{Cli, Command, Output, command};

    fn parsed(words: &[&str]) -> Result<Command, String> {
        let matches = command().try_get_matches_from(["countersign"].iter().chain(words));
        let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
        cli.map(|cli| cli.command.unwrap()).map_err(|error| error.to_string())
    }

    fn rule(words: &[&str]) -> Result<(NewRule, Option<Release>), String> {
        let command = parsed(&[&["access", "set", "c"], words].concat())?;
        let Command::Access { command: AccessCommand::Set { rule, release, .. }, .. } = command else {
            panic!("{command:?}");
        };
        Ok((rule, release))
    }

    #[test]
    fn a_rule_is_everyone_nobody_groups_or_the_default() {
        for text in ["everyone", "nobody", "groups:a,b"] {
            let expected = NewRule(AccessRule::parse(text).ok());
            assert_eq!(rule(&[text]), Ok((expected, None)));
        }
        assert_eq!(rule(&["default"]), Ok((NewRule(None), None)));
        for (text, told) in [
            ("everybody", "it is everyone, nobody, groups:NAME,NAME, or default"),
            ("groups:", "is not a name of a group"),
            ("groups:Staff", "is not a name of a group"),
        ] {
            assert!(rule(&[text]).unwrap_err().contains(told), "{text}");
        }
    }

    #[test]
    fn a_release_is_all_named_groups_or_those_of_the_rule() {
        let released = |text: &str| rule(&["everyone", "--release", text]).map(|(_, release)| release);
        assert_eq!(released("all"), Ok(Some(Release::All)));
        assert_eq!(released("rule"), Ok(Some(Release::OfRule)));
        assert_eq!(released("b,a"), Ok(Release::parse("a,b").ok()));
        assert!(released("a, b").is_err() && released("").is_err());
    }

    #[test]
    fn what_breaks_a_rule_is_bad_usage() {
        for words in [
            &["user", "list", "--limit", "0"][..],
            &["user", "list", "--limit", "10001"],
            &["user", "list", "--after", "nobody"],
            &["user", "list", "--group", "Staff"],
            &["user", "block", "w", "--reason", "a\nb"],
            &["user", "block", "w", "--reason", ""],
            &["user", "show", "w", "--kind", "safe"],
            &["user", "name", "w"],
            &["user", "name", "w", "Ann", "--remove"],
            &["user", "name", "w", "Ann\u{202e}"],
            &["wallet", "name", "w", ""],
            &["user", "show"],
            &["group", "create", "1st"],
            &["group", "create", "staff", "--title", "\u{202e}"],
            &["group", "add", "staff"],
            &["access", "set", "c"],
        ] {
            assert!(parsed(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn a_misspelt_verb_suggests_the_right_one() {
        for (words, meant) in [
            (["user", "blok"], "'block'"),
            (["user", "signout"], "'sign-out'"),
            (["wallet", "unblok"], "'unblock'"),
            (["group", "ad"], "'add'"),
            (["access", "sett"], "'set'"),
        ] {
            let told = parsed(&words).unwrap_err();
            assert!(told.contains(meant), "{told}");
        }
    }

    #[test]
    fn text_is_the_default_and_has_its_old_name_too() {
        let output = |words: &[&str]| {
            let command = parsed(&[&["group", "list"], words].concat()).unwrap();
            let Command::Group { command: GroupCommand::List { output }, .. } = command else {
                panic!("{command:?}");
            };
            output.output
        };
        assert_eq!(output(&[]), Output::Table);
        assert_eq!(output(&["--output", "text"]), Output::Table);
        assert_eq!(output(&["--output", "table"]), Output::Table);
        assert_eq!(output(&["--output", "json"]), Output::Json);
    }
}
