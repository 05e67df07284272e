//! Resources that the operator declares, and who uses them.

use std::sync::Arc;

use countersign_domain::client::Client;
use countersign_domain::particulars::Particulars;
use countersign_domain::resource::{OpenTo, Resource};
use countersign_domain::scope::ScopeName;
use countersign_ports::{
    CompleteLogin, CreateResource, DeleteResource, FindUses, RegisterClient, ResourceCreated,
    ResourceUpdated, ResourceUses, Storage, UpdateResource,
};
use time::Duration;

use super::races::{at_once, count};
use super::{clients, steps};
use crate::fixtures;

async fn create(store: &dyn Storage, resource: &Resource) -> ResourceCreated {
    store.create_resource(CreateResource { resource: resource.clone(), event: None }).await.unwrap()
}

async fn update(store: &dyn Storage, resource: &Resource) -> ResourceUpdated {
    store.update_resource(UpdateResource { resource: resource.clone(), event: None }).await.unwrap()
}

async fn delete(store: &dyn Storage, resource: &Resource) -> bool {
    store.delete_resource(DeleteResource { uri: resource.uri.clone(), event: None }).await.unwrap()
}

/// The resource as it is stored.
pub(crate) async fn find(store: &dyn Storage, uri: &str) -> Option<Resource> {
    store.list_resources().await.unwrap().into_iter().find(|resource| resource.uri == uri)
}

fn name(text: &str) -> ScopeName {
    ScopeName::parse(text).unwrap()
}

/// Titles in all languages, the group and the time are read back unchanged; scopes come by name.
pub async fn a_resource_is_found_as_it_was_declared(store: Arc<dyn Storage>) {
    assert_eq!(store.list_resources().await.unwrap(), []);
    let without = Resource { name: None, open_to: OpenTo::Named, ..fixtures::resource(&[]) };
    let mut all = vec![fixtures::resource(&["b.write", "b.read", "https://a.example/b"]), without];
    for resource in &all {
        assert_eq!(create(&*store, resource).await, ResourceCreated::Stored);
    }
    all.sort_by(|one, other| one.uri.cmp(&other.uri));
    assert_eq!(store.list_resources().await.unwrap(), all);
}

/// Rule 3: the same values are the same command.
pub async fn a_declaration_that_is_repeated_is_stored_once(store: Arc<dyn Storage>) {
    let resource = fixtures::resource(&["a.read"]);
    for _ in 0..3 {
        assert_eq!(create(&*store, &resource).await, ResourceCreated::Stored);
    }
    assert_eq!(store.list_resources().await.unwrap(), [resource]);
}

/// Two resources are told apart by every byte of their URIs.
pub async fn a_taken_uri_changes_nothing(store: Arc<dyn Storage>) {
    let resource = fixtures::resource(&["a.read"]);
    create(&*store, &resource).await;
    let other = Resource { uri: resource.uri.clone(), ..fixtures::resource(&["b.read"]) };
    assert_eq!(create(&*store, &other).await, ResourceCreated::UriTaken);
    assert_eq!(find(&*store, &resource.uri).await, Some(resource.clone()));
    let beside = Resource { uri: format!("{}/", resource.uri), ..other };
    assert_eq!(create(&*store, &beside).await, ResourceCreated::Stored);
}

/// A refusal names the scope, and leaves neither the resource nor its other scopes behind.
pub async fn a_name_of_a_scope_belongs_to_one_resource(store: Arc<dyn Storage>) {
    let [one, other] = [fixtures::resource(&["a.read", "a.write"]), fixtures::resource(&["b.read"])];
    create(&*store, &one).await;
    create(&*store, &other).await;
    let third = fixtures::resource(&["c.read", "a.write"]);
    assert_eq!(create(&*store, &third).await, ResourceCreated::ScopeTaken(name("a.write")));
    let taken = fixtures::resource(&["b.more", "a.read"]);
    let greedy = Resource { uri: other.uri.clone(), ..taken };
    assert_eq!(update(&*store, &greedy).await, ResourceUpdated::ScopeTaken(name("a.read")));
    let mut all = vec![one, other];
    all.sort_by(|one, other| one.uri.cmp(&other.uri));
    assert_eq!(store.list_resources().await.unwrap(), all);
}

/// Names of scopes differ in every byte, upper and lower case included.
pub async fn names_of_scopes_are_compared_byte_for_byte(store: Arc<dyn Storage>) {
    for names in [&["a.read"][..], &["A.read", "a.reaD"], &["a.read2"]] {
        assert_eq!(create(&*store, &fixtures::resource(names)).await, ResourceCreated::Stored);
    }
}

/// An update can repeat it, and takes away what it does not name.
pub async fn an_update_replaces_everything_but_uri_and_birth(store: Arc<dyn Storage>) {
    let before = fixtures::resource(&["a.read", "a.write"]);
    create(&*store, &before).await;
    let after = fixtures::resource(&["a.more", "a.read"]);
    let after = Resource {
        uri: before.uri.clone(),
        name: None,
        open_to: OpenTo::Named,
        created_at: fixtures::NOW + Duration::days(1),
        ..after
    };
    for _ in 0..2 {
        assert_eq!(update(&*store, &after).await, ResourceUpdated::Stored);
    }
    let created_at = before.created_at;
    assert_eq!(find(&*store, &before.uri).await, Some(Resource { created_at, ..after }));
    assert_eq!(
        create(&*store, &fixtures::resource(&["a.write"])).await,
        ResourceCreated::Stored,
        "it is free"
    );
}

/// Nothing is made by an update.
pub async fn an_update_of_no_resource_changes_nothing(store: Arc<dyn Storage>) {
    assert_eq!(update(&*store, &fixtures::resource(&["a.read"])).await, ResourceUpdated::Unknown);
    assert_eq!(store.list_resources().await.unwrap(), []);
}

/// Its URI and the names of its scopes are free again.
pub async fn a_deleted_resource_is_gone_with_its_scopes(store: Arc<dyn Storage>) {
    let [one, other] = [fixtures::resource(&["a.read"]), fixtures::resource(&["b.read"])];
    create(&*store, &one).await;
    create(&*store, &other).await;
    assert!(delete(&*store, &one).await);
    assert!(!delete(&*store, &one).await);
    assert_eq!(store.list_resources().await.unwrap(), [other]);
    let again = Resource { created_at: one.created_at + Duration::days(1), ..one };
    assert_eq!(create(&*store, &again).await, ResourceCreated::Stored);
}

/// Clients that registered a scope or may name the resource count once each; so do grants that live.
pub async fn those_who_use_a_resource_are_counted(store: Arc<dyn Storage>) {
    let resource = fixtures::resource(&["a.read", "a.write"]);
    let register = async |scopes: &[&str], opened: &[&str]| {
        let mut client = Client { resources: Vec::new(), ..fixtures::client() };
        client.metadata.scopes = fixtures::all_scopes().union(&fixtures::own_scopes(scopes));
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
        store.change_resources(clients::open(client.id, opened)).await.unwrap();
    };
    register(&["a.read"], &[&resource.uri]).await;
    register(&["a.read", "a.write"], &[]).await;
    register(&[], &["urn:other", &resource.uri]).await;
    register(&["a.reader", "aa.read"], &[&format!("{}/", resource.uri)]).await;
    register(&[], &[]).await;
    let sign_in = async |scopes: &[&str], resources: &[&str]| {
        let resources = resources.iter().map(|uri| (*uri).to_owned()).collect();
        let login = CompleteLogin {
            scope: fixtures::own_scopes(scopes),
            particulars: Particulars { resources, ..fixtures::particulars() },
            ..fixtures::complete_login()
        };
        steps::user_of(&*store, &login).await;
        login
    };
    let revoked = sign_in(&["a.read"], &[&resource.uri]).await;
    store.revoke_grant(fixtures::revoke_grant(revoked.id)).await.unwrap();
    sign_in(&["a.write"], &[&resource.uri]).await;
    sign_in(&[], &[&resource.uri]).await;
    let longest = sign_in(&["a.read", "b.read"], &[&format!("{}/", resource.uri)]).await;
    sign_in(&["a.reader"], &[]).await;
    let uses = async |whole: bool, scopes: &[&str], now| {
        let resource = whole.then(|| resource.uri.clone());
        let scopes = scopes.iter().map(|scope| name(scope)).collect();
        let ResourceUses { clients, grants } =
            store.find_uses(FindUses { resource, scopes, now }).await.unwrap();
        (clients, grants)
    };
    let now = fixtures::NOW;
    assert_eq!(uses(true, &["a.read", "a.write"], now).await, (3, 3));
    assert_eq!(uses(true, &[], now).await, (2, 2));
    assert_eq!(uses(false, &["a.read"], now).await, (2, 1));
    assert_eq!(uses(false, &["a.write"], now).await, (1, 1));
    assert_eq!(uses(false, &["a"], now).await, (0, 0));
    assert_eq!(uses(false, &[], now).await, (0, 0));
    assert_eq!(uses(true, &["a.read", "a.write"], longest.forget_after).await, (3, 0));
}

/// One of many resources that are declared at once gets the name; all of them stay whole.
pub async fn one_name_of_a_scope_is_declared_by_one_of_many(store: Arc<dyn Storage>) {
    for round in 0..4 {
        let shared = format!("shared{round}");
        let outcomes = at_once((0..16).map(|place| {
            let store = Arc::clone(&store);
            let resource = fixtures::resource(&[&format!("own{round}.{place}"), &shared]);
            async move { create(&*store, &resource).await }
        }))
        .await;
        assert_eq!(count(&outcomes, &ResourceCreated::Stored), 1);
        assert_eq!(count(&outcomes, &ResourceCreated::ScopeTaken(name(&shared))), 15);
        let stored = store.list_resources().await.unwrap();
        assert_eq!(stored.len(), round + 1);
        assert!(stored.iter().all(|resource| resource.scopes.len() == 2));
    }
}

/// From the answer on, the other replica finds the new values, and then nothing.
pub async fn a_declaration_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let (here, there) = (open().await, open().await);
    let resource = fixtures::resource(&["a.read", "a.write"]);
    create(&*here, &resource).await;
    assert_eq!(find(&*there, &resource.uri).await, Some(resource.clone()));
    let fewer = Resource { scopes: resource.scopes.iter().take(1).cloned().collect(), ..resource.clone() };
    update(&*there, &fewer).await;
    assert_eq!(find(&*here, &resource.uri).await, Some(fewer));
    assert!(delete(&*here, &resource).await);
    assert_eq!(find(&*there, &resource.uri).await, None);
}

/// Declared is declared.
pub async fn a_resource_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let resource = fixtures::resource(&["a.read"]);
    create(&*open().await, &resource).await;
    assert_eq!(find(&*open().await, &resource.uri).await, Some(resource));
}
