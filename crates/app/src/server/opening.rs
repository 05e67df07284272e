//! Opens the database. Logs a line if that takes long, and waits if the database does not answer.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::config::{Config, DatabaseUrl};
use crate::failure::{Failure, chain};
use crate::wiring::{OpenError, OpenStorage, StorageScheme, Wiring};

/// After this time the log says what is going on.
const PATIENT_SILENCE: Duration = Duration::from_secs(1);
const RETRY_EVERY: Duration = Duration::from_secs(2);
const RETRY_FOR: Duration = Duration::from_secs(30);

/// The storage scheme of the configured database.
pub(crate) fn scheme<'a>(config: &Config, wiring: &'a Wiring) -> Result<&'a dyn StorageScheme, Failure> {
    wiring.scheme_of(&config.database_url).map_err(Failure::Failed)
}

/// A failed attempt to do something with the database. Its password is removed from the text.
pub(crate) fn failure(what: &str, url: &DatabaseUrl, error: &OpenError) -> Failure {
    Failure::Failed(format!("failed to {what} {url}: {}", url.redact(&chain(error))))
}

/// Opens the database for a command. Does not wait for one that does not answer.
pub(crate) async fn at_once(config: &Config, wiring: &Wiring) -> Result<OpenStorage, Failure> {
    let url = &config.database_url;
    let opened = scheme(config, wiring)?.open(url).await;
    opened.map_err(|error| failure("open the database", url, &error))
}

/// Opens the database for the server. If it does not answer, tries again for half a minute.
pub(crate) async fn with_patience(config: &Config, wiring: &Wiring) -> Result<OpenStorage, Failure> {
    let scheme = scheme(config, wiring)?;
    let url = &config.database_url;
    let deadline = Instant::now() + RETRY_FOR;
    loop {
        let next = Instant::now() + RETRY_EVERY;
        match aloud(url, scheme.open(url)).await {
            Ok(opened) => return Ok(opened),
            Err(error @ OpenError::Unavailable(_)) if next < deadline => {
                let left = deadline.saturating_duration_since(Instant::now()).as_secs();
                let reason = url.redact(&chain(&error));
                tracing::warn!(
                    database = %url,
                    reason,
                    "database does not answer; trying for another {left} s"
                );
                sleep(next.saturating_duration_since(Instant::now())).await;
            }
            Err(error) => return Err(failure("open the database", url, &error)),
        }
    }
}

/// Waits for the database, and logs a line when that takes long. There is no deadline: a long migration must
/// not be cut off.
async fn aloud<T>(url: &DatabaseUrl, opening: impl Future<Output = T>) -> T {
    let mut opening = std::pin::pin!(opening);
    tokio::select! {
        opened = &mut opening => return opened,
        () = sleep(PATIENT_SILENCE) => {
            tracing::info!(database = %url, "opening the database and bringing its schema up to date");
        }
    }
    opening.await
}
