//! The rows of clients, read and written by diesel's query builder: a statement of constant text would name their many
//! columns once more.

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use diesel::prelude::*;

use crate::columns::Id;
use crate::rows::client::ClientRow;
use crate::schema::clients;
use crate::{Database, SqlError};

/// A database with the table of clients.
pub trait ClientTable: Database {
    /// Reads a client, and keeps others from changing it until the commit.
    fn lock_row(&mut self, id: Id) -> QueryResult<Option<ClientRow>>;

    /// Reads a client.
    fn row(&mut self, id: Id) -> QueryResult<Option<ClientRow>>;

    /// Replaces what an update may write.
    fn replace_row(&mut self, row: &ClientRow) -> QueryResult<usize>;

    /// Reads the clients after this id, in the order of their ids.
    fn rows_after(&mut self, after: Id, limit: u32) -> QueryResult<Vec<ClientRow>>;
}

macro_rules! client_table {
    ($connection:ty $(, $lock:ident)?) => {
        impl ClientTable for $connection {
            fn lock_row(&mut self, id: Id) -> QueryResult<Option<ClientRow>> {
                let client = clients::table.find(id).select(ClientRow::as_select());
                client$(.$lock())?.get_result(self).optional()
            }

            fn row(&mut self, id: Id) -> QueryResult<Option<ClientRow>> {
                clients::table.find(id).select(ClientRow::as_select()).get_result(self).optional()
            }

            fn replace_row(&mut self, row: &ClientRow) -> QueryResult<usize> {
                diesel::update(clients::table.find(&row.id)).set(row).execute(self)
            }

            fn rows_after(&mut self, after: Id, limit: u32) -> QueryResult<Vec<ClientRow>> {
                let page = clients::table.filter(clients::id.gt(after)).order(clients::id).limit(limit.into());
                page.select(ClientRow::as_select()).load(self)
            }
        }
    };
}

#[cfg(feature = "sqlite")]
client_table!(diesel::SqliteConnection);

#[cfg(feature = "postgres")]
client_table!(diesel::PgConnection, for_update);

/// Reads a client, and keeps others from changing it until the commit.
pub fn lock_client(db: &mut impl ClientTable, id: ClientId) -> Result<Option<Client>, SqlError> {
    db.lock_row(id.into())?.map(Client::try_from).transpose()
}
