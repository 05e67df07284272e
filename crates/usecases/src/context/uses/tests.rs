use std::sync::Arc;

use countersign_conformance::fixtures::{self, NOW};
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::admission::AccessRule;
use countersign_domain::client::{Client, ClientAuthentication};
use countersign_ports::{
    ClientFilter, ClientOrder, LoginStore, PeopleFilter, PeopleOrder, PersonPlace, RegisterClient,
    SortClients, SortPeople,
};
use time::Duration;

use super::*;

const SECOND: Duration = Duration::SECOND;

fn stored() -> (Arc<MemoryStorage>, Uses) {
    let storage = Arc::new(MemoryStorage::default());
    let uses = Uses::new(Arc::<MemoryStorage>::clone(&storage), Arc::<MemoryStorage>::clone(&storage));
    (storage, uses)
}

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
    let (storage, uses) = stored();
    let (client, secret) = registered(&storage).await;
    uses.note_secret(client, secret, NOW + 59 * SECOND + Duration::NANOSECOND);
    uses.note_secret(client, secret, NOW + SECOND);
    assert_eq!(uses.waiting().len(), 1);
    uses.write().await.unwrap();
    assert_eq!(last_use(&storage, client).await, Some(NOW));
    assert_eq!(uses.waiting().len(), 0);
    uses.note_secret(client, secret, NOW + 30 * SECOND);
    assert_eq!(uses.waiting().len(), 0, "this minute is written already");
    uses.note_secret(client, secret, NOW + 60 * SECOND);
    uses.write().await.unwrap();
    assert_eq!(last_use(&storage, client).await, Some(NOW + 60 * SECOND));
}

#[tokio::test]
async fn every_secret_of_many_is_written() {
    let (storage, uses) = stored();
    let mut clients = Vec::new();
    for _ in 0..3 * PLACES {
        clients.push(registered(&storage).await);
    }
    for (client, secret) in &clients {
        uses.note_secret(*client, *secret, NOW);
        uses.note_secret(*client, *secret, NOW + SECOND);
    }
    assert_eq!(uses.waiting().len(), clients.len());
    uses.write().await.unwrap();
    for (client, _) in clients {
        assert_eq!(last_use(&storage, client).await, Some(NOW));
    }
}

#[test]
fn what_waits_is_bounded() {
    let (_, uses) = stored();
    let client = fixtures::client_id();
    let secret = |number: usize| {
        let mut hash = [0; 32];
        hash[3..7].copy_from_slice(&u32::try_from(number).unwrap().to_be_bytes());
        KnownSecret { which: WhichSecret::Old, hash: SecretHash::from_bytes(hash) }
    };
    let waiting = |number| Used::Secret { client, hash: *secret(number).hash.as_bytes() };
    (0..MOST + 10).for_each(|number| uses.note_secret(client, secret(number), NOW));
    assert_eq!(uses.waiting().len(), MOST);
    uses.note_secret(client, secret(3), NOW + 60 * SECOND);
    assert_eq!(uses.waiting()[&waiting(3)], NOW + 60 * SECOND);
    let expected = UseCounts { current: 0, old: u64::try_from(MOST).unwrap() + 11 };
    assert_eq!(uses.counts(), expected);
}

#[tokio::test]
async fn nothing_is_lost_where_many_note_and_write_at_once() {
    let (storage, uses) = stored();
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(registered(&storage).await);
    }
    std::thread::scope(|scope| {
        for (client, secret) in &clients {
            for _ in 0..4 {
                scope.spawn(|| {
                    (0..=1_000).for_each(|second| uses.note_secret(*client, *secret, NOW + second * SECOND))
                });
            }
        }
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            (0..100).for_each(|_| runtime.block_on(uses.write()).unwrap());
        });
    });
    uses.write().await.unwrap();
    for (client, _) in &clients {
        assert_eq!(last_use(&storage, *client).await, Some(NOW + 960 * SECOND));
    }
    assert_eq!(uses.counts(), UseCounts { current: 8 * 4 * 1_001, old: 0 });
}

#[tokio::test]
async fn a_client_is_written_to_the_minute_and_a_user_to_the_second() {
    let (storage, uses) = stored();
    let (client, _) = registered(&storage).await;
    let login = fixtures::complete_login();
    storage.complete_login(login.clone()).await.unwrap();
    let at = NOW + 90 * SECOND + 500 * Duration::MILLISECOND;
    uses.note_client(client, at);
    uses.note_sign_in(login.new_user, at);
    uses.note_client(client, at + SECOND);
    uses.note_sign_in(login.new_user, at - SECOND);
    assert_eq!(uses.waiting().len(), 2);
    uses.write().await.unwrap();
    assert_eq!(uses.waiting().len(), 0);
    let question = SortClients {
        filter: ClientFilter::default(),
        default_access: AccessRule::Everyone,
        order: ClientOrder::LastUse,
        after: None,
        limit: 1,
    };
    assert_eq!(storage.sort_clients(question).await.unwrap().clients[0].used_at, Some(NOW + 60 * SECOND));
    let question = SortPeople {
        filter: PeopleFilter::default(),
        order: PeopleOrder::LastSeen,
        after: Some(PersonPlace { at: NOW + 91 * SECOND, user: UserId::from_uuid(Uuid::nil()) }),
        limit: 1,
    };
    assert_eq!(storage.sort_people(question.clone()).await.unwrap().people.len(), 1);
    let after = Some(PersonPlace { at: NOW + 90 * SECOND, user: login.new_user });
    assert_eq!(storage.sort_people(SortPeople { after, ..question }).await.unwrap().people, []);
}
