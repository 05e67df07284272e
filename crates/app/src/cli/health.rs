//! The flags of the commands that say whether a server is well.

use std::path::PathBuf;

use super::OutputChoice;

/// What `healthcheck` asks.
#[derive(Debug, clap::Args)]
pub(crate) struct HealthcheckFlags {
    /// The server's address; without this, where `bind` says that it listens. `/health/ready` is added to one without
    /// a path.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// With https: trust the certificates in this file (PEM), and not Mozilla's.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
}

/// How `doctor` looks and prints.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorFlags {
    #[command(flatten)]
    pub(crate) output: OutputChoice,
    /// Trust the certificates in this file (PEM) at the public URL, and not Mozilla's.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
}

/// What the help of `doctor` ends with.
pub(super) const DOCTOR_HELP: &str = "\
Run it where the server runs, as the user that the server runs as and with the same settings. It changes nothing, sends
no mail, and takes at most half a minute. docs/troubleshooting.md explains each line.
Exit code: 0 nothing failed, 1 something failed, 2 bad usage.";
