use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;

use crate::Refuse;
use crate::clients::delete_client::delete_client;
use crate::clients::read_client::read_client;
use crate::clients::rotate_client_secret::rotate_client_secret;
use crate::clients::update_client::{UpdateClientError, update_client};
use crate::tests::world::{REDIRECT_URI, World};

fn renamed(method: Option<&str>) -> RequestedMetadata {
    RequestedMetadata {
        client_name: Some("New name".to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned(), "https://photos.example/2".to_owned()]),
        token_endpoint_auth_method: method.map(ToOwned::to_owned),
        ..RequestedMetadata::default()
    }
}

#[tokio::test]
async fn a_018_only_its_own_registration_token_opens_a_client() {
    let world = World::new();
    let (client, other) = (world.client().await, world.client().await);
    assert!(read_client(&world.context, &client.id, &client.registration_token).await.is_ok());
    for token in [&other.registration_token, &Secret::new("")] {
        let error = read_client(&world.context, &client.id, token).await.unwrap_err();
        assert_eq!(error.refusal().code.name(), "invalid_token");
        assert!(update_client(&world.context, &client.id, token, None, renamed(None)).await.is_err());
        assert!(delete_client(&world.context, &client.id, token).await.is_err());
    }
}

#[tokio::test]
async fn a_018_a_removed_client_takes_its_codes_and_tokens_along() {
    let world = World::new();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    let code = world.code(&client, "toy-ann", &[]).await;
    delete_client(&world.context, &client.id, &client.registration_token).await.unwrap();
    assert!(!world.is_alive(&tokens).await);
    assert!(world.exchange(&client, &code).await.is_err());
    assert!(read_client(&world.context, &client.id, &client.registration_token).await.is_err());
}

#[tokio::test]
async fn an_update_keeps_id_and_secret() {
    let world = World::new();
    let client = world.client().await;
    let token = &client.registration_token;
    let updated =
        update_client(&world.context, &client.id, token, None, renamed(Some("client_secret_basic")))
            .await
            .unwrap();
    assert_eq!(updated.metadata.name, "New name");
    assert_eq!(updated.authentication.method(), "client_secret_basic");
    let code = world.code(&client, "toy-ann", &[]).await;
    assert!(world.exchange(&client, &code).await.is_ok());
    let error =
        update_client(&world.context, &client.id, token, None, renamed(Some("none"))).await.unwrap_err();
    assert_eq!(error.refusal().code.name(), "invalid_client_metadata");
}

#[tokio::test]
async fn a_rotated_secret_replaces_the_old_one_at_once() {
    let world = World::new();
    let mut client = world.client().await;
    let code = world.code(&client, "toy-ann", &[]).await;
    let id = countersign_domain::id::ClientId::parse(&client.id).unwrap();
    let secret = rotate_client_secret(world.context.management(), id).await.unwrap();
    assert!(world.exchange(&client, &code).await.is_err());
    client.secret = Some(secret);
    assert!(world.exchange(&client, &code).await.is_ok());
}

#[tokio::test]
async fn a_client_keeps_its_secret_and_cannot_choose_another() {
    let world = World::new();
    let client = world.client().await;
    let token = &client.registration_token;
    let update = |secret| update_client(&world.context, &client.id, token, secret, renamed(None));
    let other = Secret::new("a secret of my own");
    assert!(matches!(update(Some(&other)).await, Err(UpdateClientError::OtherSecret)));
    assert!(update(client.secret.as_ref()).await.is_ok());
}
