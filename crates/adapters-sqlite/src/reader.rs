//! A connection that reads, and the clients that it has read.
//!
//! Nearly every request asks for its client, and clients hardly ever change. What was read is used again as long as nothing
//! at all was committed to the file by anybody, this process or another: SQLite tells that by a number
//! (`PRAGMA data_version`), for less than half of what reading the row costs. So nobody uses a client that was changed or
//! removed, not even for a moment.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use diesel::prelude::*;
use diesel::query_builder::Query;
use diesel::sql_types::BigInt;

use crate::error::SqliteError;
use crate::ops::read;
use crate::ops::statement::statement;

/// How many clients one connection remembers; each takes about a kilobyte.
const REMEMBERED: usize = 1_024;

/// A connection that reads.
pub(crate) struct Reader {
    connection: SqliteConnection,
    clients: HashMap<ClientId, Remembered>,
}

struct Remembered {
    client: Client,
    /// The state of the database in which this was the client.
    version: i64,
}

impl Reader {
    pub(crate) fn new(connection: SqliteConnection) -> Self {
        Self { connection, clients: HashMap::new() }
    }

    /// Reads a client, or remembers it.
    pub(crate) fn find_client(&mut self, id: ClientId) -> Result<Option<Client>, SqliteError> {
        // Before the row: what is committed between the two is in the row, and the next look sees another number.
        let version = DataVersion {}.get_result::<i64>(&mut self.connection)?;
        if let Some(remembered) = self.clients.get(&id)
            && remembered.version == version
        {
            return Ok(Some(remembered.client.clone()));
        }
        let found = read::find_client(&mut self.connection, id)?;
        match &found {
            Some(client) => {
                if self.clients.len() >= REMEMBERED {
                    self.clients.clear();
                }
                self.clients.insert(id, Remembered { client: client.clone(), version });
            }
            None => {
                self.clients.remove(&id);
            }
        }
        Ok(found)
    }
}

impl Deref for Reader {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

statement! {
    /// Another number whenever somebody else committed since this connection looked last.
    struct DataVersion {}
    "PRAGMA data_version"
}

impl Query for DataVersion {
    type SqlType = BigInt;
}
