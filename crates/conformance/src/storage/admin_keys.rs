//! Keys of the admin interface, and the requests that they begin.

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::admin_key::{AdminKey, AdminKeyName, AdminScopes};
use countersign_domain::group::GroupName;
use countersign_domain::resource::Resource;
use countersign_domain::secret::Secret;
use countersign_ports::{
    AdminKeyCreated, BeginRequest, CreateAdminKey, CreateGroup, CreateInvitation, CreateOnce, CreateResource,
    CreatedOnce, Creation, DeleteClient, DeleteGroup, DeleteResource, GroupCreated, InvitationCreated,
    PurgeExpired, REQUESTS_REMEMBERED, RegisterClient, Registered, RequestBegun, RequestName,
    ResourceCreated, RevokeAdminKey, Storage,
};
use time::{Duration, OffsetDateTime};

use super::races::{at_once, count};
use super::steps;
use crate::fixtures;

const MINUTE: Duration = Duration::minutes(1);

async fn create(store: &dyn Storage, key: &AdminKey) -> AdminKeyCreated {
    store.create_admin_key(CreateAdminKey { key: key.clone(), event: None }).await.unwrap()
}

async fn revoke(store: &dyn Storage, key: &AdminKey, now: OffsetDateTime) -> bool {
    store.revoke_admin_key(RevokeAdminKey { id: key.id, now, event: None }).await.unwrap()
}

async fn find(store: &dyn Storage, key: &AdminKey) -> Option<AdminKey> {
    store.find_admin_key(key.id).await.unwrap()
}

async fn created(store: &dyn Storage) -> AdminKey {
    let key = fixtures::admin_key();
    assert_eq!(create(store, &key).await, AdminKeyCreated::Stored);
    key
}

fn request(key: &AdminKey, name: u8, asked: u8, now: OffsetDateTime) -> BeginRequest {
    let forget_before = now - Duration::days(1);
    BeginRequest { key: key.id, name: [name; 32], asked: [asked; 32], now, forget_before }
}

/// Every value is read back, with and without the optional ones.
pub async fn an_admin_key_is_found_as_it_was_created(store: Arc<dyn Storage>) {
    let first = fixtures::admin_key();
    assert_eq!(find(&*store, &first).await, None);
    let bare = AdminKey { scopes: AdminScopes::default(), expires_at: None, ..fixtures::admin_key() };
    let used = AdminKey {
        last_used_at: Some(fixtures::NOW + MINUTE),
        expires_at: Some(fixtures::NOW + Duration::microseconds(1)),
        ..fixtures::admin_key()
    };
    for key in [&first, &bare, &used] {
        assert_eq!(create(&*store, key).await, AdminKeyCreated::Stored);
        assert_eq!(find(&*store, key).await.as_ref(), Some(key));
    }
    assert_eq!(store.list_admin_keys().await.unwrap(), [first, bare, used], "in the order of their ids");
}

/// Rule 3: the same id is the same command.
pub async fn an_admin_key_that_is_created_again_is_stored_once(store: Arc<dyn Storage>) {
    let key = created(&*store).await;
    assert!(revoke(&*store, &key, fixtures::NOW).await);
    assert_eq!(create(&*store, &key).await, AdminKeyCreated::Stored);
    assert_eq!(find(&*store, &key).await.unwrap().revoked_at, Some(fixtures::NOW), "it stays revoked");
}

/// A name says in the events who acted, so it is given once.
pub async fn a_name_of_an_admin_key_is_given_once_even_after_it_was_revoked(store: Arc<dyn Storage>) {
    let key = created(&*store).await;
    for _ in 0..2 {
        let other = AdminKey { name: key.name.clone(), ..fixtures::admin_key() };
        assert_eq!(create(&*store, &other).await, AdminKeyCreated::NameTaken);
        assert_eq!(find(&*store, &other).await, None);
        revoke(&*store, &key, fixtures::NOW).await;
    }
    let capital = AdminKeyName::parse(&key.name.as_str().to_uppercase()).unwrap();
    let capital = AdminKey { name: capital, ..fixtures::admin_key() };
    assert_eq!(create(&*store, &capital).await, AdminKeyCreated::Stored, "compared byte for byte");
}

/// It is revoked once; the others stay.
pub async fn an_admin_key_is_revoked_once(store: Arc<dyn Storage>) {
    let [key, other] = [created(&*store).await, created(&*store).await];
    assert!(!revoke(&*store, &fixtures::admin_key(), fixtures::NOW).await);
    assert!(revoke(&*store, &key, fixtures::NOW).await);
    assert!(!revoke(&*store, &key, fixtures::NOW + MINUTE).await);
    let revoked = AdminKey { revoked_at: Some(fixtures::NOW), ..key };
    assert_eq!(store.list_admin_keys().await.unwrap(), [revoked, other]);
}

/// Whatever the order in which replicas report it.
pub async fn the_latest_use_of_an_admin_key_stays(store: Arc<dyn Storage>) {
    let [key, other] = [created(&*store).await, created(&*store).await];
    for (minutes, expected) in [(1, 1), (3, 3), (2, 3), (3, 3)] {
        store.note_admin_key_use(key.id, fixtures::NOW + MINUTE * minutes).await.unwrap();
        let used = find(&*store, &key).await.unwrap().last_used_at;
        assert_eq!(used, Some(fixtures::NOW + MINUTE * expected));
    }
    store.note_admin_key_use(fixtures::admin_key().id, fixtures::NOW).await.unwrap();
    assert_eq!(find(&*store, &other).await.unwrap().last_used_at, None);
}

/// The first one counts, whatever is asked later, until it is forgotten.
pub async fn a_request_is_begun_once_until_it_is_forgotten(store: Arc<dyn Storage>) {
    let [key, other] = [created(&*store).await, created(&*store).await];
    let begin = async |command| store.begin_request(command).await.unwrap();
    let first = RequestBegun { asked: [1; 32], begun_at: fixtures::NOW, made_at: None };
    assert_eq!(begin(request(&key, 7, 1, fixtures::NOW)).await, first);
    let day = Duration::days(1);
    for (asked, later) in [(1, MINUTE), (2, MINUTE), (1, day)] {
        assert_eq!(begin(request(&key, 7, asked, fixtures::NOW + later)).await, first);
    }
    let of_other = begin(request(&other, 7, 2, fixtures::NOW + MINUTE)).await;
    assert_eq!(of_other, RequestBegun { asked: [2; 32], begun_at: fixtures::NOW + MINUTE, made_at: None });
    let of_other_name = begin(request(&key, 8, 3, fixtures::NOW + MINUTE)).await;
    assert_eq!(
        of_other_name,
        RequestBegun { asked: [3; 32], begun_at: fixtures::NOW + MINUTE, made_at: None }
    );
    let forgotten = fixtures::NOW + day + Duration::microseconds(1);
    let anew = begin(request(&key, 7, 4, forgotten)).await;
    assert_eq!(anew, RequestBegun { asked: [4; 32], begun_at: forgotten, made_at: None });
    assert_eq!(begin(request(&key, 8, 5, forgotten)).await, of_other_name, "each by its own time");
}

/// All of them are told of one.
pub async fn one_request_is_begun_by_one_of_many(store: Arc<dyn Storage>) {
    let key = created(&*store).await;
    for name in 0..4 {
        let begun = at_once((0..16).map(|place| {
            let (store, command) = (Arc::clone(&store), request(&key, name, place, fixtures::NOW));
            async move { store.begin_request(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&begun, &begun[0]), 16);
    }
}

/// Something that a request creates, for each kind: the command of this attempt.
fn creations(now: OffsetDateTime, into: &GroupName) -> [Creation; 4] {
    let event = || Some(Box::new(fixtures::event()));
    let created_at = now.replace_nanosecond(0).unwrap();
    let client = Box::new(RegisterClient { client: fixtures::client(), event: event() });
    let mut group = fixtures::create_group(&fixtures::group_name());
    (group.group.created_at, group.event) = (now, event());
    let resource = Resource { created_at, ..fixtures::resource(&[]) };
    let resource = CreateResource { resource, event: event() };
    let invitation = CreateInvitation { invitation: fixtures::invitation(into), event: event() };
    [
        Creation::Client(client),
        Creation::Group(group),
        Creation::Resource(resource),
        Creation::Invitation(invitation),
    ]
}

/// The same with the event of another attempt.
fn attempt(creation: &Creation) -> Creation {
    let mut again = creation.clone();
    let event = Some(Box::new(fixtures::event()));
    match &mut again {
        Creation::Client(command) => command.event = event,
        Creation::Group(command) => command.event = event,
        Creation::Resource(command) => command.event = event,
        Creation::Invitation(command) => command.event = event,
    }
    again
}

fn made(creation: &Creation) -> CreatedOnce {
    match creation {
        Creation::Client(_) => CreatedOnce::Client(Registered::Stored),
        Creation::Group(_) => CreatedOnce::Group(GroupCreated::Stored),
        Creation::Resource(_) => CreatedOnce::Resource(ResourceCreated::Stored),
        Creation::Invitation(_) => CreatedOnce::Invitation(InvitationCreated::Stored),
    }
}

async fn delete(store: &dyn Storage, creation: &Creation) {
    match creation {
        Creation::Client(command) => {
            let command = DeleteClient { id: command.client.id, event: None };
            assert!(store.delete_client(command).await.unwrap());
        }
        Creation::Group(command) => {
            let command = DeleteGroup { name: command.group.name.clone(), event: None };
            assert!(store.delete_group(command).await.unwrap());
        }
        Creation::Resource(command) => {
            let command = DeleteResource { uri: command.resource.uri.clone(), event: None };
            assert!(store.delete_resource(command).await.unwrap());
        }
        Creation::Invitation(command) => {
            let command = DeleteGroup { name: command.invitation.group.clone(), event: None };
            assert!(store.delete_group(command).await.unwrap());
        }
    }
}

/// F-22: what was deleted meanwhile is not made again in the name of the first time, and leaves no event without an
/// act.
pub async fn what_a_request_made_is_made_once_even_if_it_was_deleted(store: Arc<dyn Storage>) {
    let key = created(&*store).await;
    for (name, place) in [(0, 0_usize), (1, 1), (2, 2), (3, 3)] {
        let into = steps::group(&*store).await;
        let creation = &creations(fixtures::NOW, &into)[place];
        let begin = request(&key, name, 1, fixtures::NOW);
        let begun = async || store.begin_request(begin).await.unwrap();
        let once = async |creation: &Creation, now| {
            let request = RequestName { key: key.id, name: begin.name };
            store.create_once(CreateOnce { request, now, creation: creation.clone() }).await.unwrap()
        };
        let not_begun = RequestName { key: key.id, name: [99; 32] };
        let command = CreateOnce { request: not_begun, now: fixtures::NOW, creation: creation.clone() };
        assert_eq!(store.create_once(command).await.unwrap(), CreatedOnce::MadeBefore);
        assert_eq!(begun().await.made_at, None);
        let before = steps::events(&*store).await.len();
        let later = fixtures::NOW + MINUTE;
        assert_eq!(once(creation, later).await, made(creation));
        assert_eq!(begun().await.made_at, Some(later));
        assert_eq!(once(creation, later).await, made(creation), "a repeat");
        assert_eq!(once(&attempt(creation), later).await, made(creation), "a repeat with another event");
        let others = creations(later + MINUTE, &into);
        assert_eq!(once(&others[place], later).await, CreatedOnce::MadeBefore, "another thing");
        assert_eq!(steps::events(&*store).await.len(), before + 1);
        delete(&*store, creation).await;
        assert_eq!(once(creation, later).await, CreatedOnce::MadeBefore);
        assert_eq!(once(&attempt(creation), later + MINUTE).await, CreatedOnce::MadeBefore);
        assert_eq!(steps::events(&*store).await.len(), before + 1);
    }
}

/// A refusal makes nothing, and the next attempt may.
pub async fn a_request_that_was_refused_still_waits(store: Arc<dyn Storage>) {
    let key = created(&*store).await;
    let begin = request(&key, 1, 1, fixtures::NOW);
    store.begin_request(begin).await.unwrap();
    let request = RequestName { key: key.id, name: begin.name };
    let creation = fixtures::create_group(&fixtures::group_name());
    store.create_group(creation.clone()).await.unwrap();
    let mut taken = creation.clone();
    taken.group.created_at += MINUTE;
    let once = async |creation: CreateGroup| {
        let creation = Creation::Group(creation);
        store.create_once(CreateOnce { request, now: fixtures::NOW, creation }).await.unwrap()
    };
    assert_eq!(once(taken.clone()).await, CreatedOnce::Group(GroupCreated::NameTaken));
    assert_eq!(store.begin_request(begin).await.unwrap().made_at, None);
    store.delete_group(DeleteGroup { name: taken.group.name.clone(), event: None }).await.unwrap();
    assert_eq!(once(taken).await, CreatedOnce::Group(GroupCreated::Stored));
}

/// However many attempts of one request there are at once, each with ids of its own.
pub async fn one_request_makes_one_thing_of_many(store: Arc<dyn Storage>) {
    let key = created(&*store).await;
    for name in 0..4 {
        let begin = request(&key, name, 1, fixtures::NOW);
        store.begin_request(begin).await.unwrap();
        let before = steps::events(&*store).await.len();
        let outcomes = at_once((0..16).map(|_| {
            let store = Arc::clone(&store);
            let request = RequestName { key: begin.key, name: begin.name };
            let [creation, ..] = creations(fixtures::NOW, &fixtures::group_name());
            let command = CreateOnce { request, now: fixtures::NOW, creation };
            async move { store.create_once(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &CreatedOnce::Client(Registered::Stored)), 1);
        assert_eq!(count(&outcomes, &CreatedOnce::MadeBefore), 15);
        assert_eq!(steps::events(&*store).await.len(), before + 1);
    }
}

/// Whatever became of the key: nobody begins another request with a revoked one.
pub async fn requests_of_revoked_keys_are_forgotten_too(store: Arc<dyn Storage>) {
    let key = created(&*store).await;
    let begin = request(&key, 1, 1, fixtures::NOW);
    store.begin_request(begin).await.unwrap();
    store.begin_request(request(&key, 2, 1, fixtures::NOW + MINUTE)).await.unwrap();
    revoke(&*store, &key, fixtures::NOW).await;
    let purge =
        async |time| store.purge_expired(PurgeExpired::oldest(fixtures::past(time), 100)).await.unwrap().rows;
    let day_later = fixtures::NOW + REQUESTS_REMEMBERED;
    assert_eq!(purge(day_later).await, 0);
    assert_eq!(purge(day_later + MINUTE).await, 1);
    assert_eq!(purge(day_later + MINUTE).await, 0);
    assert_eq!(purge(day_later + MINUTE * 2).await, 1);
    let anew = store.begin_request(request(&key, 1, 7, fixtures::NOW)).await.unwrap();
    assert_eq!(anew.asked, [7; 32]);
}

/// One of many keys that are created at once gets the name.
pub async fn one_name_of_an_admin_key_is_given_to_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..4 {
        let name = fixtures::admin_key().name;
        let outcomes = at_once((0..16).map(|_| {
            let store = Arc::clone(&store);
            let key = AdminKey { name: name.clone(), ..fixtures::admin_key() };
            async move { create(&*store, &key).await }
        }))
        .await;
        assert_eq!(count(&outcomes, &AdminKeyCreated::Stored), 1);
        assert_eq!(count(&outcomes, &AdminKeyCreated::NameTaken), 15);
    }
}

/// From the answer on, the other replica refuses it.
pub async fn a_revoked_admin_key_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let (here, there) = (open().await, open().await);
    for _ in 0..8 {
        let text = fixtures::secret();
        let key = AdminKey {
            hash: countersign_domain::secret::SecretHash::of(&text),
            expires_at: None,
            ..fixtures::admin_key()
        };
        create(&*here, &key).await;
        let good = |key: &AdminKey, text: &Secret| key.judge(fixtures::NOW, text).is_ok();
        assert!(good(&find(&*there, &key).await.unwrap(), &text));
        assert!(revoke(&*here, &key, fixtures::NOW).await);
        assert!(!good(&find(&*there, &key).await.unwrap(), &text));
    }
}

/// Keys and what they began are there after the process has ended.
pub async fn admin_keys_outlive_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let [key, revoked] = [created(&*store).await, created(&*store).await];
    revoke(&*store, &revoked, fixtures::NOW).await;
    let begun = store.begin_request(request(&key, 1, 2, fixtures::NOW)).await.unwrap();
    drop(store);
    let store = open().await;
    assert_eq!(find(&*store, &key).await.as_ref(), Some(&key));
    assert_eq!(find(&*store, &revoked).await.unwrap().revoked_at, Some(fixtures::NOW));
    assert_eq!(store.begin_request(request(&key, 1, 9, fixtures::NOW)).await.unwrap(), begun);
}
