//! Groups are created, renamed for their operators, and deleted.

use countersign_domain::group::GroupTitle;
use countersign_ports::{CreateGroup, DeleteGroup, GroupCreated, RetitleGroup};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::statement::statement;

/// Guard: the name is free. A group of the same name and time is this command's own, from an earlier attempt.
pub(crate) fn create_group(
    connection: &mut SqliteConnection,
    command: &CreateGroup,
) -> Result<GroupCreated, SqliteError> {
    let (name, created_at) = (command.group.name.as_str(), micros(command.group.created_at));
    let title = command.group.title.as_ref().map(GroupTitle::as_str);
    if (StoreGroup { name, title, created_at }).execute(connection)? == 1 {
        record(connection, command.event.as_deref())?;
        return Ok(GroupCreated::Stored);
    }
    let is_repeated = IsThere { name, created_at }.get_result(connection)?;
    Ok(if is_repeated { GroupCreated::Stored } else { GroupCreated::NameTaken })
}

/// Returns whether the group exists.
pub(crate) fn retitle_group(
    connection: &mut SqliteConnection,
    command: &RetitleGroup,
) -> Result<bool, SqliteError> {
    let title = command.title.as_ref().map(GroupTitle::as_str);
    if (StoreTitle { title, name: command.group.as_str() }).execute(connection)? == 0 {
        return Ok(false);
    }
    record(connection, command.event.as_deref())?;
    Ok(true)
}

/// Returns whether the group existed.
pub(crate) fn delete_group(
    connection: &mut SqliteConnection,
    command: &DeleteGroup,
) -> Result<bool, SqliteError> {
    let name = command.name.as_str();
    DeleteUsers { name }.execute(connection)?;
    DeleteWallets { name }.execute(connection)?;
    if (DeleteEmpty { name }).execute(connection)? == 0 {
        return Ok(false);
    }
    record(connection, command.event.as_deref())?;
    Ok(true)
}

statement! {
    /// One row if the name was free, none otherwise.
    StoreGroup<'a> {
        name: &'a str as Text,
        title: Option<&'a str> as Nullable<Text>,
        created_at: i64 as BigInt,
    } = "\
        INSERT INTO user_groups (name, title, created_at) VALUES (:name, :title, :created_at) \
        ON CONFLICT (name) DO NOTHING"
}

statement! {
    IsThere<'a> {
        name: &'a str as Text,
        created_at: i64 as BigInt,
    } -> Bool = "\
        SELECT EXISTS (SELECT 1 FROM user_groups WHERE name = :name AND created_at = :created_at)"
}

statement! {
    StoreTitle<'a> {
        title: Option<&'a str> as Nullable<Text>,
        name: &'a str as Text,
    } = "UPDATE user_groups SET title = :title WHERE name = :name"
}

statement! {
    DeleteUsers<'a> {
        name: &'a str as Text,
    } = "DELETE FROM group_users WHERE group_name = :name"
}

statement! {
    DeleteWallets<'a> {
        name: &'a str as Text,
    } = "DELETE FROM group_wallets WHERE group_name = :name"
}

statement! {
    DeleteEmpty<'a> {
        name: &'a str as Text,
    } = "DELETE FROM user_groups WHERE name = :name"
}
