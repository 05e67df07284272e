//! Groups are created, renamed for their operators, and deleted.

use countersign_domain::group::GroupTitle;
use countersign_ports::{CreateGroup, DeleteGroup, GroupCreated, RetitleGroup};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text, Timestamptz};
use time::OffsetDateTime;

use super::record_event::record;
use super::transaction::{Undone, act_and_record, all_or_nothing};
use crate::error::OpResult;
use crate::statement::statement;

/// Guard: the name is free. A group of the same name and time is this command's own, from an earlier attempt.
pub(crate) fn create_group(connection: &mut PgConnection, command: &CreateGroup) -> OpResult<GroupCreated> {
    let (name, created_at) = (command.group.name.as_str(), command.group.created_at);
    let title = command.group.title.as_ref().map(GroupTitle::as_str);
    let is_new = act_and_record(
        connection,
        command.event.as_deref(),
        |is_new| *is_new,
        |connection| Ok(StoreGroup { name, title, created_at }.execute(connection)? == 1),
    )?;
    if is_new {
        return Ok(GroupCreated::Stored);
    }
    let is_repeated = IsThere { name, created_at }.get_result(connection)?;
    Ok(if is_repeated { GroupCreated::Stored } else { GroupCreated::NameTaken })
}

/// Returns whether the group exists.
pub(crate) fn retitle_group(connection: &mut PgConnection, command: &RetitleGroup) -> OpResult<bool> {
    let title = command.title.as_ref().map(GroupTitle::as_str);
    act_and_record(
        connection,
        command.event.as_deref(),
        |was_there| *was_there,
        |connection| Ok(StoreTitle { title, name: command.group.as_str() }.execute(connection)? == 1),
    )
}

/// The lock waits for members who are being added, and keeps others from being added. Returns whether the
/// group existed.
pub(crate) fn delete_group(connection: &mut PgConnection, command: &DeleteGroup) -> OpResult<bool> {
    let name = command.name.as_str();
    all_or_nothing(connection, |connection| {
        let locked: Option<String> = LockGroup { name }.get_result(connection).optional()?;
        if locked.is_none() {
            return Err(Undone::Refused(false));
        }
        DeleteUsers { name }.execute(connection)?;
        DeleteWallets { name }.execute(connection)?;
        DeleteEmpty { name }.execute(connection)?;
        record(connection, command.event.as_deref())?;
        Ok(true)
    })
}

statement! {
    /// One row if the name was free, none otherwise.
    StoreGroup<'a> {
        name: &'a str as Text,
        title: Option<&'a str> as Nullable<Text>,
        created_at: OffsetDateTime as Timestamptz,
    } = "\
        INSERT INTO user_groups (name, title, created_at) VALUES (:name, :title, :created_at) \
        ON CONFLICT (name) DO NOTHING"
}

statement! {
    IsThere<'a> { name: &'a str as Text, created_at: OffsetDateTime as Timestamptz } -> Bool = "\
        SELECT EXISTS (SELECT FROM user_groups WHERE name = :name AND created_at = :created_at)"
}

statement! {
    StoreTitle<'a> { title: Option<&'a str> as Nullable<Text>, name: &'a str as Text } = "\
        UPDATE user_groups SET title = :title WHERE name = :name"
}

statement! {
    LockGroup<'a> { name: &'a str as Text } -> Text = "\
        SELECT name FROM user_groups WHERE name = :name FOR UPDATE"
}

statement! {
    /// In the order of their keys, because users who are deleted leave their groups at the same time.
    DeleteUsers<'a> { name: &'a str as Text } = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT user_id FROM group_users WHERE group_name = :name ORDER BY user_id FOR UPDATE \
        ) \
        DELETE FROM group_users USING theirs WHERE group_name = :name AND group_users.user_id = theirs.user_id"
}

statement! {
    DeleteWallets<'a> { name: &'a str as Text } = "DELETE FROM group_wallets WHERE group_name = :name"
}

statement! {
    DeleteEmpty<'a> { name: &'a str as Text } = "DELETE FROM user_groups WHERE name = :name"
}
