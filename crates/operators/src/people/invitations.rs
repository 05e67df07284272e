//! An operator creates, lists and revokes invitations into groups.

use countersign_domain::event::{Details, EventKind};
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, InvitationId};
use countersign_domain::invitation::{self, Invitation, InvitationLimits, Inviter};
use countersign_domain::person_name::PersonName;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{CreateInvitation, EntropyExt, InvitationCreated, RevokeInvitation, StoreError};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

/// A new invitation with its link, which is shown only this once.
#[derive(Clone, Debug)]
pub struct CreatedInvitation {
    /// The invitation.
    pub invitation: Invitation,
    /// What people open.
    pub link: Secret,
}

/// What an operator says of a new invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewInvitation {
    /// The group that people come into.
    pub group: GroupName,
    /// For how many people it is, and for how long.
    pub limits: InvitationLimits,
    /// What operators call the one who comes in.
    pub name: Option<PersonName>,
    /// Who invites.
    pub inviter: Option<Inviter>,
    /// The client that they go on to.
    pub client: Option<ClientId>,
}

impl NewInvitation {
    /// Why it cannot be created, if that is so now.
    pub(crate) async fn judge(&self, management: Management<'_>) -> Result<(), ActRefused> {
        self.limits.judge(self.name.as_ref()).map_err(ActRefused::InvitationUnfit)?;
        if management.storage.find_group(&self.group).await?.is_none() {
            return Err(ActRefused::NamedGroupUnknown(self.group.clone()));
        }
        let Some(id) = self.client else { return Ok(()) };
        let found = management.clients.find_fresh(id).await?;
        let client = found.ok_or(ActRefused::NamedClientUnknown(id))?;
        let rule = client.access.rule_or(&management.policy.default_access);
        if rule.lets_in(&self.group) {
            Ok(())
        } else {
            Err(ActRefused::LeadsNowhere { client: client.metadata.name, group: self.group.clone() })
        }
    }
}

/// Creates an invitation.
pub async fn create_invitation(
    management: Management<'_>,
    new: NewInvitation,
) -> Result<CreatedInvitation, ActRefused> {
    new.judge(management).await?;
    let now = management.clock.now();
    let created_at = now.replace_nanosecond(0).unwrap_or(now);
    let secret = Secret::from_random(management.entropy.bytes());
    let NewInvitation { group, limits, name, inviter, client } = new;
    let invitation = Invitation {
        id: InvitationId::at(now, management.entropy.bytes()),
        hash: SecretHash::of(&secret),
        group,
        client,
        inviter,
        name,
        uses: limits.uses,
        used: 0,
        created_at,
        expires_at: limits.end(created_at),
        revoked_at: None,
    };
    let event = management.event(now, EventKind::InvitationCreated, |event| {
        event.client = invitation.client;
        event.details = Details::default()
            .text("invitation", invitation.id)
            .text("group", &invitation.group)
            .text("uses", invitation.uses);
    });
    let command = CreateInvitation { invitation: invitation.clone(), event };
    match management.create_invitation(command).await? {
        Some(InvitationCreated::Stored) => {
            let link = invitation::link(&management.policy.public_url, &secret);
            Ok(CreatedInvitation { invitation, link })
        }
        Some(InvitationCreated::GroupUnknown) => Err(ActRefused::NamedGroupUnknown(invitation.group)),
        None => Err(ActRefused::MadeBefore),
    }
}

/// Revokes an invitation. People who came in stay in the group.
pub async fn revoke_invitation(
    management: Management<'_>,
    id: InvitationId,
) -> Result<Invitation, ActRefused> {
    let now = management.clock.now();
    let event = management.event(now, EventKind::InvitationRevoked, |event| {
        event.details = Details::default().text("invitation", id);
    });
    let is_revoked = management.storage.revoke_invitation(RevokeInvitation { id, now, event }).await?;
    let found = management.storage.find_invitation(id).await?;
    let invitation = found.ok_or(ActRefused::InvitationUnknown(id))?;
    if is_revoked { Ok(invitation) } else { Err(ActRefused::InvitationRevoked) }
}

/// A page of invitations, the newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedInvitations {
    /// The invitations.
    pub invitations: Vec<Invitation>,
    /// Are there older ones?
    pub more: bool,
}

/// Lists invitations into a group, or into any.
pub async fn list_invitations(
    management: Management<'_>,
    group: Option<&GroupName>,
    before: Option<InvitationId>,
    limit: u32,
) -> Result<ListedInvitations, StoreError> {
    // One more than is shown, to know whether there are more.
    let mut invitations = management.storage.list_invitations(group, before, limit.saturating_add(1)).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = invitations.len() > most;
    invitations.truncate(most);
    Ok(ListedInvitations { invitations, more })
}
