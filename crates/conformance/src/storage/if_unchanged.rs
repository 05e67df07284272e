//! Changes that are carried out only if what they change is as it was read.

use std::sync::Arc;

use countersign_domain::client::{Client, ClientAuthentication};
use countersign_domain::group::GroupTitle;
use countersign_domain::resource::{OpenTo, Resource};
use countersign_domain::secret::SecretHash;
use countersign_domain::subject::Subject;
use countersign_ports::{
    ChangeAccess, ChangeResources, ClientChange, CountedGroup, CreateResource, DeclarationChange,
    DeleteClient, DeleteGroup, DeleteResource, GroupChange, IfClientUnchanged, IfGroupUnchanged,
    IfResourceUnchanged, RegisterClient, ResourceChange, ResourceUpdated, RetitleGroup, RotateSecret,
    Storage, UpdateClient, UpdateResource,
};

use super::races::{at_once, count};
use super::steps;
use crate::fixtures;

const TASKS: usize = 32;

async fn registered(store: &dyn Storage) -> Client {
    let client = fixtures::client();
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    store.find_client(client.id).await.unwrap().unwrap()
}

async fn change(store: &dyn Storage, read: &Client, change: ClientChange) -> bool {
    store.if_client_unchanged(IfClientUnchanged { read: read.clone(), change }).await.unwrap()
}

fn renamed(client: &Client, name: &str) -> ClientChange {
    let mut client = client.clone();
    name.clone_into(&mut client.metadata.name);
    ClientChange::Update(Box::new(UpdateClient { client, event: None }))
}

fn opened(client: &Client, uri: &str) -> ClientChange {
    let change = ResourceChange::Open(vec![uri.to_owned()]);
    ClientChange::Resources(ChangeResources { client: client.id, change, event: None })
}

fn rotated(client: &Client, replaced: SecretHash) -> ClientChange {
    let hash = fixtures::secret_hash();
    let now = fixtures::NOW;
    ClientChange::Secret(RotateSecret {
        client: client.id,
        replaced,
        hash,
        now,
        keep_old_until: None,
        event: None,
    })
}

fn current(client: &Client) -> SecretHash {
    match &client.authentication {
        ClientAuthentication::Secret { secrets, .. } => secrets.current,
        ClientAuthentication::Keys | ClientAuthentication::Public => panic!("{client:?} has no secret"),
    }
}

/// Each change by its own rules, as often as the caller reads the client again.
pub async fn an_unchanged_client_is_changed_in_every_way(store: Arc<dyn Storage>) {
    let first = registered(&*store).await;
    let find = async || store.find_client(first.id).await.unwrap();
    assert!(change(&*store, &first, renamed(&first, "Renamed")).await);
    let second = find().await.unwrap();
    assert_eq!(second.metadata.name, "Renamed");
    assert!(change(&*store, &second, opened(&second, "urn:a")).await);
    let third = find().await.unwrap();
    assert_eq!(third.resources, ["urn:a"]);
    let rule = Some(fixtures::rule("nobody"));
    let access = ChangeAccess { client: first.id, rule: rule.clone(), release: None, event: None };
    assert!(change(&*store, &third, ClientChange::Access(access)).await);
    let fourth = find().await.unwrap();
    assert_eq!(fourth.access.rule, rule);
    assert!(change(&*store, &fourth, rotated(&fourth, current(&fourth))).await);
    let fifth = find().await.unwrap();
    assert_ne!(current(&fifth), current(&fourth));
    assert!(change(&*store, &fifth, ClientChange::Delete(DeleteClient { id: fifth.id, event: None })).await);
    assert_eq!(find().await, None);
}

/// Whatever changed, and whatever is to be changed.
pub async fn a_client_that_was_changed_since_stays_as_it_is(store: Arc<dyn Storage>) {
    let read = registered(&*store).await;
    assert!(change(&*store, &read, opened(&read, "urn:a")).await);
    let now = store.find_client(read.id).await.unwrap();
    for late in [
        renamed(&read, "Late"),
        opened(&read, "urn:b"),
        rotated(&read, current(&read)),
        ClientChange::Access(ChangeAccess { client: read.id, rule: None, release: None, event: None }),
        ClientChange::Delete(DeleteClient { id: read.id, event: None }),
    ] {
        assert!(!change(&*store, &read, late).await);
        assert_eq!(store.find_client(read.id).await.unwrap(), now);
    }
    assert!(
        !change(
            &*store,
            &fixtures::client(),
            ClientChange::Delete(DeleteClient { id: read.id, event: None })
        )
        .await
    );
    assert_eq!(store.find_client(read.id).await.unwrap(), now);
}

/// Of many writers who read the same client, one changes it, whatever each of them does.
pub async fn one_of_many_changes_a_client_that_all_of_them_read(store: Arc<dyn Storage>) {
    for _ in 0..4 {
        let read = registered(&*store).await;
        let outcomes = at_once((0..TASKS).map(|place| {
            let (store, read) = (Arc::clone(&store), read.clone());
            async move {
                let late = match place % 3 {
                    0 => renamed(&read, &format!("Writer {place}")),
                    1 => opened(&read, &format!("urn:{place}")),
                    _ => rotated(&read, current(&read)),
                };
                change(&*store, &read, late).await
            }
        }))
        .await;
        assert_eq!(count(&outcomes, &true), 1);
    }
}

/// A group counts as changed when somebody came or left, too.
pub async fn a_group_is_changed_only_as_it_was_read(store: Arc<dyn Storage>) {
    let name = steps::group(&*store).await;
    let find = async || store.find_group(&name).await.unwrap();
    let change = async |read: &CountedGroup, change| {
        let command = IfGroupUnchanged { read: read.clone(), change };
        store.if_group_unchanged(command).await.unwrap()
    };
    let retitle = |title: &str| {
        let title = Some(GroupTitle::parse(title).unwrap());
        GroupChange::Retitle(RetitleGroup { group: name.clone(), title, event: None })
    };
    let first = find().await.unwrap();
    assert!(change(&first, retitle("One")).await);
    assert!(!change(&first, retitle("Two")).await);
    assert!(!change(&first, GroupChange::Delete(DeleteGroup { name: name.clone(), event: None })).await);
    let second = find().await.unwrap();
    assert_eq!(second.group.title, GroupTitle::parse("One").ok());
    let user = steps::sign_in(&*store).await.new_user;
    steps::add(&*store, &name, &Subject::User(user)).await;
    assert!(!change(&second, GroupChange::Delete(DeleteGroup { name: name.clone(), event: None })).await);
    let third = find().await.unwrap();
    assert_eq!((third.users, &third.group), (1, &second.group));
    assert!(change(&third, GroupChange::Delete(DeleteGroup { name: name.clone(), event: None })).await);
    assert_eq!(find().await, None);
    assert!(!change(&third, GroupChange::Delete(DeleteGroup { name: name.clone(), event: None })).await);
}

/// Of many writers who read the same group, one changes it.
pub async fn one_of_many_changes_a_group_that_all_of_them_read(store: Arc<dyn Storage>) {
    for _ in 0..4 {
        let name = steps::group(&*store).await;
        let read = store.find_group(&name).await.unwrap().unwrap();
        let outcomes = at_once((0..TASKS).map(|place| {
            let (store, read, group) = (Arc::clone(&store), read.clone(), name.clone());
            async move {
                let title = GroupTitle::parse(&format!("Writer {place}")).ok();
                let change = match place % 4 {
                    0 => GroupChange::Delete(DeleteGroup { name: group, event: None }),
                    _ => GroupChange::Retitle(RetitleGroup { group, title, event: None }),
                };
                store.if_group_unchanged(IfGroupUnchanged { read, change }).await.unwrap()
            }
        }))
        .await;
        assert_eq!(count(&outcomes, &true), 1);
    }
}

/// What was changed since counts as unknown.
pub async fn a_resource_is_changed_only_as_it_was_read(store: Arc<dyn Storage>) {
    let [read, other] = [fixtures::resource(&["a.read"]), fixtures::resource(&["b.read"])];
    for resource in [&read, &other] {
        store.create_resource(CreateResource { resource: resource.clone(), event: None }).await.unwrap();
    }
    let change = async |read: &Resource, change| {
        let command = IfResourceUnchanged { read: read.clone(), change };
        store.if_resource_unchanged(command).await.unwrap()
    };
    let update = |resource: &Resource| {
        DeclarationChange::Update(UpdateResource { resource: resource.clone(), event: None })
    };
    let delete = || DeclarationChange::Delete(DeleteResource { uri: read.uri.clone(), event: None });
    let named = Resource { open_to: OpenTo::Named, ..read.clone() };
    assert_eq!(change(&read, update(&named)).await, ResourceUpdated::Stored);
    assert_eq!(change(&read, update(&read)).await, ResourceUpdated::Unknown);
    assert_eq!(change(&read, delete()).await, ResourceUpdated::Unknown);
    let taken = Resource { scopes: other.scopes.clone(), ..read.clone() };
    let name = other.scopes[0].name.clone();
    assert_eq!(change(&named, update(&taken)).await, ResourceUpdated::ScopeTaken(name));
    assert_eq!(change(&named, delete()).await, ResourceUpdated::Stored);
    assert_eq!(store.list_resources().await.unwrap(), [other]);
    assert_eq!(change(&named, delete()).await, ResourceUpdated::Unknown);
}

/// Of many writers who read the same resource, one changes it.
pub async fn one_of_many_changes_a_resource_that_all_of_them_read(store: Arc<dyn Storage>) {
    for round in 0..4 {
        let read = fixtures::resource(&[&format!("round{round}")]);
        store.create_resource(CreateResource { resource: read.clone(), event: None }).await.unwrap();
        let outcomes = at_once((0..TASKS).map(|place| {
            let (store, read) = (Arc::clone(&store), read.clone());
            async move {
                let change = match place % 2 {
                    0 => DeclarationChange::Delete(DeleteResource { uri: read.uri.clone(), event: None }),
                    _ => {
                        let resource = Resource { open_to: OpenTo::Named, ..read.clone() };
                        DeclarationChange::Update(UpdateResource { resource, event: None })
                    }
                };
                store.if_resource_unchanged(IfResourceUnchanged { read, change }).await.unwrap()
            }
        }))
        .await;
        assert_eq!(count(&outcomes, &ResourceUpdated::Stored), 1);
        assert_eq!(count(&outcomes, &ResourceUpdated::Unknown), TASKS - 1);
    }
}
