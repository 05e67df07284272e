use std::sync::Arc;

use countersign_conformance::fixtures::{self, NOW};
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::client::{Client, ClientAuthentication};
use countersign_ports::RegisterClient;

use super::*;

const SECOND: Duration = Duration::SECOND;

async fn registered(storage: &MemoryStorage) -> (ClientId, KnownSecret) {
    let client = fixtures::client();
    storage.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    (client.id, current_of(&client))
}

fn current_of(client: &Client) -> KnownSecret {
    match &client.authentication {
        ClientAuthentication::Secret { secrets, .. } => {
            KnownSecret { which: WhichSecret::Current, hash: secrets.current }
        }
        ClientAuthentication::Keys | ClientAuthentication::Public => panic!("a client without a secret"),
    }
}

async fn last_use(storage: &MemoryStorage, client: ClientId) -> Option<OffsetDateTime> {
    storage.secrets_of(client).await.unwrap()[0].last_used_at
}

#[tokio::test]
async fn a_use_is_written_once_and_to_the_minute() {
    let (storage, uses) = (MemoryStorage::default(), SecretUses::default());
    let (client, secret) = registered(&storage).await;
    uses.note(client, secret, NOW + 59 * SECOND + Duration::NANOSECOND);
    uses.note(client, secret, NOW + SECOND);
    assert_eq!(uses.waiting().len(), 1);
    uses.write(&storage).await.unwrap();
    assert_eq!(last_use(&storage, client).await, Some(NOW));
    assert_eq!(uses.waiting().len(), 0);
    uses.note(client, secret, NOW + 30 * SECOND);
    assert_eq!(uses.waiting().len(), 0, "this minute is written already");
    uses.note(client, secret, NOW + 60 * SECOND);
    uses.write(&storage).await.unwrap();
    assert_eq!(last_use(&storage, client).await, Some(NOW + 60 * SECOND));
}

#[tokio::test]
async fn every_secret_of_many_is_written() {
    let (storage, uses) = (MemoryStorage::default(), SecretUses::default());
    let mut clients = Vec::new();
    for _ in 0..3 * PLACES {
        clients.push(registered(&storage).await);
    }
    for (client, secret) in &clients {
        uses.note(*client, *secret, NOW);
        uses.note(*client, *secret, NOW + SECOND);
    }
    assert_eq!(uses.waiting().len(), clients.len());
    uses.write(&storage).await.unwrap();
    for (client, _) in clients {
        assert_eq!(last_use(&storage, client).await, Some(NOW));
    }
}

#[test]
fn what_waits_is_bounded() {
    let uses = SecretUses::default();
    let client = fixtures::client_id();
    let secret = |number: usize| {
        let mut hash = [0; 32];
        hash[3..7].copy_from_slice(&u32::try_from(number).unwrap().to_be_bytes());
        KnownSecret { which: WhichSecret::Old, hash: SecretHash::from_bytes(hash) }
    };
    (0..MOST + 10).for_each(|number| uses.note(client, secret(number), NOW));
    assert_eq!(uses.waiting().len(), MOST);
    uses.note(client, secret(3), NOW + 60 * SECOND);
    assert_eq!(uses.waiting()[secret(3).hash.as_bytes()].used_at, NOW + 60 * SECOND);
    let expected = UseCounts { current: 0, old: u64::try_from(MOST).unwrap() + 11 };
    assert_eq!(uses.counts(), expected);
}

#[tokio::test]
async fn nothing_is_lost_where_many_note_and_write_at_once() {
    let (storage, uses) = (Arc::new(MemoryStorage::default()), Arc::new(SecretUses::default()));
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(registered(&storage).await);
    }
    let latest = NOW + 1_000 * SECOND;
    std::thread::scope(|scope| {
        for (client, secret) in &clients {
            for _ in 0..4 {
                scope.spawn(|| {
                    (0..=1_000).for_each(|second| uses.note(*client, *secret, NOW + second * SECOND))
                });
            }
        }
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            (0..100).for_each(|_| runtime.block_on(uses.write(&*storage)).unwrap());
        });
    });
    uses.write(&*storage).await.unwrap();
    for (client, _) in &clients {
        assert_eq!(last_use(&storage, *client).await, Some(minute(latest)));
    }
    assert_eq!(uses.counts(), UseCounts { current: 8 * 4 * 1_001, old: 0 });
}
