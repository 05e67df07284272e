//! Signing keys, shared by all replicas. When a key is due, each algorithm gets one more, never two.

use std::sync::Arc;

use countersign_domain::signing_key::SealedKey;
use countersign_ports::{AddSigningKey, KeyAdded, RemoveSigningKey, Storage, WithdrawSigningKey};
use time::{Duration, OffsetDateTime};

use crate::fixtures;

async fn keys(store: &dyn Storage) -> Vec<SealedKey> {
    store.signing_keys().await.unwrap()
}

async fn add(store: &dyn Storage, key: &SealedKey, unless_after: OffsetDateTime) -> KeyAdded {
    store.add_signing_key(AddSigningKey { key: key.clone(), unless_after, event: None }).await.unwrap()
}

/// Bytes, ids and times are read back unchanged.
pub async fn a_signing_key_is_found_as_it_was_stored(store: Arc<dyn Storage>) {
    let mut command = fixtures::add_signing_key();
    command.key.active_from += Duration::days(1) + Duration::microseconds(1);
    assert_eq!(keys(&*store).await, []);
    assert_eq!(store.add_signing_key(command.clone()).await.unwrap(), KeyAdded::Stored);
    assert_eq!(keys(&*store).await, [command.key]);
}

/// Rule 3: the same key id is the same command.
pub async fn a_key_that_is_added_again_is_stored_once(store: Arc<dyn Storage>) {
    let command = fixtures::add_signing_key();
    for _ in 0..3 {
        assert_eq!(store.add_signing_key(command.clone()).await.unwrap(), KeyAdded::Stored);
    }
    assert_eq!(keys(&*store).await, std::slice::from_ref(&command.key));
    assert!(
        store
            .withdraw_signing_key(WithdrawSigningKey {
                kid: command.key.kid.clone(),
                now: fixtures::NOW,
                event: None
            })
            .await
            .unwrap()
    );
    assert_eq!(store.add_signing_key(command.clone()).await.unwrap(), KeyAdded::Stored);
    assert_eq!(keys(&*store).await[0].withdrawn_at, Some(fixtures::NOW), "it stays withdrawn");
}

/// The second one reads the first one's key.
pub async fn a_second_first_key_for_an_algorithm_changes_nothing(store: Arc<dyn Storage>) {
    let first = fixtures::add_signing_key();
    let second = fixtures::add_signing_key_beside(&first.key);
    store.add_signing_key(first.clone()).await.unwrap();
    assert_eq!(store.add_signing_key(second).await.unwrap(), KeyAdded::NotNeeded);
    assert_eq!(keys(&*store).await, [first.key]);
}

/// The guard compares strictly: a key that starts at exactly the given time does not block, a later one does.
pub async fn a_next_key_is_added_unless_a_later_one_is_there(store: Arc<dyn Storage>) {
    let first = fixtures::add_signing_key().key;
    let [next, late] = [1, 2].map(|days| SealedKey {
        active_from: first.active_from + Duration::days(days),
        ..fixtures::add_signing_key_beside(&first).key
    });
    assert_eq!(add(&*store, &first, OffsetDateTime::UNIX_EPOCH).await, KeyAdded::Stored);
    let a_moment_before = first.active_from - Duration::microseconds(1);
    assert_eq!(add(&*store, &next, a_moment_before).await, KeyAdded::NotNeeded);
    assert_eq!(add(&*store, &next, first.active_from).await, KeyAdded::Stored);
    assert_eq!(add(&*store, &late, first.active_from).await, KeyAdded::NotNeeded);
    assert_eq!(add(&*store, &late, next.active_from).await, KeyAdded::Stored);
    assert_eq!(keys(&*store).await.len(), 3);
}

/// Each algorithm is rotated by itself.
pub async fn a_key_of_another_algorithm_does_not_stand_in_the_way(store: Arc<dyn Storage>) {
    for _ in 0..3 {
        let command = fixtures::add_signing_key();
        assert_eq!(store.add_signing_key(command).await.unwrap(), KeyAdded::Stored);
    }
    assert_eq!(keys(&*store).await.len(), 3);
}

/// It is withdrawn once, and others stay unchanged.
pub async fn a_key_is_withdrawn_once(store: Arc<dyn Storage>) {
    let [key, other] = [fixtures::add_signing_key().key, fixtures::add_signing_key().key];
    for key in [&key, &other] {
        add(&*store, key, OffsetDateTime::UNIX_EPOCH).await;
    }
    let later = fixtures::NOW + Duration::hours(1);
    assert!(
        !store
            .withdraw_signing_key(WithdrawSigningKey { kid: "nobody".to_owned(), now: later, event: None })
            .await
            .unwrap()
    );
    assert!(
        store
            .withdraw_signing_key(WithdrawSigningKey { kid: key.kid.clone(), now: later, event: None })
            .await
            .unwrap()
    );
    assert!(
        !store
            .withdraw_signing_key(WithdrawSigningKey {
                kid: key.kid.clone(),
                now: later + Duration::hours(1),
                event: None
            })
            .await
            .unwrap()
    );
    let found = keys(&*store).await;
    assert_eq!(found.len(), 2);
    assert!(found.contains(&other) && found.contains(&SealedKey { withdrawn_at: Some(later), ..key }));
}

/// A withdrawn key signs nothing, so a new key is still needed.
pub async fn a_withdrawn_key_does_not_stand_in_the_way(store: Arc<dyn Storage>) {
    let first = fixtures::add_signing_key();
    store.add_signing_key(first.clone()).await.unwrap();
    assert!(
        store
            .withdraw_signing_key(WithdrawSigningKey {
                kid: first.key.kid.clone(),
                now: fixtures::NOW,
                event: None
            })
            .await
            .unwrap()
    );
    let second = fixtures::add_signing_key_beside(&first.key);
    assert_eq!(store.add_signing_key(second).await.unwrap(), KeyAdded::Stored);
}

/// It is removed once, and others stay.
pub async fn a_key_is_removed_once(store: Arc<dyn Storage>) {
    let [key, other] = [fixtures::add_signing_key().key, fixtures::add_signing_key().key];
    for key in [&key, &other] {
        add(&*store, key, OffsetDateTime::UNIX_EPOCH).await;
    }
    assert!(store.remove_signing_key(RemoveSigningKey { kid: key.kid.clone(), event: None }).await.unwrap());
    assert!(!store.remove_signing_key(RemoveSigningKey { kid: key.kid.clone(), event: None }).await.unwrap());
    assert_eq!(keys(&*store).await, [other]);
}

/// The order is that of their creation, not of insertion or of ids.
pub async fn keys_are_read_oldest_first(store: Arc<dyn Storage>) {
    let mut made = Vec::new();
    for hours in [1, 3, 0, 2] {
        let created_at = fixtures::NOW + Duration::hours(hours);
        let key = SealedKey { created_at, ..fixtures::add_signing_key().key };
        assert_eq!(add(&*store, &key, OffsetDateTime::UNIX_EPOCH).await, KeyAdded::Stored);
        made.push(key);
    }
    made.sort_by_key(|key| key.created_at);
    assert_eq!(keys(&*store).await, made);
}
