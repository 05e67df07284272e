//! The commands about keys of the admin interface.

use clap::Subcommand;
use countersign_domain::admin_key::{AdminKeyName, AdminScope};

use crate::cli::OutputChoice;
use crate::config::duration;

/// The longest life of a key that expires, in seconds: ten years.
const LONGEST: i64 = 315_360_000;

#[derive(Debug, Subcommand)]
pub(crate) enum AdminKeyCommand {
    /// Create a key. It is shown only once.
    #[command(after_help = EXAMPLES)]
    Create {
        /// What operators call it: up to 64 of `A-Z a-z 0-9 _ . -`, first a letter. Events say it, so it is given once.
        #[arg(long, value_parser = AdminKeyName::parse)]
        name: AdminKeyName,
        /// What it may do: `clients`, `users`, `groups`, `events` or `keys`, then `:read` or `:write`, which includes
        /// reading (repeatable).
        #[arg(long, required = true, value_parser = AdminScope::parse)]
        scope: Vec<AdminScope>,
        /// Let it expire after this time: `90d`, or a number of seconds, at most ten years.
        #[arg(long, value_name = "TIME", value_parser = lives)]
        expires: Option<u32>,
        #[command(flatten)]
        output: OutputChoice,
    },
    /// List all keys, and when each was last used.
    #[command(after_help = EXAMPLES)]
    List {
        #[command(flatten)]
        output: OutputChoice,
    },
    /// Revoke a key for good. The next request with it is refused.
    #[command(after_help = EXAMPLES)]
    Revoke {
        /// The key's name or its id.
        #[arg(value_name = "NAME|ID")]
        key: String,
        #[command(flatten)]
        output: OutputChoice,
    },
}

/// The examples in the help of the commands.
const EXAMPLES: &str = "\
Examples:
  countersign admin-key create --name CI --scope clients:write --scope users:read
  countersign admin-key create --name audit --scope events:read --expires 90d
  countersign admin-key list
  countersign admin-key revoke CI

Exit code: 0 done, 1 refused or not found, 2 bad usage.";

fn lives(text: &str) -> Result<u32, String> {
    let wrong = |reason| format!("{reason}; it takes a time such as 90d, 1s to 3650d");
    let lives = duration::parse_within(text, 1, LONGEST).map_err(wrong)?;
    u32::try_from(lives.whole_seconds()).map_err(|_| wrong("too large".to_owned()))
}
