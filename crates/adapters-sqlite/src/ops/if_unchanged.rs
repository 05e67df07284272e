//! Changes that are carried out only if what they change is as it was read.
//!
//! The single writer keeps it so until the commit.

use countersign_ports::{
    ClientChange, DeclarationChange, GroupChange, IfClientUnchanged, IfGroupUnchanged, IfResourceUnchanged,
    ResourceUpdated,
};
use diesel::prelude::*;

use super::{
    change_access, change_resources, client_secrets, manage_clients, manage_groups, read, read_groups,
    resources,
};
use crate::error::SqliteError;

/// Guard: the client is as it was read. Returns whether it was, and the change was made.
pub(crate) fn if_client_unchanged(
    connection: &mut SqliteConnection,
    command: &IfClientUnchanged,
) -> Result<bool, SqliteError> {
    if read::find_client(connection, command.read.id)?.as_ref() != Some(&command.read) {
        return Ok(false);
    }
    match &command.change {
        ClientChange::Update(change) => manage_clients::update_client(connection, change),
        ClientChange::Resources(change) => change_resources::change_resources(connection, change),
        ClientChange::Access(change) => change_access::change_access(connection, change),
        ClientChange::Secret(change) => client_secrets::rotate_secret(connection, change),
        ClientChange::Delete(change) => manage_clients::delete_client(connection, change),
    }
}

/// Guard: the group is as it was read. Returns whether it was, and the change was made.
pub(crate) fn if_group_unchanged(
    connection: &mut SqliteConnection,
    command: &IfGroupUnchanged,
) -> Result<bool, SqliteError> {
    let name = &command.read.group.name;
    if read_groups::find_group(connection, name)?.as_ref() != Some(&command.read) {
        return Ok(false);
    }
    match &command.change {
        GroupChange::Retitle(change) => manage_groups::retitle_group(connection, change),
        GroupChange::Delete(change) => manage_groups::delete_group(connection, change),
    }
}

/// Guard: the resource is as it was read.
pub(crate) fn if_resource_unchanged(
    connection: &mut SqliteConnection,
    command: &IfResourceUnchanged,
) -> Result<ResourceUpdated, SqliteError> {
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
}
