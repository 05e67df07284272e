//! What is written and read, in either database.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use countersign_group_commit::{StartError, SubmitError};
use uuid::Uuid;

use super::postgres::PostgresStore;
use super::sqlite::{SqliteReader, SqliteStore};

/// The lifetime of an access token, in microseconds.
pub(super) const ACCESS_LIFE: i64 = 3_600 * SECOND;
/// The lifetime of a refresh token.
pub(super) const REFRESH_LIFE: i64 = 30 * 24 * 3_600 * SECOND;
/// The lifetime of a code: long enough for the driver to make many and use them later.
pub(super) const CODE_LIFE: i64 = 600 * SECOND;
pub(super) const SECOND: i64 = 1_000_000;

/// The only scope of the driver's client.
pub(super) const SCOPE: &str = "profile";
/// The bit of the scope in a consent.
pub(super) const SCOPE_BITS: i32 = 1;

/// A write. Each returns its user, or nothing if its guard did not hold.
#[derive(Clone, Debug)]
pub(super) enum Command {
    Register(Register),
    Login(Login),
    Exchange(Exchange),
    Refresh(Refresh),
    Revoke(Uuid),
}

#[derive(Clone, Debug)]
pub(super) struct Register {
    pub(super) id: Uuid,
    pub(super) secret_hash: [u8; 32],
    pub(super) token_hash: [u8; 32],
    pub(super) name: String,
    pub(super) redirect_uris: String,
}

#[derive(Clone, Debug)]
pub(super) struct Login {
    pub(super) id: Uuid,
    pub(super) client: Uuid,
    pub(super) address: String,
    /// The user to create if the wallet has none.
    pub(super) new_user: Uuid,
    pub(super) redirect_uri: String,
    pub(super) code_hash: [u8; 32],
}

#[derive(Clone, Debug)]
pub(super) struct NewToken {
    pub(super) id: Uuid,
    pub(super) access_hash: [u8; 32],
    pub(super) refresh_hash: [u8; 32],
}

#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) grant: Uuid,
    pub(super) client: Uuid,
    pub(super) code_hash: [u8; 32],
    pub(super) redirect_uri: String,
    pub(super) token: NewToken,
}

#[derive(Clone, Debug)]
pub(super) struct Refresh {
    pub(super) expected: Uuid,
    pub(super) client: Uuid,
    pub(super) refresh_hash: [u8; 32],
    pub(super) token: NewToken,
}

/// What an active access token stands for.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) id: Uuid,
    pub(super) grant: Uuid,
    pub(super) user: Uuid,
    pub(super) client: Uuid,
    pub(super) chain: String,
    pub(super) address: String,
    pub(super) scope: String,
    pub(super) issued_at: i64,
    pub(super) expires_at: i64,
}

/// The database failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The URL has another scheme.
    #[error("database URL must start with sqlite:// or postgres://")]
    Url,
    /// The connection failed.
    #[error("no connection")]
    Connect(#[from] diesel::ConnectionError),
    /// A statement failed.
    #[error("statement failed")]
    Statement(#[from] diesel::result::Error),
    /// The schema could not be created.
    #[error("schema cannot be made: {0}")]
    Schema(String),
    /// The writer thread could not be started.
    #[error("writer cannot be started")]
    Start(#[from] StartError),
    /// A write has no outcome.
    #[error("no outcome: {0}")]
    Submit(String),
    /// The worker has no connection to read with.
    #[error("no connection to read with")]
    NoReader,
}

/// The database.
pub(super) enum Store {
    Sqlite(SqliteStore),
    Postgres(PostgresStore),
}

/// A worker's read connection, and what it has read about access tokens. Nothing is evicted: a run does not
/// have that many.
pub(super) struct Reader {
    own: Own,
    known: RefCell<HashMap<Uuid, Rc<Access>>>,
}

enum Own {
    Sqlite(SqliteReader),
    Nothing,
}

impl Store {
    pub(super) fn open(url: &str, workers: usize) -> Result<Self, StoreError> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            return SqliteStore::open(path, workers).map(Self::Sqlite);
        }
        if url.starts_with("postgres://") {
            return PostgresStore::open(url).map(Self::Postgres);
        }
        Err(StoreError::Url)
    }

    /// The clients with the hashes of their secrets.
    pub(super) fn clients(&self) -> Result<HashMap<Uuid, [u8; 32]>, StoreError> {
        match self {
            Self::Sqlite(store) => store.clients(),
            Self::Postgres(store) => store.clients(),
        }
    }

    pub(super) fn reader(&self) -> Reader {
        let own = match self {
            Self::Sqlite(store) => Own::Sqlite(store.reader()),
            Self::Postgres(_) => Own::Nothing,
        };
        Reader { own, known: RefCell::default() }
    }

    /// Writes. The answer arrives when the write is durable.
    pub(super) async fn write(&self, command: Command) -> Result<Option<Uuid>, StoreError> {
        match self {
            Self::Sqlite(store) => store.write(command).await,
            Self::Postgres(store) => store.write(command).await,
        }
    }

    /// Finds an active access token. Reads what it means once, and each time whether it is still valid.
    pub(super) async fn access(
        &self,
        reader: &Reader,
        id: Uuid,
        now: i64,
    ) -> Result<Option<Rc<Access>>, StoreError> {
        let known = reader.known.borrow().get(&id).cloned();
        let found = match known {
            Some(access) => self.lives_on(reader, &access).await?.then_some(access),
            None => {
                let found = self.find_access(reader, id).await?.map(Rc::new);
                reader.known.borrow_mut().extend(found.iter().map(|access| (id, Rc::clone(access))));
                found
            }
        };
        Ok(found.filter(|access| access.expires_at > now))
    }

    async fn find_access(&self, reader: &Reader, id: Uuid) -> Result<Option<Access>, StoreError> {
        match (self, &reader.own) {
            (_, Own::Sqlite(reader)) => reader.access(id),
            (Self::Postgres(store), Own::Nothing) => store.access(id).await,
            (Self::Sqlite(_), Own::Nothing) => Err(StoreError::NoReader),
        }
    }

    async fn lives_on(&self, reader: &Reader, access: &Access) -> Result<bool, StoreError> {
        match (self, &reader.own) {
            (_, Own::Sqlite(reader)) => reader.lives_on(access),
            (Self::Postgres(store), Own::Nothing) => store.lives_on(access).await,
            (Self::Sqlite(_), Own::Nothing) => Err(StoreError::NoReader),
        }
    }
}

impl<E: std::error::Error> From<SubmitError<E>> for StoreError {
    fn from(error: SubmitError<E>) -> Self {
        let text = match error {
            SubmitError::Failed(cause) => format!("{cause}"),
            SubmitError::Overloaded | SubmitError::Stopped | SubmitError::Broken => error.to_string(),
        };
        Self::Submit(text)
    }
}

/// The first 32 bytes of a column that has 32.
pub(super) fn hash_of(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().unwrap_or([0; 32])
}
