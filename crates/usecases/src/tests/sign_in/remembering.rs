//! Remembered sign-ins: who may continue without a wallet, and who may not.

use countersign_domain::client::ClientOrigin;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::secret::Secret;
use time::Duration;

use crate::Refuse;
use crate::clients::update_client::update_client;
use crate::sign_in::begin_authorization::{BeginAuthorizationError, Begun, begin_authorization};
use crate::sign_in::continue_session::{ContinueSessionError, ContinueWishes, continue_session};
use crate::sign_in::describe_sign_in::{Standing, describe_sign_in};
use crate::steps::login::{Browser, find_login};
use crate::tests::world::{CLIENT, PERSON, TestClient, World, as_person, code_of, parameter, request};

/// A world in which Ann's browser remembers her, and she agreed to a client.
async fn remembered(origin: ClientOrigin) -> (World, TestClient, Browser) {
    let world = World::new();
    let client = world.client_by(origin).await;
    let mut browser = Browser { name: "Firefox on Linux".to_owned(), login: None };
    world.remember(&mut browser, &mut world.pending(&client, &[]).await, "toy-ann").await;
    world.advance(Duration::minutes(1));
    (world, client, browser)
}

async fn standing(world: &World, pending: &PendingAuthorization, browser: &Browser) -> Standing {
    describe_sign_in(&world.context, pending, browser).await.unwrap().standing
}

async fn go_on(
    world: &World,
    pending: &PendingAuthorization,
    browser: &Browser,
) -> Result<String, ContinueSessionError> {
    continue_session(&world.context, &PERSON, pending, browser, ContinueWishes::default())
        .await
        .map(|done| done.to.address())
}

/// What a client that forbids asking the person (`prompt=none`) gets.
async fn silently(world: &World, client: &TestClient, browser: &Browser, more: &[(&str, &str)]) -> String {
    let more: Vec<_> = more.iter().copied().chain([("prompt", "none")]).collect();
    match begin_authorization(&world.context, as_person, &request(client, &more), browser).await {
        Ok(Begun::Answered { to }) => {
            assert!(parameter(&to.address(), "code").is_some());
            "code".to_owned()
        }
        Ok(Begun::Ask(_)) => "asked".to_owned(),
        Err(BeginAuthorizationError::Redirect { to, .. }) => parameter(&to.address(), "error").unwrap(),
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn a_known_client_is_continued_to_with_a_good_code_and_the_first_signatures_time() {
    let (world, client, browser) = remembered(ClientOrigin::SelfRegistered).await;
    let signed_at = world.context.clock.now() - Duration::minutes(1);
    let pending = world.pending(&client, &[("state", "again")]).await;
    assert!(matches!(standing(&world, &pending, &browser).await, Standing::MayContinue { .. }));
    let to = go_on(&world, &pending, &browser).await.unwrap();
    assert_eq!(parameter(&to, "state").as_deref(), Some("again"));
    let tokens = world.exchange(&client, &code_of(&to)).await.unwrap();
    let first = world.user_info(&world.tokens(&client, "toy-ann").await).await.unwrap();
    assert_eq!(world.user_info(&tokens).await.unwrap().subject, first.subject);
    let id = world.context.signer.read_access_token(tokens.access_token.expose()).unwrap().id;
    let found = world.context.storage.find_refresh(id).await.unwrap().unwrap();
    assert_eq!(found.grant.authenticated_at, signed_at, "auth_time is the signature's, not the click's");
}

#[tokio::test]
async fn a_browser_that_was_not_asked_to_remember_does_not() {
    let world = World::new();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    let done = world.sign_in_with(&mut pending, "toy-ann", Default::default()).await.unwrap();
    assert!(done.remembered.is_none());
}

#[tokio::test]
async fn b_065_one_request_is_continued_once_however_often_its_cookie_comes_back() {
    let (world, client, browser) = remembered(ClientOrigin::SelfRegistered).await;
    let pending = world.pending(&client, &[]).await;
    assert!(go_on(&world, &pending, &browser).await.is_ok());
    let error = go_on(&world, &pending, &browser).await.unwrap_err();
    assert!(matches!(error, ContinueSessionError::RequestSpent));
    assert_eq!(error.refusal().description, "Missing or expired OAuth session");
}

#[tokio::test]
async fn b_061_a_new_client_and_a_new_scope_need_a_fresh_signature() {
    let (world, client, mut browser) = remembered(ClientOrigin::SelfRegistered).await;
    let stranger = world.client().await;
    let elsewhere = world.pending(&stranger, &[]).await;
    assert!(matches!(standing(&world, &elsewhere, &browser).await, Standing::MustSign { new: None, .. }));
    assert!(matches!(
        go_on(&world, &elsewhere, &browser).await.unwrap_err(),
        ContinueSessionError::ConsentMissing
    ));
    let mut wider = world.pending(&client, &[("scope", "profile email")]).await;
    let new = ScopeSet::of(&[Scope::Email]);
    let found = standing(&world, &wider, &browser).await;
    assert!(matches!(found, Standing::MustSign { new: Some(ref only), .. } if *only == new), "{found:?}");
    assert!(go_on(&world, &wider, &browser).await.is_err());
    world.remember(&mut browser, &mut wider, "toy-ann").await;
    for scope in ["profile email", "profile", "email"] {
        let next = world.pending(&client, &[("scope", scope), ("state", scope)]).await;
        assert!(
            go_on(&world, &next, &browser).await.is_ok(),
            "{scope}: what was signed for is remembered together"
        );
    }
}

#[tokio::test]
async fn a_034_prompt_and_max_age_ask_for_a_newer_signature() {
    let (world, client, browser) = remembered(ClientOrigin::SelfRegistered).await;
    let newer: [&[(&str, &str)]; 5] = [
        &[("prompt", "login")],
        &[("prompt", "consent")],
        &[("prompt", "select_account login")],
        &[("max_age", "0")],
        &[("max_age", "59")],
    ];
    for more in newer {
        let pending = world.pending(&client, more).await;
        assert!(matches!(standing(&world, &pending, &browser).await, Standing::MustSign { .. }), "{more:?}");
        assert!(matches!(
            go_on(&world, &pending, &browser).await.unwrap_err(),
            ContinueSessionError::SessionEnded
        ));
    }
    let pending = world.pending(&client, &[("max_age", "62")]).await;
    assert!(go_on(&world, &pending, &browser).await.is_ok());
}

#[tokio::test]
async fn a_034_a_client_that_the_operator_let_in_is_answered_without_a_page() {
    let (world, client, browser) = remembered(ClientOrigin::Operator).await;
    assert_eq!(silently(&world, &client, &browser, &[]).await, "code");
    assert_eq!(silently(&world, &client, &Browser::default(), &[]).await, "login_required");
    assert_eq!(silently(&world, &client, &browser, &[("max_age", "1")]).await, "login_required");
    assert_eq!(silently(&world, &client, &browser, &[("scope", "profile email")]).await, "consent_required");
    let other = world.client_by(ClientOrigin::Operator).await;
    assert_eq!(silently(&world, &other, &browser, &[]).await, "consent_required");
}

#[tokio::test]
async fn a_self_registered_client_is_never_answered_without_a_page() {
    let (world, client, browser) = remembered(ClientOrigin::SelfRegistered).await;
    assert_eq!(silently(&world, &client, &browser, &[]).await, "consent_required");
    assert_eq!(silently(&world, &client, &Browser::default(), &[]).await, "login_required");
}

#[tokio::test]
async fn a_session_ends_with_its_time_and_nothing_else_opens_it() {
    let (world, client, browser) = remembered(ClientOrigin::SelfRegistered).await;
    let secret = browser.login.clone().unwrap();
    let id = secret.id().unwrap();
    for forged in ["", "x", &secret.expose()[..63], Secret::with_id(id, [0; 32]).expose()] {
        let thief = Browser { login: Some(Secret::new(forged)), ..Browser::default() };
        assert!(find_login(&world.context, thief.login.as_ref()).await.unwrap().is_none(), "{forged}");
        let pending = world.pending(&client, &[]).await;
        assert!(go_on(&world, &pending, &thief).await.is_err());
    }
    world.advance(Duration::hours(24) - Duration::minutes(1));
    let pending = world.pending(&client, &[]).await;
    assert_eq!(standing(&world, &pending, &browser).await, Standing::Stranger);
    assert!(go_on(&world, &pending, &browser).await.is_err());
}

#[tokio::test]
async fn b_062_a_page_that_names_one_account_does_not_continue_as_another() {
    let (world, client, browser) = remembered(ClientOrigin::SelfRegistered).await;
    let pending = world.pending(&client, &[]).await;
    let named = async |account| {
        let wishes = ContinueWishes { account: Some(account), email: None };
        continue_session(&world.context, &PERSON, &pending, &browser, wishes).await
    };
    assert!(matches!(named("toy:1:toy-bob").await.unwrap_err(), ContinueSessionError::SessionEnded));
    assert!(named("toy:1:toy-ann").await.is_ok());
}

#[tokio::test]
async fn b_062_a_new_sign_in_takes_the_place_of_the_session_that_the_browser_had() {
    let (world, client, mut browser) = remembered(ClientOrigin::SelfRegistered).await;
    let before = browser.clone();
    world.remember(&mut browser, &mut world.pending(&client, &[]).await, "toy-bob").await;
    assert!(find_login(&world.context, before.login.as_ref()).await.unwrap().is_none());
    assert!(find_login(&world.context, browser.login.as_ref()).await.unwrap().is_some());
}

#[tokio::test]
async fn f_10_a_browser_that_remembers_somebody_files_no_address_without_a_fresh_signature() {
    let (world, client, browser) = remembered(ClientOrigin::SelfRegistered).await;
    let user = find_login(&world.context, browser.login.as_ref()).await.unwrap().unwrap().user;
    let wishes = ContinueWishes { account: None, email: Some("ann@example.com") };
    world.advance(Duration::minutes(10));
    let pending = world.pending(&client, &[("state", "late")]).await;
    continue_session(&world.context, &PERSON, &pending, &browser, wishes).await.unwrap();
    assert_eq!(world.context.storage.find_email(user).await.unwrap(), None);
}

#[tokio::test]
async fn a_redirect_uri_that_was_taken_back_gets_no_code_for_a_request_that_waits() {
    let (world, client, browser) = remembered(ClientOrigin::SelfRegistered).await;
    let mut waiting = world.pending(&client, &[("state", "waiting")]).await;
    let elsewhere = RequestedMetadata {
        client_name: Some("Photo Album".to_owned()),
        redirect_uris: Some(vec!["https://two.example/cb".to_owned()]),
        ..RequestedMetadata::default()
    };
    update_client(&world.context, &CLIENT, &client.id, &client.registration_token, None, elsewhere)
        .await
        .unwrap();
    assert!(matches!(go_on(&world, &waiting, &browser).await, Err(ContinueSessionError::Client(_))));
    assert!(world.sign_in(&mut waiting, "toy-ann").await.is_err());
}
