//! Compares the files of a run with what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_domain::declaration::{Declaration, DeclaredKind, DeclaredThing};
use countersign_domain::group::{Group, GroupName};
use countersign_domain::id::ClientId;
use countersign_domain::resource::{Catalog, MAX_RESOURCE_SCOPES, Resource};
use countersign_domain::scope::ScopeName;
use countersign_domain::subject::Subject;
use countersign_ports::{NamedPerson, StoreError};
use countersign_usecases::Management;
use time::OffsetDateTime;

use super::ahead::{Ahead, declared_before, no_group};
use super::judge_clients::judge_clients;
use super::members::{member_thing, named_members, named_person};
use super::plan::{
    Change, DeclaredBefore, Plan, PlannedClient, PlannedGroup, PlannedPerson, PlannedResource, Prune, What,
};
use super::read_state::State;
use super::{DeclaredFiles, FileGroup, FilePerson, FileResource, Item, Mistake};

/// Makes the plan, and finds every mistake.
pub(super) async fn judge(
    management: Management<'_>,
    files: &DeclaredFiles,
    state: &State,
    prune: Prune,
    mistakes: &mut Vec<Mistake>,
) -> Result<Plan, StoreError> {
    refuse_twice(&files.clients, "client.id", |client| DeclaredThing::client(client.id), mistakes);
    refuse_twice(&files.groups, "group.name", |group| DeclaredThing::group(&group.name), mistakes);
    refuse_twice(
        &files.resources,
        "resource.uri",
        |resource| DeclaredThing::resource(&resource.uri),
        mistakes,
    );
    let mut plan = Plan::default();
    let people = named_people(management, files, mistakes).await?;
    let pruned = no_longer_declared(files, &people, state, prune, &mut plan);
    let ahead = look_ahead(management, files, state, &pruned);
    let named = named_scopes(files);
    for item in &files.resources {
        mistakes.extend(judge_resource(management, item, &named, state, &ahead));
        let change = plan_resource(management, item, state);
        plan.changes.extend(change);
    }
    for item in &files.groups {
        let named = named_members(management, item, mistakes).await?;
        plan.changes.extend(plan_group(item, state, named, &mut plan.gone));
    }
    plan.changes.extend(plan_people(people, state, mistakes));
    let mut clients = judge_clients(management, files, state, &ahead, mistakes).await;
    plan.changes.append(&mut clients);
    plan.changes.extend(pruned);
    Ok(plan)
}

/// A thing is declared once, in one file.
fn refuse_twice<T>(
    items: &[Item<T>],
    field: &str,
    thing: impl Fn(&T) -> DeclaredThing,
    mistakes: &mut Vec<Mistake>,
) {
    let mut first: BTreeMap<DeclaredThing, &Item<T>> = BTreeMap::new();
    let name = field.split('.').next_back().unwrap_or_default();
    for item in items {
        match first.entry(thing(&item.value)) {
            std::collections::btree_map::Entry::Vacant(vacant) => {
                vacant.insert(item);
            }
            std::collections::btree_map::Entry::Occupied(there) => {
                let (thing, before) = (there.key(), there.get().spot(name));
                let what = format!("{} {} is declared at {before} already", thing.kind.name(), thing.key);
                let at = item.spot(name).clone();
                mistakes.push(Mistake { at, field: field.to_owned(), what });
            }
        }
    }
}

/// What these files once declared and no longer name: what is to be deleted, and what stays.
fn no_longer_declared(
    files: &DeclaredFiles,
    people: &[(&Item<FilePerson>, Subject)],
    state: &State,
    prune: Prune,
    plan: &mut Plan,
) -> Vec<Change> {
    let declared: BTreeSet<DeclaredThing> = files
        .clients
        .iter()
        .map(|item| DeclaredThing::client(item.value.id))
        .chain(files.groups.iter().map(|item| DeclaredThing::group(&item.value.name)))
        .chain(files.resources.iter().map(|item| DeclaredThing::resource(&item.value.uri)))
        .chain(people.iter().map(|(_, who)| DeclaredThing::person(who)))
        .collect();
    let mut pruned = Vec::new();
    for declaration in
        state.declarations.values().filter(|declaration| !declared.contains(&declaration.thing))
    {
        let Some(source) = files.sources.iter().find(|source| ***source == *declaration.source) else {
            continue;
        };
        let Some(deleted) = deletion(state, declaration) else {
            if !is_in_its_group(state, declaration) {
                plan.gone.push(declaration.thing.clone());
            }
            continue;
        };
        match prune {
            Prune::Keep => plan.left.push(declaration.clone()),
            Prune::Delete => pruned.push(Change {
                source: Arc::clone(source),
                thing: declaration.thing.clone(),
                what: deleted,
                declared: DeclaredBefore::Here,
            }),
        }
    }
    pruned
}

/// Is this about a member, and is the group still there? Then it goes and stays with its group.
fn is_in_its_group(state: &State, declaration: &Declaration) -> bool {
    let name = declaration.thing.key.split(' ').next().unwrap_or_default();
    let group = GroupName::parse(name).ok().and_then(|name| state.groups.get(&name));
    let is_there = group.is_some_and(|group| group.created_at == declaration.created_at);
    declaration.thing.kind == DeclaredKind::Member && is_there
}

/// Deletes the thing that was declared, if it is still there. Members go with their groups.
fn deletion(state: &State, declaration: &Declaration) -> Option<What> {
    let Declaration { thing: DeclaredThing { kind, key }, source: _, created_at } = declaration;
    match kind {
        DeclaredKind::Client => {
            let client = state.clients.get(&ClientId::parse(key)?)?;
            let is_it = client.created_at == *created_at;
            is_it.then(|| What::Client(Box::new(PlannedClient::Deleted(client.clone()))))
        }
        DeclaredKind::Group => {
            let group = state.groups.get(&GroupName::parse(key).ok()?)?;
            let is_it = group.created_at == *created_at;
            is_it.then(|| What::Group(PlannedGroup::Deleted(group.name.clone())))
        }
        DeclaredKind::Resource => {
            let resource = state.resources.resource(key)?;
            let is_it = resource.created_at == *created_at;
            is_it.then(|| What::Resource(PlannedResource::Deleted(resource.clone())))
        }
        DeclaredKind::Person => {
            let NamedPerson { who, name } = state.named.get(&declaration.thing)?.clone();
            Some(What::Person(PlannedPerson { who, before: Some(name), now: None }))
        }
        DeclaredKind::Member => None,
    }
}

/// Looks up whose names the files declare.
async fn named_people<'a>(
    management: Management<'_>,
    files: &'a DeclaredFiles,
    mistakes: &mut Vec<Mistake>,
) -> Result<Vec<(&'a Item<FilePerson>, Subject)>, StoreError> {
    let mut people = Vec::with_capacity(files.people.len());
    for item in &files.people {
        people.extend(named_person(management, item, mistakes).await?.map(|who| (item, who)));
    }
    Ok(people)
}

/// Compares the names of users and wallets.
fn plan_people(
    people: Vec<(&Item<FilePerson>, Subject)>,
    state: &State,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Change> {
    let mut first: BTreeMap<DeclaredThing, &Item<FilePerson>> = BTreeMap::new();
    let mut changes = Vec::new();
    for (item, who) in people {
        let thing = DeclaredThing::person(&who);
        if let Some(before) = first.insert(thing.clone(), item) {
            let what = format_args!("{} is named at {} already", item.value.who.name, before.spot("who"));
            mistakes.push(item.mistake("person", "who", what));
            continue;
        }
        let before = state.named.get(&thing).map(|person| person.name.clone());
        let declared = declared_before(state, &thing, NAMED_AT, &item.at.file);
        let now = Some(item.value.name.clone());
        if now != before || declared != DeclaredBefore::Here {
            let what = What::Person(PlannedPerson { who, before, now });
            changes.push(Change { source: Arc::clone(&item.at.file), thing, what, declared });
        }
    }
    changes
}

/// The time in the declaration of a name: who has it is known by a key that no one else ever has.
pub(super) const NAMED_AT: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

fn look_ahead(management: Management<'_>, files: &DeclaredFiles, state: &State, pruned: &[Change]) -> Ahead {
    let pruned: BTreeSet<&DeclaredThing> = pruned.iter().map(|change| &change.thing).collect();
    let is_pruned = |thing: &DeclaredThing| pruned.contains(thing);
    let stays = state.groups.keys().filter(|name| !is_pruned(&DeclaredThing::group(name)));
    let declared = files.groups.iter().map(|item| &item.value.name);
    let groups = stays.chain(declared).cloned().collect();
    let replaced: BTreeSet<&str> = files.resources.iter().map(|item| &*item.value.uri).collect();
    let is_replaced = |uri: &str| replaced.contains(uri);
    let stays = state.resources.resources().iter().filter(|resource| {
        !is_replaced(&resource.uri) && !is_pruned(&DeclaredThing::resource(&resource.uri))
    });
    let declared = files.resources.iter().map(|item| resource_of(&item.value, OffsetDateTime::UNIX_EPOCH));
    let catalog = Catalog::new(stays.cloned().chain(declared).collect());
    Ahead { groups, rules: management.policy.resources.with(Arc::new(catalog)) }
}

fn resource_of(declared: &FileResource, created_at: OffsetDateTime) -> Resource {
    let FileResource { uri, name, open_to, scopes } = declared.clone();
    Resource { uri, name, open_to, scopes, created_at }
}

/// The resources in the files that have a scope of each name, in the order of the files.
fn named_scopes(files: &DeclaredFiles) -> BTreeMap<&ScopeName, Vec<&str>> {
    let mut named: BTreeMap<&ScopeName, Vec<&str>> = BTreeMap::new();
    for resource in files.resources.iter().map(|item| &item.value) {
        for scope in &resource.scopes {
            named.entry(&scope.name).or_default().push(&resource.uri);
        }
    }
    named
}

fn judge_resource(
    management: Management<'_>,
    item: &Item<FileResource>,
    named: &BTreeMap<&ScopeName, Vec<&str>>,
    state: &State,
    ahead: &Ahead,
) -> Vec<Mistake> {
    let FileResource { uri, name: _, open_to: _, scopes } = &item.value;
    let settings = &management.policy.resources;
    let mut mistakes = Vec::new();
    if let Err(unfit) = settings.may_be_declared(uri) {
        mistakes.push(item.mistake("resource", "uri", format_args!("{uri} is {unfit}")));
    } else if settings.openness(uri).is_some() {
        let what = "the setting `resources` declares it: take it out there first";
        mistakes.push(item.mistake("resource", "uri", what));
    }
    if scopes.len() > MAX_RESOURCE_SCOPES {
        let what = format_args!("a resource has at most {MAX_RESOURCE_SCOPES} scopes");
        mistakes.push(item.mistake("resource", "scopes", what));
    }
    for scope in scopes {
        let field = format!("scopes {}", scope.name);
        let in_files = named.get(&scope.name).into_iter().flatten().find(|other| **other != uri.as_str());
        let owner = in_files.copied().or_else(|| {
            let owner = ahead.rules.catalog().owner(scope.name.as_str())?;
            (owner.uri != *uri).then_some(&*owner.uri)
        });
        if let Some(owner) = owner {
            let what = format!(
                "the scope {} belongs to {owner}: names of scopes are unique among all resources",
                scope.name
            );
            mistakes.push(item.mistake("resource", &field, what));
        }
        if let Some(group) = scope.needs.as_ref().filter(|group| !ahead.groups.contains(*group)) {
            mistakes.push(item.mistake("resource", &field, no_group(group, state)));
        }
    }
    mistakes
}

fn plan_resource(management: Management<'_>, item: &Item<FileResource>, state: &State) -> Option<Change> {
    let thing = DeclaredThing::resource(&item.value.uri);
    let source = Arc::clone(&item.at.file);
    let Some(before) = state.resources.resource(&item.value.uri) else {
        let now = management.clock.now();
        let created = resource_of(&item.value, now.replace_nanosecond(0).unwrap_or(now));
        let what = What::Resource(PlannedResource::Created(created));
        return Some(Change { source, thing, what, declared: DeclaredBefore::Nowhere });
    };
    let declared = declared_before(state, &thing, before.created_at, &source);
    let now = resource_of(&item.value, before.created_at);
    if now == *before && declared == DeclaredBefore::Here {
        return None;
    }
    let what = What::Resource(PlannedResource::Kept { before: before.clone(), now });
    Some(Change { source, thing, what, declared })
}

/// The names of the scopes that a resource loses.
pub(super) fn lost<'a>(before: &'a Resource, now: &'a Resource) -> impl Iterator<Item = &'a ScopeName> {
    let names = before.scopes.iter().map(|scope| &scope.name);
    names.filter(|name| now.scope(name.as_str()).is_none())
}

fn plan_group(
    item: &Item<FileGroup>,
    state: &State,
    named: Vec<Subject>,
    gone: &mut Vec<DeclaredThing>,
) -> Option<Change> {
    let FileGroup { name, title, .. } = &item.value;
    let thing = DeclaredThing::group(name);
    let source = Arc::clone(&item.at.file);
    let Some(Group { created_at, title: before, .. }) = state.groups.get(name) else {
        let created = PlannedGroup::Created { name: name.clone(), title: title.clone(), members: named };
        let what = What::Group(created);
        return Some(Change { source, thing, what, declared: DeclaredBefore::Nowhere });
    };
    let is_declared = |thing: &DeclaredThing| {
        state.declarations.get(thing).is_some_and(|declaration| declaration.created_at == *created_at)
    };
    let present: BTreeMap<DeclaredThing, Subject> = state
        .members
        .get(name)
        .into_iter()
        .flatten()
        .map(|member| (member_thing(name, member), member.clone()))
        .collect();
    let named: BTreeMap<DeclaredThing, Subject> =
        named.into_iter().map(|who| (member_thing(name, &who), who)).collect();
    let of = |members: &BTreeMap<DeclaredThing, Subject>,
              which: &dyn Fn(&DeclaredThing) -> bool|
     -> Vec<Subject> {
        members.iter().filter(|(thing, _)| which(thing)).map(|(_, who)| who.clone()).collect()
    };
    let added = of(&named, &|thing| !present.contains_key(thing));
    let removed = of(&present, &|thing| !named.contains_key(thing) && is_declared(thing));
    let adopted = of(&named, &|thing| present.contains_key(thing) && !is_declared(thing));
    let first = DeclaredThing { kind: DeclaredKind::Member, key: format!("{name} ") };
    let declared = state.declarations.range(first..).map(|(thing, _)| thing);
    let members = declared.take_while(|thing| thing.is_member_of(name));
    gone.extend(
        members.filter(|thing| !named.contains_key(*thing) && !present.contains_key(*thing)).cloned(),
    );
    let declared = declared_before(state, &thing, *created_at, &source);
    let title = (before != title).then(|| (before.clone(), title.clone()));
    let is_same = title.is_none() && added.is_empty() && removed.is_empty() && adopted.is_empty();
    if is_same && declared == DeclaredBefore::Here {
        return None;
    }
    let what = What::Group(PlannedGroup::Kept { name: name.clone(), title, added, removed, adopted });
    Some(Change { source, thing, what, declared })
}
