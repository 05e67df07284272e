//! The one place that lists the adapters: storages by URL scheme, wallets, clock and entropy.
//!
//! To wire a database of your own, implement [`StorageScheme`] in the style of `wiring/sqlite.rs`, push it
//! into [`Wiring::storage`] and call [`crate::run`] from your own binary.

mod database_url;
mod findings;
mod postgres;
mod sqlite;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_adapters_crypto::{JosekitReader, OsEntropy, SystemClock, WalletRouter, WalletSettings};
use countersign_adapters_http::{CachedDocuments, HttpFetcher};
use countersign_adapters_smtp::{SmtpMailer, SmtpSettings};
use countersign_metrics::WriterFigures;
use countersign_ports::error::Source;
use countersign_ports::{
    ArchiveError, ArchiveSource, ArchiveTarget, Clock, Entropy, Fetcher, JwsReader, Mailer, Storage,
    WalletVerifier,
};

pub use database_url::DatabaseUrl;
pub use findings::finding::{Finding, Health};
pub use postgres::PostgresScheme;
pub use sqlite::SqliteScheme;

/// The adapters of a binary.
pub struct Wiring {
    /// The storages; the scheme of the database's URL selects one.
    pub storage: Vec<Box<dyn StorageScheme>>,
    /// Makes the wallet verifier, once the settings are read.
    pub wallets: MakeWallets,
    /// Makes the mailer, if the operator configured a mail server.
    pub mailer: MakeMailer,
    /// Verifies what clients sign: their assertions and DPoP proofs.
    pub jws: Arc<dyn JwsReader>,
    /// Makes the fetcher for documents and keys that clients point to.
    pub fetcher: MakeFetcher,
    /// The clock of the machine. The server follows the database's clock instead, if that is shared.
    pub clock: Arc<dyn Clock>,
    /// The source of random bytes for secrets, ids and nonces.
    pub entropy: Arc<dyn Entropy>,
}

/// Makes the wallet verifier. A binary with wallets of its own takes from the settings what it needs.
pub type MakeWallets = Box<dyn Fn(WalletSettings) -> Arc<dyn WalletVerifier> + Send + Sync>;

/// Makes the fetcher for what clients point to. The argument says whether it may send requests to this
/// machine.
pub type MakeFetcher = Box<dyn Fn(bool) -> Arc<dyn Fetcher> + Send + Sync>;

/// Makes the mailer. It dates messages by the clock and takes their ids from the entropy.
pub type MakeMailer =
    Box<dyn Fn(SmtpSettings, Arc<dyn Clock>, Arc<dyn Entropy>) -> Arc<dyn Mailer> + Send + Sync>;

/// Opens the databases of one or more URL schemes.
#[async_trait]
pub trait StorageScheme: Send + Sync {
    /// The schemes, as written before `://`.
    fn schemes(&self) -> &'static [&'static str];

    /// Checks a URL without touching anything. On failure, returns a fragment that says what is wrong and
    /// never repeats a password.
    fn check(&self, url: &DatabaseUrl) -> Result<(), String>;

    /// The private file in which the operator's secret may be created. `None` if the operator must set the
    /// secret, because several machines share one database.
    fn secret_file(&self, url: &DatabaseUrl) -> Option<PathBuf>;

    /// The database as people recognize it from any folder, without a password.
    fn place(&self, url: &DatabaseUrl) -> String {
        url.to_string()
    }

    /// What may go wrong with a database in this place. Each warning is a sentence that says what to do.
    fn warnings(&self, _url: &DatabaseUrl) -> Vec<String> {
        Vec::new()
    }

    /// What is there now. Looking creates and changes nothing.
    async fn look(&self, url: &DatabaseUrl) -> Result<Found, OpenError>;

    /// What the database is like, for `countersign doctor`. Looking changes nothing: the schema stays as it is. Asked
    /// only about a database that is [`Found::Ours`].
    async fn examine(&self, _url: &DatabaseUrl) -> Result<Examination, OpenError> {
        Ok(Examination { findings: Vec::new(), is_current: true })
    }

    /// Are there signing keys in the database, which only the secret opens that sealed them? Asked only where
    /// [`StorageScheme::secret_file`] names a file. Looking creates and changes nothing.
    async fn has_keys(&self, _url: &DatabaseUrl) -> Result<bool, OpenError> {
        Ok(false)
    }

    /// Opens the database, which is created if there is none, and brings its schema up to date.
    async fn open(&self, url: &DatabaseUrl) -> Result<OpenStorage, OpenError>;

    /// Brings the schema up to date and returns the names of the migrations that ran.
    async fn migrate(&self, url: &DatabaseUrl) -> Result<Vec<String>, OpenError>;

    /// One state of the database, to be saved or copied. Changes nothing. Blocks.
    fn archive(&self, _url: &DatabaseUrl) -> Result<Box<dyn ArchiveSource>, ArchiveError> {
        Err(not_archived())
    }

    /// The database as something to be filled. Blocks.
    fn archive_target(&self, _url: &DatabaseUrl) -> Result<Box<dyn ArchiveTarget>, ArchiveError> {
        Err(not_archived())
    }
}

/// A storage need not have archives.
fn not_archived() -> ArchiveError {
    ArchiveError::Refused("this kind of database is saved and restored by tools of its own".to_owned())
}

/// What a database is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// One finding about each thing that was looked at.
    pub findings: Vec<Finding>,
    /// Would opening it change nothing?
    pub is_current: bool,
}

/// What is where a database should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A database that a server or `migrate` set up.
    Ours,
    /// Nothing.
    Nothing,
    /// A database without tables.
    Empty,
    /// Something else.
    Foreign,
}

/// An open database, and how to close it.
pub struct OpenStorage {
    /// The storage port of the database.
    pub storage: Arc<dyn Storage>,
    /// Reads the figures of the storage's writer, if it has one.
    pub writer: Option<ReadWriter>,
    /// What must be done before the process may end; most storages need nothing.
    pub closing: Option<Closing>,
    /// The names of the migrations that ran when it was opened.
    pub migrated: Vec<String>,
}

/// Reads the figures of a storage's writer, from memory.
pub type ReadWriter = Box<dyn Fn() -> Option<WriterFigures> + Send + Sync>;

/// Refuses new writes and finishes the queued ones.
pub type Closing = Box<dyn FnOnce() -> ClosingFuture + Send>;

/// Resolves when the work of [`Closing`] is done.
pub type ClosingFuture = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// A database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It does not answer now but may do so later.
    #[error("database does not answer")]
    Unavailable(#[source] Source),
    /// Waiting would not help.
    #[error("database cannot be used")]
    Unusable(#[source] Source),
    /// A restore or a copy did not finish filling it.
    #[error("database is not finished")]
    Unfinished(#[source] Source),
    /// It does not let this role in, or not to its tables.
    #[error("database refuses the role")]
    NotPermitted(#[source] Source),
    /// The server of the database runs, and has none of this name.
    #[error("there is no such database")]
    NoSuchDatabase(#[source] Source),
}

impl OpenError {
    /// What the operator can do.
    pub(crate) const fn advice(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => {
                "start the database, or correct database_url; no one can sign in without it"
            }
            Self::Unusable(_) => {
                "correct database_url or, if the database is damaged, bring back a backup (docs/backup.md)"
            }
            Self::Unfinished(_) => {
                "run `countersign restore --undo` to go on with the data that were there before, or run the restore or the copy \
                 again (docs/backup.md)"
            }
            Self::NotPermitted(_) => {
                "give the role of database_url its rights (docs/install.md, PostgreSQL), or correct user and password in it"
            }
            Self::NoSuchDatabase(_) => {
                "create the database (docs/install.md, PostgreSQL), or correct its name in database_url"
            }
        }
    }
}

impl Wiring {
    /// All adapters of this build: SQLite, PostgreSQL, the standard wallets, SMTP, HTTPS, and the machine's
    /// clock and entropy.
    pub fn standard() -> Self {
        Self {
            storage: vec![Box::new(SqliteScheme), Box::new(PostgresScheme)],
            wallets: Box::new(|settings| Arc::new(WalletRouter::configured(settings))),
            mailer: Box::new(|settings, clock, entropy| Arc::new(SmtpMailer::new(settings, clock, entropy))),
            jws: Arc::new(JosekitReader),
            fetcher: Box::new(|allow_loopback| {
                Arc::new(CachedDocuments::new(Arc::new(HttpFetcher::new(allow_loopback))))
            }),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
        }
    }

    /// The storage for a URL, or a fragment that says why there is none.
    pub(crate) fn scheme_of(&self, url: &DatabaseUrl) -> Result<&dyn StorageScheme, String> {
        let mut schemes = self.storage.iter();
        let scheme = schemes.find(|scheme| scheme.schemes().contains(&url.scheme())).ok_or_else(|| {
            let known: Vec<_> = self.storage.iter().flat_map(|scheme| scheme.schemes()).copied().collect();
            format!("this build knows {}", known.join(", "))
        })?;
        scheme.check(url).map(|()| scheme.as_ref())
    }
}

impl OpenStorage {
    /// Finishes the queued writes.
    pub(crate) async fn close(self) {
        if let Some(closing) = self.closing {
            closing().await;
        }
    }
}

impl fmt::Debug for Wiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schemes: Vec<_> = self.storage.iter().map(|scheme| scheme.schemes()).collect();
        f.debug_struct("Wiring").field("storage", &schemes).finish_non_exhaustive()
    }
}

impl fmt::Debug for OpenStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenStorage").finish_non_exhaustive()
    }
}
