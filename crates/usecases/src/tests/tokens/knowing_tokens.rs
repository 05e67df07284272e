//! What an access token means is remembered. Whether it is still valid is asked each time (ADR 0028).

use std::sync::Arc;

use countersign_conformance::memory::MemoryStorage;
use countersign_domain::event::Pseudonym;
use countersign_domain::id::ClientId;
use countersign_domain::secret::Secret;
use countersign_ports::{DeleteAccount, Storage, StoreError};
use time::Duration;

use crate::TokenAnswer;
use crate::clients::delete_client::remove_client;
use crate::tests::breakable::{Breakable, break_after, world};
use crate::tests::world::{TestClient, World};
use crate::tokens::introspect_token::introspect_token;
use crate::tokens::read_user_info::ReadUserInfoError;

/// Two replicas on one storage. Both remember the token.
async fn known() -> ([World; 2], TestClient, TokenAnswer) {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::default());
    let replicas = [World::on(Arc::clone(&storage)), World::on(storage)];
    let client = replicas[0].client().await;
    let tokens = replicas[0].tokens(&client, "toy-ann").await;
    for replica in [&replicas[0], &replicas[1], &replicas[0], &replicas[1]] {
        assert!(replica.is_alive(&tokens).await);
    }
    (replicas, client, tokens)
}

/// What the storage was asked about tokens. It is asked about the user each time anyway.
fn asked_of_tokens(storage: &Breakable) -> Vec<&'static str> {
    storage.asked().into_iter().filter(|call| ["find_access", "lives_on"].contains(call)).collect()
}

/// Nobody accepts the token any more, and nobody is told why.
async fn is_dead_everywhere(replicas: &[World], client: &TestClient, tokens: &TokenAnswer) {
    for replica in replicas {
        let refused = replica.user_info(tokens).await;
        assert!(matches!(refused, Err(ReadUserInfoError::TokenInvalid)), "{refused:?}");
        // A deleted client may not ask at all.
        if let Ok(facts) =
            introspect_token(&replica.context, &client.credentials(), &tokens.access_token).await
        {
            assert!(facts.is_none());
        }
    }
}

#[tokio::test]
async fn what_a_token_means_is_read_once_and_that_it_lives_on_each_time() {
    let (world, storage) = world();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    let first = world.user_info(&tokens).await.unwrap();
    storage.asked();
    for _ in 0..3 {
        assert_eq!(world.user_info(&tokens).await.unwrap(), first);
    }
    assert_eq!(asked_of_tokens(&storage), ["lives_on"; 3]);

    world.advance(Duration::seconds(59));
    assert!(world.is_alive(&tokens).await);
    assert_eq!(asked_of_tokens(&storage), ["lives_on"]);
    world.advance(Duration::seconds(1));
    assert!(world.is_alive(&tokens).await);
    assert_eq!(asked_of_tokens(&storage), ["find_access"], "after a minute it is read again");
}

#[tokio::test]
async fn a_token_that_is_not_known_to_live_is_never_remembered() {
    let (world, storage) = world();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    world.revoke(&client, &tokens.access_token).await.unwrap();
    storage.asked();
    for _ in 0..2 {
        assert!(!world.is_alive(&tokens).await);
    }
    assert_eq!(asked_of_tokens(&storage), ["find_access"; 2]);
}

/// Knowing the id of a remembered token is not having the token.
#[tokio::test]
async fn a_remembered_token_is_believed_by_its_hash_alone() {
    let ([world, _], _, tokens) = known().await;
    let (text, signature) = tokens.access_token.expose().rsplit_once('.').unwrap();
    for wrong in [format!("{text}.{}", signature.to_uppercase() + "A"), format!("{text}.")] {
        let wrong = TokenAnswer { access_token: Secret::new(wrong), ..tokens.clone() };
        assert!(!world.is_alive(&wrong).await);
    }
    assert!(world.is_alive(&tokens).await);
}

#[tokio::test]
async fn a_088_a_090_a_remembered_token_is_dead_on_every_replica_once_its_revocation_is_answered() {
    let (replicas, client, tokens) = known().await;
    replicas[0].revoke(&client, &tokens.access_token).await.unwrap();
    is_dead_everywhere(&replicas, &client, &tokens).await;

    let (replicas, client, tokens) = known().await;
    replicas[0].revoke(&client, tokens.refresh_token.as_ref().unwrap()).await.unwrap();
    is_dead_everywhere(&replicas, &client, &tokens).await;
}

#[tokio::test]
async fn a_refresh_token_that_comes_back_ends_the_remembered_tokens_of_its_family() {
    let (replicas, client, tokens) = known().await;
    let next = replicas[0].refresh(&client, &tokens).await.unwrap();
    for replica in &replicas {
        assert!(replica.is_alive(&next).await);
    }
    assert!(replicas[0].refresh(&client, &tokens).await.is_err());
    is_dead_everywhere(&replicas, &client, &tokens).await;
    is_dead_everywhere(&replicas, &client, &next).await;
}

#[tokio::test]
async fn a_080_a_remembered_token_goes_with_its_client() {
    let (replicas, client, tokens) = known().await;
    let id = ClientId::parse(&client.id).unwrap();
    assert!(remove_client(replicas[0].context.management(), id).await.unwrap());
    is_dead_everywhere(&replicas, &client, &tokens).await;
}

#[tokio::test]
async fn a_080_a_remembered_token_goes_with_its_user() {
    let (replicas, client, tokens) = known().await;
    let context = &replicas[0].context;
    let subject = replicas[0].user_of(&tokens).await;
    let delete = DeleteAccount {
        user: subject,
        now: context.clock.now(),
        pseudonym: Pseudonym::new([0; 16]),
        hiding: context.keys.record.hiding(Pseudonym::new([0; 16])),
        event: None,
    };
    assert!(context.storage.delete_account(delete).await.unwrap());
    is_dead_everywhere(&replicas, &client, &tokens).await;
}

#[tokio::test]
async fn a_remembered_token_expires() {
    let (replicas, client, tokens) = known().await;
    for replica in &replicas {
        replica.advance(Duration::seconds(3_590));
        assert!(replica.is_alive(&tokens).await);
        replica.advance(Duration::seconds(10));
    }
    is_dead_everywhere(&replicas, &client, &tokens).await;
}

#[tokio::test]
async fn c_05_who_cannot_ask_whether_a_remembered_token_lives_on_does_not_believe_it() {
    let (world, storage) = world();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    assert!(world.is_alive(&tokens).await);
    break_after(&world, &storage, 0).await;
    let error = world.user_info(&tokens).await.unwrap_err();
    assert!(matches!(error, ReadUserInfoError::Store(StoreError::Unavailable(_))), "{error:?}");
    assert!(world.is_alive(&tokens).await);
}
