//! Carries out a plan, by the use-cases that commands use too.
//!
//! Removals come before additions, so that no one gets access on the way who has it neither before nor
//! afterwards. The members of a new group are an exception: nothing names it yet. Each step can be repeated,
//! so a second run finishes what was interrupted.

use std::collections::BTreeMap;

use countersign_domain::act::{Act, NamedClient, NamedSubject, UsedBy};
use countersign_domain::client::Client;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::declaration::{Declaration, DeclaredThing};
use countersign_domain::event::Actor;
use countersign_domain::group::GroupName;
use countersign_domain::resource::Resource;
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use countersign_ports::{ForgetDeclarations, PutDeclarations, StoreError};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::context::cause::Cause;
use time::OffsetDateTime;

use super::FileSecret;
use super::judge::{NAMED_AT, lost};
use super::members::member_thing;
use super::plan::{
    Change, DeclaredBefore, NewSecret, NewState, Plan, PlannedClient, PlannedGroup, PlannedPerson,
    PlannedResource, What,
};
use crate::operate::{Effect, GivenByFile, Operating, operate};

/// Hears of every act that changed something, right after it.
pub type Witness = dyn Fn(&Act, &Effect) + Send + Sync;

/// Why a plan was not carried out to its end.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The same things were changed meanwhile: make another plan.
    Overtaken,
    /// A change could not be stored.
    Store(StoreError),
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// The plan was judged, so what is refused was changed since.
impl From<ActRefused> for Stopped {
    fn from(refused: ActRefused) -> Self {
        if let ActRefused::Store(error) = refused { Self::Store(error) } else { Self::Overtaken }
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
        if let What::Person(planned) = &change.what {
            of(change).name_person(change, planned).await?;
        }
    }
    for change in &plan.changes {
        of(change).delete_groups(change).await?;
    }
    run.forget(plan.gone.clone()).await
}

fn resources_of(plan: &Plan) -> impl Iterator<Item = (&Change, &PlannedResource)> {
    plan.changes.iter().filter_map(|change| match &change.what {
        What::Resource(planned) => Some((change, planned)),
        What::Client(_) | What::Group(_) | What::Person(_) => None,
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
    /// Makes an act, even if something uses what it takes away, and lets the witness hear of it.
    async fn act(self, act: Act) -> Result<Effect, ActRefused> {
        self.act_with(Operating::new(self.management), act).await
    }

    async fn act_with(self, operating: Operating<'_>, act: Act) -> Result<Effect, ActRefused> {
        let effect = operate(operating.insisting(true), act.clone()).await?;
        if !effect.is_nothing() {
            (self.witness)(&act, &effect);
        }
        Ok(effect)
    }

    /// Deletes something, which may be gone already.
    async fn delete(self, act: Act) -> Result<(), Stopped> {
        match self.act(act).await {
            Ok(_) => Ok(()),
            Err(refused) if refused.is_overtaken() => Ok(()),
            Err(refused) => Err(refused.into()),
        }
    }

    /// Members leave, and pruned clients and resources go.
    async fn take_away(self, change: &Change) -> Result<(), Stopped> {
        match &change.what {
            What::Group(PlannedGroup::Kept { name, removed, .. }) => {
                if !removed.is_empty() {
                    self.act(Act::RemoveMembers { group: name.clone(), members: named(removed) }).await?;
                }
                Ok(())
            }
            What::Client(planned) => match &**planned {
                PlannedClient::Deleted(client) => {
                    self.delete(Act::DeleteClient { client: client.id.into() }).await?;
                    self.forget(vec![change.thing.clone()]).await
                }
                PlannedClient::Registered(_) | PlannedClient::Kept { .. } => Ok(()),
            },
            What::Resource(PlannedResource::Deleted(resource)) => {
                let uri = resource.uri.clone();
                self.delete(Act::DeleteResource { uri, used_by: UsedBy::default() }).await?;
                self.forget(vec![change.thing.clone()]).await
            }
            What::Group(_) | What::Resource(_) | What::Person(_) => Ok(()),
        }
    }

    /// New groups are there with their members before anything names them, and others get their titles.
    async fn make_groups(self, change: &Change) -> Result<(), Stopped> {
        let What::Group(planned) = &change.what else { return Ok(()) };
        match planned {
            PlannedGroup::Created { name, title, members } => {
                let (group, title) = (name.clone(), title.clone());
                self.act(Act::CreateGroup { group, title, members: named(members) }).await?;
                let created_at = self.created_at(name).await?;
                self.declare(change, created_at).await?;
                self.put(declarations_of(change, name, members, created_at)).await
            }
            PlannedGroup::Kept { name, title: Some((_, title)), .. } => {
                self.act(Act::RetitleGroup { group: name.clone(), title: title.clone() }).await?;
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
            self.update(fewer).await?;
        }
        Ok(())
    }

    async fn change_resource(self, change: &Change, planned: &PlannedResource) -> Result<(), Stopped> {
        match planned {
            PlannedResource::Created(now) => {
                self.act(Act::CreateResource { resource: now.clone().into() }).await?;
                let created = self.management.resources.read_fresh().await?;
                let created = created.resource(&now.uri).ok_or(Stopped::Overtaken)?;
                self.declare(change, created.created_at).await
            }
            PlannedResource::Kept { before, now } => {
                if before != now {
                    self.update(now.clone()).await?;
                }
                self.declare(change, before.created_at).await
            }
            PlannedResource::Deleted(_) => Ok(()),
        }
    }

    async fn update(self, resource: Resource) -> Result<(), Stopped> {
        self.act(Act::UpdateResource { resource: resource.into(), used_by: UsedBy::default() }).await?;
        Ok(())
    }

    async fn change_client(self, change: &Change, planned: &PlannedClient) -> Result<(), Stopped> {
        match planned {
            PlannedClient::Registered(NewState { client, requested, secret }) => {
                let secret = match secret {
                    NewSecret::Given(FileSecret { secret, .. }) => Some(secret.clone()),
                    NewSecret::Same | NewSecret::Unknown => None,
                };
                let of_file = Some(GivenByFile { secret });
                let act = Act::RegisterClient {
                    id: Some(client.id),
                    metadata: Box::new(requested.clone()),
                    resources: client.resources.clone(),
                    fields: Vec::new(),
                    access: Some(client.access.clone()),
                };
                self.act_with(Operating { of_file, ..Operating::new(self.management) }, act).await?;
                let registered = self.management.clients.find_fresh(client.id).await?;
                self.declare(change, registered.ok_or(Stopped::Overtaken)?.created_at).await
            }
            PlannedClient::Kept { before, now } => {
                self.update_client(before, now).await?;
                self.declare(change, before.created_at).await
            }
            PlannedClient::Deleted(_) => Ok(()),
        }
    }

    async fn update_client(self, before: &Client, now: &NewState) -> Result<(), Stopped> {
        let NewState { client: declared, requested, secret } = now;
        let client = || NamedClient::from(declared.id);
        if declared.access != before.access {
            let (rule, release) = (declared.access.rule.clone(), Some(declared.access.release.clone()));
            self.act(Act::SetAccess { client: client(), rule, release }).await?;
        }
        let mut open = before.resources.clone();
        self.close_others(client(), &mut open, &declared.resources).await?;
        if declared.metadata != before.metadata || declared.authentication != before.authentication {
            let metadata = Box::new(requested.clone());
            let act = Act::ChangeClient { client: client(), metadata, fields: Vec::new() };
            if let Effect::ClientChanged { now, .. } = self.act(act).await? {
                // With a scope its resource was opened.
                open = now.resources;
            }
            self.close_others(client(), &mut open, &declared.resources).await?;
        }
        let missing = declared.resources.iter().filter(|uri| !open.contains(uri));
        let resources: Vec<String> = missing.cloned().collect();
        if !resources.is_empty() {
            self.act(Act::OpenResources { client: client(), resources }).await?;
        }
        match secret {
            NewSecret::Given(FileSecret { secret, keep_old }) => {
                self.give_secret(client(), secret.clone(), *keep_old).await
            }
            NewSecret::Same | NewSecret::Unknown => Ok(()),
        }
    }

    async fn give_secret(
        self,
        client: NamedClient,
        secret: Secret,
        keep_old: KeepOld,
    ) -> Result<(), Stopped> {
        let of_file = Some(GivenByFile { secret: Some(secret) });
        let operating = Operating { of_file, ..Operating::new(self.management) };
        self.act_with(operating, Act::RotateSecret { client, keep_old }).await?;
        Ok(())
    }

    /// Closes what is open and is not declared.
    async fn close_others(
        self,
        client: NamedClient,
        open: &mut Vec<String>,
        declared: &[String],
    ) -> Result<(), Stopped> {
        let resources: Vec<String> = open.iter().filter(|uri| !declared.contains(uri)).cloned().collect();
        if resources.is_empty() {
            return Ok(());
        }
        self.act(Act::CloseResources { client, resources }).await?;
        open.retain(|uri| declared.contains(uri));
        Ok(())
    }

    /// New members of groups that were there come last of all that is given.
    async fn add_members(self, change: &Change) -> Result<(), Stopped> {
        let What::Group(PlannedGroup::Kept { name, added, adopted, .. }) = &change.what else {
            return Ok(());
        };
        let created_at = self.created_at(name).await?;
        self.declare(change, created_at).await?;
        self.put(declarations_of(change, name, adopted, created_at)).await?;
        if added.is_empty() {
            return Ok(());
        }
        self.act(Act::AddMembers { group: name.clone(), members: named(added) }).await?;
        self.put(declarations_of(change, name, added, self.created_at(name).await?)).await
    }

    async fn name_person(self, change: &Change, planned: &PlannedPerson) -> Result<(), Stopped> {
        let PlannedPerson { who, before, now } = planned;
        if before != now {
            self.act(Act::Name { who: who.clone().into(), name: now.clone() }).await?;
        }
        match now {
            Some(_) => self.declare(change, NAMED_AT).await,
            None => self.forget(vec![change.thing.clone()]).await,
        }
    }

    /// When a group was created.
    async fn created_at(self, name: &GroupName) -> Result<OffsetDateTime, Stopped> {
        let found = self.management.storage.find_group(name).await?.ok_or(Stopped::Overtaken)?;
        Ok(found.group.created_at)
    }

    async fn delete_groups(self, change: &Change) -> Result<(), Stopped> {
        let What::Group(PlannedGroup::Deleted(name)) = &change.what else { return Ok(()) };
        let (used_by, needed_by) = (UsedBy::default(), Vec::new());
        self.delete(Act::DeleteGroup { group: name.clone(), used_by, needed_by }).await?;
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

fn named(members: &[Subject]) -> Vec<NamedSubject> {
    members.iter().cloned().map(NamedSubject::from).collect()
}

fn declarations_of(
    change: &Change,
    name: &GroupName,
    members: &[Subject],
    created_at: OffsetDateTime,
) -> Vec<Declaration> {
    let declare = |who: &Subject| Declaration {
        thing: member_thing(name, who),
        source: change.source.to_string(),
        created_at,
    };
    members.iter().map(declare).collect()
}
