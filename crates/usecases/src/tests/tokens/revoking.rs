use countersign_domain::secret::Secret;
use time::Duration;

use crate::tests::world::World;
use crate::tokens::revoke_token::RevokeTokenError;

#[tokio::test]
async fn a_090_a_revoked_refresh_token_ends_its_whole_grant() {
    let world = World::new();
    let client = world.client().await;
    let first = world.tokens(&client, "toy-ann").await;
    let second = world.refresh(&client, &first).await.unwrap();
    world.revoke(&client, second.refresh_token.as_ref().unwrap()).await.unwrap();
    assert!(!world.is_alive(&first).await && !world.is_alive(&second).await);
    assert!(world.refresh(&client, &second).await.is_err());
}

#[tokio::test]
async fn a_090_a_revoked_access_token_ends_alone() {
    let world = World::new();
    let client = world.client().await;
    let first = world.tokens(&client, "toy-ann").await;
    world.revoke(&client, &first.access_token).await.unwrap();
    assert!(!world.is_alive(&first).await);
    let second = world.refresh(&client, &first).await.unwrap();
    assert!(world.is_alive(&second).await);
}

#[tokio::test]
async fn a_089_unknown_and_dead_tokens_are_fine() {
    let world = World::new();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    for token in ["nothing", "a.b.c", ""] {
        world.revoke(&client, &Secret::new(token)).await.unwrap();
    }
    world.revoke(&client, &tokens.access_token).await.unwrap();
    world.revoke(&client, &tokens.access_token).await.unwrap();
}

#[tokio::test]
async fn a_091_another_clients_token_is_refused_and_goes_on() {
    let world = World::new();
    let (client, other) = (world.client().await, world.client().await);
    let tokens = world.tokens(&client, "toy-ann").await;
    for token in [&tokens.access_token, tokens.refresh_token.as_ref().unwrap()] {
        let error = world.revoke(&other, token).await.unwrap_err();
        assert!(matches!(error, RevokeTokenError::OtherClient));
    }
    assert!(world.is_alive(&tokens).await);
    assert!(world.refresh(&client, &tokens).await.is_ok());
}

#[tokio::test]
async fn a_code_is_no_token_and_stays_good() {
    let world = World::new();
    let client = world.client().await;
    let code = world.code(&client, "toy-ann", &[]).await;
    world.revoke(&client, &code).await.unwrap();
    assert!(world.exchange(&client, &code).await.is_ok());
}

#[tokio::test]
async fn a_084_an_access_token_ends_at_its_exact_second() {
    let world = World::new();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    world.advance(Duration::seconds(3599));
    assert!(world.is_alive(&tokens).await);
    world.advance(Duration::seconds(1));
    assert!(!world.is_alive(&tokens).await);
}
