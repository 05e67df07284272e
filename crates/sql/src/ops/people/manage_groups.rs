//! Groups are created, renamed for their operators, and deleted.

use countersign_domain::group::GroupTitle;
use countersign_ports::{CreateGroup, DeleteGroup, GroupCreated, MembersGo, RetitleGroup};

use super::change_members::{change_all, in_order, unknown_user};
use crate::columns::{At, Bool, Moment, Nullable, Text};
use crate::database::Statement;
use crate::ops::events::record_event::{act_and_record, is_recorded, record};
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guard: the name is free. A repeated command is recognized by its event or, without one, by the time of the group.
pub fn create_group(db: &mut impl Database, command: &CreateGroup) -> Result<GroupCreated, SqlError> {
    let (name, created_at) = (command.group.name.as_str(), At(command.group.created_at));
    let title = command.group.title.as_ref().map(GroupTitle::as_str);
    let event = command.event.as_deref();
    let outcome = db.all_or_nothing(|db| {
        for (_, change) in in_order(&command.members) {
            if let Some(user) = unknown_user(db, change)? {
                return Err(Undone::Refused(GroupCreated::UserUnknown(user)));
            }
        }
        if (StoreGroup { name, title, created_at }).run(db)? == 0 {
            return Err(Undone::Refused(GroupCreated::NameTaken));
        }
        record(db, event)?;
        change_all(db, MembersGo::In, &command.members, command.text.as_deref())?;
        Ok(GroupCreated::Stored)
    })?;
    if outcome != GroupCreated::NameTaken {
        return Ok(outcome);
    }
    let is_repeated = match is_recorded(db, event)? {
        Some(is_recorded) => is_recorded,
        None => is_created(db, command)?,
    };
    Ok(if is_repeated { GroupCreated::Stored } else { GroupCreated::NameTaken })
}

/// Is it this command's group that has the name, with its time?
pub fn is_created(db: &mut impl Database, command: &CreateGroup) -> Result<bool, SqlError> {
    let (name, created_at) = (command.group.name.as_str(), At(command.group.created_at));
    IsGroupThere { name, created_at }.one(db)
}

/// Returns whether the group exists. The title that it has already changes nothing.
pub fn retitle_group(db: &mut impl Database, command: &RetitleGroup) -> Result<bool, SqlError> {
    let title = command.title.as_ref().map(GroupTitle::as_str);
    let (name, event) = (command.group.as_str(), command.event.as_deref());
    let is_changed = act_and_record(db, event, |db| Ok(StoreTitle { title, name }.run(db)? == 1))?;
    Ok(is_changed || IsNamed { name }.one(db)?)
}

/// The lock waits for members who are being added, and keeps others from being added. Returns whether the
/// group existed.
pub fn delete_group(db: &mut impl Database, command: &DeleteGroup) -> Result<bool, SqlError> {
    let name = command.name.as_str();
    db.all_or_nothing(|db| {
        let held: Option<String> = HoldGroup { name }.maybe(db)?;
        if held.is_none() {
            return Err(Undone::Refused(false));
        }
        DeleteUsers { name }.run(db)?;
        DeleteWallets { name }.run(db)?;
        DeleteEmpty { name }.run(db)?;
        record(db, command.event.as_deref())?;
        Ok(true)
    })
}

statement! {
    /// One row if the name was free, none otherwise.
    pub StoreGroup<'a> {
        name: &'a str as Text,
        title: Option<&'a str> as Nullable<Text>,
        created_at: At as Moment,
    } = "\
        INSERT INTO user_groups (name, title, created_at) VALUES (:name, :title, :created_at) \
        ON CONFLICT (name) DO NOTHING"
}

statement! {
    pub IsGroupThere<'a> { name: &'a str as Text, created_at: At as Moment } -> Bool = "\
        SELECT EXISTS (SELECT 1 FROM user_groups WHERE name = :name AND created_at = :created_at)"
}

statement! {
    /// One row if the title changes, none otherwise.
    pub StoreTitle<'a> { title: Option<&'a str> as Nullable<Text>, name: &'a str as Text },
    sqlite = "UPDATE user_groups SET title = :title WHERE name = :name AND title IS NOT :title",
    postgres = "UPDATE user_groups SET title = :title WHERE name = :name AND title IS DISTINCT FROM :title"
}

statement! {
    pub IsNamed<'a> { name: &'a str as Text } -> Bool = "\
        SELECT EXISTS (SELECT 1 FROM user_groups WHERE name = :name)"
}

statement! {
    pub HoldGroup<'a> { name: &'a str as Text } -> Text,
    sqlite = "SELECT name FROM user_groups WHERE name = :name",
    postgres = "SELECT name FROM user_groups WHERE name = :name FOR UPDATE"
}

statement! {
    /// In the order of their keys, because users who are deleted leave their groups at the same time.
    pub DeleteUsers<'a> { name: &'a str as Text },
    sqlite = "DELETE FROM group_users WHERE group_name = :name",
    postgres = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT user_id FROM group_users WHERE group_name = :name ORDER BY user_id FOR UPDATE \
        ) \
        DELETE FROM group_users USING theirs WHERE group_name = :name AND group_users.user_id = theirs.user_id"
}

statement! {
    pub DeleteWallets<'a> { name: &'a str as Text } = "DELETE FROM group_wallets WHERE group_name = :name"
}

statement! {
    pub DeleteEmpty<'a> { name: &'a str as Text } = "DELETE FROM user_groups WHERE name = :name"
}
