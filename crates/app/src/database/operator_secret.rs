//! Where the operator's secret is kept when the settings do not contain it: in a private file beside the
//! database.

use std::path::PathBuf;

use countersign_adapters_crypto::{OperatorSecret, SecretRejected};
use countersign_ports::Entropy;

use crate::config::Config;
use crate::files::private_file::{self, PrivateFileError};
use crate::wiring::{OpenError, Wiring};

/// The operator's secret cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperatorSecretError {
    /// The settings contain no secret, and this kind of database has no place for one.
    #[error("no secret is set")]
    NotSet,
    /// There is no file yet, and it was not asked to create one.
    #[error(
        "there is no file {0}, which a server creates when it first starts; if the server has its secret elsewhere, name \
         it (COUNTERSIGN_SECRET, COUNTERSIGN_SECRET_FILE or --secret-file)"
    )]
    NoFile(PathBuf),
    /// The file is gone, and the database has keys that only its secret opens.
    #[error(
        "there is no file {0}, and the database has signing keys that only the secret in it opens; put the file back (it \
         is saved apart from the database, docs/backup.md), or name the secret if it is elsewhere (COUNTERSIGN_SECRET, \
         COUNTERSIGN_SECRET_FILE or --secret-file); nothing was changed"
    )]
    Lost(PathBuf),
    /// Whether there are keys in the database cannot be known.
    #[error("database cannot be looked at")]
    Database(#[from] OpenError),
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// The file's content is not a valid secret.
    #[error("{path}: {reason}")]
    Rejected { path: PathBuf, reason: SecretRejected },
}

/// Returns the secret from the settings, or else from the file; `None` if there is no file and a server may make one.
/// None may be made for a database with keys: a new secret would not open them.
pub(crate) async fn find(
    config: &Config,
    wiring: &Wiring,
) -> Result<Option<OperatorSecret>, OperatorSecretError> {
    // In this order: a server that starts at the same time makes the file first, and the keys afterwards.
    let has_keys = match wiring.scheme_of(&config.database_url) {
        Ok(scheme) if config.secret.is_none() => scheme.has_keys(&config.database_url).await?,
        Ok(_) | Err(_) => false,
    };
    match load(config, wiring) {
        Ok(secret) => Ok(Some(secret)),
        Err(OperatorSecretError::NoFile(path)) if has_keys => Err(OperatorSecretError::Lost(path)),
        Err(OperatorSecretError::NoFile(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes the file, unless another server just did, and returns the secret in it.
pub(crate) fn create(config: &Config, wiring: &Wiring) -> Result<OperatorSecret, OperatorSecretError> {
    let path = secret_file(config, wiring).ok_or(OperatorSecretError::NotSet)?;
    let text = private_file::read_or_create(&path, || new_secret(wiring.entropy.as_ref()))?;
    OperatorSecret::parse(&text).map_err(|reason| OperatorSecretError::Rejected { path, reason })
}

/// Returns the secret from the settings, or else from the file, which must exist.
pub(crate) fn load(config: &Config, wiring: &Wiring) -> Result<OperatorSecret, OperatorSecretError> {
    if let Some(secret) = &config.secret {
        return Ok(secret.clone());
    }
    let path = secret_file(config, wiring).ok_or(OperatorSecretError::NotSet)?;
    match private_file::read(&path)? {
        Some(text) => {
            OperatorSecret::parse(&text).map_err(|reason| OperatorSecretError::Rejected { path, reason })
        }
        None => Err(OperatorSecretError::NoFile(path)),
    }
}

/// Checks the file, if there is one.
pub(crate) fn check(config: &Config, wiring: &Wiring) -> Result<(), OperatorSecretError> {
    if config.secret.is_none() && secret_file(config, wiring).is_none() {
        return Ok(());
    }
    match load(config, wiring) {
        Ok(_) | Err(OperatorSecretError::NoFile(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn secret_file(config: &Config, wiring: &Wiring) -> Option<PathBuf> {
    wiring.scheme_of(&config.database_url).ok()?.secret_file(&config.database_url)
}

fn new_secret(entropy: &dyn Entropy) -> String {
    format!("{}\n", OperatorSecret::generate(entropy).expose())
}
