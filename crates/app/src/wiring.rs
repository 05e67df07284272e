//! The one place that says which adapters there are: URL schemes with their storage, wallets, clock and entropy.
//!
//! To wire a database of your own, implement [`StorageScheme`] in the style of `wiring/sqlite.rs`, push it into
//! [`Wiring::storage`] and call [`crate::run`] from your own binary.

mod postgres;
mod sqlite;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_adapters_crypto::{JosekitReader, OsEntropy, SystemClock, WalletRouter, WalletSettings};
use countersign_adapters_http::{CachedDocuments, HttpFetcher};
use countersign_adapters_smtp::{SmtpMailer, SmtpSettings};
use countersign_domain::challenge::TextKey;
use countersign_domain::dpop::DpopNonceKey;
use countersign_domain::picture::PictureKey;
use countersign_metrics::WriterFigures;
use countersign_ports::error::Source;
use countersign_ports::{Clock, Entropy, Fetcher, JwsReader, Mailer, Storage, TokenSigner, WalletVerifier};
use countersign_usecases::{Context, Policy};

use crate::config::Config;
pub use crate::config::DatabaseUrl;
pub use postgres::PostgresScheme;
pub use sqlite::SqliteScheme;

/// The adapters of a binary.
pub struct Wiring {
    /// The storages; the scheme of the database's URL chooses one.
    pub storage: Vec<Box<dyn StorageScheme>>,
    /// Makes who checks wallets, once the settings are read.
    pub wallets: MakeWallets,
    /// Makes who sends mail, where the operator named a mail server.
    pub mailer: MakeMailer,
    /// Who reads what clients sign.
    pub jws: Arc<dyn JwsReader>,
    /// Makes who asks for what clients point at.
    pub fetcher: MakeFetcher,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
}

/// Makes who checks wallets. A binary with wallets of its own takes what it needs of the settings.
pub type MakeWallets = Box<dyn Fn(WalletSettings) -> Arc<dyn WalletVerifier> + Send + Sync>;

/// Makes who asks for what clients point at; the argument says whether it may ask this machine.
pub type MakeFetcher = Box<dyn Fn(bool) -> Arc<dyn Fetcher> + Send + Sync>;

/// Makes who sends mail. A mailer dates mails by the clock and names them by chance.
pub type MakeMailer =
    Box<dyn Fn(SmtpSettings, Arc<dyn Clock>, Arc<dyn Entropy>) -> Arc<dyn Mailer> + Send + Sync>;

/// Storage behind one or more URL schemes.
#[async_trait]
pub trait StorageScheme: Send + Sync {
    /// The schemes, as they stand before `://`.
    fn schemes(&self) -> &'static [&'static str];

    /// Judges a URL without touching anything. The fragment says what is wrong with it and never repeats a password.
    fn check(&self, url: &DatabaseUrl) -> Result<(), String>;

    /// The private file in which the operator's secret may be made; `None` where the operator must give it, because several
    /// machines share one database.
    fn secret_file(&self, url: &DatabaseUrl) -> Option<PathBuf>;

    /// Opens the database and brings its schema up to date.
    async fn open(&self, url: &DatabaseUrl) -> Result<OpenStorage, OpenError>;

    /// Brings the schema up to date and gives the names of the migrations that ran.
    async fn migrate(&self, url: &DatabaseUrl) -> Result<Vec<String>, OpenError>;
}

/// An open database.
pub struct OpenStorage {
    /// The database.
    pub storage: Arc<dyn Storage>,
    /// Tells what its writer did, if it has one.
    pub writer: Option<ReadWriter>,
    /// What must be done before the process may end; nothing for most.
    pub closing: Option<Closing>,
}

/// Tells what a storage's writer did, from memory.
pub type ReadWriter = Box<dyn Fn() -> Option<WriterFigures> + Send + Sync>;

/// Takes no more writes, carries out those that wait, and blocks until that is done.
pub type Closing = Box<dyn FnOnce() -> ClosingFuture + Send>;

/// The work of [`Closing`].
pub type ClosingFuture = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// A database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It does not answer now and may do so later.
    #[error("database does not answer")]
    Unavailable(#[source] Source),
    /// Waiting would not help.
    #[error("database cannot be used")]
    Unusable(#[source] Source),
}

impl Wiring {
    /// All adapters of this build: SQLite, PostgreSQL, the standard wallets, SMTP, HTTPS, and the machine's clock and entropy.
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

    /// What the use-cases work with.
    pub(crate) fn context(
        &self,
        config: &Config,
        storage: Arc<dyn Storage>,
        signer: Arc<dyn TokenSigner>,
        keys: ContextKeys,
    ) -> Context {
        let mailer = config
            .mail
            .clone()
            .map(|settings| (self.mailer)(settings, Arc::clone(&self.clock), Arc::clone(&self.entropy)));
        Context {
            storage,
            clients: Arc::default(),
            access: Arc::default(),
            wallets: (self.wallets)(config.wallets.clone()),
            signer,
            jws: Arc::clone(&self.jws),
            // Who tries the server out has clients on this machine too.
            fetcher: (self.fetcher)(config.public_url.is_loopback()),
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
            mailer,
            policy: Policy {
                public_url: config.public_url.clone(),
                lifetimes: config.lifetimes,
                resources: config.resources.clone(),
                client_documents: config.client_documents,
                synthetic_email: config.synthetic_email,
                assertion_audience: config.assertion_audience,
                playground: config.playground,
                picture_key: keys.pictures,
                text_key: keys.texts,
                dpop_nonces: keys.nonces,
            },
        }
    }
}

/// What the use-cases make known again as ours, each with a key of its own.
pub(crate) struct ContextKeys {
    pub(crate) texts: TextKey,
    pub(crate) nonces: DpopNonceKey,
    pub(crate) pictures: PictureKey,
}

impl OpenStorage {
    /// Carries out the writes that wait.
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
