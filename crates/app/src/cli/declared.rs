//! The commands about files that declare clients, groups and resources.

use std::path::PathBuf;

use crate::cli::OutputChoice;

/// The examples in the help of `apply`.
pub(super) const APPLY_EXAMPLES: &str = "\
Examples:
  countersign apply declared.toml --dry-run
  countersign apply clients.toml groups.toml
  countersign apply declared.toml --prune --output json

Nothing is done if a file has a mistake. What is as declared is left alone, so a second run has nothing to do.
Exit code: 0 done, or nothing to do; 1 it failed, and another run finishes it; 2 a file has mistakes.";

/// The examples in the help of `export`.
pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  countersign export > declared.toml
  countersign export --users > with-users.toml

Secrets are not in it. Clients that registered themselves, and those of documents, are not the operator's: they are left out.";

#[derive(Debug, clap::Args)]
pub(crate) struct ApplyFlags {
    /// A file that declares clients, groups and resources: JSON if its name ends in `.json`, TOML otherwise.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print what would be done, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Delete what these files once declared and no longer name.
    #[arg(long)]
    pub(crate) prune: bool,
    #[command(flatten)]
    pub(crate) output: OutputChoice,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportFlags {
    /// Name the users in groups too. Only this database knows them, so the file fits no other.
    #[arg(long)]
    pub(crate) users: bool,
}
