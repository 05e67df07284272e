//! Changes of a client that are carried out only if it is as it was read.
//!
//! Among several writers, a lock keeps it so from the comparison until the commit.

use countersign_ports::{ClientChange, IfClientUnchanged};

use super::client_table::{ClientTable, lock_client};
use super::{change_access, change_resources, client_secrets, manage_clients};
use crate::SqlError;

/// Guard: the client is as it was read. Returns whether it was, and the change was made.
pub fn if_client_unchanged(db: &mut impl ClientTable, command: &IfClientUnchanged) -> Result<bool, SqlError> {
    db.all_or_nothing(|db| {
        if lock_client(db, command.read.id)?.as_ref() != Some(&command.read) {
            return Ok(false);
        }
        let changed = match &command.change {
            ClientChange::Update(change) => manage_clients::update_client(db, change),
            ClientChange::Resources(change) => change_resources::change_resources(db, change),
            ClientChange::Access(change) => change_access::change_access(db, change),
            ClientChange::Secret(change) => client_secrets::rotate_secret(db, change),
            ClientChange::Delete(change) => manage_clients::delete_client(db, change),
        };
        Ok(changed?)
    })
}
