//! Opens the database. The server creates it if there is none, and waits if it does not answer; a command does
//! neither.

use std::io::{self, Write};
use std::time::Duration;

use countersign_domain::event::{Details, EventKind};
use countersign_usecases::context::cause::{Cause, SERVER};
use tokio::time::{Instant, sleep};

use crate::config::Config;
use crate::config::throw_away::Trial;
use crate::database::change_log;
use crate::database::operator::Operator;
use crate::failure::{Failure, chain};
use crate::wiring::{DatabaseUrl, Found, OpenError, OpenStorage, StorageScheme, Wiring};

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

/// Opens the database for a command. Creates none, and does not wait for one that does not answer.
pub(crate) async fn at_once(config: &Config, wiring: &Wiring) -> Result<OpenStorage, Failure> {
    let url = &config.database_url;
    let scheme = scheme(config, wiring)?;
    let opened = match scheme.look(url).await {
        Ok(Found::Ours) => {
            change_log::works_on(&scheme.place(url), &config.public_url);
            scheme.open(url).await
        }
        Ok(Found::Nothing) => return Err(none_there(config, scheme, "there is no database")),
        Ok(Found::Empty) => {
            return Err(none_there(config, scheme, "nothing of Countersign is in the database"));
        }
        Ok(Found::Foreign) => return Err(foreign(config, scheme)),
        Err(error) => Err(error),
    };
    let opened = opened.map_err(|error| failure("open the database", url, &error))?;
    // A database of an older release: this is reported even if another command was asked for.
    if !opened.migrated.is_empty() {
        change_log::schema(&opened.migrated);
        let cause = Operator::of_this_process().cause();
        record_upgrade(&opened, config, wiring, &cause, &opened.migrated).await;
    }
    Ok(opened)
}

/// Records that migrations ran. They ran in commits of their own, so a failure to record them is only logged.
pub(crate) async fn record_upgrade(
    opened: &OpenStorage,
    config: &Config,
    wiring: &Wiring,
    cause: &Cause,
    migrated: &[String],
) {
    let count = u64::try_from(migrated.len()).unwrap_or(u64::MAX);
    let now = wiring.clock.now();
    let event = config.events.event(&*wiring.entropy, now, cause, EventKind::Upgraded, |event| {
        event.details =
            Details::default().text("version", env!("CARGO_PKG_VERSION")).number("migrations", count);
    });
    let Some(event) = event else { return };
    if let Err(error) = opened.storage.record_event(*event).await {
        tracing::warn!(error = chain(&error), "the event of the upgrade could not be stored");
    }
}

/// Says which database is saved, filled or migrated as a whole, and for which issuer. The line is for people; nothing
/// depends on its being read.
pub(crate) fn introduce(config: &Config, scheme: &dyn StorageScheme) {
    let (place, issuer) = (scheme.place(&config.database_url), config.public_url.as_str());
    let _ = writeln!(io::stderr().lock(), "countersign: database {place}, issuer {issuer}");
}

/// There is nothing to open, and this command is not one that creates a database.
fn none_there(config: &Config, scheme: &dyn StorageScheme, what: &str) -> Failure {
    let running = Trial::running();
    let hint = match running.first() {
        Some(trial) => {
            format!(
                " `countersign serve --dev` is running at {}: add --dev to reach it.",
                trial.public_url.as_str()
            )
        }
        None => String::new(),
    };
    Failure::Failed(format!(
        "{what} {} ({}). Name the one that the server uses: --database-url, COUNTERSIGN_DATABASE_URL, or --config with the \
         server's settings file. `countersign serve` and `countersign migrate` create one.{hint}",
        scheme.place(&config.database_url),
        named_by(config),
    ))
}

fn foreign(config: &Config, scheme: &dyn StorageScheme) -> Failure {
    Failure::Failed(format!(
        "{} is not a database of Countersign ({}). Name the one that the server uses: --database-url, \
         COUNTERSIGN_DATABASE_URL, or --config with the server's settings file.",
        scheme.place(&config.database_url),
        named_by(config),
    ))
}

/// Where the database's URL comes from.
fn named_by(config: &Config) -> String {
    match config.origin("database_url") {
        Some("default") | None => "the default of database_url".to_owned(),
        Some(origin) => format!("from {origin}"),
    }
}

/// Opens the database for the server. If it does not answer, tries again for half a minute.
pub(crate) async fn with_patience(config: &Config, wiring: &Wiring) -> Result<OpenStorage, Failure> {
    let scheme = scheme(config, wiring)?;
    let url = &config.database_url;
    let deadline = Instant::now() + RETRY_FOR;
    loop {
        let next = Instant::now() + RETRY_EVERY;
        match aloud(url, scheme.open(url)).await {
            Ok(opened) => {
                if !opened.migrated.is_empty() {
                    record_upgrade(&opened, config, wiring, &SERVER, &opened.migrated).await;
                }
                return Ok(opened);
            }
            Err(error @ (OpenError::Unavailable(_) | OpenError::NoSuchDatabase(_))) if next < deadline => {
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
