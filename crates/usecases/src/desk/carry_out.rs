//! Carries out a change that was signed, with the same use-cases as the command line and the admin interface.

use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::desk::change::{Change, ResourceWords, Whom};
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::{ClientId, GrantId};
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::Resource;
use countersign_ports::{CountedGroup, EndProposal, KeyRingError, KeyRotation, RotatedKeys, StoreError};
use time::Duration;

use super::subject::Guard;
use super::{ChangeRefused, Desk};
use crate::Management;
use crate::admin_keys::create_admin_key::{CreateAdminKeyError, CreatedAdminKey, create_admin_key};
use crate::admin_keys::revoke_admin_key::{RevokeAdminKeyError, revoke_admin_key};
use crate::clients::change_client::{ChangeClientError, change_client};
use crate::clients::declare_resource::{
    DeclareResourceError, create_resource, delete_resource, update_resource,
};
use crate::clients::delete_client::remove_client;
use crate::clients::open_resource::{OpenResourceError, close_resources, judge_opened, open_resources};
use crate::clients::register_client::{
    Given, Opened, RegisterClientError, RegisteredClient, register_declared,
};
use crate::clients::rotate_client_secret::{RotateClientSecretError, RotatedSecret, rotate_client_secret};
use crate::context::cause::Cause;
use crate::people::add_members::{AddMembersError, add_members};
use crate::people::block::{BlockError, block};
use crate::people::change_access::{ChangeAccessError, change_access};
use crate::people::create_group::{CreateGroupError, create_group};
use crate::people::delete_group::{DeleteGroupError, delete_group};
use crate::people::delete_user::{DeleteUserError, delete_user};
use crate::people::remove_members::{RemoveMembersError, remove_members};
use crate::people::retitle_group::{RetitleGroupError, retitle_group};
use crate::people::sign_out_user::{SignOutUserError, sign_out_user};
use crate::people::unblock::{UnblockError, unblock};
use crate::people::{Ended, Who};
use crate::steps::notify_logout::LogoutNotice;

/// What a change did, besides what its words say.
#[derive(Debug)]
pub enum Effect {
    /// Nothing that the operator needs to see.
    Done,
    /// Access ended; the clients are to be told.
    Ended(Ended),
    /// A user was deleted; the clients are to be told.
    Deleted(Vec<LogoutNotice>),
    /// A client was registered, with secrets that are shown only this once.
    Registered(Box<RegisteredClient>),
    /// A client has a new secret, which is shown only this once.
    Rotated(RotatedSecret),
    /// There is a new admin key, which is shown only this once.
    AdminKey(Box<CreatedAdminKey>),
    /// Signing keys were made, and maybe withdrawn.
    Keys(RotatedKeys),
}

/// Why a change was not made.
#[derive(Debug)]
pub(super) enum CarryOutError {
    /// The subject is no longer as it was read.
    Changed,
    /// It is not possible.
    Refused(ChangeRefused),
    /// The storage failed. Perhaps it was made.
    Store(StoreError),
}

impl From<StoreError> for CarryOutError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ChangeRefused> for CarryOutError {
    fn from(refused: ChangeRefused) -> Self {
        Self::Refused(refused)
    }
}

/// Makes the change, if what it is about is still as it was read.
pub(super) async fn carry_out(
    desk: Desk<'_>,
    cause: &Cause,
    change: Change,
    guard: Guard,
) -> Result<Effect, CarryOutError> {
    let plain = desk.context.management_for(cause);
    match guard {
        Guard::Nothing => make(desk, plain, change, None).await,
        Guard::Group(counted) => make(desk, plain, change, Some(counted)).await,
        Guard::Client(client) => {
            let clients = plain.clients.only_if_still(*client);
            make(desk, Management { clients: &clients, ..plain }, change, None).await
        }
        Guard::Resource(resource) => {
            let resources = plain.resources.only_if_still(resource);
            make(desk, Management { resources: &resources, ..plain }, change, None).await
        }
    }
}

async fn make(
    desk: Desk<'_>,
    management: Management<'_>,
    change: Change,
    group_read: Option<CountedGroup>,
) -> Result<Effect, CarryOutError> {
    match change {
        Change::Block { who, reason } => {
            let done = block(management, named(who), reason).await.map_err(|error| match error {
                BlockError::UserUnknown => CarryOutError::Changed,
                BlockError::Store(error) => error.into(),
            })?;
            Ok(Effect::Ended(done.ended))
        }
        Change::Unblock { who } => {
            unblock(management, named(who)).await.map_err(|error| match error {
                UnblockError::UserUnknown => CarryOutError::Changed,
                UnblockError::Store(error) => error.into(),
            })?;
            Ok(Effect::Done)
        }
        Change::SignOut { user } => {
            let ended = sign_out_user(management, user.id).await.map_err(|error| match error {
                SignOutUserError::UserUnknown => CarryOutError::Changed,
                SignOutUserError::Store(error) => error.into(),
            })?;
            Ok(Effect::Ended(ended))
        }
        Change::DeleteUser { user } => {
            let notices = delete_user(management, user.id).await.map_err(|error| match error {
                DeleteUserError::UserUnknown => CarryOutError::Changed,
                DeleteUserError::Store(error) => error.into(),
            })?;
            Ok(Effect::Deleted(notices))
        }
        Change::CreateGroup { group, title } => {
            create_group(management, group, title).await.map_err(|error| match error {
                CreateGroupError::NameTaken => CarryOutError::Changed,
                CreateGroupError::Store(error) => error.into(),
            })?;
            Ok(Effect::Done)
        }
        Change::RetitleGroup { group, title } => {
            retitle_group(management, &group, title, group_read).await.map_err(|error| match error {
                RetitleGroupError::GroupUnknown => CarryOutError::Changed,
                RetitleGroupError::Store(error) => error.into(),
            })?;
            Ok(Effect::Done)
        }
        Change::DeleteGroup { group, .. } => {
            delete_group(management, &group, true, group_read).await.map_err(|error| match error {
                // By force, it is never in use.
                DeleteGroupError::GroupUnknown | DeleteGroupError::InUse(_) => CarryOutError::Changed,
                DeleteGroupError::Store(error) => error.into(),
            })?;
            Ok(Effect::Done)
        }
        Change::AddMember { group, member } => {
            let added = add_members(management, &group, vec![named(member)]).await;
            added.map_err(|error| match error {
                AddMembersError::GroupUnknown | AddMembersError::UserUnknown(_) => CarryOutError::Changed,
                AddMembersError::Store(error) => error.into(),
            })?;
            Ok(Effect::Done)
        }
        Change::RemoveMember { group, member } => {
            let removed = remove_members(management, &group, vec![named(member)]).await;
            removed.map_err(|error| match error {
                RemoveMembersError::GroupUnknown => CarryOutError::Changed,
                RemoveMembersError::Store(error) => error.into(),
            })?;
            Ok(Effect::Done)
        }
        Change::RegisterClient { id, metadata, resources } => {
            register(management, id, *metadata, resources).await
        }
        Change::ChangeClient { client, metadata } => replace_metadata(management, client.id, *metadata).await,
        Change::DeleteClient { client } => {
            let is_deleted = remove_client(management, client.id).await?;
            if is_deleted { Ok(Effect::Done) } else { Err(CarryOutError::Changed) }
        }
        Change::RotateSecret { client, keep_old } => {
            let rotated = rotate_client_secret(management, client.id, keep_old).await;
            let rotated = rotated.map_err(|error| match error {
                RotateClientSecretError::Unknown => CarryOutError::Changed,
                RotateClientSecretError::NoSecret => ChangeRefused::NoSecret.into(),
                RotateClientSecretError::Store(error) => error.into(),
            })?;
            Ok(Effect::Rotated(rotated))
        }
        Change::OpenResources { client, resources } => {
            open_resources(management, client.id, &resources).await.map_err(not_opened)?;
            Ok(Effect::Done)
        }
        Change::CloseResources { client, resources } => {
            close_resources(management, client.id, &resources).await.map_err(not_opened)?;
            Ok(Effect::Done)
        }
        Change::SetAccess { client, rule, release } => set_access(management, client.id, rule, release).await,
        Change::CreateResource { resource } => {
            let created = create_resource(management, declared(management, resource)).await;
            created.map_err(not_declared)?;
            Ok(Effect::Done)
        }
        Change::UpdateResource { resource, .. } => {
            let resource = declared(management, resource);
            update_resource(management, resource, true).await.map_err(not_declared)?;
            Ok(Effect::Done)
        }
        Change::DeleteResource { uri, .. } => {
            delete_resource(management, &uri, true).await.map_err(not_declared)?;
            Ok(Effect::Done)
        }
        Change::RotateKeys { at_once, algorithms } => {
            let rotation = if at_once { KeyRotation::AtOnce } else { KeyRotation::InADay };
            let now = management.clock.now();
            let rotated = desk.keys.rotate(now, management.cause, rotation, &algorithms).await;
            Ok(Effect::Keys(rotated.map_err(of_keys)?))
        }
        Change::WithdrawKey { kid } => {
            let withdrawn = desk.keys.withdraw(management.clock.now(), management.cause, &kid).await;
            let withdrawn = vec![(kid, withdrawn.map_err(of_keys)?)];
            Ok(Effect::Keys(RotatedKeys { made: Vec::new(), withdrawn }))
        }
        Change::CreateAdminKey { name, scopes, lives } => {
            let lives = lives.map(|seconds| Duration::seconds(seconds.into()));
            let created = create_admin_key(management, name, scopes, lives).await;
            let created = created.map_err(|error| match error {
                CreateAdminKeyError::NoScope => ChangeRefused::NoScope.into(),
                CreateAdminKeyError::NameTaken => CarryOutError::Changed,
                CreateAdminKeyError::Store(error) => error.into(),
            })?;
            Ok(Effect::AdminKey(Box::new(created)))
        }
        Change::RevokeAdminKey { name } => {
            revoke_admin_key(management, name.as_str()).await.map_err(|error| match error {
                RevokeAdminKeyError::Unknown | RevokeAdminKeyError::AlreadyRevoked => CarryOutError::Changed,
                RevokeAdminKeyError::Store(error) => error.into(),
            })?;
            Ok(Effect::Done)
        }
        Change::WithdrawProposal { proposal } => {
            let event = management.event(management.clock.now(), EventKind::ChangeWithdrawn, |event| {
                event.details = withdrawn_by(proposal, "operator");
            });
            let command = EndProposal {
                id: proposal,
                now: management.clock.now(),
                from: ProposalState::Waiting,
                to: ProposalState::Withdrawn,
                signed: None,
                event,
            };
            if management.storage.end_proposal(command).await? {
                Ok(Effect::Done)
            } else {
                Err(CarryOutError::Changed)
            }
        }
    }
}

/// What the event of a proposal that ended tells.
pub(super) fn withdrawn_by(proposal: GrantId, why: &str) -> Details {
    Details::default().text("proposal", proposal).text("reason", why)
}

async fn register(
    management: Management<'_>,
    id: Option<ClientId>,
    metadata: RequestedMetadata,
    resources: Vec<String>,
) -> Result<Effect, CarryOutError> {
    judge_opened(&management.resource_rules().await?, &resources).map_err(not_opened)?;
    let given = Given { id, resources: Opened::AndOfScopes(resources), ..Given::default() };
    let registered = register_declared(management, metadata, given).await;
    let registered = registered.map_err(|error| match error {
        RegisterClientError::Rejected(rejected) => ChangeRefused::Metadata(rejected).into(),
        RegisterClientError::IdTaken => CarryOutError::Changed,
        RegisterClientError::Store(error) => error.into(),
    })?;
    Ok(Effect::Registered(Box::new(registered)))
}

async fn replace_metadata(
    management: Management<'_>,
    id: ClientId,
    metadata: RequestedMetadata,
) -> Result<Effect, CarryOutError> {
    let client = management.clients.find_fresh(id).await?.ok_or(CarryOutError::Changed)?;
    let changed = change_client(management, client, metadata).await;
    changed.map_err(|error| match error {
        ChangeClientError::Described(document) => ChangeRefused::Described(document).into(),
        ChangeClientError::Rejected(rejected) => ChangeRefused::Metadata(rejected).into(),
        ChangeClientError::MethodChange => ChangeRefused::MethodChange.into(),
        ChangeClientError::ClientUnknown => CarryOutError::Changed,
        ChangeClientError::Store(error) => error.into(),
    })?;
    Ok(Effect::Done)
}

async fn set_access(
    management: Management<'_>,
    id: ClientId,
    rule: Option<AccessRule>,
    release: Option<Release>,
) -> Result<Effect, CarryOutError> {
    let client = management.clients.find_fresh(id).await?.ok_or(CarryOutError::Changed)?;
    let changed = change_access(management, client, rule, release).await;
    changed.map_err(|error| match error {
        ChangeAccessError::GroupUnknown(group) => ChangeRefused::GroupUnknown(group).into(),
        ChangeAccessError::ClientUnknown => CarryOutError::Changed,
        ChangeAccessError::Store(error) => error.into(),
    })?;
    Ok(Effect::Done)
}

fn named(who: Whom) -> Who {
    match who {
        Whom::User(user) => Who::User(user.id),
        Whom::Wallet(wallet) => Who::Wallet(wallet),
    }
}

fn declared(management: Management<'_>, words: ResourceWords) -> Resource {
    let now = management.clock.now();
    let ResourceWords { uri, open_to, mut scopes } = words;
    scopes.sort_by(|one, other| one.name.cmp(&other.name));
    Resource { uri, open_to, scopes, created_at: now.replace_nanosecond(0).unwrap_or(now) }
}

fn not_opened(error: OpenResourceError) -> CarryOutError {
    match error {
        OpenResourceError::ClientUnknown => CarryOutError::Changed,
        OpenResourceError::Store(error) => error.into(),
        refused @ (OpenResourceError::Unfit { .. } | OpenResourceError::NotDeclared(_)) => {
            ChangeRefused::Opened(refused).into()
        }
    }
}

fn not_declared(error: DeclareResourceError) -> CarryOutError {
    match error {
        DeclareResourceError::Unknown(_) | DeclareResourceError::Declared(_) => CarryOutError::Changed,
        DeclareResourceError::Store(error) => error.into(),
        refused @ (DeclareResourceError::Unfit { .. }
        | DeclareResourceError::InSettings(_)
        | DeclareResourceError::ScopeTaken { .. }
        | DeclareResourceError::TooManyScopes
        | DeclareResourceError::InUse(_)) => ChangeRefused::Resource(refused).into(),
    }
}

fn of_keys(error: KeyRingError) -> CarryOutError {
    match error {
        KeyRingError::Store(error) => error.into(),
        KeyRingError::RotatedMeanwhile(_) | KeyRingError::WithdrawnMeanwhile(_) => CarryOutError::Changed,
        refused @ (KeyRingError::NextExist
        | KeyRingError::Unknown(_)
        | KeyRingError::AlreadyWithdrawn(_)
        | KeyRingError::OnlyOne { .. }
        | KeyRingError::Unusable(_)) => ChangeRefused::Keys(refused).into(),
    }
}
