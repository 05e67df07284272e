use countersign_domain::client::{Client, ClientOrigin, DisplayMetadata};
use countersign_domain::client_field::{ClientField, FieldKind, FieldSlot};
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::id::ClientId;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;

use crate::Refuse;
use crate::act_refused::ActRefused;
use crate::clients::change_client::change_client;
use crate::clients::delete_client::delete_client;
use crate::clients::read_client::read_client;
use crate::clients::rotate_client_secret::rotate_client_secret;
use crate::clients::update_client::{UpdateClientError, update_client};
use crate::tests::world::{CLIENT, REDIRECT_URI, TestClient, World};

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
        assert!(
            update_client(&world.context, &CLIENT, &client.id, token, None, renamed(None)).await.is_err()
        );
        assert!(delete_client(&world.context, &CLIENT, &client.id, token).await.is_err());
    }
}

#[tokio::test]
async fn a_018_a_removed_client_takes_its_codes_and_tokens_along() {
    let world = World::new();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    let code = world.code(&client, "toy-ann", &[]).await;
    delete_client(&world.context, &CLIENT, &client.id, &client.registration_token).await.unwrap();
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
        update_client(&world.context, &CLIENT, &client.id, token, None, renamed(Some("client_secret_basic")))
            .await
            .unwrap();
    assert_eq!(updated.client.metadata.name, "New name");
    assert_eq!(updated.client.authentication.method(), "client_secret_basic");
    let code = world.code(&client, "toy-ann", &[]).await;
    assert!(world.exchange(&client, &code).await.is_ok());
    let error = update_client(&world.context, &CLIENT, &client.id, token, None, renamed(Some("none")))
        .await
        .unwrap_err();
    assert_eq!(error.refusal().code.name(), "invalid_client_metadata");
}

#[tokio::test]
async fn a_rotated_secret_replaces_the_old_one_at_once() {
    let world = World::new();
    let mut client = world.client().await;
    let code = world.code(&client, "toy-ann", &[]).await;
    let id = countersign_domain::id::ClientId::parse(&client.id).unwrap();
    let rotated = rotate_client_secret(world.context.management(), id, KeepOld::NOT).await.unwrap();
    assert!(world.exchange(&client, &code).await.is_err());
    client.secret = Some(rotated.secret);
    assert!(world.exchange(&client, &code).await.is_ok());
}

#[tokio::test]
async fn a_client_keeps_its_secret_and_cannot_choose_another() {
    let world = World::new();
    let client = world.client().await;
    let token = &client.registration_token;
    let update = |secret| update_client(&world.context, &CLIENT, &client.id, token, secret, renamed(None));
    let other = Secret::new("a secret of my own");
    assert!(matches!(update(Some(&other)).await, Err(UpdateClientError::OtherSecret)));
    assert!(update(client.secret.as_ref()).await.is_ok());
}

async fn stored(world: &World, client: &TestClient) -> Client {
    let id = ClientId::named(&client.id).unwrap();
    world.context.clients.find_fresh(id).await.unwrap().unwrap()
}

#[tokio::test]
async fn the_operator_changes_the_metadata_of_a_client_and_nothing_else() {
    let world = World::new();
    for origin in [ClientOrigin::Operator, ClientOrigin::SelfRegistered] {
        let client = world.client_by(origin).await;
        let before = stored(&world, &client).await;
        let changed = change_client(world.context.management(), before.clone(), renamed(None)).await.unwrap();
        assert_eq!(changed, Client { metadata: changed.metadata.clone(), ..before });
        assert_eq!(changed, stored(&world, &client).await);
        assert_eq!(changed.metadata.name, "New name");
        let code = world.code(&client, "toy-ann", &[]).await;
        assert!(world.exchange(&client, &code).await.is_ok(), "the secret is the same");
    }
}

#[tokio::test]
async fn the_operator_changes_a_client_by_the_rules_of_registration() {
    let world = World::new();
    let client = world.client().await;
    let before = stored(&world, &client).await;
    let change = |requested| change_client(world.context.management(), before.clone(), requested);
    let own = world.context.policy.public_url.join("/oauth/login");
    let to_us = RequestedMetadata { redirect_uris: Some(vec![own]), ..renamed(None) };
    assert!(matches!(change(to_us).await, Err(ActRefused::Metadata(_))));
    let nameless = RequestedMetadata { client_name: None, ..renamed(None) };
    assert!(matches!(change(nameless).await, Err(ActRefused::Metadata(_))));
    let refused = change(renamed(Some("none"))).await;
    assert!(matches!(refused, Err(ActRefused::MethodChange)), "the secret would be lost");
    assert_eq!(before, stored(&world, &client).await);
}

#[tokio::test]
async fn the_operator_changes_no_client_that_is_gone_or_that_its_document_describes() {
    let world = World::new();
    let client = world.client().await;
    let known = stored(&world, &client).await;
    let document = Some("https://app.example/client.json".to_owned());
    let described = Client { document, ..known.clone() };
    let refused = change_client(world.context.management(), described, renamed(None)).await.unwrap_err();
    assert!(refused.to_string().starts_with("https://app.example/client.json describes this client"));
    delete_client(&world.context, &CLIENT, &client.id, &client.registration_token).await.unwrap();
    let gone = change_client(world.context.management(), known, renamed(None)).await;
    assert!(matches!(gone, Err(ActRefused::ClientUnknown(_))));
}

/// Everything that a client can have.
fn everything() -> RequestedMetadata {
    let uri = |path: &str| Some(format!("https://photos.example/{path}"));
    RequestedMetadata {
        client_name: Some("Photos".to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned(), "https://photos.example/2".to_owned()]),
        scopes: Some(["profile", "email", "groups"].map(str::to_owned).to_vec()),
        grant_types: Some(
            ["authorization_code", "refresh_token", "client_credentials"].map(str::to_owned).to_vec(),
        ),
        backchannel_logout_uri: uri("out"),
        display: DisplayMetadata {
            client_uri: uri("home"),
            logo_uri: uri("logo"),
            tos_uri: uri("tos"),
            policy_uri: uri("policy"),
            contacts: vec!["ada@photos.example".to_owned(), "bob@photos.example".to_owned()],
            jwks: None,
            jwks_uri: uri("keys"),
            application_type: Some("web".to_owned()),
            id_token_signed_response_alg: Some("ES256".to_owned()),
            token_endpoint_auth_signing_alg: Some("ES256".to_owned()),
            subject_type: None,
            sector_identifier_uri: None,
            access_token_ttl: Some(300),
            refresh_token_ttl: Some(86_400),
            refresh_token_idle_ttl: Some(3_600),
            post_logout_redirect_uris: vec!["https://photos.example/bye".to_owned()],
        },
        ..RequestedMetadata::default()
    }
}

/// The same with more, or something else, in one field. `None` for one that never says more.
fn widened(field: ClientField) -> Option<RequestedMetadata> {
    let mut metadata = everything();
    let other = |path: &str| format!("https://evil.example/{path}");
    if field == ClientField::Method {
        return None;
    }
    // The two spellings of scopes agree, and keys stand in one of two places.
    let slot = if field == ClientField::Scopes { ClientField::ScopeList } else { field };
    let more = if field == ClientField::Scopes {
        "offline_access".to_owned()
    } else if field == ClientField::GrantTypes {
        "urn:ietf:params:oauth:grant-type:device_code".to_owned()
    } else {
        other("x")
    };
    if field == ClientField::Jwks {
        metadata.display.jwks_uri = None;
    }
    match metadata.slot(slot) {
        FieldSlot::Truth(is_required) => *is_required = Some(false),
        // Lifetimes stay, whatever it says.
        FieldSlot::Number(_) => return None,
        FieldSlot::Texts(list) => list.get_or_insert_default().push(more),
        FieldSlot::Several(list) => list.push(more),
        FieldSlot::Text(text) => {
            *text = Some(match field.kind() {
                FieldKind::OneOf(values, _) => {
                    let another = values.iter().find(|value| Some(**value) != text.as_deref());
                    (*another.unwrap()).to_owned()
                }
                FieldKind::Keys => "{\"keys\":[]}".to_owned(),
                FieldKind::Text => "My Bank".to_owned(),
                FieldKind::Address
                | FieldKind::Truth
                | FieldKind::Seconds
                | FieldKind::List
                | FieldKind::RedirectUris => more,
            });
        }
    }
    Some(metadata)
}

/// Only the operator widens what the operator registered, and the error names the field.
#[tokio::test]
async fn a_client_of_the_operator_cannot_widen_any_field_of_its_registration_and_can_narrow_all() {
    let world = World::new();
    let strict = RequestedMetadata {
        require_pushed_authorization_requests: Some(true),
        dpop_bound_access_tokens: Some(true),
        ..everything()
    };
    let client = world.register_by(strict.clone(), ClientOrigin::Operator).await;
    let token = &client.registration_token;
    let put = |metadata| update_client(&world.context, &CLIENT, &client.id, token, None, metadata);
    let before = stored(&world, &client).await;
    for field in ClientField::in_words() {
        let Some(mut metadata) = widened(field) else { continue };
        metadata.require_pushed_authorization_requests.get_or_insert(true);
        metadata.dpop_bound_access_tokens.get_or_insert(true);
        let refused = put(metadata).await.unwrap_err().refusal();
        assert_eq!(refused.code.name(), "invalid_client_metadata");
        assert!(
            refused.description.starts_with(&format!("{field} belongs to the operator")),
            "{field}: {refused:?}"
        );
        assert_eq!(stored(&world, &client).await, before);
    }
    assert_eq!(put(strict).await.unwrap().client, before, "it may say what it has");
    let least = RequestedMetadata {
        client_name: Some("Photos".to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        scopes: Some(vec!["profile".to_owned()]),
        grant_types: Some(vec!["authorization_code".to_owned()]),
        require_pushed_authorization_requests: Some(true),
        dpop_bound_access_tokens: Some(true),
        ..RequestedMetadata::default()
    };
    let narrowed = put(least).await.unwrap().client;
    assert_eq!(narrowed, stored(&world, &client).await);
    assert_eq!(narrowed.metadata.scopes.to_string(), "profile");
    // What was given up or taken away does not come back by itself.
    assert!(put(everything()).await.is_err());
}
