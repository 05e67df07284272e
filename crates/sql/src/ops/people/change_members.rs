//! Users and wallets are put into groups and taken out.

use countersign_domain::declaration::DeclaredThing;
use countersign_domain::event::Event;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_ports::{ChangeMember, ChangeMembers, ForgetDeclarations, MembersChanged, MembersGo};

use super::declarations::forget_declarations;
use crate::columns::{At, Id, Key, Moment, StoredId, Text};
use crate::database::Statement;
use crate::ops::events::record_event::record;
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guards, for those who go in: the group exists, and so does a user. They are kept so until the commit.
pub fn change_members(db: &mut impl Database, command: &ChangeMembers) -> Result<MembersChanged, SqlError> {
    let ChangeMembers { way, changes, event } = command;
    db.all_or_nothing(|db| {
        let going_in = if *way == MembersGo::In { changes.as_slice() } else { &[] };
        for (_, change) in in_order(going_in) {
            let held: Option<String> = HoldGroup { group: change.group.as_str() }.maybe(db)?;
            if held.is_none() {
                return Err(Undone::Refused(MembersChanged::GroupUnknown(change.group.clone())));
            }
            if let Some(user) = unknown_user(db, change)? {
                return Err(Undone::Refused(MembersChanged::UserUnknown(user)));
            }
        }
        Ok(MembersChanged::Changed(change_all(db, *way, changes, event.as_deref())?))
    })
}

/// The changes with their places, in an order that all callers have: of two with the same members one waits for the other.
pub(super) fn in_order(changes: &[ChangeMember]) -> Vec<(usize, &ChangeMember)> {
    let mut in_order: Vec<(usize, &ChangeMember)> = changes.iter().enumerate().collect();
    in_order.sort_by_cached_key(|(_, change)| (change.group.clone(), change.member.to_string()));
    in_order
}

/// Guard: the user exists, and is kept until the commit. Returns the one that does not. A wallet need not be known.
pub(super) fn unknown_user(
    db: &mut impl Database,
    change: &ChangeMember,
) -> Result<Option<UserId>, SqlError> {
    let Subject::User(user) = change.member else { return Ok(None) };
    let held: Option<StoredId> = HoldUser { user: user.into() }.maybe(db)?;
    Ok(held.is_none().then_some(user))
}

/// Within a transaction, after the guards: says of each member whether it changed.
pub(super) fn change_all(
    db: &mut impl Database,
    way: MembersGo,
    changes: &[ChangeMember],
    event: Option<&Event>,
) -> Result<Vec<bool>, SqlError> {
    let mut changed = vec![false; changes.len()];
    for (place, change) in in_order(changes) {
        let is_changed = match way {
            MembersGo::In => add_member(db, change)?,
            MembersGo::Out => remove_member(db, change)?,
        };
        if let Some(of_change) = changed.get_mut(place) {
            *of_change = is_changed;
        }
    }
    if changed.contains(&true) {
        record(db, event)?;
    }
    Ok(changed)
}

/// Returns whether it was no member.
fn add_member(db: &mut impl Database, change: &ChangeMember) -> Result<bool, SqlError> {
    let (group, now) = (change.group.as_str(), At(change.now));
    let added = match &change.member {
        Subject::User(user) => AddUser { group, user: (*user).into(), now }.run(db)?,
        Subject::Wallet(wallet) => {
            let (family, chain, address) = (&*wallet.family, &*wallet.chain, &*wallet.address);
            AddWallet { group, family, chain, address, now }.run(db)?
        }
    };
    if added == 0 {
        return Ok(false);
    }
    record(db, change.event.as_deref())?;
    Ok(true)
}

/// Returns whether it was a member.
fn remove_member(db: &mut impl Database, change: &ChangeMember) -> Result<bool, SqlError> {
    let group = change.group.as_str();
    let removed = match &change.member {
        Subject::User(user) => RemoveUser { group, user: (*user).into() }.run(db)?,
        Subject::Wallet(wallet) => {
            RemoveWallet { group, family: &wallet.family, address: &wallet.address }.run(db)?
        }
    };
    if removed == 0 {
        return Ok(false);
    }
    let things = vec![DeclaredThing::member_of(&change.group, &change.member)];
    forget_declarations(db, &ForgetDeclarations { things })?;
    record(db, change.event.as_deref())?;
    Ok(true)
}

statement! {
    /// Waits while the group is being deleted, and keeps it until the commit.
    pub(super) HoldGroup<'a> { group: &'a str as Text } -> Text,
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
    pub(super) AddWallet<'a> {
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
