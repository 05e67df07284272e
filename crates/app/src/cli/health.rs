//! The flags of the commands that say whether a server is well.

use std::path::PathBuf;

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
