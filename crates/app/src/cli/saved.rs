//! `backup`, `restore` and `copy`.

use std::path::PathBuf;

use countersign_archive::Recipient;

use super::OutputChoice;
use crate::config::DatabaseUrl;

#[derive(Debug, clap::Args)]
pub(crate) struct BackupFlags {
    /// The file to write, which must not exist; `-` is standard output.
    pub(crate) file: PathBuf,
    /// Encrypt for this age recipient (`age1…`). Can be given several times: each of them can open the backup.
    #[arg(long, value_name = "RECIPIENT")]
    pub(crate) encrypt_to: Vec<Recipient>,
    #[command(flatten)]
    pub(crate) output: OutputChoice,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RestoreFlags {
    /// The file that `countersign backup` wrote.
    pub(crate) file: PathBuf,
    /// Remove everything that is in the database now.
    #[arg(long)]
    pub(crate) force: bool,
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
    #[arg(long, value_name = "URL", value_parser = DatabaseUrl::parse)]
    pub(crate) from: DatabaseUrl,
    /// The database to fill. It must be empty.
    #[arg(long, value_name = "URL", value_parser = DatabaseUrl::parse)]
    pub(crate) to: DatabaseUrl,
    /// Copy although a server runs on the source. What it writes from now on is not in the copy.
    #[arg(long)]
    pub(crate) while_it_runs: bool,
    /// Remove everything that is in the target now.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputChoice,
}

/// The examples in the help of `backup`.
pub(crate) const BACKUP_EXAMPLES: &str = "\
Examples:
  countersign backup /var/backups/countersign/2026-12-02.backup
  countersign backup --encrypt-to age1… sign-ins.backup.age

Keep the operator's secret too, in another place: without it the signing keys in a backup cannot be opened.";

/// The examples in the help of `restore`.
pub(crate) const RESTORE_EXAMPLES: &str = "\
Examples:
  countersign restore /var/backups/countersign/2026-12-02.backup
  countersign restore --identity key.txt sign-ins.backup.age --database-url postgres://…

Everybody signs in again afterwards: sessions, codes and tokens from before are refused (docs/backup.md).";
