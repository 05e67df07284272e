//! Clients are remembered for a moment, and no change of one is answered before all replicas have forgotten
//! it (ADR 0024).

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use countersign_conformance::fakes::ManualClock;
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_ports::{Clock, DeleteClient, RegisterClient, Storage, UpdateClient};
use time::OffsetDateTime;
use tokio::sync::Mutex;

use crate::Context;
use crate::context::clients::Clients;
use crate::tests::world::{TestClient, World};

/// Two replicas that share a storage and a clock.
fn replicas() -> [World; 2] {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::default());
    let clock: Arc<ManualClock> = Arc::default();
    [World::at(Arc::clone(&storage), Arc::clone(&clock)), World::at(storage, clock)]
}

fn id_of(client: &TestClient) -> ClientId {
    ClientId::parse(&client.id).unwrap()
}

async fn name_at(context: &Context, id: ClientId) -> Option<String> {
    context.clients.find(id).await.unwrap().map(|client| client.metadata.name.clone())
}

async fn renamed(context: &Context, id: ClientId) -> Client {
    let mut client = context.clients.find_fresh(id).await.unwrap().unwrap();
    client.metadata.name = "New name".to_owned();
    client
}

/// A clock that runs something during the first wait, before any time passes. So it meets everything that was
/// ever remembered.
struct Meanwhile {
    clock: Arc<ManualClock>,
    happens: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
}

#[async_trait]
impl Clock for Meanwhile {
    fn now(&self) -> OffsetDateTime {
        self.clock.now()
    }

    fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    async fn wait(&self, duration: Duration) {
        if let Some(happens) = self.happens.lock().await.take() {
            happens.await;
        }
        self.clock.wait(duration).await;
    }
}

/// The clients of the same storage, with something that happens during the first wait.
fn with_meanwhile(world: &World, happens: impl Future<Output = ()> + Send + 'static) -> Clients {
    let happens: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(happens);
    let clock = Meanwhile { clock: Arc::clone(&world.clock), happens: Mutex::new(Some(happens)) };
    Clients::new(Arc::<dyn Storage>::clone(&world.storage), Arc::new(clock))
}

#[tokio::test]
async fn a_client_is_used_for_a_fifth_of_a_second_after_it_was_asked_for() {
    let world = World::new();
    let (context, clock) = (&world.context, &world.clock);
    let id = id_of(&world.client().await);
    assert_eq!(name_at(context, id).await.as_deref(), Some("Photo Album"));
    // Changed through the raw port, because every other way waits.
    world
        .storage
        .update_client(UpdateClient { client: renamed(context, id).await, event: None })
        .await
        .unwrap();
    clock.wait(Duration::from_millis(199)).await;
    assert_eq!(name_at(context, id).await.as_deref(), Some("Photo Album"));
    clock.wait(Duration::from_millis(1)).await;
    assert_eq!(name_at(context, id).await.as_deref(), Some("New name"));
}

#[tokio::test]
async fn a_client_that_is_not_there_is_never_remembered() {
    let [here, there] = replicas();
    let client = there.client().await;
    let stored = there.storage.find_client(id_of(&client)).await.unwrap().unwrap();
    there.storage.delete_client(DeleteClient { id: stored.id, event: None }).await.unwrap();
    assert_eq!(name_at(&here.context, stored.id).await, None);
    let again = RegisterClient { client: stored.clone(), event: None };
    there.storage.register_client(again).await.unwrap();
    assert_eq!(name_at(&here.context, stored.id).await.as_deref(), Some("Photo Album"));
}

/// If a replica read the client at the last moment before the change, it has forgotten it when the change is
/// answered.
#[tokio::test]
async fn a_088_an_update_is_answered_when_no_replica_uses_the_old_values() {
    let [here, there] = replicas();
    let id = id_of(&here.client().await);
    assert_eq!(name_at(&there.context, id).await.as_deref(), Some("Photo Album"));
    let changed = renamed(&here.context, id).await;
    assert!(here.context.clients.update(changed).await.unwrap());
    assert_eq!(name_at(&there.context, id).await.as_deref(), Some("New name"));
    assert_eq!(name_at(&here.context, id).await.as_deref(), Some("New name"));
}

/// after the answer none of its codes and tokens is found, including those made by a replica that
/// still remembered the client.
#[tokio::test]
async fn a_080_what_was_made_while_a_removal_waited_goes_with_the_client() {
    let [here, there] = replicas();
    let there = Arc::new(there);
    let client = here.client().await;
    let made = Arc::new(Mutex::new(None));
    let sign_in = {
        let (there, client, made) = (Arc::clone(&there), client.clone(), Arc::clone(&made));
        async move {
            *made.lock().await = Some(there.tokens(&client, "toy-ann").await);
        }
    };
    assert!(name_at(&there.context, id_of(&client)).await.is_some());
    let removing = with_meanwhile(&here, sign_in);
    assert!(removing.delete(id_of(&client)).await.unwrap());
    let tokens = made.lock().await.take().expect("the other replica still signed somebody in");
    assert!(!there.is_alive(&tokens).await);
    assert_eq!(name_at(&there.context, id_of(&client)).await, None);
}
