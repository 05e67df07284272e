//! A client can have two secrets for a while.

use std::sync::Arc;
use std::time::Duration as StdDuration;

use countersign_conformance::fakes::ManualClock;
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::client::ClientOrigin;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::error::{CLIENT_NOT_BELIEVED, OAuthError, OAuthErrorCode};
use countersign_domain::id::ClientId;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use countersign_ports::{Clock, SecretRecord, Storage};
use time::{Duration, OffsetDateTime};

use crate::Refuse;
use crate::act_refused::ActRefused;
use crate::clients::change_client::change_client;
use crate::clients::rotate_client_secret::{RotatedSecret, read_secrets, rotate_client_secret};
use crate::clients::update_client::{UpdateClientError, update_client};
use crate::context::uses::UseCounts;
use crate::tests::breakable::{break_after, world as breakable};
use crate::tests::world::{CLIENT, REDIRECT_URI, TestClient, World};
use crate::tokens::introspect_token::introspect_token;

const HOUR: KeepOld = match KeepOld::seconds(3_600) {
    Some(hour) => hour,
    None => KeepOld::NOT,
};

fn id_of(client: &TestClient) -> ClientId {
    ClientId::parse(&client.id).unwrap()
}

async fn rotate(world: &World, client: &TestClient, keep_old: KeepOld) -> RotatedSecret {
    rotate_client_secret(world.context.management(), id_of(client), keep_old).await.unwrap()
}

fn with(client: &TestClient, secret: &Secret) -> TestClient {
    TestClient { secret: Some(secret.clone()), ..client.clone() }
}

/// Does the server accept this secret? Whatever is refused is refused with the same words.
async fn works(world: &World, client: &TestClient) -> bool {
    match introspect_token(&world.context, &client.credentials(), &Secret::new("no token")).await {
        Ok(_) => true,
        Err(refused) => {
            let refused = refused.refusal();
            assert_eq!(refused, OAuthError::new(OAuthErrorCode::InvalidClient, CLIENT_NOT_BELIEVED));
            false
        }
    }
}

fn renamed() -> RequestedMetadata {
    RequestedMetadata {
        client_name: Some("New name".to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        token_endpoint_auth_method: Some("client_secret_basic".to_owned()),
        ..RequestedMetadata::default()
    }
}

#[tokio::test]
async fn a_kept_secret_works_until_its_end_and_not_a_moment_later() {
    let world = World::new();
    let old = world.client().await;
    let rotated = rotate(&world, &old, HOUR).await;
    let new = with(&old, &rotated.secret);
    let wrong = with(&old, &Secret::new("wrong"));
    let end = rotated.old_expires_at.unwrap();
    assert_eq!(end, world.clock.now() + Duration::HOUR);
    assert_eq!(rotated.cut_short, None);
    world.advance(Duration::HOUR - Duration::NANOSECOND);
    assert!(works(&world, &old).await && works(&world, &new).await && !works(&world, &wrong).await);
    world.advance(Duration::NANOSECOND);
    assert!(!works(&world, &old).await, "without upkeep, and although the client was just read");
    assert!(works(&world, &new).await && !works(&world, &wrong).await);
}

#[tokio::test]
async fn a_second_rotation_ends_the_oldest_secret_and_says_so() {
    let world = World::new();
    let first = world.client().await;
    let rotated = rotate(&world, &first, HOUR).await;
    let second = with(&first, &rotated.secret);
    let end = rotated.old_expires_at;
    let rotated = rotate(&world, &first, HOUR).await;
    assert_eq!(rotated.cut_short, end);
    let third = with(&first, &rotated.secret);
    assert!(!works(&world, &first).await && works(&world, &second).await && works(&world, &third).await);
    let rotated = rotate(&world, &first, KeepOld::NOT).await;
    assert_eq!((rotated.old_expires_at, rotated.cut_short), (None, end));
    for ended in [&first, &second, &third] {
        assert!(!works(&world, ended).await);
    }
    assert!(works(&world, &with(&first, &rotated.secret)).await);
}

#[tokio::test]
async fn a_secret_that_has_ended_is_not_cut_short() {
    let world = World::new();
    let client = world.client().await;
    rotate(&world, &client, HOUR).await;
    world.advance(Duration::HOUR);
    assert_eq!(rotate(&world, &client, HOUR).await.cut_short, None);
}

#[tokio::test]
async fn a_rotation_is_answered_when_every_replica_knows_it() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::default());
    let clock: Arc<ManualClock> = Arc::default();
    let [here, there] = [(); 2].map(|()| World::at(Arc::clone(&storage), Arc::clone(&clock)));
    let old = here.client().await;
    for keep_old in [HOUR, KeepOld::NOT] {
        let before = works(&there, &old).await;
        let new = with(&old, &rotate(&here, &old, keep_old).await.secret);
        for replica in [&here, &there] {
            assert!(works(replica, &new).await);
            assert_eq!(works(replica, &old).await, before && keep_old == HOUR);
        }
    }
}

#[tokio::test]
async fn where_there_is_no_secret_none_is_made() {
    let world = World::new();
    let public = world.public_client().await;
    let refused = rotate_client_secret(world.context.management(), id_of(&public), HOUR).await;
    assert!(matches!(refused, Err(ActRefused::NoSecret)));
    let nobody = ClientId::at(world.clock.now(), [1; 10]);
    let refused = rotate_client_secret(world.context.management(), nobody, HOUR).await;
    assert!(matches!(refused, Err(ActRefused::ClientUnknown(_))));
    assert_eq!(read_secrets(world.context.management(), id_of(&public)).await.unwrap(), []);
}

#[tokio::test]
async fn two_rotations_at_once_leave_both_new_secrets() {
    let world = World::new();
    let client = world.client().await;
    let (one, other) = tokio::join!(rotate(&world, &client, HOUR), rotate(&world, &client, HOUR));
    let accepted = [&one, &other].map(|rotated| with(&client, &rotated.secret));
    assert!(works(&world, &accepted[0]).await && works(&world, &accepted[1]).await);
    assert!(!works(&world, &client).await);
    assert_eq!([one.cut_short, other.cut_short].into_iter().flatten().count(), 1);
}

/// Both read the client before its secret was rotated.
#[tokio::test]
async fn neither_the_client_nor_the_operator_brings_an_old_secret_back() {
    let world = World::new();
    let old = world.client_by(ClientOrigin::Operator).await;
    let read = world.context.clients.find_fresh(id_of(&old)).await.unwrap().unwrap();
    let new = with(&old, &rotate(&world, &old, KeepOld::NOT).await.secret);
    change_client(world.context.management(), read, renamed()).await.unwrap();
    assert!(works(&world, &new).await && !works(&world, &old).await);
    let stored = world.context.clients.find_fresh(id_of(&old)).await.unwrap().unwrap();
    assert_eq!((&*stored.metadata.name, stored.authentication.method()), ("New name", "client_secret_basic"));
}

#[tokio::test]
async fn a_client_may_name_either_of_its_secrets_when_it_updates_itself() {
    let world = World::new();
    let client = world.client().await;
    let old = client.secret.clone().unwrap();
    let new = rotate(&world, &client, HOUR).await.secret;
    let update = async |secret: &Secret| {
        update_client(
            &world.context,
            &CLIENT,
            &client.id,
            &client.registration_token,
            Some(secret),
            renamed(),
        )
        .await
    };
    for secret in [&old, &new] {
        update(secret).await.unwrap();
    }
    assert!(matches!(update(&Secret::new("wrong")).await, Err(UpdateClientError::OtherSecret)));
    world.advance(Duration::HOUR);
    assert!(matches!(update(&old).await, Err(UpdateClientError::OtherSecret)));
    update(&new).await.unwrap();
}

#[tokio::test]
async fn operators_are_told_both_secrets_and_when_they_were_last_used() {
    let world = World::new();
    let old = world.client().await;
    let began = world.clock.now();
    let minute = |minutes: i64| Some(began + Duration::minutes(minutes));
    let told = async || read_secrets(world.context.management(), id_of(&old)).await.unwrap();
    let first = SecretRecord { created_at: Some(began), expires_at: None, last_used_at: None };
    assert_eq!(told().await, [first]);

    world.advance(Duration::minutes(10));
    let rotated = rotate(&world, &old, HOUR).await;
    let new = with(&old, &rotated.secret);
    world.advance(Duration::seconds(90));
    assert!(works(&world, &old).await && works(&world, &new).await);
    world.advance(Duration::minutes(1));
    assert!(works(&world, &new).await && !works(&world, &with(&old, &Secret::new("wrong"))).await);
    let expires_at: Option<OffsetDateTime> = minute(70);
    let first = SecretRecord { expires_at, ..first };
    let second = SecretRecord { created_at: minute(10), expires_at: None, last_used_at: None };
    assert_eq!(told().await, [second, first], "nothing is written on the request's path");
    world.context.uses.write().await.unwrap();
    let first = SecretRecord { last_used_at: minute(11), ..first };
    let second = SecretRecord { last_used_at: minute(12), ..second };
    assert_eq!(told().await, [second, first]);
    assert_eq!(world.context.uses.counts(), UseCounts { current: 2, old: 1 });

    world.advance(Duration::HOUR);
    assert_eq!(told().await, [second], "what has ended is not told, whether or not it was forgotten");
}

#[tokio::test]
async fn a_use_that_could_not_be_written_is_written_later() {
    let (world, storage) = breakable();
    let client = world.client().await;
    assert!(works(&world, &client).await);
    break_after(&world, &storage, 0).await;
    world.context.uses.write().await.unwrap_err();
    world.context.uses.write().await.unwrap();
    storage.asked();
    world.context.uses.write().await.unwrap();
    assert_eq!(storage.asked(), Vec::<&str>::new(), "there is nothing left to write");
    let secrets = read_secrets(world.context.management(), id_of(&client)).await.unwrap();
    assert_eq!(secrets[0].last_used_at, Some(world.clock.now()));
}

/// What was asked of storage is the same as before there were two secrets: nothing, while the client is
/// remembered.
#[tokio::test]
async fn a_request_with_a_secret_asks_storage_for_nothing_more() {
    let (world, storage) = breakable();
    let client = world.client().await;
    rotate(&world, &client, HOUR).await;
    world.clock.wait(StdDuration::from_secs(1)).await;
    storage.asked();
    for _ in 0..3 {
        assert!(works(&world, &client).await);
    }
    let asked = storage.asked();
    assert_eq!(asked.iter().filter(|call| **call == "find_client").count(), 1, "{asked:?}");
    assert!(!asked.contains(&"note_secret_uses") && !asked.contains(&"secrets_of"), "{asked:?}");
}
