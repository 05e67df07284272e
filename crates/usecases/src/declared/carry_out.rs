//! Carries out a plan, by the use-cases that commands use too.
//!
//! What is taken from somebody comes before what is given to somebody, so that nobody gets in on the way who
//! may get in neither before nor afterwards. The members of a new group are an exception: nothing names it yet. Each
//! step can be repeated, so a second run finishes what was interrupted.

use std::collections::BTreeMap;

use countersign_domain::client::Client;
use countersign_domain::declaration::{Declaration, DeclaredThing};
use countersign_domain::event::Actor;
use countersign_domain::group::GroupName;
use countersign_domain::id::ClientId;
use countersign_domain::resource::Resource;
use countersign_ports::{ForgetDeclarations, PutDeclarations, StoreError};
use time::OffsetDateTime;

use super::FileSecret;
use super::judge::lost;
use super::members::member_thing;
use super::plan::{
    Change, DeclaredBefore, NewSecret, NewState, Plan, PlannedClient, PlannedGroup, PlannedResource, What,
};
use crate::Management;
use crate::clients::change_client::{ChangeClientError, change_client};
use crate::clients::declare_resource::{
    DeclareResourceError, create_resource, delete_resource, update_resource,
};
use crate::clients::delete_client::remove_client;
use crate::clients::open_resource::{OpenResourceError, close_resources, open_resources};
use crate::clients::register_client::{Given, Opened, RegisterClientError, register_declared};
use crate::clients::rotate_client_secret::{RotateClientSecretError, replace_client_secret};
use crate::context::cause::Cause;
use crate::people::Who;
use crate::people::add_members::{AddMembersError, add_members};
use crate::people::change_access::{ChangeAccessError, change_access};
use crate::people::create_group::{CreateGroupError, create_group};
use crate::people::delete_group::{DeleteGroupError, delete_group};
use crate::people::remove_members::{RemoveMembersError, remove_members};
use crate::people::retitle_group::{RetitleGroupError, retitle_group};

/// Something that a run did.
#[derive(Clone, Copy, Debug)]
pub enum Act<'a> {
    /// A client was registered.
    ClientRegistered(ClientId),
    /// A client's registration was changed.
    ClientChanged(ClientId),
    /// It was decided whom a client lets in.
    AccessChanged(&'a Client),
    /// Resources were opened to a client.
    ResourcesOpened(ClientId),
    /// Resources were closed to a client.
    ResourcesClosed(ClientId),
    /// A client got another secret, and until when the old one works.
    SecretRotated(ClientId, Option<OffsetDateTime>),
    /// A client was deleted.
    ClientDeleted(ClientId),
    /// A group was created.
    GroupCreated(&'a GroupName),
    /// A group got another title.
    GroupRetitled(&'a GroupName),
    /// A group was deleted.
    GroupDeleted(&'a GroupName),
    /// Somebody was put into a group.
    MemberAdded(&'a GroupName, &'a Who),
    /// Somebody was taken out of a group.
    MemberRemoved(&'a GroupName, &'a Who),
    /// A resource was declared.
    ResourceDeclared(&'a str),
    /// A resource was changed.
    ResourceChanged(&'a str),
    /// A resource was deleted.
    ResourceDeleted(&'a str),
}

/// Hears of every act, right after it.
pub type Witness = dyn Fn(Act<'_>) + Send + Sync;

/// Why a plan was not carried out to its end.
#[derive(Debug)]
pub(super) enum Stopped {
    /// Somebody else changed the same things meanwhile: make another plan.
    Overtaken,
    /// A change could not be stored.
    Store(StoreError),
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What a run works with, for the changes of one file.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) management: Management<'a>,
    pub(super) witness: &'a Witness,
}

/// Carries out all of a plan. Each act is the file's that declares it.
pub(super) async fn carry_out(run: Run<'_>, plan: &Plan) -> Result<(), Stopped> {
    let causes: BTreeMap<&str, Cause> = plan
        .changes
        .iter()
        .map(|change| (&*change.source, Cause::of(Actor::File(change.source.to_string()))))
        .collect();
    let of = |change: &Change| {
        let cause = causes.get(&*change.source).unwrap_or(run.management.cause);
        Run { management: Management { cause, ..run.management }, ..run }
    };
    for change in &plan.changes {
        of(change).take_away(change).await?;
    }
    for change in &plan.changes {
        of(change).make_groups(change).await?;
    }
    for (change, planned) in resources_of(plan) {
        of(change).give_up_scopes(plan, planned).await?;
    }
    for (change, planned) in resources_of(plan) {
        of(change).change_resource(change, planned).await?;
    }
    for change in &plan.changes {
        if let What::Client(planned) = &change.what {
            of(change).change_client(change, planned).await?;
        }
    }
    for change in &plan.changes {
        of(change).add_members(change).await?;
    }
    for change in &plan.changes {
        of(change).delete_groups(change).await?;
    }
    run.forget(plan.gone.clone()).await
}

fn resources_of(plan: &Plan) -> impl Iterator<Item = (&Change, &PlannedResource)> {
    plan.changes.iter().filter_map(|change| match &change.what {
        What::Resource(planned) => Some((change, planned)),
        What::Client(_) | What::Group(_) => None,
    })
}

/// Does another resource get a scope of this name?
fn is_gained(plan: &Plan, from: &Resource, name: &str) -> bool {
    resources_of(plan).any(|(_, planned)| match planned {
        PlannedResource::Created(now) | PlannedResource::Kept { now, .. } => {
            now.uri != from.uri && now.scope(name).is_some()
        }
        PlannedResource::Deleted(_) => false,
    })
}

impl Run<'_> {
    /// Members leave, and pruned clients and resources go.
    async fn take_away(self, change: &Change) -> Result<(), Stopped> {
        match &change.what {
            What::Group(PlannedGroup::Kept { name, removed, .. }) if !removed.is_empty() => {
                let done = remove_members(self.management, name, removed.clone()).await;
                let done = done.map_err(|error| match error {
                    RemoveMembersError::GroupUnknown => Stopped::Overtaken,
                    RemoveMembersError::Store(error) => Stopped::Store(error),
                })?;
                for removed in done.iter().filter(|removed| removed.was_member) {
                    (self.witness)(Act::MemberRemoved(name, &removed.who));
                }
                let things = removed.iter().map(|who| member_thing(name, &who.clone().into()));
                self.forget(things.collect()).await
            }
            What::Client(planned) => match &**planned {
                PlannedClient::Deleted(client) => {
                    if remove_client(self.management, client.id).await? {
                        (self.witness)(Act::ClientDeleted(client.id));
                    }
                    self.forget(vec![change.thing.clone()]).await
                }
                PlannedClient::Registered(_) | PlannedClient::Kept { .. } => Ok(()),
            },
            What::Resource(PlannedResource::Deleted(resource)) => {
                match delete_resource(self.management, &resource.uri, true).await {
                    Ok(()) => (self.witness)(Act::ResourceDeleted(&resource.uri)),
                    Err(DeclareResourceError::Unknown(_)) => {}
                    Err(error) => return Err(of_resource(error)),
                }
                self.forget(vec![change.thing.clone()]).await
            }
            What::Group(_) | What::Resource(_) => Ok(()),
        }
    }

    /// New groups are there with their members before anything names them, and others get their titles.
    async fn make_groups(self, change: &Change) -> Result<(), Stopped> {
        let What::Group(planned) = &change.what else { return Ok(()) };
        match planned {
            PlannedGroup::Created { name, title, members } => {
                let created = create_group(self.management, name.clone(), title.clone()).await;
                let created = created.map_err(|error| match error {
                    CreateGroupError::NameTaken => Stopped::Overtaken,
                    CreateGroupError::Store(error) => Stopped::Store(error),
                })?;
                (self.witness)(Act::GroupCreated(&created.name));
                self.declare(change, created.created_at).await?;
                self.add(change, name, members).await
            }
            PlannedGroup::Kept { name, title: Some((_, title)), .. } => {
                let retitled = retitle_group(self.management, name, title.clone(), None).await;
                retitled.map_err(|error| match error {
                    RetitleGroupError::GroupUnknown => Stopped::Overtaken,
                    RetitleGroupError::Store(error) => Stopped::Store(error),
                })?;
                (self.witness)(Act::GroupRetitled(name));
                Ok(())
            }
            PlannedGroup::Kept { .. } | PlannedGroup::Deleted(_) => Ok(()),
        }
    }

    /// A name of a scope belongs to one resource, so those that lose names to others come first.
    async fn give_up_scopes(self, plan: &Plan, planned: &PlannedResource) -> Result<(), Stopped> {
        let PlannedResource::Kept { before, now } = planned else { return Ok(()) };
        if lost(before, now).any(|name| is_gained(plan, before, name.as_str())) {
            let mut fewer = before.clone();
            fewer.scopes.retain(|scope| now.scope(scope.name.as_str()).is_some());
            update_resource(self.management, fewer, true).await.map_err(of_resource)?;
            (self.witness)(Act::ResourceChanged(&now.uri));
        }
        Ok(())
    }

    async fn change_resource(self, change: &Change, planned: &PlannedResource) -> Result<(), Stopped> {
        match planned {
            PlannedResource::Created(now) => {
                create_resource(self.management, now.clone()).await.map_err(of_resource)?;
                (self.witness)(Act::ResourceDeclared(&now.uri));
                self.declare(change, now.created_at).await
            }
            PlannedResource::Kept { before, now } => {
                if before != now {
                    update_resource(self.management, now.clone(), true).await.map_err(of_resource)?;
                    (self.witness)(Act::ResourceChanged(&now.uri));
                }
                self.declare(change, before.created_at).await
            }
            PlannedResource::Deleted(_) => Ok(()),
        }
    }

    async fn change_client(self, change: &Change, planned: &PlannedClient) -> Result<(), Stopped> {
        match planned {
            PlannedClient::Registered(NewState { client, requested, secret }) => {
                let given = Given {
                    id: Some(client.id),
                    secret: match secret {
                        NewSecret::Given(FileSecret { secret, .. }) => Some(secret.clone()),
                        NewSecret::Same | NewSecret::Unknown => None,
                    },
                    resources: Opened::Only(client.resources.clone()),
                    access: client.access.clone(),
                };
                let registered = register_declared(self.management, requested.clone(), given).await;
                let registered = registered.map_err(|error| match error {
                    RegisterClientError::Rejected(_) | RegisterClientError::IdTaken => Stopped::Overtaken,
                    RegisterClientError::Store(error) => Stopped::Store(error),
                })?;
                (self.witness)(Act::ClientRegistered(client.id));
                self.declare(change, registered.client.created_at).await
            }
            PlannedClient::Kept { before, now } => {
                self.update_client(before, now).await?;
                self.declare(change, before.created_at).await
            }
            PlannedClient::Deleted(_) => Ok(()),
        }
    }

    async fn update_client(self, before: &Client, now: &NewState) -> Result<(), Stopped> {
        let NewState { client, requested, secret } = now;
        let id = client.id;
        if client.access != before.access {
            let (rule, release) = (client.access.rule.clone(), client.access.release.clone());
            let changed = change_access(self.management, before.clone(), rule, Some(release)).await;
            let changed = changed.map_err(|error| match error {
                ChangeAccessError::GroupUnknown(_) | ChangeAccessError::ClientUnknown => Stopped::Overtaken,
                ChangeAccessError::Store(error) => Stopped::Store(error),
            })?;
            (self.witness)(Act::AccessChanged(&changed.now.client));
        }
        let mut open = before.resources.clone();
        self.close_others(id, &mut open, &client.resources).await?;
        if client.metadata != before.metadata || client.authentication != before.authentication {
            let fresh = self.management.clients.find_fresh(id).await?.ok_or(Stopped::Overtaken)?;
            let changed = change_client(self.management, fresh, requested.clone()).await;
            let changed = changed.map_err(|error| match error {
                ChangeClientError::Described(_)
                | ChangeClientError::Rejected(_)
                | ChangeClientError::MethodChange
                | ChangeClientError::ClientUnknown => Stopped::Overtaken,
                ChangeClientError::Store(error) => Stopped::Store(error),
            })?;
            (self.witness)(Act::ClientChanged(id));
            // With a scope its resource was opened.
            open = changed.resources;
            self.close_others(id, &mut open, &client.resources).await?;
        }
        let missing: Vec<String> =
            client.resources.iter().filter(|uri| !open.contains(uri)).cloned().collect();
        if !missing.is_empty() {
            open_resources(self.management, id, &missing).await.map_err(of_opening)?;
            (self.witness)(Act::ResourcesOpened(id));
        }
        match secret {
            NewSecret::Given(FileSecret { secret, keep_old }) => {
                let rotated = replace_client_secret(self.management, id, secret.clone(), *keep_old).await;
                let rotated = rotated.map_err(|error| match error {
                    RotateClientSecretError::Unknown | RotateClientSecretError::NoSecret => {
                        Stopped::Overtaken
                    }
                    RotateClientSecretError::Store(error) => Stopped::Store(error),
                })?;
                (self.witness)(Act::SecretRotated(id, rotated.old_expires_at));
                Ok(())
            }
            NewSecret::Same | NewSecret::Unknown => Ok(()),
        }
    }

    /// Closes what is open and is not declared.
    async fn close_others(
        self,
        id: ClientId,
        open: &mut Vec<String>,
        declared: &[String],
    ) -> Result<(), Stopped> {
        let extra: Vec<String> = open.iter().filter(|uri| !declared.contains(uri)).cloned().collect();
        if extra.is_empty() {
            return Ok(());
        }
        close_resources(self.management, id, &extra).await.map_err(of_opening)?;
        (self.witness)(Act::ResourcesClosed(id));
        open.retain(|uri| declared.contains(uri));
        Ok(())
    }

    /// New members of groups that were there come last of all that is given.
    async fn add_members(self, change: &Change) -> Result<(), Stopped> {
        let What::Group(PlannedGroup::Kept { name, added, adopted, .. }) = &change.what else {
            return Ok(());
        };
        let found = self.management.storage.find_group(name).await?.ok_or(Stopped::Overtaken)?;
        self.declare(change, found.group.created_at).await?;
        self.put(declarations_of(change, name, adopted, found.group.created_at)).await?;
        self.add(change, name, added).await
    }

    async fn add(self, change: &Change, name: &GroupName, members: &[Who]) -> Result<(), Stopped> {
        if members.is_empty() {
            return Ok(());
        }
        let added = add_members(self.management, name, members.to_vec()).await;
        let added = added.map_err(|error| match error {
            AddMembersError::GroupUnknown | AddMembersError::UserUnknown(_) => Stopped::Overtaken,
            AddMembersError::Store(error) => Stopped::Store(error),
        })?;
        for added in added.iter().filter(|added| !added.already) {
            (self.witness)(Act::MemberAdded(name, &added.who));
        }
        let found = self.management.storage.find_group(name).await?.ok_or(Stopped::Overtaken)?;
        self.put(declarations_of(change, name, members, found.group.created_at)).await
    }

    async fn delete_groups(self, change: &Change) -> Result<(), Stopped> {
        let What::Group(PlannedGroup::Deleted(name)) = &change.what else { return Ok(()) };
        match delete_group(self.management, name, true, None).await {
            Ok(_) => (self.witness)(Act::GroupDeleted(name)),
            Err(DeleteGroupError::GroupUnknown | DeleteGroupError::InUse(_)) => {}
            Err(DeleteGroupError::Store(error)) => return Err(error.into()),
        }
        let all = self.management.storage.list_declarations().await?.into_iter();
        let members = all.map(|declaration| declaration.thing).filter(|thing| thing.is_member_of(name));
        self.forget(members.chain([change.thing.clone()]).collect()).await
    }

    /// Remembers that this file declared the thing, unless that is known.
    async fn declare(self, change: &Change, created_at: OffsetDateTime) -> Result<(), Stopped> {
        if change.declared == DeclaredBefore::Here {
            return Ok(());
        }
        let thing = change.thing.clone();
        self.put(vec![Declaration { thing, source: change.source.to_string(), created_at }]).await
    }

    async fn put(self, declarations: Vec<Declaration>) -> Result<(), Stopped> {
        if !declarations.is_empty() {
            self.management.storage.put_declarations(PutDeclarations { declarations }).await?;
        }
        Ok(())
    }

    async fn forget(self, things: Vec<DeclaredThing>) -> Result<(), Stopped> {
        if !things.is_empty() {
            self.management.storage.forget_declarations(ForgetDeclarations { things }).await?;
        }
        Ok(())
    }
}

fn declarations_of(
    change: &Change,
    name: &GroupName,
    members: &[Who],
    created_at: OffsetDateTime,
) -> Vec<Declaration> {
    let declare = |who: &Who| Declaration {
        thing: member_thing(name, &who.clone().into()),
        source: change.source.to_string(),
        created_at,
    };
    members.iter().map(declare).collect()
}

fn of_resource(error: DeclareResourceError) -> Stopped {
    match error {
        DeclareResourceError::Unfit { .. }
        | DeclareResourceError::InSettings(_)
        | DeclareResourceError::Declared(_)
        | DeclareResourceError::Unknown(_)
        | DeclareResourceError::ScopeTaken { .. }
        | DeclareResourceError::TooManyScopes
        | DeclareResourceError::InUse(_) => Stopped::Overtaken,
        DeclareResourceError::Store(error) => Stopped::Store(error),
    }
}

fn of_opening(error: OpenResourceError) -> Stopped {
    match error {
        OpenResourceError::Unfit { .. }
        | OpenResourceError::NotDeclared(_)
        | OpenResourceError::ClientUnknown => Stopped::Overtaken,
        OpenResourceError::Store(error) => Stopped::Store(error),
    }
}
