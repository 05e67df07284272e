//! Users and wallets are put into groups and taken out.

use countersign_ports::{ChangeMember, Member, MemberAdded};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Text};

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::statement::statement;

/// Puts a member into a group.
#[derive(Clone, Debug)]
pub(crate) struct AddMember(pub(crate) ChangeMember);

/// Takes a member out of a group.
#[derive(Clone, Debug)]
pub(crate) struct RemoveMember(pub(crate) ChangeMember);

/// Guards: the group exists, and so does a user. The single writer keeps them true until the commit.
pub(crate) fn add_member(
    connection: &mut SqliteConnection,
    AddMember(command): &AddMember,
) -> Result<MemberAdded, SqliteError> {
    let (group, now) = (command.group.as_str(), micros(command.now));
    if !(HasGroup { group }).get_result::<bool>(connection)? {
        return Ok(MemberAdded::GroupUnknown);
    }
    let added = match &command.member {
        Member::User(user) => {
            let user = user.as_uuid();
            if !(HasUser { user: user.as_bytes() }).get_result::<bool>(connection)? {
                return Ok(MemberAdded::UserUnknown);
            }
            AddUser { group, user: user.as_bytes(), now }.execute(connection)?
        }
        Member::Wallet(wallet) => {
            let (family, chain, address) = (&*wallet.family, &*wallet.chain, &*wallet.address);
            AddWallet { group, family, chain, address, now }.execute(connection)?
        }
    };
    if added == 0 {
        return Ok(MemberAdded::AlreadyThere);
    }
    record(connection, command.event.as_deref())?;
    Ok(MemberAdded::Added)
}

/// Returns whether it was a member.
pub(crate) fn remove_member(
    connection: &mut SqliteConnection,
    RemoveMember(command): &RemoveMember,
) -> Result<bool, SqliteError> {
    let group = command.group.as_str();
    let removed = match &command.member {
        Member::User(user) => RemoveUser { group, user: user.as_uuid().as_bytes() }.execute(connection)?,
        Member::Wallet(wallet) => {
            RemoveWallet { group, family: &wallet.family, address: &wallet.address }.execute(connection)?
        }
    };
    if removed == 0 {
        return Ok(false);
    }
    record(connection, command.event.as_deref())?;
    Ok(true)
}

statement! {
    HasGroup<'a> {
        group: &'a str as Text,
    } -> Bool = "SELECT EXISTS (SELECT 1 FROM user_groups WHERE name = :group)"
}

statement! {
    HasUser<'a> {
        user: &'a [u8] as Binary,
    } -> Bool = "SELECT EXISTS (SELECT 1 FROM users WHERE id = :user)"
}

statement! {
    AddUser<'a> {
        group: &'a str as Text,
        user: &'a [u8] as Binary,
        now: i64 as BigInt,
    } = "\
        INSERT INTO group_users (group_name, user_id, added_at) VALUES (:group, :user, :now) \
        ON CONFLICT (group_name, user_id) DO NOTHING"
}

statement! {
    AddWallet<'a> {
        group: &'a str as Text,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        now: i64 as BigInt,
    } = "\
        INSERT INTO group_wallets (group_name, family, address, chain, added_at) \
        VALUES (:group, :family, :address, :chain, :now) \
        ON CONFLICT (group_name, family, address) DO NOTHING"
}

statement! {
    RemoveUser<'a> {
        group: &'a str as Text,
        user: &'a [u8] as Binary,
    } = "DELETE FROM group_users WHERE group_name = :group AND user_id = :user"
}

statement! {
    RemoveWallet<'a> {
        group: &'a str as Text,
        family: &'a str as Text,
        address: &'a str as Text,
    } = "DELETE FROM group_wallets WHERE group_name = :group AND family = :family AND address = :address"
}
