//! Invitations into groups.

use async_trait::async_trait;
use countersign_domain::group::GroupName;
use countersign_domain::id::{InvitationId, UserId};
use countersign_domain::invitation::{Invitation, InvitationState, InvitationUse};
use countersign_domain::secret::SecretHash;
use countersign_ports::{
    AcceptInvitation, CameBy, CreateInvitation, InvitationAccepted, InvitationCreated, InvitationStore,
    RevokeInvitation, StoreError,
};
use time::OffsetDateTime;

use super::groups::MemberRow;
use super::people::NamedRow;
use super::wallets::{account_of, key_of};
use super::{MemoryStorage, Tables, count};

/// A wallet that came in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InvitedRow {
    chain: String,
    used_at: OffsetDateTime,
}

#[async_trait]
impl InvitationStore for MemoryStorage {
    async fn create_invitation(&self, command: CreateInvitation) -> Result<InvitationCreated, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let invitation = command.invitation;
        if !tables.groups.contains_key(&invitation.group) {
            return Ok(InvitationCreated::GroupUnknown);
        }
        if !tables.invitations.contains_key(&invitation.id) {
            tables.record(command.event)?;
            tables.invitations.insert(invitation.id, invitation);
        }
        Ok(InvitationCreated::Stored)
    }

    async fn revoke_invitation(&self, command: RevokeInvitation) -> Result<bool, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let open = tables.invitations.get_mut(&command.id).filter(|found| found.revoked_at.is_none());
        let Some(invitation) = open else { return Ok(false) };
        invitation.revoked_at = Some(command.now);
        tables.record(command.event)?;
        Ok(true)
    }

    async fn accept_invitation(&self, command: AcceptInvitation) -> Result<InvitationAccepted, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let AcceptInvitation { invitation: accepted, wallet, now, event } = command;
        let found = tables.invitations.get(&accepted.id).filter(|found| found.group == accepted.group);
        let Some(invitation) = found.cloned() else { return Ok(InvitationAccepted::Unknown) };
        let (key, owner) = (key_of(&wallet), tables.owner_of(&wallet));
        if tables.is_wallet_blocked(&wallet)
            || owner.is_some_and(|user| tables.blocked_users.contains_key(&user))
        {
            return Ok(InvitationAccepted::Blocked);
        }
        let place = (accepted.group.clone(), key.clone());
        let is_member = match owner {
            Some(user) => tables.groups_of(user).contains(&accepted.group),
            None => tables.group_wallets.contains_key(&place),
        };
        if is_member {
            return Ok(InvitationAccepted::AlreadyMember);
        }
        match invitation.state(now) {
            InvitationState::Open => {}
            ended @ (InvitationState::Used | InvitationState::Expired | InvitationState::Revoked) => {
                return Ok(InvitationAccepted::Ended(ended));
            }
        }
        tables.record(event)?;
        let chain = wallet.chain;
        tables.group_wallets.insert(place, MemberRow { chain: chain.clone(), added_at: now });
        let row = InvitedRow { chain: chain.clone(), used_at: now };
        tables.invitation_uses.entry((accepted.id, key.clone())).or_insert(row);
        if let Some(invitation) = tables.invitations.get_mut(&accepted.id) {
            invitation.used += 1;
        }
        if let Some(name) = invitation.name
            && owner.is_none_or(|user| !tables.named_users.contains_key(&user))
        {
            tables.named_wallets.entry(key).or_insert(NamedRow { chain, name });
        }
        Ok(InvitationAccepted::Joined)
    }

    async fn find_invitation_by_hash(&self, hash: SecretHash) -> Result<Option<Invitation>, StoreError> {
        Ok(self.tables().invitations.values().find(|invitation| invitation.hash == hash).cloned())
    }

    async fn find_invitation(&self, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        Ok(self.tables().invitations.get(&id).cloned())
    }

    async fn list_invitations(
        &self,
        group: Option<&GroupName>,
        before: Option<InvitationId>,
        limit: u32,
    ) -> Result<Vec<Invitation>, StoreError> {
        let tables = self.tables();
        let newest = tables.invitations.values().rev();
        let older = newest.filter(|invitation| before.is_none_or(|before| invitation.id < before));
        let here = older.filter(|invitation| group.is_none_or(|group| invitation.group == *group));
        Ok(here.take(count(limit)).cloned().collect())
    }

    async fn uses_of_invitation(
        &self,
        id: InvitationId,
        limit: u32,
    ) -> Result<Vec<InvitationUse>, StoreError> {
        let tables = self.tables();
        Ok(tables.uses().filter(|used| used.invitation == id).take(count(limit)).collect())
    }

    async fn invitations_of(&self, user: UserId) -> Result<Vec<CameBy>, StoreError> {
        let tables = self.tables();
        let theirs = tables.uses().filter(|used| tables.owner_of(&used.wallet) == Some(user));
        let mut all: Vec<CameBy> = theirs
            .filter_map(|used| {
                let invitation = tables.invitations.get(&used.invitation)?.clone();
                Some(CameBy { used, invitation })
            })
            .collect();
        all.sort_by_key(|came| (came.used.used_at, came.invitation.id));
        Ok(all)
    }
}

impl Tables {
    fn uses(&self) -> impl Iterator<Item = InvitationUse> {
        self.invitation_uses.iter().map(|((id, key), row)| InvitationUse {
            invitation: *id,
            wallet: account_of(key, &row.chain),
            used_at: row.used_at,
        })
    }
}
