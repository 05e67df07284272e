//! One signing key for each algorithm, shared by all.

use std::sync::Arc;

use countersign_domain::signing_key::SealedKey;
use countersign_ports::{AddSigningKey, KeyAdded, Storage};
use time::Duration;

use crate::fixtures;

async fn keys(store: &dyn Storage) -> Vec<SealedKey> {
    store.signing_keys().await.unwrap()
}

/// Bytes, names and time come back.
pub async fn a_signing_key_is_found_as_it_was_stored(store: Arc<dyn Storage>) {
    let command = fixtures::add_signing_key();
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
    assert_eq!(keys(&*store).await, [command.key]);
}

/// Whoever comes second reads the first one's key.
pub async fn a_second_key_for_an_algorithm_changes_nothing(store: Arc<dyn Storage>) {
    let first = fixtures::add_signing_key();
    let other = fixtures::add_signing_key();
    let second = AddSigningKey { key: SealedKey { algorithm: first.key.algorithm.clone(), ..other.key } };
    store.add_signing_key(first.clone()).await.unwrap();
    assert_eq!(store.add_signing_key(second).await.unwrap(), KeyAdded::AlgorithmTaken);
    assert_eq!(keys(&*store).await, [first.key]);
}

/// The order is that of their making, not that of their coming or of their names.
pub async fn keys_are_read_oldest_first(store: Arc<dyn Storage>) {
    let mut made = Vec::new();
    for hours in [1, 3, 0, 2] {
        let command = fixtures::add_signing_key();
        let created_at = fixtures::NOW + Duration::hours(hours);
        let key = SealedKey { created_at, ..command.key };
        assert_eq!(
            store.add_signing_key(AddSigningKey { key: key.clone() }).await.unwrap(),
            KeyAdded::Stored
        );
        made.push(key);
    }
    made.sort_by_key(|key| key.created_at);
    assert_eq!(keys(&*store).await, made);
}
