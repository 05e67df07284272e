//! What is there, as far as the files of a run are about it.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::declaration::{Declaration, DeclaredKind, DeclaredThing};
use countersign_domain::group::{Group, GroupName};
use countersign_domain::id::ClientId;
use countersign_domain::resource::Catalog;
use countersign_domain::subject::Subject;
use countersign_ports::{NamedPerson, StoreError};
use countersign_usecases::Management;

use super::DeclaredFiles;
use crate::people::list_groups::list_groups;
use crate::people::names::all_named;

/// How many rows are read at once.
const PAGE: u32 = 500;

/// What is there.
pub(super) struct State {
    /// The clients that are declared, or once were.
    pub(super) clients: BTreeMap<ClientId, Client>,
    /// The clients that an operator registered under the names of those that are not there yet.
    pub(super) namesakes: BTreeMap<String, Vec<ClientId>>,
    /// All groups.
    pub(super) groups: BTreeMap<GroupName, Group>,
    /// The members of the declared groups.
    pub(super) members: BTreeMap<GroupName, Vec<Subject>>,
    /// All resources.
    pub(super) resources: Catalog,
    /// The users and wallets that have a name of their own, if a file is or was about names.
    pub(super) named: BTreeMap<DeclaredThing, NamedPerson>,
    /// What files declared.
    pub(super) declarations: BTreeMap<DeclaredThing, Declaration>,
}

/// Reads what is there.
pub(super) async fn read_state(
    management: Management<'_>,
    files: &DeclaredFiles,
) -> Result<State, StoreError> {
    let declarations = management.storage.list_declarations().await?;
    let declarations: BTreeMap<_, _> =
        declarations.into_iter().map(|declaration| (declaration.thing.clone(), declaration)).collect();
    let once = declarations.keys().filter(|thing| thing.kind == DeclaredKind::Client);
    let wanted: BTreeSet<ClientId> = files
        .clients
        .iter()
        .map(|item| item.value.id)
        .chain(once.filter_map(|thing| ClientId::parse(&thing.key)))
        .collect();
    let mut clients = BTreeMap::new();
    for id in wanted {
        if let Some(client) = management.clients.find_fresh(id).await? {
            clients.insert(id, client);
        }
    }
    let groups = list_groups(management).await?.into_iter();
    let groups: BTreeMap<_, _> = groups.map(|counted| (counted.group.name.clone(), counted.group)).collect();
    let mut members = BTreeMap::new();
    for name in files.groups.iter().map(|item| &item.value.name).filter(|name| groups.contains_key(name)) {
        members.insert(name.clone(), all_members(management, name).await?);
    }
    let namesakes = namesakes(management, files, &clients).await?;
    let resources = management.resources.read_fresh().await?;
    let is_about_names =
        !files.people.is_empty() || declarations.keys().any(|thing| thing.kind == DeclaredKind::Person);
    let named = if is_about_names { all_named(management.storage).await? } else { Vec::new() };
    let named = named.into_iter().map(|person| (DeclaredThing::person(&person.who), person)).collect();
    Ok(State { clients, namesakes, groups, members, resources, named, declarations })
}

/// Reads all members of a group.
pub(super) async fn all_members(
    management: Management<'_>,
    group: &GroupName,
) -> Result<Vec<Subject>, StoreError> {
    let mut read: Vec<Subject> = Vec::new();
    loop {
        let page = management.storage.list_members(group, read.last(), PAGE).await?;
        if page.is_empty() {
            return Ok(read);
        }
        read.extend(page.into_iter().map(|listed| listed.member));
    }
}

/// Reads clients page by page, and hands on each. There may be very many that registered themselves.
pub(super) async fn each_client(
    management: Management<'_>,
    mut take: impl FnMut(Client),
) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = management.clients.list(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.id);
        page.into_iter().for_each(&mut take);
    }
}

/// Looks for clients that have the names of new ones. Nothing is read if there is no new one.
async fn namesakes(
    management: Management<'_>,
    files: &DeclaredFiles,
    clients: &BTreeMap<ClientId, Client>,
) -> Result<BTreeMap<String, Vec<ClientId>>, StoreError> {
    let new = files.clients.iter().map(|item| &item.value).filter(|client| client.is_derived);
    let new = new.filter(|client| !clients.contains_key(&client.id));
    let names: BTreeSet<&str> =
        new.filter_map(|client| client.requested.client_name.as_deref()).map(str::trim).collect();
    let mut found: BTreeMap<String, Vec<ClientId>> = BTreeMap::new();
    if names.is_empty() {
        return Ok(found);
    }
    each_client(management, |client| {
        if client.origin == ClientOrigin::Operator && names.contains(&*client.metadata.name) {
            found.entry(client.metadata.name).or_default().push(client.id);
        }
    })
    .await?;
    Ok(found)
}
