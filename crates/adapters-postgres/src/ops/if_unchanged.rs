//! Changes that are carried out only if what they change is as it was read.
//!
//! A lock keeps it so from the comparison until the commit.

use countersign_domain::client::Client;
use countersign_ports::{
    ClientChange, DeclarationChange, GroupChange, IfClientUnchanged, IfGroupUnchanged, IfResourceUnchanged,
    ResourceUpdated,
};
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::transaction::{Undone, all_or_nothing};
use super::{
    change_access, change_resources, client_secrets, manage_clients, manage_groups, read_groups, resources,
};
use crate::error::OpResult;
use crate::rows::client::ClientRow;
use crate::schema::clients;
use crate::statement::statement;

/// Guard: the client is as it was read. Returns whether it was, and the change was made.
pub(crate) fn if_client_unchanged(
    connection: &mut PgConnection,
    command: &IfClientUnchanged,
) -> OpResult<bool> {
    all_or_nothing(connection, |connection| {
        let client = clients::table.find(command.read.id.as_uuid()).select(ClientRow::as_select());
        let row: Option<ClientRow> = client.for_update().get_result(connection).optional()?;
        let present = row.map(Client::try_from).transpose().map_err(|error| Undone::Failed(error.into()))?;
        if present.as_ref() != Some(&command.read) {
            return Ok(false);
        }
        let changed = match &command.change {
            ClientChange::Update(change) => manage_clients::update_client(connection, change),
            ClientChange::Resources(change) => change_resources::change_resources(connection, change),
            ClientChange::Access(change) => change_access::change_access(connection, change),
            ClientChange::Secret(change) => client_secrets::rotate_secret(connection, change),
            ClientChange::Delete(change) => manage_clients::delete_client(connection, change),
        };
        changed.map_err(Undone::Failed)
    })
}

/// Guard: the group is as it was read. Returns whether it was, and the change was made.
pub(crate) fn if_group_unchanged(
    connection: &mut PgConnection,
    command: &IfGroupUnchanged,
) -> OpResult<bool> {
    let name = &command.read.group.name;
    all_or_nothing(connection, |connection| {
        LockGroup { name: name.as_str() }.execute(connection)?;
        // A statement of its own: it sees the members whom the lock waited for.
        let present = read_groups::find_group(connection, name).map_err(Undone::Failed)?;
        if present.as_ref() != Some(&command.read) {
            return Ok(false);
        }
        let changed = match &command.change {
            GroupChange::Retitle(change) => manage_groups::retitle_group(connection, change),
            GroupChange::Delete(change) => manage_groups::delete_group(connection, change),
        };
        changed.map_err(Undone::Failed)
    })
}

/// Guard: the resource is as it was read.
pub(crate) fn if_resource_unchanged(
    connection: &mut PgConnection,
    command: &IfResourceUnchanged,
) -> OpResult<ResourceUpdated> {
    resources::in_turn(connection, |connection| {
        if resources::find(connection, &command.read.uri)?.as_ref() != Some(&command.read) {
            return Ok(ResourceUpdated::Unknown);
        }
        match &command.change {
            DeclarationChange::Update(change) => resources::update_resource(connection, change),
            DeclarationChange::Delete(change) => Ok(match resources::delete_resource(connection, change)? {
                true => ResourceUpdated::Stored,
                false => ResourceUpdated::Unknown,
            }),
        }
    })
}

statement! {
    LockGroup<'a> { name: &'a str as Text } = "SELECT FROM user_groups WHERE name = :name FOR UPDATE"
}
