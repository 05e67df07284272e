//! Whom the operator lets in: at every door, and again whenever tokens are made.

use std::sync::Arc;
use std::time::Duration;

use countersign_conformance::fakes::ManualClock;
use countersign_conformance::memory::MemoryStorage;
use countersign_conformance::one_member::OneMember as _;
use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::ClientOrigin;
use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::subject::Subject;
use countersign_ports::{ChangeMember, Clock, RemoveBlock, Storage};

use crate::sign_in::begin_authorization::{BeginAuthorizationError, begin_authorization};
use crate::sign_in::begin_device::{DeviceAsks, DeviceWaits, begin_device};
use crate::sign_in::complete_login::CompleteLoginError;
use crate::sign_in::continue_session::{ContinueSessionError, ContinueWishes, continue_session};
use crate::sign_in::find_device::find_device;
use crate::steps::login::Browser;
use crate::tests::breakable;
use crate::tests::programs;
use crate::tests::world::{
    CHALLENGE, PERSON, TestClient, VERIFIER, World, as_client, as_person, code_of, named, parameter, request,
    sign, toy,
};
use crate::tokens::exchange_device_code::{ExchangeDeviceCode, exchange_device_code};
use crate::tokens::sign_in_program::{
    ProgramChallenge, SignInProgram, issue_program_challenge, sign_in_program,
};
use crate::{Refuse, TokenAnswer};

/// A client of the operator's that can do everything.
async fn client(world: &World) -> TestClient {
    let grant_types = [
        "authorization_code",
        "refresh_token",
        "urn:ietf:params:oauth:grant-type:device_code",
        programs::WALLET,
    ];
    let grant_types = Some(grant_types.map(ToOwned::to_owned).to_vec());
    let requested = RequestedMetadata { grant_types, ..RequestedMetadata::default() };
    world.register_by(requested, ClientOrigin::Operator).await
}

fn account_request(world: &World) -> PendingAuthorization {
    let policy = &world.context.policy;
    PendingAuthorization::for_account(&policy.public_url, world.context.clock.now(), &policy.lifetimes)
}

async fn device(world: &World, client: &TestClient) -> (DeviceWaits, PendingAuthorization) {
    let asks = DeviceAsks { credentials: client.credentials(), scope: None, resources: Vec::new() };
    let waits = begin_device(&world.context, asks).await.unwrap();
    let pending = find_device(&world.context, &waits.user_code.to_string()).await.unwrap().unwrap();
    (waits, pending)
}

async fn poll(world: &World, client: &TestClient, waits: &DeviceWaits) -> Result<TokenAnswer, OAuthError> {
    let exchange = ExchangeDeviceCode {
        credentials: client.credentials(),
        device_code: waits.device_code.clone(),
        resources: Vec::new(),
        proof: None,
    };
    exchange_device_code(&world.context, as_client, exchange).await.map_err(|error| error.refusal())
}

async fn program(world: &World, client: &TestClient, address: &str) -> Result<TokenAnswer, OAuthError> {
    let name = named(address);
    let asked = ProgramChallenge { client_id: &client.id, name, scope: None, resources: &[] };
    let text = issue_program_challenge(&world.context, asked).await.unwrap().text;
    let signed = SignInProgram { signature: sign(address, &text), ..programs::signed(client, &text) };
    sign_in_program(&world.context, &PERSON, signed).await.map_err(|error| error.refusal())
}

async fn login(world: &World, client: &TestClient, address: &str) -> Result<String, OAuthError> {
    let mut pending = world.pending(client, &[]).await;
    world.sign_in(&mut pending, address).await.map_err(|error| error.refusal())
}

/// What the doors of a client answer to a wallet that signs.
async fn doors(world: &World, client: &TestClient, address: &str) -> [Result<(), OAuthError>; 3] {
    let (_, mut of_device) = device(world, client).await;
    [
        login(world, client, address).await.map(drop),
        world.sign_in(&mut of_device, address).await.map(drop).map_err(|error| error.refusal()),
        program(world, client, address).await.map(drop),
    ]
}

fn refusal() -> OAuthError {
    OAuthError::new(OAuthErrorCode::NotAdmitted, "the application does not admit this wallet")
}

/// What the outside hears of an error: everything but its name in the log.
fn heard(error: OAuthError) -> OAuthError {
    error.logged_as(RefusedFor::NotAdmitted)
}

async fn user_of(world: &World, address: &str) -> UserId {
    world.context.storage.find_owner(toy(address)).await.unwrap().unwrap()
}

/// Two replicas on one storage.
fn replicas() -> [World; 2] {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::default());
    let clock: Arc<ManualClock> = Arc::default();
    [World::at(Arc::clone(&storage), Arc::clone(&clock)), World::at(storage, clock)]
}

#[tokio::test]
async fn a_113_no_door_of_a_client_lets_anyone_in_whom_its_rule_does_not() {
    let world = World::new();
    let client = client(&world).await;
    for rule in ["nobody", "groups:staff,friends"] {
        world.decide(&client, rule, Release::OfRule).await;
        world.join(&format!("other-{}", rule.len()), Subject::Wallet(toy("toy-ann"))).await;
        assert_eq!(doors(&world, &client, "toy-ann").await, [(); 3].map(|()| Err(refusal())), "{rule}");
    }
    assert_eq!(world.context.storage.find_owner(toy("toy-ann")).await.unwrap(), None);
    world.decide(&client, "everyone", Release::OfRule).await;
    assert_eq!(doors(&world, &client, "toy-ann").await, [(); 3].map(Ok));
}

#[tokio::test]
async fn a_wallet_that_is_in_a_group_before_its_first_sign_in_comes_in_at_the_first_try() {
    let world = World::new();
    let client = client(&world).await;
    world.decide(&client, "groups:friends,staff", Release::OfRule).await;
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    assert_eq!(doors(&world, &client, "toy-ann").await, [(); 3].map(Ok));
    let code = world.code(&client, "toy-ann", &[]).await;
    let tokens = world.exchange(&client, &code).await.unwrap();
    assert!(world.refresh(&client, &tokens).await.is_ok());
}

#[tokio::test]
async fn a_client_without_a_rule_of_its_own_follows_the_setting() {
    let mut world = World::new();
    let (client, own) = (client(&world).await, client(&world).await);
    world.decide(&own, "everyone", Release::OfRule).await;
    world.context.policy.default_access = AccessRule::Nobody;
    assert_eq!(login(&world, &client, "toy-ann").await, Err(refusal()));
    assert!(login(&world, &own, "toy-ann").await.is_ok());
    assert!(world.sign_in(&mut account_request(&world), "toy-ann").await.is_ok(), "/account has no rule");
}

#[tokio::test]
async fn a_114_nothing_is_stored_of_somebody_who_is_not_let_in() {
    let (world, storage) = breakable::world();
    let client = client(&world).await;
    world.decide(&client, "groups:staff", Release::OfRule).await;
    let mut pending = world.pending(&client, &[]).await;
    let (_, mut of_device) = device(&world, &client).await;
    let mut of_account = account_request(&world);
    storage.asked();
    world.sign_in(&mut pending, "toy-ann").await.unwrap_err();
    assert_eq!(storage.asked(), ["standing_of"]);
    world.sign_in(&mut of_device, "toy-ann").await.unwrap_err();
    assert_eq!(storage.asked(), ["find_device", "standing_of"]);
    program(&world, &client, "toy-ann").await.unwrap_err();
    assert_eq!(storage.asked(), ["standing_of"]);
    world.block(Subject::Wallet(toy("toy-ann"))).await;
    storage.asked();
    world.sign_in(&mut of_account, "toy-ann").await.unwrap_err();
    assert_eq!(storage.asked(), ["anything_blocked", "standing_of"]);
    // The text was not used up either.
    world.decide(&client, "everyone", Release::OfRule).await;
    let who = Subject::Wallet(toy("toy-ann"));
    world.context.blocks.unblock(RemoveBlock { who, event: None }).await.unwrap();
    assert!(world.sign_in(&mut pending, "toy-ann").await.is_ok());
}

#[tokio::test]
async fn a_115_a_block_a_missing_group_and_an_unknown_wallet_get_one_answer_after_the_same_work() {
    let (world, storage) = breakable::world();
    let client = client(&world).await;
    login(&world, &client, "toy-blocked").await.unwrap();
    login(&world, &client, "toy-wrong").await.unwrap();
    let blocked = Subject::User(user_of(&world, "toy-blocked").await);
    world.join("staff", Subject::Wallet(toy("toy-blocked"))).await;
    world.join("others", Subject::User(user_of(&world, "toy-wrong").await)).await;
    world.decide(&client, "groups:staff", Release::OfRule).await;
    world.block(blocked).await;
    let mut seen = Vec::new();
    for address in ["toy-blocked", "toy-wrong", "toy-unknown"] {
        let mut pending = world.pending(&client, &[]).await;
        storage.asked();
        let error = world.sign_in(&mut pending, address).await.unwrap_err();
        let CompleteLoginError::NotAdmitted(found) = &error else { panic!("{error:?}") };
        assert_eq!(found.account, toy(address));
        seen.push((heard(error.refusal()), storage.asked()));
        assert_eq!(heard(program(&world, &client, address).await.unwrap_err()), refusal());
    }
    assert_eq!(seen[0].0, refusal());
    assert_eq!(seen[0].1, ["standing_of"]);
    assert!(seen.iter().all(|other| *other == seen[0]), "{seen:?}");
}

#[tokio::test]
async fn a_rule_that_is_changed_while_somebody_is_on_the_sign_in_page_counts_when_they_sign() {
    let [here, there] = replicas();
    let client = client(&here).await;
    let (mut first, mut second) = (here.pending(&client, &[]).await, here.pending(&client, &[]).await);
    there.decide(&client, "nobody", Release::OfRule).await;
    let refused = here.sign_in(&mut first, "toy-ann").await.unwrap_err();
    assert_eq!(refused.refusal(), refusal());
    there.decide(&client, "groups:staff", Release::OfRule).await;
    there.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    assert!(here.sign_in(&mut second, "toy-ann").await.is_ok());
    assert!(here.sign_in(&mut first, "toy-ann").await.is_ok(), "the request still waits");
}

#[tokio::test]
async fn a_113_a_remembered_sign_in_continues_only_to_clients_that_let_the_person_in() {
    let world = World::new();
    let client = client(&world).await;
    let mut browser = Browser::default();
    world.remember(&mut browser, &mut world.pending(&client, &[]).await, "toy-ann").await;
    world.decide(&client, "groups:staff", Release::OfRule).await;
    let pending = world.pending(&client, &[("state", "next")]).await;
    let go_on = || continue_session(&world.context, &PERSON, &pending, &browser, ContinueWishes::default());
    let error = go_on().await.unwrap_err();
    assert!(matches!(error, ContinueSessionError::NotAdmitted(_)), "{error:?}");
    assert_eq!(error.refusal(), refusal());
    let silent = request(&client, &[("prompt", "none")]);
    let error = begin_authorization(&world.context, as_person, &silent, &browser).await.unwrap_err();
    let BeginAuthorizationError::Redirect { to, .. } = &error else { panic!("{error:?}") };
    assert_eq!(parameter(&to.address(), "error").as_deref(), Some("access_denied"));
    assert_eq!(error.refusal(), refusal());
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    let to = go_on().await.unwrap().to.address();
    assert!(world.exchange(&client, &code_of(&to)).await.is_ok());
}

#[tokio::test]
async fn a_116_tokens_are_made_only_while_the_rule_lets_the_user_in_and_a_refusal_burns_nothing() {
    let world = World::new();
    let client = client(&world).await;
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    let code = world.code(&client, "toy-ann", &[]).await;
    let (waits, mut of_device) = device(&world, &client).await;
    world.sign_in(&mut of_device, "toy-ann").await.unwrap();
    let tokens = world.tokens(&client, "toy-ann").await;
    for rule in ["nobody", "groups:friends"] {
        world.decide(&client, rule, Release::OfRule).await;
        let refused = world.exchange(&client, &code).await.unwrap_err().refusal();
        assert_eq!(refused.code, OAuthErrorCode::InvalidGrant, "{rule}");
        let refused = world.refresh(&client, &tokens).await.unwrap_err().refusal();
        assert_eq!(refused.code, OAuthErrorCode::InvalidGrant, "{rule}");
        let refused = poll(&world, &client, &waits).await.unwrap_err();
        assert_eq!(refused.code, OAuthErrorCode::InvalidGrant, "{rule}");
        assert!(world.is_alive(&tokens).await, "{rule}: what was given stays until it expires");
    }
    world.decide(&client, "groups:friends,staff", Release::OfRule).await;
    assert!(world.exchange(&client, &code).await.is_ok());
    assert!(world.refresh(&client, &tokens).await.is_ok());
    assert!(poll(&world, &client, &waits).await.is_ok());
}

#[tokio::test]
async fn a_115_a_client_does_not_learn_whether_a_block_or_a_lost_group_ended_the_access() {
    for is_public in [false, true] {
        let world = World::new();
        let client = if is_public { world.public_client().await } else { client(&world).await };
        world.decide(&client, "groups:staff", Release::OfRule).await;
        world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
        world.join("staff-too", Subject::Wallet(toy("toy-bob"))).await;
        world.decide(&client, "groups:staff,staff-too", Release::OfRule).await;
        let pkce = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
        let mut codes = Vec::new();
        let mut tokens = Vec::new();
        for address in ["toy-ann", "toy-bob"] {
            codes.push(world.code(&client, address, &pkce).await);
            let code = world.code(&client, address, &pkce).await;
            let verifier = Some(VERIFIER);
            tokens.push(world.exchange_with(&client, &code, verifier).await.unwrap());
        }
        world.block(Subject::Wallet(toy("toy-ann"))).await;
        world.decide(&client, "groups:staff", Release::OfRule).await;
        let mut answers = Vec::new();
        for (code, tokens) in codes.iter().zip(&tokens) {
            let verifier = Some(VERIFIER);
            let exchanged = world.exchange_with(&client, code, verifier).await.unwrap_err().refusal();
            answers.push((exchanged, world.refresh(&client, tokens).await.unwrap_err().refusal()));
        }
        assert_eq!(answers[0], answers[1], "public: {is_public}");
    }
}

/// A login may be judged by a wallet's groups just before the wallet goes to somebody else.
#[tokio::test]
async fn whoever_lost_the_group_between_login_and_exchange_gets_no_tokens() {
    let world = World::new();
    let client = client(&world).await;
    world.decide(&client, "groups:staff", Release::OfRule).await;
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    let code = world.code(&client, "toy-ann", &[]).await;
    let command = ChangeMember {
        group: GroupName::parse("staff").unwrap(),
        member: Subject::Wallet(toy("toy-ann")),
        now: world.context.clock.now(),
        event: None,
    };
    assert!(world.context.storage.remove_member(command).await.unwrap());
    let refused = world.exchange(&client, &code).await.unwrap_err().refusal();
    assert_eq!(refused.code, OAuthErrorCode::InvalidGrant);
}

#[tokio::test]
async fn where_everyone_is_let_in_and_nobody_is_blocked_no_flow_asks_the_storage_for_more() {
    let (world, storage) = breakable::world();
    let client = client(&world).await;
    let mut browser = Browser::default();
    // Whether anybody is blocked is remembered for a fifth of a second, like the client itself.
    world.remember(&mut browser, &mut world.pending(&client, &[]).await, "toy-ann").await;
    let mut pending = world.pending(&client, &[]).await;
    let next = world.pending(&client, &[("state", "next")]).await;
    let (waits, mut of_device) = device(&world, &client).await;
    storage.asked();
    let to = world.sign_in(&mut pending, "toy-ann").await.unwrap();
    assert_eq!(storage.asked(), ["complete_login"]);
    let tokens = world.exchange(&client, &code_of(&to)).await.unwrap();
    assert_eq!(storage.asked(), ["find_grant", "redeem_code"]);
    let tokens = world.refresh(&client, &tokens).await.unwrap();
    assert_eq!(storage.asked(), ["find_refresh", "rotate_refresh"]);
    world.user_info(&tokens).await.unwrap();
    assert_eq!(storage.asked(), ["find_access"]);
    continue_session(&world.context, &PERSON, &next, &browser, ContinueWishes::default()).await.unwrap();
    assert_eq!(storage.asked(), ["find_session", "consents_at", "continue_session"]);
    world.sign_in(&mut of_device, "toy-ann").await.unwrap();
    assert_eq!(storage.asked(), ["find_device", "complete_login"]);
    poll(&world, &client, &waits).await.unwrap();
    assert_eq!(storage.asked(), ["find_device", "find_grant", "redeem_code"]);
    program(&world, &client, "toy-ann").await.unwrap();
    assert_eq!(storage.asked(), ["complete_login", "find_grant", "redeem_code"]);
    world.sign_in(&mut account_request(&world), "toy-ann").await.unwrap();
    assert_eq!(storage.asked(), ["open_session"]);
    // After that fifth of a second one read serves everybody for the next one.
    world.clock.wait(Duration::from_millis(200)).await;
    login(&world, &client, "toy-ann").await.unwrap();
    login(&world, &client, "toy-bob").await.unwrap();
    assert_eq!(storage.asked(), ["find_client", "anything_blocked", "complete_login", "complete_login"]);
}
