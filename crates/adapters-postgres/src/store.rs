//! The storage ports, one line for each operation.

use std::fmt;
use std::sync::Arc;

use countersign_ports::signatures::*;
use countersign_ports::{operation_argument, storage_operations};
use diesel::PgConnection;
use tokio::task::spawn_blocking;

use crate::batch::Batches;
use crate::connect::connection::ConnectionUrl;
use crate::connect::pool::Pool;
use crate::error::OpError;
use crate::ops;
use crate::options::PgOptions;
use crate::setup::migrate::{self, MigrateError};

/// Storage in PostgreSQL. Cheap to clone: clones share one pool.
#[derive(Clone)]
pub struct PgStorage {
    pool: Pool,
    batches: Arc<Batches>,
    migrated: Arc<[String]>,
}

impl PgStorage {
    /// Brings the schema up to date and opens a pool. Blocks: call it before serving, or from a thread that
    /// may block.
    ///
    /// The URL is libpq's, `postgres://user:password@host/database?sslmode=verify-full`. Its timeouts and
    /// keepalives replace our defaults. One parameter is ours: `pooler=transaction`, for a pooler that lends
    /// out a server connection for one transaction only. Then each statement is planned again every time.
    pub fn connect(url: &str, options: PgOptions) -> Result<Self, MigrateError> {
        let url = ConnectionUrl::parse(url)?;
        let mut connection = url.open()?;
        url.check(&mut connection)?;
        let migrated = migrate::run_pending(&mut connection)?.into();
        let pool = Pool::new(url, options);
        pool.connections().add(connection)?;
        let batches = Batches::start(&pool, options).map_err(MigrateError::Threads)?;
        Ok(Self { pool, batches: Arc::new(batches), migrated })
    }

    /// The names of the migrations that ran when the database was opened.
    pub fn migrated(&self) -> &[String] {
        &self.migrated
    }

    /// Accepts no more operations, waits for those that are under way, and closes all connections. Afterwards no
    /// thread of ours is at work in libpq, so the process may end. If the server hangs, it waits no longer than an
    /// operation may take.
    pub async fn shutdown(&self) {
        let (connections, patience) = (self.pool.connections().clone(), self.pool.patience());
        match spawn_blocking(move || connections.close(patience)).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!("a connection to the database was left in the middle of something"),
            Err(error) => tracing::error!(
                error = &error as &dyn std::error::Error,
                "waiting for the connections failed"
            ),
        }
    }
}

impl fmt::Debug for PgStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgStorage").finish_non_exhaustive()
    }
}

/// Makes the ports: what is batched goes to its line, the rest to a thread of the pool.
macro_rules! ports {
    ($(
        $(#[$on_port:meta])*
        $port:ident {
            $(writes { $(
                $(#[$on_write:meta])*
                $write:ident($($write_way:ident $write_argument:ident: $write_type:ty),* $(,)?)
                    -> $outcome:ty $([$($write_mark:ident),*])?;
            )* })?
            $(reads { $(
                $(#[$on_read:meta])*
                $read:ident($($read_way:ident $read_argument:ident: $read_type:ty),* $(,)?)
                    -> $found:ty $([$($read_mark:ident),*])?;
            )* })?
        }
    )*) => { $(
        #[async_trait]
        impl $port for PgStorage {
            $($(async fn $write(&self, $($write_argument: $write_type),*) -> Result<$outcome, StoreError> {
                carry_out!($([$($write_mark),*])? self $write($($write_way $write_argument),*))
            })*)?
            $($(async fn $read(&self, $($read_argument: $read_type),*) -> Result<$found, StoreError> {
                carry_out!($([$($read_mark),*])? self $read($($read_way $read_argument),*))
            })*)?
        }
    )* };
}

/// Carries out one operation.
macro_rules! carry_out {
    ([batched $(, $mark:ident)?] $storage:ident $operation:ident($($way:ident $argument:ident),*)) => {
        $storage.batches.$operation.carry_out(($(operation_argument!(keep $way $argument)),*).into()).await
    };
    // A server has a clock of its own.
    ($storage:ident mark_time(own $mark:ident)) => {{
        let _ = $mark;
        Ok(())
    }};
    ($([$mark:ident])? $storage:ident $operation:ident($($way:ident $argument:ident),*)) => {{
        $(let $argument = operation_argument!(keep $way $argument);)*
        let operation = move |connection: &mut PgConnection| {
            ops::$operation(connection, $(operation_argument!(lend $way $argument)),*).map_err(OpError::from)
        };
        $storage.pool.run(operation).await
    }};
}

storage_operations!(ports);
