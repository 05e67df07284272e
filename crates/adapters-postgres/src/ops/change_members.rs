//! Users and wallets are put into groups and taken out.

use countersign_ports::{ChangeMember, Member, MemberAdded};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::transaction::act_and_record;
use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn add_member(connection: &mut PgConnection, command: &ChangeMember) -> OpResult<MemberAdded> {
    let is_new = |outcome: &MemberAdded| *outcome == MemberAdded::Added;
    act_and_record(connection, command.event.as_deref(), is_new, |connection| add(connection, command))
}

/// Returns whether it was a member.
pub(crate) fn remove_member(connection: &mut PgConnection, command: &ChangeMember) -> OpResult<bool> {
    let group = command.group.as_str();
    act_and_record(
        connection,
        command.event.as_deref(),
        |was_there| *was_there,
        |connection| {
            let removed = match &command.member {
                Member::User(user) => RemoveUser { group, user: user.as_uuid() }.execute(connection)?,
                Member::Wallet(wallet) => {
                    RemoveWallet { group, family: &wallet.family, address: &wallet.address }
                        .execute(connection)?
                }
            };
            Ok(removed == 1)
        },
    )
}

fn add(connection: &mut PgConnection, command: &ChangeMember) -> OpResult<MemberAdded> {
    let (group, now) = (command.group.as_str(), command.now);
    let (has_group, has_member, is_new): (bool, bool, bool) = match &command.member {
        Member::User(user) => AddUser { group, user: user.as_uuid(), now }.get_result(connection)?,
        Member::Wallet(wallet) => {
            let (family, chain, address) = (&*wallet.family, &*wallet.chain, &*wallet.address);
            AddWallet { group, family, chain, address, now }.get_result(connection)?
        }
    };
    Ok(match (has_group, has_member, is_new) {
        (_, _, true) => MemberAdded::Added,
        (true, true, false) => MemberAdded::AlreadyThere,
        (true, false, false) => MemberAdded::UserUnknown,
        (false, _, false) => MemberAdded::GroupUnknown,
    })
}

statement! {
    /// Is there such a group, such a user, and is the user a new member? Waits while the group or the user is
    /// being deleted, and keeps both until the commit.
    AddUser<'a> {
        group: &'a str as Text,
        user: Uuid as SqlUuid,
        now: OffsetDateTime as Timestamptz,
    } -> (Bool, Bool, Bool) = "\
        WITH held_group AS MATERIALIZED ( \
          SELECT name FROM user_groups WHERE name = :group FOR KEY SHARE \
        ), held_user AS MATERIALIZED ( \
          SELECT id FROM users WHERE id = :user AND EXISTS (SELECT FROM held_group) FOR KEY SHARE \
        ), added AS ( \
          INSERT INTO group_users (group_name, user_id, added_at) SELECT :group, id, :now FROM held_user \
          ON CONFLICT (group_name, user_id) DO NOTHING \
          RETURNING user_id \
        ) \
        SELECT EXISTS (SELECT FROM held_group), EXISTS (SELECT FROM held_user), EXISTS (SELECT FROM added)"
}

statement! {
    /// The same for a wallet, which need not be known.
    AddWallet<'a> {
        group: &'a str as Text,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        now: OffsetDateTime as Timestamptz,
    } -> (Bool, Bool, Bool) = "\
        WITH held_group AS MATERIALIZED ( \
          SELECT name FROM user_groups WHERE name = :group FOR KEY SHARE \
        ), added AS ( \
          INSERT INTO group_wallets (group_name, family, address, chain, added_at) \
          SELECT :group, :family, :address, :chain, :now FROM held_group \
          ON CONFLICT (group_name, family, address) DO NOTHING \
          RETURNING address \
        ) \
        SELECT EXISTS (SELECT FROM held_group), TRUE, EXISTS (SELECT FROM added)"
}

statement! {
    RemoveUser<'a> { group: &'a str as Text, user: Uuid as SqlUuid } = "\
        DELETE FROM group_users WHERE group_name = :group AND user_id = :user"
}

statement! {
    RemoveWallet<'a> { group: &'a str as Text, family: &'a str as Text, address: &'a str as Text } = "\
        DELETE FROM group_wallets WHERE group_name = :group AND family = :family AND address = :address"
}
