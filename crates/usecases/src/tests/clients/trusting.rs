//! What clients say about themselves is believed only as far as it harms nobody else, and a code works only
//! in the way in which it was issued (F-08).

use countersign_conformance::fakes::FakeReader;
use countersign_domain::client::{Client, ClientAuthentication, ClientOrigin, DisplayMetadata};
use countersign_domain::client_assertion::AssertionAudience;
use countersign_domain::client_auth::{ClientCredentials, ClientProof};
use countersign_domain::client_secrets::ClientSecrets;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::id::ClientId;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::RegisterClient;
use serde_json::json;

use crate::clients::update_client::{UpdateClientError, update_client};
use crate::sign_in::begin_authorization::begin_authorization;
use crate::sign_in::begin_device::{DeviceAsks, begin_device};
use crate::sign_in::describe_sign_in::describe_sign_in;
use crate::sign_in::find_device::find_device;
use crate::sign_in::sign_out::{SignOutRequest, judge_sign_out};
use crate::steps::login::Browser;
use crate::tests::world::{CLIENT, TestClient, World, as_client, as_person, request};
use crate::tokens::exchange_code::{ExchangeCode, exchange_code};
use crate::tokens::exchange_device_code::{ExchangeDeviceCode, exchange_device_code};
use crate::tokens::introspect_token::introspect_token;
use crate::tokens::issue_client_tokens::{IssueClientTokens, issue_client_tokens};
use crate::tokens::revoke_token::{RevokeToken, revoke_token};
use crate::{Refuse, TokenAnswer};

const RESOURCE: &str = "https://api.example";

fn with_address(address: &str) -> RequestedMetadata {
    let display = DisplayMetadata { client_uri: Some(address.to_owned()), ..DisplayMetadata::default() };
    RequestedMetadata { display, ..RequestedMetadata::default() }
}

async fn is_told(world: &World, client: &TestClient, token: &Secret) -> bool {
    introspect_token(&world.context, &client.credentials(), token).await.unwrap().is_some()
}

/// A token of another client, for the resource.
async fn for_resource(world: &World) -> TokenAnswer {
    let grant_types = Some(vec!["client_credentials".to_owned()]);
    let client = world
        .register_by(
            RequestedMetadata { grant_types, ..RequestedMetadata::default() },
            ClientOrigin::Operator,
        )
        .await;
    world.open(&client, RESOURCE).await;
    let asks = IssueClientTokens {
        credentials: client.credentials(),
        scope: None,
        resources: vec![RESOURCE.to_owned()],
        proof: None,
    };
    issue_client_tokens(&world.context, asks).await.unwrap()
}

#[tokio::test]
async fn f_08_a_094_nobody_reads_tokens_of_others_by_calling_itself_their_resource() {
    let world = World::new();
    let tokens = for_resource(&world).await;
    let impostor = world.register(with_address(RESOURCE)).await;
    assert!(!is_told(&world, &impostor, &tokens.access_token).await);
    let appointed = world.register_by(with_address(RESOURCE), ClientOrigin::Operator).await;
    assert!(is_told(&world, &appointed, &tokens.access_token).await);
    let elsewhere = world.register_by(with_address("https://api.example/v1"), ClientOrigin::Operator).await;
    assert!(!is_told(&world, &elsewhere, &tokens.access_token).await);
}

#[tokio::test]
async fn f_08_a_client_of_the_operator_cannot_move_to_another_resource() {
    let world = World::new();
    let tokens = for_resource(&world).await;
    let plain = world.client_by(ClientOrigin::Operator).await;
    let requested = RequestedMetadata {
        client_name: Some("Photos".to_owned()),
        redirect_uris: Some(vec!["https://photos.example/cb".to_owned()]),
        ..with_address(RESOURCE)
    };
    let refused =
        update_client(&world.context, &CLIENT, &plain.id, &plain.registration_token, None, requested.clone())
            .await;
    assert!(matches!(refused, Err(UpdateClientError::Rejected(_))), "{refused:?}");
    assert!(!is_told(&world, &plain, &tokens.access_token).await);
    let itself = world.client().await;
    update_client(&world.context, &CLIENT, &itself.id, &itself.registration_token, None, requested)
        .await
        .unwrap();
    assert!(
        !is_told(&world, &itself, &tokens.access_token).await,
        "a client that registered itself may say what it likes"
    );
}

#[tokio::test]
async fn f_01_a_client_of_the_operator_does_not_let_itself_get_tokens_for_itself() {
    let world = World::new();
    let client = world.client_by(ClientOrigin::Operator).await;
    let with = |grant_types: &[&str]| RequestedMetadata {
        client_name: Some("Photo Album".to_owned()),
        redirect_uris: Some(vec!["https://photos.example/cb".to_owned()]),
        grant_types: Some(grant_types.iter().map(|name| (*name).to_owned()).collect()),
        ..RequestedMetadata::default()
    };
    let token = &client.registration_token;
    let more = with(&["authorization_code", "client_credentials"]);
    let refused = update_client(&world.context, &CLIENT, &client.id, token, None, more).await;
    assert!(matches!(refused, Err(UpdateClientError::Rejected(_))), "{refused:?}");
    let same = with(&["authorization_code"]);
    update_client(&world.context, &CLIENT, &client.id, token, None, same).await.unwrap();
}

/// A client for browsers and devices, with this authentication method.
async fn of_both_kinds(world: &World, method: &str) -> TestClient {
    let grant_types = ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token", "authorization_code"];
    let requested = RequestedMetadata {
        grant_types: Some(grant_types.map(ToOwned::to_owned).to_vec()),
        token_endpoint_auth_method: Some(method.to_owned()),
        ..RequestedMetadata::default()
    };
    world.register(requested).await
}

#[tokio::test]
async fn f_08_a_devices_code_is_no_code_of_a_browser_and_is_not_burnt() {
    let world = World::new();
    for method in ["client_secret_post", "none"] {
        let client = of_both_kinds(&world, method).await;
        let asks = DeviceAsks { credentials: client.credentials(), scope: None, resources: Vec::new() };
        let device = begin_device(&world.context, asks).await.unwrap();
        let mut pending = find_device(&world.context, &device.user_code.to_string()).await.unwrap().unwrap();
        world.sign_in(&mut pending, "toy-ann").await.unwrap();
        let done = pending.requester.name().redirect_uri.to_owned();
        let by_browser = |redirect_uri: &str, verifier: Option<&str>| {
            exchange_code(
                &world.context,
                as_client,
                ExchangeCode {
                    credentials: client.credentials(),
                    code: device.device_code.clone(),
                    redirect_uri: redirect_uri.to_owned(),
                    verifier: verifier.map(Secret::new),
                    resources: Vec::new(),
                    proof: None,
                },
            )
        };
        let by_device = || ExchangeDeviceCode {
            credentials: client.credentials(),
            device_code: device.device_code.clone(),
            resources: Vec::new(),
            proof: None,
        };
        for (uri, verifier) in [
            (done.as_str(), None),
            (done.as_str(), Some("x")),
            ("https://photos.example/cb", None),
            ("", None),
        ] {
            let refused = by_browser(uri, verifier).await.unwrap_err();
            assert_eq!(refused.refusal().code, OAuthErrorCode::InvalidGrant, "{uri}");
        }
        let tokens = exchange_device_code(&world.context, as_client, by_device()).await.unwrap();
        by_browser(&done, None).await.unwrap_err();
        assert!(world.is_alive(&tokens).await, "nor does it end what the device has");
    }
}

#[tokio::test]
async fn f_08_a_browsers_code_is_no_code_of_a_device_and_is_not_burnt() {
    let world = World::new();
    let client = of_both_kinds(&world, "client_secret_post").await;
    let code = world.code(&client, "toy-ann", &[]).await;
    let as_device = ExchangeDeviceCode {
        credentials: client.credentials(),
        device_code: code.clone(),
        resources: Vec::new(),
        proof: None,
    };
    let refused = exchange_device_code(&world.context, as_client, as_device).await.unwrap_err();
    assert_eq!(refused.refusal().code, OAuthErrorCode::InvalidGrant);
    world.exchange(&client, &code).await.unwrap();
}

/// A client as an older release stored it, which refused less.
async fn stored_long_ago(world: &World) -> TestClient {
    let good = world.client_by(ClientOrigin::Operator).await;
    let id = ClientId::parse(&good.id).unwrap();
    let found = world.context.clients.find_fresh(id).await.unwrap().unwrap();
    let secret = Secret::new("s");
    let mut client = Client {
        id: ClientId::at(found.created_at, [9; 10]),
        authentication: match found.authentication {
            ClientAuthentication::Secret { method, .. } => {
                let secrets = ClientSecrets::only(SecretHash::of(&secret));
                ClientAuthentication::Secret { method, secrets }
            }
            other @ (ClientAuthentication::Keys | ClientAuthentication::Public) => other,
        },
        ..found
    };
    client.metadata.name = "Pho\u{3164}tos".to_owned();
    client.metadata.redirect_uris = vec![
        RedirectUri::from_trusted("https://a;script-src.example/cb".to_owned()),
        RedirectUri::from_trusted("https://photos.example/cb".to_owned()),
    ];
    client.metadata.display.client_uri = Some("https://a;b.example/".to_owned());
    client.metadata.display.tos_uri = Some("https://photos.example/tos".to_owned());
    client.metadata.display.post_logout_redirect_uris = vec!["https://a;b.example/bye".to_owned()];
    let id = client.id.to_string();
    world.context.clients.register(RegisterClient { client, event: None }).await.unwrap();
    TestClient { id, secret: Some(secret), registration_token: good.registration_token }
}

#[tokio::test]
async fn f_08_what_an_older_release_stored_is_judged_when_it_is_used() {
    let world = World::new();
    let client = stored_long_ago(&world).await;
    let bad = request(&client, &[("redirect_uri", "https://a;script-src.example/cb")]);
    begin_authorization(&world.context, as_person, &bad, &Browser::default()).await.unwrap_err();
    let pending = world.pending(&client, &[]).await;
    let shown =
        describe_sign_in(&world.context, &pending, &Browser::default()).await.unwrap().client.unwrap();
    assert_eq!((shown.name, shown.uri), (client.id.clone(), None), "A-014: the id stands for the name");
    assert_eq!(shown.tos_uri.as_deref(), Some("https://photos.example/tos"));
    let leaving = SignOutRequest {
        client_id: Some(client.id),
        post_logout_redirect_uri: Some("https://a;b.example/bye".to_owned()),
        ..SignOutRequest::default()
    };
    let judged = judge_sign_out(&world.context, &leaving, &Browser::default()).await;
    assert!(judged.is_err(), "{judged:?}");
}

#[tokio::test]
async fn a_111_the_token_endpoint_is_no_audience_unless_the_operator_says_so() {
    let mut world = World::new();
    let display = DisplayMetadata { jwks: Some(FakeReader::jwks("k1")), ..DisplayMetadata::default() };
    let method = Some("private_key_jwt".to_owned());
    let requested =
        RequestedMetadata { token_endpoint_auth_method: method, display, ..RequestedMetadata::default() };
    let client = world.register(requested).await;
    for (audience, is_believed) in [
        (AssertionAudience::Issuer, false),
        (AssertionAudience::Documents, false),
        (AssertionAudience::Endpoint, true),
    ] {
        world.context.policy.assertion_audience = audience;
        let now = world.context.clock.now().unix_timestamp();
        let claims = json!({
            "iss": client.id, "sub": client.id, "aud": "https://auth.example.com/oauth/token",
            "iat": now, "exp": now + 60, "jti": "1",
        });
        let proof = ClientProof::Assertion(FakeReader::sign("k1", &claims));
        let credentials = ClientCredentials { client_id: client.id.clone(), proof };
        let revoked =
            revoke_token(&world.context, &CLIENT, RevokeToken { credentials, token: Secret::new("nothing") })
                .await;
        assert_eq!(revoked.is_ok(), is_believed, "{audience:?}: {revoked:?}");
    }
}
