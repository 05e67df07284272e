//! What clients do: codes and tokens that are presented once too often, revocation, and their registration.

use countersign_domain::client::ClientOrigin;
use countersign_domain::event::EventKind;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use countersign_usecases::TokenAnswer;
use countersign_usecases::clients::delete_client::delete_client;
use countersign_usecases::clients::register_client::register_client;
use countersign_usecases::clients::update_client::update_client;
use countersign_usecases::sign_in::begin_device::{DeviceAsks, begin_device};
use countersign_usecases::sign_in::find_device::find_device;
use countersign_usecases::tokens::exchange_code::{ExchangeCode, exchange_code};
use countersign_usecases::tokens::exchange_device_code::{ExchangeDeviceCode, exchange_device_code};
use countersign_usecases::tokens::refresh_tokens::{RefreshTokens, refresh_tokens};
use countersign_usecases::tokens::revoke_token::{RevokeToken, revoke_token};
use serde_json::json;

use super::{Scene, Told, by_client, grant_of};
use crate::tests::world::{CHALLENGE, REDIRECT_URI, TestClient, VERIFIER};

async fn exchange(scene: &Scene, client: &TestClient, code: &Secret, verifier: Option<&str>) -> bool {
    let exchange = ExchangeCode {
        credentials: client.credentials(),
        code: code.clone(),
        redirect_uri: REDIRECT_URI.to_owned(),
        verifier: verifier.map(Secret::new),
        resources: Vec::new(),
        proof: None,
    };
    exchange_code(&scene.world.context, by_client, exchange).await.is_ok()
}

async fn refresh(scene: &Scene, client: &TestClient, tokens: &TokenAnswer) -> bool {
    let refresh = RefreshTokens {
        credentials: client.credentials(),
        refresh_token: tokens.refresh_token.clone().unwrap(),
        scope: None,
        resources: Vec::new(),
        proof: None,
    };
    refresh_tokens(&scene.world.context, by_client, refresh).await.is_ok()
}

async fn revoke(scene: &Scene, client: &TestClient, token: &Secret) -> bool {
    let revoke = RevokeToken { credentials: client.credentials(), token: token.clone() };
    revoke_token(&scene.world.context, &by_client(), revoke).await.is_ok()
}

async fn revoked(scene: &Scene, client: &TestClient, reason: &str, grant: &str) -> Told {
    let user = scene.user("toy-ann").await;
    let details = json!({ "reason": reason, "grant": grant });
    Told::of(EventKind::GrantRevoked, &by_client(), details).user(user).client(client)
}

pub(super) async fn replaying_a_code(scene: &mut Scene) {
    let (client, other) = (scene.world.client().await, scene.world.client().await);
    let code = scene.world.code(&client, "toy-ann", &[]).await;
    scene.begin().await;
    assert!(!exchange(scene, &other, &code, None).await);
    assert!(exchange(scene, &client, &code, None).await);
    scene.nothing_told().await;
    assert!(!exchange(scene, &client, &code, None).await);
    let told = revoked(scene, &client, "code_replayed", &grant_of(&code)).await;
    scene.told(&[told]).await;
    assert!(!exchange(scene, &client, &code, None).await);
    scene.nothing_told().await;
}

pub(super) async fn a_wrong_verifier(scene: &mut Scene) {
    let client = scene.world.public_client().await;
    let pkce = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    let code = scene.world.code(&client, "toy-ann", &pkce).await;
    scene.begin().await;
    assert!(!exchange(scene, &client, &code, Some(&VERIFIER.replace('d', "e"))).await);
    assert!(!exchange(scene, &client, &code, Some(VERIFIER)).await);
    let told = revoked(scene, &client, "verifier_mismatch", &grant_of(&code)).await;
    scene.told(&[told]).await;
}

pub(super) async fn replaying_a_device_code(scene: &mut Scene) {
    let grant_types = Some(vec!["urn:ietf:params:oauth:grant-type:device_code".to_owned()]);
    let redirect_uris = Some(Vec::new());
    let requested = RequestedMetadata { grant_types, redirect_uris, ..RequestedMetadata::default() };
    let client = scene.world.register(requested).await;
    let asks = DeviceAsks { credentials: client.credentials(), scope: None, resources: Vec::new() };
    let waits = begin_device(&scene.world.context, asks).await.unwrap();
    let found = find_device(&scene.world.context, &waits.user_code.to_string()).await.unwrap();
    scene.world.sign_in(&mut found.unwrap(), "toy-ann").await.unwrap();
    scene.begin().await;
    let poll = async |scene: &Scene| {
        let exchange = ExchangeDeviceCode {
            credentials: client.credentials(),
            device_code: waits.device_code.clone(),
            resources: Vec::new(),
            proof: None,
        };
        exchange_device_code(&scene.world.context, by_client, exchange).await.is_ok()
    };
    assert!(poll(scene).await);
    scene.nothing_told().await;
    assert!(!poll(scene).await);
    let told = revoked(scene, &client, "code_replayed", &grant_of(&waits.device_code)).await;
    scene.told(&[told]).await;
}

pub(super) async fn reusing_a_refresh_token(scene: &mut Scene) {
    let client = scene.world.client().await;
    let code = scene.world.code(&client, "toy-ann", &[]).await;
    let tokens = scene.world.exchange(&client, &code).await.unwrap();
    scene.begin().await;
    assert!(refresh(scene, &client, &tokens).await);
    scene.nothing_told().await;
    assert!(!refresh(scene, &client, &tokens).await);
    let told = revoked(scene, &client, "refresh_reused", &grant_of(&code)).await;
    scene.told(&[told]).await;
    assert!(!refresh(scene, &client, &tokens).await);
    scene.nothing_told().await;
}

pub(super) async fn revoking_a_refresh_token(scene: &mut Scene) {
    let (client, other) = (scene.world.client().await, scene.world.client().await);
    let code = scene.world.code(&client, "toy-ann", &[]).await;
    let token = scene.world.exchange(&client, &code).await.unwrap().refresh_token.unwrap();
    scene.begin().await;
    assert!(!revoke(scene, &other, &token).await);
    assert!(revoke(scene, &client, &Secret::new("unknown")).await);
    scene.nothing_told().await;
    assert!(revoke(scene, &client, &token).await);
    assert!(revoke(scene, &client, &token).await);
    let told = revoked(scene, &client, "client_request", &grant_of(&code)).await;
    scene.told(&[told]).await;
}

pub(super) async fn revoking_an_access_token(scene: &mut Scene) {
    let (client, other) = (scene.world.client().await, scene.world.client().await);
    let token = scene.world.tokens(&client, "toy-ann").await.access_token;
    let id = scene.world.context.signer.read_access_token(token.expose()).unwrap().id;
    scene.begin().await;
    assert!(!revoke(scene, &other, &token).await);
    assert!(revoke(scene, &client, &token).await);
    assert!(revoke(scene, &client, &token).await);
    let details = json!({ "reason": "client_request", "access_token": id.to_string() });
    scene.told(&[Told::of(EventKind::GrantRevoked, &by_client(), details).client(&client)]).await;
}

fn requested(name: &str) -> RequestedMetadata {
    RequestedMetadata {
        client_name: Some(name.to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        ..RequestedMetadata::default()
    }
}

pub(super) async fn registering(scene: &mut Scene) {
    scene.begin().await;
    let by_client = by_client();
    let management = scene.world.context.management_for(&by_client);
    let origin = ClientOrigin::SelfRegistered;
    register_client(management, RequestedMetadata::default(), origin).await.unwrap_err();
    let registered = register_client(management, requested("Photo Album"), origin).await.unwrap();
    let mut told = Told::of(EventKind::ClientRegistered, &by_client, json!({ "origin": "self" }));
    told.client = Some(registered.client.id);
    scene.told(&[told]).await;
}

pub(super) async fn changing_itself(scene: &mut Scene) {
    let client = scene.world.client().await;
    scene.begin().await;
    let change = async |scene: &Scene, token: &Secret, name: &str| {
        let context = &scene.world.context;
        update_client(context, &by_client(), &client.id, token, None, requested(name)).await.is_ok()
    };
    assert!(!change(scene, &Secret::new("wrong"), "Photos").await);
    assert!(!change(scene, &client.registration_token, "").await);
    scene.nothing_told().await;
    assert!(change(scene, &client.registration_token, "Photos").await);
    let told = Told::of(EventKind::ClientChanged, &by_client(), json!({ "what": "metadata" }));
    scene.told(&[told.client(&client)]).await;
}

pub(super) async fn deleting_itself(scene: &mut Scene) {
    let client = scene.world.client().await;
    scene.world.tokens(&client, "toy-ann").await;
    scene.begin().await;
    let context = &scene.world.context;
    delete_client(context, &by_client(), &client.id, &Secret::new("wrong")).await.unwrap_err();
    delete_client(context, &by_client(), &client.id, &client.registration_token).await.unwrap();
    delete_client(context, &by_client(), &client.id, &client.registration_token).await.unwrap_err();
    scene.told(&[Told::of(EventKind::ClientDeleted, &by_client(), json!({})).client(&client)]).await;
}
