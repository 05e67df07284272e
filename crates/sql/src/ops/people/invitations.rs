//! Invitations are created, accepted and revoked.

use countersign_domain::group::GroupName;
use countersign_domain::id::{InvitationId, UserId};
use countersign_domain::invitation::{Invitation, InvitationState, InvitationUse};
use countersign_domain::person_name::PersonName;
use countersign_domain::secret::SecretHash;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AcceptInvitation, CameBy, CreateInvitation, InvitationAccepted, InvitationCreated, RevokeInvitation,
};
use uuid::Uuid;

use super::change_members::{AddWallet, HoldGroup};
use super::read_groups::memberships_of;
use crate::columns::{At, BigInt, Binary, Bool, Id, Key, Moment, Text};
use crate::database::Statement;
use crate::ops::accounts::wallets::{are_blocked, under_lock_of_owner};
use crate::ops::events::record_event::{act_and_record, record};
use crate::rows::invitation::{
    InvitationRow, InvitationSql, StoredInvitation, UseRow, UseSql, invitation_columns,
};
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guard: the group exists, and is kept until the commit. A repeated command is recognized by the id.
pub fn create_invitation(
    db: &mut impl Database,
    command: &CreateInvitation,
) -> Result<InvitationCreated, SqlError> {
    let CreateInvitation { invitation, event } = command;
    db.all_or_nothing(|db| {
        let held: Option<String> = HoldGroup { group: invitation.group.as_str() }.maybe(db)?;
        if held.is_none() {
            return Err(Undone::Refused(InvitationCreated::GroupUnknown));
        }
        if (StoreInvitation { invitation: InvitationRow::from(invitation) }).run(db)? == 1 {
            record(db, event.as_deref())?;
        }
        Ok(InvitationCreated::Stored)
    })
}

pub fn revoke_invitation(db: &mut impl Database, command: &RevokeInvitation) -> Result<bool, SqlError> {
    act_and_record(db, command.event.as_deref(), |db| {
        Ok(Revoke { id: command.id.into(), now: At(command.now) }.run(db)? == 1)
    })
}

/// Under the lock of the wallet's user, so that neither a block nor the deletion of the account comes in between. Others who
/// use the invitation at the same time wait at its row.
pub fn accept_invitation(
    db: &mut impl Database,
    command: &AcceptInvitation,
) -> Result<InvitationAccepted, SqlError> {
    under_lock_of_owner(db, &command.wallet, |db, owner| accept(db, command, owner))
}

fn accept(
    db: &mut impl Database,
    command: &AcceptInvitation,
    owner: Option<UserId>,
) -> Result<InvitationAccepted, SqlError> {
    let AcceptInvitation { invitation: accepted, wallet, now, event } = command;
    let WalletAccount { family, chain, address } = wallet;
    let group = accepted.group.as_str();
    let held: Option<String> = HoldGroup { group }.maybe(db)?;
    let found: Option<StoredInvitation> = HoldInvitation { id: accepted.id.into() }.maybe(db)?;
    let Some(found) = held.and(found).map(Invitation::try_from).transpose()? else {
        return Ok(InvitationAccepted::Unknown);
    };
    if found.group != accepted.group {
        return Ok(InvitationAccepted::Unknown);
    }
    // No user has the nil UUID.
    let user = owner.unwrap_or_else(|| UserId::from_uuid(Uuid::nil()));
    if are_blocked(db, user, wallet, wallet)?.0 {
        return Ok(InvitationAccepted::Blocked);
    }
    let is_member = match owner {
        Some(user) => memberships_of(db, user)?.iter().any(|membership| membership.group == accepted.group),
        None => IsWalletIn { group, family, address }.one(db)?,
    };
    if is_member {
        return Ok(InvitationAccepted::AlreadyMember);
    }
    match found.state(*now) {
        InvitationState::Open => {}
        ended @ (InvitationState::Used | InvitationState::Expired | InvitationState::Revoked) => {
            return Ok(InvitationAccepted::Ended(ended));
        }
    }
    let (id, at) = (Id::from(accepted.id), At(*now));
    AddWallet { group, family, chain, address, now: at }.run(db)?;
    StoreUse { id, family, chain, address, now: at }.run(db)?;
    CountUse { id }.run(db)?;
    if let Some(name) = &found.name {
        let (folded, name) = (name.folded(), PersonName::as_str(name));
        NameIfUnnamed { family, chain, address, name, folded, user: user.into() }.run(db)?;
    }
    record(db, event.as_deref())?;
    Ok(InvitationAccepted::Joined)
}

pub fn find_invitation_by_hash(
    db: &mut impl Database,
    hash: SecretHash,
) -> Result<Option<Invitation>, SqlError> {
    let row: Option<StoredInvitation> = FindByHash { hash: hash.as_bytes() }.maybe(db)?;
    row.map(Invitation::try_from).transpose()
}

pub fn find_invitation(db: &mut impl Database, id: InvitationId) -> Result<Option<Invitation>, SqlError> {
    let row: Option<StoredInvitation> = FindInvitation { id: id.into() }.maybe(db)?;
    row.map(Invitation::try_from).transpose()
}

pub fn list_invitations(
    db: &mut impl Database,
    group: Option<&GroupName>,
    before: Option<InvitationId>,
    limit: u32,
) -> Result<Vec<Invitation>, SqlError> {
    let before = Id(before.map_or(Uuid::max(), |before| before.as_uuid()));
    let limit = limit.into();
    let rows: Vec<StoredInvitation> = match group {
        Some(group) => ListOfGroup { group: group.as_str(), before, limit }.all(db)?,
        None => ListInvitations { before, limit }.all(db)?,
    };
    rows.into_iter().map(Invitation::try_from).collect()
}

pub fn uses_of_invitation(
    db: &mut impl Database,
    id: InvitationId,
    limit: u32,
) -> Result<Vec<InvitationUse>, SqlError> {
    let rows: Vec<UseRow> = UsesOf { id: id.into(), limit: limit.into() }.all(db)?;
    rows.into_iter().map(InvitationUse::try_from).collect()
}

pub fn invitations_of(db: &mut impl Database, user: UserId) -> Result<Vec<CameBy>, SqlError> {
    db.snapshot(|db| {
        let rows: Vec<UseRow> = UsesOfUser { user: user.into() }.all(db)?;
        let mut all = Vec::with_capacity(rows.len());
        for row in rows {
            let invitation = find_invitation(db, row.invitation()?)?;
            let used = InvitationUse::try_from(row)?;
            all.extend(invitation.map(|invitation| CameBy { used, invitation }));
        }
        Ok(all)
    })
}

statement! {
    /// One row if the id is free, none otherwise.
    pub StoreInvitation<'a> {
        ..invitation: InvitationRow<'a>,
    } = "INSERT INTO invitations (:invitation.columns) VALUES (:invitation.values) ON CONFLICT (id) DO NOTHING"
}

statement! {
    pub Revoke { id: Id as Key, now: At as Moment } = "\
        UPDATE invitations SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL"
}

statement! {
    /// Waits for others who use it.
    pub HoldInvitation { id: Id as Key } -> InvitationSql,
    sqlite = concat!("SELECT ", invitation_columns!(), " FROM invitations WHERE id = :id"),
    postgres = concat!("SELECT ", invitation_columns!(), " FROM invitations WHERE id = :id FOR UPDATE")
}

statement! {
    pub IsWalletIn<'a> { group: &'a str as Text, family: &'a str as Text, address: &'a str as Text } -> Bool = "\
        SELECT EXISTS ( \
          SELECT 1 FROM group_wallets WHERE group_name = :group AND family = :family AND address = :address \
        )"
}

statement! {
    /// A wallet that left the group and comes back by the same invitation is counted again, and listed once.
    pub StoreUse<'a> {
        id: Id as Key,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        now: At as Moment,
    } = "\
        INSERT INTO invitation_uses (invitation_id, family, chain, address, used_at) \
        VALUES (:id, :family, :chain, :address, :now) \
        ON CONFLICT (invitation_id, family, address) DO NOTHING"
}

statement! {
    pub CountUse { id: Id as Key } = "UPDATE invitations SET used = used + 1 WHERE id = :id"
}

statement! {
    /// One row if neither the wallet nor its user had a name.
    pub NameIfUnnamed<'a> {
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        name: &'a str as Text,
        folded: String as Text,
        user: Id as Key,
    },
    sqlite = "\
        INSERT INTO named_wallets (family, address, chain, name, folded) \
        SELECT :family, :address, :chain, :name, :folded \
        WHERE NOT EXISTS (SELECT 1 FROM named_users WHERE user_id = :user) \
        ON CONFLICT (family, address) DO NOTHING",
    postgres = "\
        INSERT INTO named_wallets (family, address, chain, name, folded) \
        SELECT :family, :address, :chain, :name, :folded \
        WHERE NOT EXISTS (SELECT FROM named_users WHERE user_id = :user) \
        ON CONFLICT (family, address) DO NOTHING"
}

statement! {
    pub FindByHash<'a> { hash: &'a [u8] as Binary } -> InvitationSql = concat!("SELECT ", invitation_columns!(), " FROM invitations WHERE hash = :hash")
}

statement! {
    pub FindInvitation { id: Id as Key } -> InvitationSql = concat!("SELECT ", invitation_columns!(), " FROM invitations WHERE id = :id")
}

statement! {
    pub ListInvitations { before: Id as Key, limit: i64 as BigInt } -> InvitationSql = concat!("SELECT ", invitation_columns!(), " FROM invitations WHERE id < :before ORDER BY id DESC LIMIT :limit")
}

statement! {
    pub ListOfGroup<'a> { group: &'a str as Text, before: Id as Key, limit: i64 as BigInt } -> InvitationSql = concat!("SELECT ", invitation_columns!(), " FROM invitations WHERE group_name = :group AND id < :before ORDER BY id DESC LIMIT :limit")
}

statement! {
    pub UsesOf { id: Id as Key, limit: i64 as BigInt } -> UseSql = "\
        SELECT invitation_id, family, chain, address, used_at FROM invitation_uses \
        WHERE invitation_id = :id ORDER BY family, address LIMIT :limit"
}

statement! {
    pub UsesOfUser { user: Id as Key } -> UseSql,
    sqlite = "\
        SELECT invitation_id, used.family, used.chain, used.address, used_at \
        FROM wallets CROSS JOIN invitation_uses AS used \
        ON used.family = wallets.family AND used.address = wallets.address \
        WHERE wallets.user_id = :user ORDER BY used_at, invitation_id",
    postgres = "\
        SELECT used.invitation_id, used.family, used.chain, used.address, used.used_at \
        FROM wallets CROSS JOIN LATERAL ( \
          SELECT * FROM invitation_uses \
          WHERE invitation_uses.family = wallets.family COLLATE \"C\" \
            AND invitation_uses.address = wallets.address COLLATE \"C\" OFFSET 0 \
        ) AS used \
        WHERE wallets.user_id = :user ORDER BY used.used_at, used.invitation_id"
}
