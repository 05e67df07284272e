//! Clients are listed, changed and deleted.

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_ports::{DeleteClient, UpdateClient};
use uuid::Uuid;

use super::client_table::{ClientTable, lock_client};
use crate::columns::{Binary, Id, Key};
use crate::database::Statement;
use crate::ops::events::record_event::record;
use crate::rows::client::ClientRow;
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn list_clients(
    db: &mut impl ClientTable,
    after: Option<ClientId>,
    limit: u32,
) -> Result<Vec<Client>, SqlError> {
    // The nil UUID is the lowest, and no client has it.
    let rows = db.rows_after(after.map_or(Id(Uuid::nil()), Id::from), limit)?;
    rows.into_iter().map(Client::try_from).collect()
}

/// Replaces everything but the id, the time of creation, the secrets and what the operator decided. Returns
/// whether the client existed. The event is recorded if the client is another one afterwards.
pub fn update_client(db: &mut impl ClientTable, command: &UpdateClient) -> Result<bool, SqlError> {
    let UpdateClient { client, event } = command;
    let id = Id::from(client.id);
    let row = ClientRow::from(client.clone());
    db.all_or_nothing(|db| {
        let Some(before) = lock_client(db, client.id)? else { return Ok(false) };
        db.replace_row(&row)?;
        match row.secret_hash.as_deref() {
            Some(hash) => {
                FirstSecret { id, hash }.run(db)?;
            }
            None => {
                NoSecrets { id }.run(db)?;
                ForgetSecrets { id }.run(db)?;
            }
        }
        if lock_client(db, client.id)?.is_some_and(|after| after != before) {
            record(db, event.as_deref())?;
        }
        Ok(true)
    })
}

/// Deletes the client with its grants and consents. A token without its grant is not found by anybody; it is
/// purged when it expires.
pub fn delete_client<D: Database>(db: &mut D, command: &DeleteClient) -> Result<bool, SqlError> {
    let id = Id::from(command.id);
    db.all_or_nothing(|db| {
        if D::HAS_SEVERAL_WRITERS {
            // Operations that give the client tokens lock it. Once this lock is taken, their grants are there.
            HoldClient { id }.run(db)?;
            TellOfUsers { id }.run(db)?;
        }
        DeleteConsents { id }.run(db)?;
        DeleteOfEarlierRelease { id }.run(db)?;
        // A statement of its own: it sees the grants of the logins that the ones before waited for.
        DeleteGrants { id }.run(db)?;
        if (DeleteEmpty { id }).run(db)? == 0 {
            return Ok(false);
        }
        record(db, command.event.as_deref())?;
        Ok(true)
    })
}

statement! {
    /// A client that had another way to authenticate.
    FirstSecret<'a> { id: Id as Key, hash: &'a [u8] as Binary } = "\
        UPDATE clients SET secret_hash = :hash WHERE id = :id AND secret_hash IS NULL"
}

statement! {
    /// A client that has another way to authenticate now.
    NoSecrets { id: Id as Key } = "\
        UPDATE clients SET secret_hash = NULL, old_secret_hash = NULL, old_secret_expires_at = NULL \
        WHERE id = :id AND secret_hash IS NOT NULL"
}

statement! {
    ForgetSecrets { id: Id as Key } = "DELETE FROM client_secrets WHERE client_id = :id"
}

statement! {
    HoldClient { id: Id as Key },
    sqlite = "SELECT 1",
    postgres = "SELECT FROM clients WHERE id = :id FOR UPDATE"
}

statement! {
    /// The client that is deleted received these users' names, and that outlives the grants. A trigger does
    /// the same, but among several writers it would lock the users after the grants.
    TellOfUsers { id: Id as Key },
    sqlite = "SELECT 1",
    postgres = "\
        WITH known AS MATERIALIZED ( \
          SELECT id FROM users WHERE untold_since IS NOT NULL \
          AND id IN (SELECT user_id FROM grants WHERE client_id = :id AND redeemed_at IS NOT NULL) \
          ORDER BY id FOR NO KEY UPDATE \
        ) \
        UPDATE users SET untold_since = NULL FROM known WHERE users.id = known.id"
}

statement! {
    /// Waits for current logins at this client, except users' first ones there.
    DeleteConsents { id: Id as Key },
    sqlite = "DELETE FROM signed_consents WHERE client_id = :id",
    postgres = "\
        WITH given AS MATERIALIZED ( \
          SELECT user_id, destination, audiences FROM signed_consents WHERE client_id = :id \
          ORDER BY user_id, destination, audiences FOR UPDATE \
        ) \
        DELETE FROM signed_consents USING given \
        WHERE signed_consents.user_id = given.user_id AND client_id = :id \
          AND signed_consents.destination = given.destination AND signed_consents.audiences = given.audiences"
}

statement! {
    /// The previous release would still rely on them.
    DeleteOfEarlierRelease { id: Id as Key } = "DELETE FROM consents WHERE client_id = :id"
}

statement! {
    DeleteGrants { id: Id as Key } = "DELETE FROM grants WHERE client_id = :id"
}

statement! {
    DeleteEmpty { id: Id as Key } = "DELETE FROM clients WHERE id = :id"
}
