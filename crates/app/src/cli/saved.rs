//! `backup`, `restore` and `copy`.

use std::path::PathBuf;

use countersign_archive::Recipient;

use super::OutputChoice;
use crate::wiring::DatabaseUrl;

#[derive(Debug, clap::Args)]
pub(crate) struct BackupFlags {
    /// The file to write, which must not exist; `-` is standard output. Without it, a file in `backup_directory` that is
    /// named after the time.
    pub(crate) file: Option<PathBuf>,
    /// Afterwards keep only so many of the newest backups in `backup_directory`, and remove the older ones.
    #[arg(long, value_name = "N", conflicts_with = "file", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) keep: Option<u16>,
    /// Encrypt for this age recipient (`age1…`). Can be given several times: each of them can open the backup.
    #[arg(long, value_name = "RECIPIENT")]
    pub(crate) encrypt_to: Vec<Recipient>,
    #[command(flatten)]
    pub(crate) output: OutputChoice,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RestoreFlags {
    /// The file that `countersign backup` wrote.
    #[arg(required_unless_present = "undo")]
    pub(crate) file: Option<PathBuf>,
    /// Remove everything that is in the database now.
    #[arg(long)]
    pub(crate) force: bool,
    /// Restore nothing. Remove the mark of a restore or a copy that was killed, and go on with the data that were there before.
    #[arg(long, conflicts_with_all = ["file", "force", "keep_tokens", "identity", "servers_are_stopped"])]
    pub(crate) undo: bool,
    /// Go on although a server was seen at a time in the future. Only if a clock was wrong and all servers are stopped.
    #[arg(long)]
    pub(crate) servers_are_stopped: bool,
    /// Keep sessions, codes and tokens working. Only if nothing was revoked, signed out or blocked since the backup was
    /// made.
    #[arg(long)]
    pub(crate) keep_tokens: bool,
    /// The file with the age identity that opens an encrypted backup.
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputChoice,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CopyFlags {
    /// The database to read. It is not changed.
    #[arg(long, value_name = "URL", value_parser = DatabaseUrl::parse, required_unless_present = "from_file")]
    pub(crate) from: Option<DatabaseUrl>,
    /// A file with the URL of the database to read, for a URL with a password.
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) from_file: Option<PathBuf>,
    /// The database to fill. It must be empty.
    #[arg(long, value_name = "URL", value_parser = DatabaseUrl::parse, required_unless_present = "to_file")]
    pub(crate) to: Option<DatabaseUrl>,
    /// A file with the URL of the database to fill.
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    pub(crate) to_file: Option<PathBuf>,
    /// Copy although a server runs on the source. What it writes from now on is not in the copy.
    #[arg(long)]
    pub(crate) while_it_runs: bool,
    /// Remove everything that is in the target now.
    #[arg(long)]
    pub(crate) force: bool,
    /// Go on although a server was seen at a time in the future. Only if a clock was wrong and all servers are stopped.
    #[arg(long)]
    pub(crate) servers_are_stopped: bool,
    #[command(flatten)]
    pub(crate) output: OutputChoice,
}

/// The examples in the help of `backup`.
pub(crate) const BACKUP_EXAMPLES: &str = "\
Examples:
  countersign backup /var/backups/countersign/2026-12-02.backup
  countersign backup --encrypt-to age1… sign-ins.backup.age
  countersign backup --keep 14            # every night: into backup_directory, and the fortnight before is kept

Keep the operator's secret too, in another place: without it the signing keys in a backup cannot be opened.";

/// The examples in the help of `restore`.
pub(crate) const RESTORE_EXAMPLES: &str = "\
Examples:
  countersign restore /var/backups/countersign/2026-12-02.backup
  countersign restore --undo
  countersign restore --identity key.txt sign-ins.backup.age --database-url postgres://…

Everyone signs in again afterwards: sessions, codes and tokens from before are refused (docs/backup.md).";
