//! Opens connections, and never reveals their password.

use std::fmt;
use std::time::Duration;

use diesel::connection::{CacheSize, SimpleConnection};
use diesel::{Connection, ConnectionError, PgConnection};

use super::pooling::Pooling;
use crate::error::ConnectError;

/// Parameters for libpq, unless the URL has others: how soon it notices that the server is gone.
///
/// `tcp_user_timeout` is for a peer that stops acknowledging, the keepalives for one that disappears while we
/// listen. A URL can name several servers; `target_session_attrs` picks the one that accepts writes. Kerberos
/// is off: trying it first slows down each connection.
const PARAMETERS: &str = "connect_timeout=2&tcp_user_timeout=3000&keepalives_idle=2&keepalives_interval=1\
    &keepalives_count=2&target_session_attrs=read-write&gssencmode=disable&application_name=countersign";

/// Settings of each connection for operations, if the connection is ours alone. When one of these timeouts
/// fires, the caller is long gone; it frees the connection.
///
/// A server that answers before data is on disk, by its default, would break the first rule of storage.
///
/// Every statement finds a few rows by their keys. The planner must know that, because it makes a plan once
/// and keeps it. For a table that is still small it would choose a plan that reads the whole table, and that
/// plan would stay when the table is large.
const SETTINGS: &str = "SET statement_timeout = '5s'; \
    SET lock_timeout = '3s'; \
    SET default_transaction_isolation = 'read committed'; \
    SET enable_seqscan = off; \
    SET enable_bitmapscan = off; \
    SET enable_mergejoin = off; \
    SET plan_cache_mode = force_generic_plan; \
    SET jit = off; \
    SELECT set_config('synchronous_commit', 'on', false) \
      WHERE current_setting('synchronous_commit') = 'off'";

/// A URL for libpq. It may hold a password, so its `Debug` shows nothing.
#[derive(Clone)]
pub(crate) struct ConnectionUrl {
    url: String,
    pooling: Pooling,
}

impl ConnectionUrl {
    pub(crate) fn parse(url: &str) -> Result<Self, ConnectError> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(ConnectError::NotPostgres);
        }
        let (server, parameters) = url.split_once('?').unwrap_or((url, ""));
        let (pooling, theirs) = Pooling::take_from(parameters)?;
        let separator = if theirs.is_empty() { "" } else { "&" };
        // If a parameter has two values, libpq takes the later one, so ours come first.
        Ok(Self { url: format!("{server}?{PARAMETERS}{separator}{theirs}"), pooling })
    }

    /// Opens a connection with the server's own settings.
    pub(crate) fn open(&self) -> Result<PgConnection, ConnectError> {
        // The first library that starts OpenSSL decides whether it cleans up when the process ends. libpq
        // would let it, and then a thread that is still in libpq (a server that hangs keeps it there) finds
        // nothing as it was (F-29).
        openssl_sys::init();
        let opened = PgConnection::establish(&self.url);
        let mut connection = opened.map_err(|error| ConnectError::Refused(speakable(&error)))?;
        if self.pooling == Pooling::Transaction {
            // A statement that was prepared in one session does not exist in the next.
            connection.set_prepared_statement_cache_size(CacheSize::Disabled);
        }
        Ok(connection)
    }

    /// Opens a connection for operations.
    #[cfg(test)]
    pub(crate) fn open_for_operations(&self) -> Result<PgConnection, ConnectError> {
        let mut connection = self.open()?;
        self.settle(&mut connection, "")?;
        Ok(connection)
    }

    /// Opens a connection for the pool, whose statements wait only this long for a lock.
    pub(crate) fn open_for_pool(&self, lock_patience: Duration) -> Result<PgConnection, ConnectError> {
        let mut connection = self.open()?;
        self.settle_for_pool(&mut connection, lock_patience)?;
        Ok(connection)
    }

    /// Makes an open connection one for the pool.
    pub(crate) fn settle_for_pool(
        &self,
        connection: &mut PgConnection,
        lock_patience: Duration,
    ) -> Result<(), ConnectError> {
        // Zero would be forever.
        let millis = lock_patience.as_millis().max(1);
        self.settle(connection, &format!("; SET lock_timeout = {millis}"))
    }

    fn settle(&self, connection: &mut PgConnection, also: &str) -> Result<(), ConnectError> {
        if self.pooling == Pooling::Transaction {
            return Ok(());
        }
        let settled = connection.batch_execute(&format!("{SETTINGS}{also}"));
        settled.map_err(|error| ConnectError::Refused(error.to_string()))
    }

    /// Checks that this connection and others are what the URL says they are.
    pub(crate) fn check(&self, connection: &mut PgConnection) -> Result<(), ConnectError> {
        self.pooling.check(connection, || self.open())
    }
}

impl fmt::Debug for ConnectionUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConnectionUrl(..)")
    }
}

/// What can be said about a failure without revealing a password.
///
/// libpq quotes what it cannot read. If it misreads a URL, part of the password can be anywhere in the
/// message. Only once the URL was understood is the message passed on in full.
fn speakable(error: &ConnectionError) -> String {
    let message = error.to_string();
    let understood = message.starts_with("connection to server");
    let shown = if understood { &*message } else { message.split('"').next().unwrap_or_default() };
    shown.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        let opened = ConnectionUrl::parse(url).and_then(|url| url.open().map(drop));
        opened.unwrap_err().to_string()
    }

    #[test]
    fn no_password_is_told_however_the_url_is_broken() {
        let urls = [
            "postgres://app:hunter2@127.0.0.1:1/app",
            "postgres://app:hunter2@127.0.0.1:notaport/app",
            "postgres://app:hunter2%zz@127.0.0.1/app",
            "postgres://app:not@hunter2@127.0.0.1/app",
            "postgres://app:not/hunter2@127.0.0.1/app",
            "postgres://app:[hunter2@127.0.0.1/app",
            "postgres://127.0.0.1:1/app?password=hunter2",
            "postgres://127.0.0.1:1/app?hunter2",
            "postgres://127.0.0.1:1/app?sslmode=hunter2",
            "mysql://app:hunter2@127.0.0.1/app",
            "host=127.0.0.1 password=hunter2",
        ];
        for url in urls {
            let refusal = refusal(url);
            assert!(!refusal.contains("hunter2"), "{refusal}");
            assert!(refusal.len() > 20, "{refusal}");
        }
    }

    #[test]
    fn a_url_never_prints_itself() {
        let url = ConnectionUrl::parse("postgres://app:hunter2@db/app").unwrap();
        assert_eq!(format!("{url:?}"), "ConnectionUrl(..)");
    }

    #[test]
    fn what_the_url_says_wins() {
        let url = ConnectionUrl::parse("postgres://db/app?connect_timeout=9").unwrap();
        assert!(url.url.ends_with("&connect_timeout=9"));
    }
}
