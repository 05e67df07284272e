//! Makes an act: the one place that knows which use-case does it. Every front calls it.

use std::fmt;

use countersign_domain::act::{Act, NamedSubject, OfflineAccess, ResourceWords};
use countersign_domain::admin_key::AdminKey;
use countersign_domain::admission::ClientAccess;
use countersign_domain::checkpoint::RecordKey;
use countersign_domain::client::Client;
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::invitation::Invitation;
use countersign_domain::person_name::PersonName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::Resource;
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use countersign_ports::{
    BlockPut, CountedGroup, EndProposal, KeyRing, KeyRotation, NamePut, OperatorSuspended, RotatedKeys,
};
use countersign_usecases::Management;
use countersign_usecases::act_refused::{ActRefused, GroupUse};
use countersign_usecases::clients::change_client::change_client;
use countersign_usecases::clients::declare_resource::{
    ResourceChanged, create_resource, delete_resource, update_resource,
};
use countersign_usecases::clients::delete_client::remove_client;
use countersign_usecases::clients::open_resource::{close_resources, judge_opened, open_resources};
use countersign_usecases::clients::register_client::{Given, Opened, RegisteredClient, register_declared};
use countersign_usecases::clients::rotate_client_secret::{
    RotatedSecret, replace_client_secret, rotate_client_secret,
};
use countersign_usecases::context::blocks::IfBlocked;
use countersign_usecases::steps::notify_logout::LogoutNotice;
use time::Duration;

use crate::admin_keys::create_admin_key::{CreatedAdminKey, create_admin_key};
use crate::admin_keys::revoke_admin_key::revoke_admin_key;
use crate::people::Ended;
use crate::people::add_members::{Added, add_members};
use crate::people::block::{BlockedNow, block};
use crate::people::change_access::{AccessChanged, change_access};
use crate::people::delete_user::delete_user;
use crate::people::groups::{create_group, delete_group, retitle_group};
use crate::people::invitations::{CreatedInvitation, NewInvitation, create_invitation, revoke_invitation};
use crate::people::names::name_subject;
use crate::people::remove_members::{Removed, remove_members};
use crate::people::sign_out_user::sign_out_user;
use crate::people::suspend::{restore, suspend};
use crate::people::unblock::{Unblocked, unblock};

/// What it takes to make an act. A client or a resource that must still be as it was read is in `management`.
pub struct Operating<'a> {
    /// The ports, the policy, and who acts.
    pub management: Management<'a>,
    /// The signing keys, if the front has them. Acts on them need it.
    pub keys: Option<&'a dyn KeyRing>,
    /// The key of the record of events, if the front has it. The pseudonym of a deleted user needs it.
    pub record: Option<&'a RecordKey>,
    /// The group as it was read, if the act is only made while the group is still so.
    pub group_read: Option<CountedGroup>,
    /// Is it made even if something uses what it takes away?
    pub insists: bool,
    /// What becomes of a block that is there already.
    pub if_blocked: IfBlocked,
    /// What a file gives to a client. No other front can.
    pub of_file: Option<GivenByFile>,
}

/// What a file gives to a client besides what the act says.
#[derive(Clone, Debug)]
pub struct GivenByFile {
    /// Its secret; `None` for a random one.
    pub secret: Option<Secret>,
}

impl<'a> Operating<'a> {
    /// For a front that has no keys, and insists on nothing.
    pub const fn new(management: Management<'a>) -> Self {
        Self {
            management,
            keys: None,
            record: None,
            group_read: None,
            insists: false,
            if_blocked: IfBlocked::EndAccess,
            of_file: None,
        }
    }

    /// The same, even if something uses what the act takes away.
    #[must_use]
    pub fn insisting(self, insists: bool) -> Self {
        Self { insists, ..self }
    }
}

impl fmt::Debug for Operating<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operating").finish_non_exhaustive()
    }
}

/// What an act did.
#[derive(Debug)]
pub enum Effect {
    /// A user or a wallet is blocked; the clients should be notified.
    Blocked(Subject, BlockedNow),
    /// A user or a wallet is let in again.
    Unblocked(Subject, Unblocked),
    /// An operator is suspended.
    OperatorSuspended(Subject, OperatorSuspended),
    /// An operator can act again. Were they suspended?
    OperatorRestored(Subject, bool),
    /// A user was signed out; the clients should be notified.
    SignedOut(UserId, OfflineAccess, Ended),
    /// A user or a wallet has this name, or none.
    Named(Subject, Option<PersonName>, NamePut),
    /// A user was deleted; the clients should be notified.
    UserDeleted(UserId, Vec<LogoutNotice>),
    /// There is a new group.
    GroupCreated(CountedGroup),
    /// A group has another title.
    GroupRetitled(CountedGroup),
    /// A group was deleted that was good for this.
    GroupDeleted(Box<GroupUse>),
    /// Users and wallets are in a group.
    Added(GroupName, Vec<Added>),
    /// Users and wallets are no longer in a group.
    Removed(GroupName, Vec<Removed>),
    /// There is a new invitation, whose link is shown only this once.
    InvitationCreated(Box<CreatedInvitation>),
    /// An invitation was revoked.
    InvitationRevoked(Box<Invitation>),
    /// A client was registered, with secrets that are shown only this once.
    Registered(Box<RegisteredClient>),
    /// A client was changed, or what is open to it.
    ClientChanged {
        /// As it was.
        before: Box<Client>,
        /// As it is.
        now: Box<Client>,
    },
    /// Other resources are open to a client.
    ClientResources {
        /// As it was.
        before: Box<Client>,
        /// As it is.
        now: Box<Client>,
    },
    /// A client was deleted.
    ClientDeleted(ClientId),
    /// A client has a new secret, which is shown only this once.
    Rotated(ClientId, RotatedSecret),
    /// It was decided who can sign in to a client.
    AccessChanged(Box<AccessChanged>),
    /// There is a new resource.
    ResourceCreated(Resource),
    /// A resource was changed.
    ResourceChanged(ResourceChanged),
    /// The resource with this URI was deleted.
    ResourceDeleted(String),
    /// Signing keys were made or withdrawn.
    Keys(RotatedKeys),
    /// There is a new admin key, which is shown only this once.
    AdminKeyCreated(Box<CreatedAdminKey>),
    /// An admin key was revoked.
    AdminKeyRevoked(Box<AdminKey>),
    /// A proposal was taken back or refused.
    ProposalEnded,
}

impl Effect {
    /// Was everything so already?
    pub fn is_nothing(&self) -> bool {
        match self {
            Self::Blocked(_, blocked) => blocked.put == BlockPut::AlreadyThere,
            Self::Unblocked(_, unblocked) => !unblocked.was_blocked,
            Self::OperatorSuspended(_, suspended) => {
                !matches!(suspended, OperatorSuspended::Suspended { .. })
            }
            Self::OperatorRestored(_, was_suspended) => !was_suspended,
            Self::SignedOut(_, _, ended) => ended.sessions == 0 && ended.grants == 0,
            Self::Named(_, _, put) => *put != NamePut::Stored,
            Self::Added(_, added) => added.iter().all(|added| added.already),
            Self::Removed(_, removed) => !removed.iter().any(|removed| removed.was_member),
            Self::ClientChanged { before, now } => before == now,
            Self::ClientResources { before, now } => before.resources == now.resources,
            Self::AccessChanged(changed) => changed.before == changed.now.client.access,
            Self::ResourceChanged(changed) => changed.before.is_declared_as(&changed.now),
            Self::UserDeleted(..)
            | Self::GroupCreated(_)
            | Self::GroupRetitled(_)
            | Self::GroupDeleted(_)
            | Self::InvitationCreated(_)
            | Self::InvitationRevoked(_)
            | Self::Registered(_)
            | Self::ClientDeleted(_)
            | Self::Rotated(..)
            | Self::ResourceCreated(_)
            | Self::ResourceDeleted(_)
            | Self::Keys(_)
            | Self::AdminKeyCreated(_)
            | Self::AdminKeyRevoked(_)
            | Self::ProposalEnded => false,
        }
    }

    /// The clients to notify, if access ended.
    pub fn into_notices(self) -> Option<Vec<LogoutNotice>> {
        if let Self::Blocked(_, BlockedNow { ended, .. }) | Self::SignedOut(_, _, ended) = self {
            Some(ended.notices)
        } else if let Self::UserDeleted(_, notices) = self {
            Some(notices)
        } else {
            None
        }
    }
}

/// Makes an act. What it did may be nothing ([`Effect::is_nothing`]).
pub async fn operate(operating: Operating<'_>, act: Act) -> Result<Effect, ActRefused> {
    let Operating { management, keys, record, group_read, insists, if_blocked, of_file } = operating;
    match act {
        Act::Block { who, reason } => {
            let who = Subject::from(who);
            let blocked = block(management, who.clone(), reason, if_blocked).await?;
            Ok(Effect::Blocked(who, blocked))
        }
        Act::Unblock { who } => {
            let who = Subject::from(who);
            let unblocked = unblock(management, who.clone()).await?;
            Ok(Effect::Unblocked(who, unblocked))
        }
        Act::Suspend { who, reason } => {
            let who = Subject::from(who);
            let suspended = suspend(management, who.clone(), reason).await?;
            Ok(Effect::OperatorSuspended(who, suspended))
        }
        Act::Restore { who } => {
            let who = Subject::from(who);
            let was_suspended = restore(management, who.clone()).await?;
            Ok(Effect::OperatorRestored(who, was_suspended))
        }
        Act::SignOut { user, offline } => {
            let offline = offline.unwrap_or(OfflineAccess::Kept);
            let ended = sign_out_user(management, user.id, offline).await;
            ended.map(|ended| Effect::SignedOut(user.id, offline, ended))
        }
        Act::Name { who, name } => {
            let who = Subject::from(who);
            let put = name_subject(management, who.clone(), name.clone()).await?;
            Ok(Effect::Named(who, name, put))
        }
        Act::DeleteUser { user } => {
            let record = record.ok_or(ActRefused::NoKeys)?;
            let notices = delete_user(management, record, user.id).await?;
            Ok(Effect::UserDeleted(user.id, notices))
        }
        Act::CreateGroup { group, title, members } => {
            let created = create_group(management, group, title, &subjects(&members)).await?;
            Ok(Effect::GroupCreated(created))
        }
        Act::RetitleGroup { group, title } => {
            retitle_group(management, &group, title, group_read).await.map(Effect::GroupRetitled)
        }
        Act::DeleteGroup { group, used_by: _, needed_by: _ } => {
            let deleted = delete_group(management, &group, insists, group_read).await;
            deleted.map(|found| Effect::GroupDeleted(Box::new(found)))
        }
        Act::AddMembers { group, members } => {
            let added = add_members(management, &group, subjects(&members)).await?;
            Ok(Effect::Added(group, added))
        }
        Act::RemoveMembers { group, members } => {
            let removed = remove_members(management, &group, subjects(&members)).await?;
            Ok(Effect::Removed(group, removed))
        }
        Act::CreateInvitation { group, limits, name, inviter, client } => {
            let client = client.map(|client| client.id);
            let new = NewInvitation { group, limits, name, inviter, client };
            let created = create_invitation(management, new).await;
            created.map(|created| Effect::InvitationCreated(Box::new(created)))
        }
        Act::RevokeInvitation { invitation } => {
            let revoked = revoke_invitation(management, invitation.id).await;
            revoked.map(|revoked| Effect::InvitationRevoked(Box::new(revoked)))
        }
        Act::RegisterClient { id, metadata, resources, fields: _, access } => {
            register(management, (id, *metadata), resources, access.unwrap_or_default(), of_file).await
        }
        Act::ChangeClient { client, metadata, fields: _ } => {
            let before = client_with(management, client.id).await?;
            let now = change_client(management, before.clone(), *metadata).await?;
            Ok(Effect::ClientChanged { before: Box::new(before), now: Box::new(now) })
        }
        Act::DeleteClient { client } => {
            let is_deleted = remove_client(management, client.id).await?;
            let deleted = is_deleted.then_some(Effect::ClientDeleted(client.id));
            deleted.ok_or(ActRefused::ClientUnknown(client.id))
        }
        Act::RotateSecret { client, keep_old } => {
            let rotated = match of_file.and_then(|given| given.secret) {
                Some(secret) => replace_client_secret(management, client.id, secret, keep_old).await,
                None => rotate_client_secret(management, client.id, keep_old).await,
            };
            rotated.map(|rotated| Effect::Rotated(client.id, rotated))
        }
        Act::OpenResources { client, resources } => {
            judge_opened(&management.resource_rules().await?, &resources)?;
            let before = Box::new(client_with(management, client.id).await?);
            let now = Box::new(open_resources(management, client.id, &resources).await?);
            Ok(Effect::ClientResources { before, now })
        }
        Act::CloseResources { client, resources } => {
            let before = Box::new(client_with(management, client.id).await?);
            let now = Box::new(close_resources(management, client.id, &resources).await?);
            Ok(Effect::ClientResources { before, now })
        }
        Act::SetAccess { client, rule, release } => {
            let client = client_with(management, client.id).await?;
            let changed = change_access(management, client, rule, release).await;
            changed.map(|changed| Effect::AccessChanged(Box::new(changed)))
        }
        Act::CreateResource { resource } => {
            let created = create_resource(management, declared(management, resource)).await;
            created.map(Effect::ResourceCreated)
        }
        Act::UpdateResource { resource, used_by: _ } => {
            let resource = declared(management, resource);
            update_resource(management, resource, insists).await.map(Effect::ResourceChanged)
        }
        Act::DeleteResource { uri, used_by: _ } => {
            delete_resource(management, &uri, insists).await?;
            Ok(Effect::ResourceDeleted(uri))
        }
        Act::RotateKeys { at_once, algorithms } => {
            let rotation = if at_once { KeyRotation::AtOnce } else { KeyRotation::InADay };
            let (keys, now) = (keys.ok_or(ActRefused::NoKeys)?, management.clock.now());
            Ok(Effect::Keys(keys.rotate(now, management.cause, rotation, &algorithms).await?))
        }
        Act::WithdrawKey { kid } => {
            let (keys, now) = (keys.ok_or(ActRefused::NoKeys)?, management.clock.now());
            let algorithm = keys.withdraw(now, management.cause, &kid).await?;
            Ok(Effect::Keys(RotatedKeys { made: Vec::new(), withdrawn: vec![(kid, algorithm)] }))
        }
        Act::CreateAdminKey { name, scopes, lives } => {
            let lives = lives.map(|seconds| Duration::seconds(seconds.into()));
            let created = create_admin_key(management, name, scopes, lives).await;
            created.map(|created| Effect::AdminKeyCreated(Box::new(created)))
        }
        Act::RevokeAdminKey { name } => {
            let revoked = revoke_admin_key(management, name.as_str()).await;
            revoked.map(|revoked| Effect::AdminKeyRevoked(Box::new(revoked)))
        }
        Act::WithdrawProposal { proposal } => {
            end_proposal(management, proposal, ProposalState::Withdrawn, "operator").await
        }
        Act::RefuseProposal { proposal, reason: _ } => {
            end_proposal(management, proposal, ProposalState::Refused, "refused").await
        }
    }
}

/// Ends a proposal that waits. Why another operator refused it is in the text that they signed.
async fn end_proposal(
    management: Management<'_>,
    proposal: GrantId,
    to: ProposalState,
    why: &str,
) -> Result<Effect, ActRefused> {
    let event = management.event(management.clock.now(), EventKind::ChangeWithdrawn, |event| {
        event.details = withdrawn_by(proposal, why);
    });
    let command = EndProposal {
        id: proposal,
        now: management.clock.now(),
        from: ProposalState::Waiting,
        to,
        signed: None,
        event,
    };
    let is_ended = management.storage.end_proposal(command).await?;
    is_ended.then_some(Effect::ProposalEnded).ok_or(ActRefused::NoSuchProposal)
}

/// What the event of a proposal that ended says.
pub(crate) fn withdrawn_by(proposal: GrantId, why: &str) -> Details {
    Details::default().text("proposal", proposal).text("reason", why)
}

async fn register(
    management: Management<'_>,
    (id, metadata): (Option<ClientId>, RequestedMetadata),
    resources: Vec<String>,
    access: ClientAccess,
    of_file: Option<GivenByFile>,
) -> Result<Effect, ActRefused> {
    let given = match of_file {
        Some(GivenByFile { secret }) => Given { id, secret, resources: Opened::Only(resources), access },
        None => {
            judge_opened(&management.resource_rules().await?, &resources)?;
            Given { id, secret: None, resources: Opened::AndOfScopes(resources), access }
        }
    };
    let registered = register_declared(management, metadata, given).await?;
    Ok(Effect::Registered(Box::new(registered)))
}

async fn client_with(management: Management<'_>, id: ClientId) -> Result<Client, ActRefused> {
    management.clients.find_fresh(id).await?.ok_or(ActRefused::ClientUnknown(id))
}

fn subjects(members: &[NamedSubject]) -> Vec<Subject> {
    members.iter().cloned().map(Subject::from).collect()
}

fn declared(management: Management<'_>, words: ResourceWords) -> Resource {
    let now = management.clock.now();
    let ResourceWords { uri, name, open_to, mut scopes } = words;
    scopes.sort_by(|one, other| one.name.cmp(&other.name));
    Resource { uri, name, open_to, scopes, created_at: now.replace_nanosecond(0).unwrap_or(now) }
}
