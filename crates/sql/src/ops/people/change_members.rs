//! Users and wallets are put into groups and taken out.

use countersign_domain::declaration::DeclaredThing;
use countersign_domain::subject::Subject;
use countersign_ports::{ChangeMember, ForgetDeclarations, MemberAdded};

use super::declarations::forget_declarations;
use crate::columns::{At, Id, Key, Moment, StoredId, Text};
use crate::database::Statement;
use crate::ops::events::record_event::record;
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guards: the group exists, and so does a user. They are kept so until the commit.
pub fn add_member(db: &mut impl Database, command: &ChangeMember) -> Result<MemberAdded, SqlError> {
    let (group, now) = (command.group.as_str(), At(command.now));
    db.all_or_nothing(|db| {
        let held: Option<String> = HoldGroup { group }.maybe(db)?;
        if held.is_none() {
            return Err(Undone::Refused(MemberAdded::GroupUnknown));
        }
        let added = match &command.member {
            Subject::User(user) => {
                let user = Id::from(*user);
                let held: Option<StoredId> = HoldUser { user }.maybe(db)?;
                if held.is_none() {
                    return Err(Undone::Refused(MemberAdded::UserUnknown));
                }
                AddUser { group, user, now }.run(db)?
            }
            // A wallet need not be known.
            Subject::Wallet(wallet) => {
                let (family, chain, address) = (&*wallet.family, &*wallet.chain, &*wallet.address);
                AddWallet { group, family, chain, address, now }.run(db)?
            }
        };
        if added == 0 {
            return Ok(MemberAdded::AlreadyThere);
        }
        record(db, command.event.as_deref())?;
        Ok(MemberAdded::Added)
    })
}

/// Returns whether it was a member.
pub fn remove_member(db: &mut impl Database, command: &ChangeMember) -> Result<bool, SqlError> {
    let group = command.group.as_str();
    db.all_or_nothing(|db| {
        let removed = match &command.member {
            Subject::User(user) => RemoveUser { group, user: (*user).into() }.run(db)?,
            Subject::Wallet(wallet) => {
                RemoveWallet { group, family: &wallet.family, address: &wallet.address }.run(db)?
            }
        };
        if removed == 0 {
            return Ok(false);
        }
        let things = vec![DeclaredThing::member_of(&command.group, &command.member)];
        forget_declarations(db, &ForgetDeclarations { things })?;
        record(db, command.event.as_deref())?;
        Ok(true)
    })
}

statement! {
    /// Waits while the group is being deleted, and keeps it until the commit.
    HoldGroup<'a> { group: &'a str as Text } -> Text,
    sqlite = "SELECT name FROM user_groups WHERE name = :group",
    postgres = "SELECT name FROM user_groups WHERE name = :group FOR KEY SHARE"
}

statement! {
    /// The same for a user.
    HoldUser { user: Id as Key } -> Key,
    sqlite = "SELECT id FROM users WHERE id = :user",
    postgres = "SELECT id FROM users WHERE id = :user FOR KEY SHARE"
}

statement! {
    AddUser<'a> { group: &'a str as Text, user: Id as Key, now: At as Moment } = "\
        INSERT INTO group_users (group_name, user_id, added_at) VALUES (:group, :user, :now) \
        ON CONFLICT (group_name, user_id) DO NOTHING"
}

statement! {
    AddWallet<'a> {
        group: &'a str as Text,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        now: At as Moment,
    } = "\
        INSERT INTO group_wallets (group_name, family, address, chain, added_at) \
        VALUES (:group, :family, :address, :chain, :now) \
        ON CONFLICT (group_name, family, address) DO NOTHING"
}

statement! {
    RemoveUser<'a> { group: &'a str as Text, user: Id as Key } = "\
        DELETE FROM group_users WHERE group_name = :group AND user_id = :user"
}

statement! {
    RemoveWallet<'a> { group: &'a str as Text, family: &'a str as Text, address: &'a str as Text } = "\
        DELETE FROM group_wallets WHERE group_name = :group AND family = :family AND address = :address"
}
