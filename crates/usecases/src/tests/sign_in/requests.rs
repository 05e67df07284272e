//! Requests that wait for a person: pushed requests and those of devices, as time passes.

use countersign_domain::device::{self, DeviceRejected};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::parameters::Parameters;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::pushed_request;
use countersign_domain::registration::RequestedMetadata;
use time::Duration;

use crate::sign_in::begin_authorization::{BeginAuthorizationError, Begun, begin_authorization};
use crate::sign_in::begin_device::{DeviceAsks, DeviceWaits, begin_device};
use crate::sign_in::complete_login::{CompleteLoginError, LoginWishes};
use crate::sign_in::continue_session::{ContinueSessionError, ContinueWishes, continue_session};
use crate::sign_in::find_device::find_device;
use crate::sign_in::push_authorization::push_authorization;
use crate::steps::login::Browser;
use crate::tests::world::{PERSON, TestClient, World, as_client, as_person, request};
use crate::tokens::exchange_device_code::{
    ExchangeDeviceCode, ExchangeDeviceCodeError, exchange_device_code,
};
use crate::upkeep::purge_expired::purge_expired;
use crate::{Refuse, TokenAnswer};

const SECOND: Duration = Duration::seconds(1);

async fn push(world: &World, client: &TestClient) -> Parameters {
    let pushed =
        push_authorization(&world.context, &client.credentials(), &request(client, &[]), None).await.unwrap();
    let pairs = [("client_id", client.id.clone()), ("request_uri", pushed.request_uri)];
    Parameters::new(pairs.map(|(name, value)| (name.to_owned(), value)).to_vec())
}

async fn bring(world: &World, brought: &Parameters) -> Result<Begun, BeginAuthorizationError> {
    begin_authorization(&world.context, as_person, brought, &Browser::default()).await
}

#[tokio::test]
async fn a_109_a_pushed_request_lives_for_a_minute_and_then_as_long_as_any() {
    let world = World::new();
    let client = world.client().await;
    let (in_time, late) = (push(&world, &client).await, push(&world, &client).await);
    world.advance(pushed_request::LIFETIME - SECOND);
    let Ok(Begun::Ask(mut pending)) = bring(&world, &in_time).await else { panic!("it is in time") };
    world.advance(SECOND);
    let refused = bring(&world, &late).await.unwrap_err();
    assert_eq!(refused.refusal().code, OAuthErrorCode::InvalidRequestUri);
    world.advance(Duration::minutes(20));
    world.sign_in(&mut pending, "toy-ann").await.unwrap();
}

async fn device_client(world: &World) -> TestClient {
    let grant_types = ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"];
    let grant_types = Some(grant_types.map(ToOwned::to_owned).to_vec());
    world.register(RequestedMetadata { grant_types, ..RequestedMetadata::default() }).await
}

async fn begin(world: &World, client: &TestClient) -> DeviceWaits {
    let asks = DeviceAsks { credentials: client.credentials(), scope: None, resources: Vec::new() };
    begin_device(&world.context, asks).await.unwrap()
}

async fn poll(
    world: &World,
    client: &TestClient,
    device: &DeviceWaits,
) -> Result<TokenAnswer, ExchangeDeviceCodeError> {
    let exchange = ExchangeDeviceCode {
        credentials: client.credentials(),
        device_code: device.device_code.clone(),
        resources: Vec::new(),
        proof: None,
    };
    exchange_device_code(&world.context, as_client, exchange).await
}

async fn typed(world: &World, device: &DeviceWaits) -> PendingAuthorization {
    find_device(&world.context, &device.user_code.to_string()).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_device_may_fetch_its_tokens_until_its_code_expires() {
    let world = World::new();
    let client = device_client(&world).await;
    let (answered, unanswered) = (begin(&world, &client).await, begin(&world, &client).await);
    world.sign_in(&mut typed(&world, &answered).await, "toy-ann").await.unwrap();
    world.advance(device::LIFETIME - SECOND);
    purge_expired(&world.context, world.past()).await.unwrap();
    poll(&world, &client, &answered).await.unwrap();
    let pending = poll(&world, &client, &unanswered).await.unwrap_err();
    assert!(matches!(pending, ExchangeDeviceCodeError::Rejected(DeviceRejected::Pending)), "{pending}");
    world.sign_in(&mut typed(&world, &unanswered).await, "toy-ann").await.unwrap();
    world.advance(SECOND);
    purge_expired(&world.context, world.past()).await.unwrap();
    let late = poll(&world, &client, &unanswered).await.unwrap_err();
    assert_eq!(late.refusal().code, OAuthErrorCode::ExpiredToken);
}

#[tokio::test]
async fn an_answered_device_stays_answered_though_its_tokens_are_forgotten() {
    let mut world = World::new();
    world.context.policy.lifetimes.access_token = SECOND;
    world.context.policy.lifetimes.refresh_token = SECOND;
    let client = device_client(&world).await;
    let device = begin(&world, &client).await;
    let mut pending = typed(&world, &device).await;
    world.sign_in(&mut pending, "toy-ann").await.unwrap();
    poll(&world, &client, &device).await.unwrap();
    world.advance(Duration::minutes(5));
    purge_expired(&world.context, world.past()).await.unwrap();
    let again = world.sign_in(&mut pending, "toy-bob").await.unwrap_err();
    assert!(matches!(again, CompleteLoginError::ChallengeSpent), "{again}");
    let again = poll(&world, &client, &device).await.unwrap_err();
    assert_eq!(again.refusal().code, OAuthErrorCode::InvalidGrant);
}

/// All grants for one device have the same id and the same code. Only the wallet tells who answered.
#[tokio::test]
async fn whoever_comes_second_neither_signs_in_nor_puts_an_address_on_file() {
    let world = World::new();
    let client = device_client(&world).await;
    let (first, second) = (begin(&world, &client).await, begin(&world, &client).await);
    let mut browser = Browser::default();
    world.remember(&mut browser, &mut typed(&world, &first).await, "toy-bob").await;
    let (mut of_ann, mut of_bob) = (typed(&world, &second).await, typed(&world, &second).await);
    world.sign_in(&mut of_ann, "toy-ann").await.unwrap();
    let wishes = LoginWishes { email: Some("bob@example.com".to_owned()), ..LoginWishes::default() };
    let spent = world.sign_in_with(&mut of_bob, "toy-bob", wishes).await.unwrap_err();
    assert!(matches!(spent, CompleteLoginError::ChallengeSpent), "{spent}");
    let wishes = ContinueWishes { account: None, email: Some("bob@example.com") };
    let spent = continue_session(&world.context, &PERSON, &of_bob, &browser, wishes).await.unwrap_err();
    assert!(matches!(spent, ContinueSessionError::RequestSpent), "{spent}");
    let tokens = poll(&world, &client, &second).await.unwrap();
    let told = world.user_info(&tokens).await.unwrap();
    assert_eq!((told.wallet_address.as_deref(), told.email), (Some("toy-ann"), None));
}
