//! Keys of the admin interface, and the requests that they begin.

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::admin_key::{AdminKey, AdminKeyName, AdminScopes};
use countersign_domain::secret::Secret;
use countersign_ports::{
    AdminKeyCreated, BeginRequest, CreateAdminKey, RequestBegun, RevokeAdminKey, Storage,
};
use time::{Duration, OffsetDateTime};

use super::races::{at_once, count};
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
    let first = RequestBegun { asked: [1; 32], begun_at: fixtures::NOW };
    assert_eq!(begin(request(&key, 7, 1, fixtures::NOW)).await, first);
    let day = Duration::days(1);
    for (asked, later) in [(1, MINUTE), (2, MINUTE), (1, day)] {
        assert_eq!(begin(request(&key, 7, asked, fixtures::NOW + later)).await, first);
    }
    let of_other = begin(request(&other, 7, 2, fixtures::NOW + MINUTE)).await;
    assert_eq!(of_other, RequestBegun { asked: [2; 32], begun_at: fixtures::NOW + MINUTE });
    let of_other_name = begin(request(&key, 8, 3, fixtures::NOW + MINUTE)).await;
    assert_eq!(of_other_name, RequestBegun { asked: [3; 32], begun_at: fixtures::NOW + MINUTE });
    let forgotten = fixtures::NOW + day + Duration::microseconds(1);
    let anew = begin(request(&key, 7, 4, forgotten)).await;
    assert_eq!(anew, RequestBegun { asked: [4; 32], begun_at: forgotten });
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
