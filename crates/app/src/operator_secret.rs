//! Where the operator's secret is when it is not among the settings: in a private file beside the database.

use std::path::PathBuf;

use countersign_adapters_crypto::{OperatorSecret, SecretRejected};
use countersign_ports::Entropy;

use crate::config::Config;
use crate::private_file::{self, PrivateFileError};
use crate::wiring::Wiring;

/// There is no secret to work with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperatorSecretError {
    /// The settings have none, and this database has no place for one.
    #[error("no secret is set")]
    NotSet,
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// What is in the file is no secret.
    #[error("{path}: {reason}")]
    Rejected { path: PathBuf, reason: SecretRejected },
}

/// The secret of the settings, or that of the file, which is made if there is none.
pub(crate) fn load_or_create(
    config: &Config,
    wiring: &Wiring,
) -> Result<OperatorSecret, OperatorSecretError> {
    if let Some(secret) = &config.secret {
        return Ok(secret.clone());
    }
    let path = secret_file(config, wiring).ok_or(OperatorSecretError::NotSet)?;
    let text = private_file::read_or_create(&path, || new_secret(wiring.entropy.as_ref()))?;
    OperatorSecret::parse(&text).map_err(|reason| OperatorSecretError::Rejected { path, reason })
}

/// Judges the file without making it.
pub(crate) fn check(config: &Config, wiring: &Wiring) -> Result<(), OperatorSecretError> {
    let (None, Some(path)) = (&config.secret, secret_file(config, wiring)) else { return Ok(()) };
    match private_file::read(&path)? {
        Some(text) => OperatorSecret::parse(&text)
            .map(drop)
            .map_err(|reason| OperatorSecretError::Rejected { path, reason }),
        None => Ok(()),
    }
}

fn secret_file(config: &Config, wiring: &Wiring) -> Option<PathBuf> {
    wiring.scheme_of(&config.database_url).ok()?.secret_file(&config.database_url)
}

fn new_secret(entropy: &dyn Entropy) -> String {
    format!("{}\n", OperatorSecret::generate(entropy).expose())
}
