//! RP-initiated logout, and which clients are told.

use std::sync::Arc;

use async_trait::async_trait;
use countersign_domain::client::{ClientOrigin, DisplayMetadata};
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use countersign_ports::{FetchError, Fetched, Fetcher, Post, Posted};
use time::Duration;

use crate::TokenAnswer;
use crate::account::delete_account::delete_account;
use crate::account::end_sessions::{WhichSessions, end_sessions};
use crate::sign_in::sign_out::{SignOutError, SignOutRequest, SignOutStep, judge_sign_out, sign_out};
use crate::steps::login::{Browser, find_login};
use crate::steps::notify_logout::{LogoutNotice, NotifyLogoutError, notify_logout};
use crate::tests::world::{PERSON, REDIRECT_URI, TestClient, World, code_of};

const GOODBYE: &str = "https://photos.example/goodbye";
const BACK_CHANNEL: &str = "https://photos.example/logged-out";

async fn client(world: &World) -> TestClient {
    world
        .register(RequestedMetadata {
            scopes: Some(["openid", "profile", "offline_access"].map(ToOwned::to_owned).to_vec()),
            backchannel_logout_uri: Some(BACK_CHANNEL.to_owned()),
            display: DisplayMetadata {
                post_logout_redirect_uris: vec![GOODBYE.to_owned()],
                ..DisplayMetadata::default()
            },
            ..RequestedMetadata::default()
        })
        .await
}

/// Signs in on a browser that remembers it, and exchanges the code.
async fn tokens(
    world: &World,
    client: &TestClient,
    browser: &mut Browser,
    who: &str,
    scope: &str,
) -> TokenAnswer {
    let state = world.context.clock.now().to_string();
    let mut pending = world.pending(client, &[("scope", scope), ("state", &state)]).await;
    let to = world.remember(browser, &mut pending, who).await;
    world.exchange(client, &code_of(&to)).await.unwrap()
}

fn hint(tokens: &TokenAnswer) -> SignOutRequest {
    let id_token = tokens.id_token.clone().unwrap();
    SignOutRequest { id_token_hint: Some(id_token), ..SignOutRequest::default() }
}

fn back_to(uri: &str, request: SignOutRequest) -> SignOutRequest {
    SignOutRequest { post_logout_redirect_uri: Some(uri.to_owned()), ..request }
}

async fn step(world: &World, request: &SignOutRequest, browser: &Browser) -> &'static str {
    match judge_sign_out(&world.context, request, browser).await.unwrap().step {
        SignOutStep::AtOnce => "at once",
        SignOutStep::Ask(_) => "ask",
        SignOutStep::NotSignedIn => "nobody",
    }
}

async fn refusal(world: &World, request: &SignOutRequest) -> SignOutError {
    judge_sign_out(&world.context, request, &Browser::default()).await.unwrap_err()
}

#[tokio::test]
async fn only_a_hint_about_whoever_is_signed_in_signs_out_without_asking() {
    let world = World::new();
    let client = client(&world).await;
    let (mut anns, mut bobs, nobody) = (Browser::default(), Browser::default(), Browser::default());
    let ann = tokens(&world, &client, &mut anns, "toy-ann", "openid").await;
    let bob = tokens(&world, &client, &mut bobs, "toy-bob", "openid").await;
    assert_eq!(step(&world, &hint(&ann), &anns).await, "at once");
    world.advance(Duration::hours(3));
    assert_eq!(step(&world, &hint(&ann), &anns).await, "at once", "an expired token is a good hint");
    assert_eq!(step(&world, &hint(&bob), &anns).await, "ask", "somebody else is signed in");
    assert_eq!(step(&world, &hint(&ann), &nobody).await, "at once", "there is nobody to ask");
    assert_eq!(step(&world, &SignOutRequest::default(), &anns).await, "ask");
    assert_eq!(step(&world, &SignOutRequest::default(), &nobody).await, "nobody");
    let named = SignOutRequest { client_id: Some(client.id.clone()), ..SignOutRequest::default() };
    assert_eq!(step(&world, &back_to(GOODBYE, named), &anns).await, "ask", "anybody can name a client");
}

#[tokio::test]
async fn a_104_a_changed_hint_or_one_of_another_client_is_refused() {
    let world = World::new();
    let (client, other) = (client(&world).await, world.client().await);
    let mut browser = Browser::default();
    let tokens = tokens(&world, &client, &mut browser, "toy-ann", "openid").await;
    let changed = SignOutRequest {
        id_token_hint: Some(Secret::new(format!("{}x", tokens.id_token.as_ref().unwrap().expose()))),
        ..SignOutRequest::default()
    };
    assert!(matches!(refusal(&world, &changed).await, SignOutError::Hint));
    let foreign = SignOutRequest { client_id: Some(other.id), ..hint(&tokens) };
    assert!(matches!(refusal(&world, &foreign).await, SignOutError::OtherClient));
    let unknown = SignOutRequest { client_id: Some("nobody".to_owned()), ..SignOutRequest::default() };
    assert!(matches!(refusal(&world, &unknown).await, SignOutError::ClientUnknown));
}

#[tokio::test]
async fn b_058_nobody_is_sent_to_an_address_that_the_client_did_not_register() {
    let world = World::new();
    let client = client(&world).await;
    let named = || SignOutRequest { client_id: Some(client.id.clone()), ..SignOutRequest::default() };
    for uri in [
        "https://evil.example/",
        REDIRECT_URI,
        "https://photos.example/goodbye/",
        "https://photos.example/goodbye?x=1",
        "https://photos.example/goodbye#x",
        "https://photos.example:443/goodbye",
        "https://photos.example.evil.example/goodbye",
        "HTTPS://photos.example/goodbye",
        "//photos.example/goodbye",
        "javascript:alert(1)",
        "https://photos.example/x/../goodbye",
    ] {
        let error = refusal(&world, &back_to(uri, named())).await;
        assert!(matches!(error, SignOutError::NotRegistered), "{uri}");
    }
    let nobody = Browser::default();
    let unnamed = back_to(GOODBYE, SignOutRequest::default());
    let judged = judge_sign_out(&world.context, &unnamed, &nobody).await.unwrap();
    assert_eq!(judged.back, None, "nobody can say whose address it is");
    let with_state = SignOutRequest { state: Some("a b&c=d".to_owned()), ..back_to(GOODBYE, named()) };
    let judged = judge_sign_out(&world.context, &with_state, &nobody).await.unwrap();
    assert_eq!(judged.back.unwrap().address, format!("{GOODBYE}?state=a+b%26c%3Dd"));
    let judged = judge_sign_out(&world.context, &back_to(GOODBYE, named()), &nobody).await.unwrap();
    assert_eq!(judged.back.unwrap().address, GOODBYE);
}

#[tokio::test]
async fn a_sign_out_ends_what_was_granted_for_the_time_that_the_person_is_there() {
    let world = World::new();
    let client = client(&world).await;
    let (mut browser, mut elsewhere) = (Browser::default(), Browser::default());
    let here = tokens(&world, &client, &mut browser, "toy-ann", "openid profile").await;
    let there = tokens(&world, &client, &mut elsewhere, "toy-ann", "openid profile").await;
    let notices = sign_out(&world.context, &PERSON, &browser).await.unwrap();
    assert_eq!(notices.len(), 1);
    assert!(!world.is_alive(&here).await);
    assert!(world.is_alive(&there).await);
    assert!(find_login(&world.context, browser.login.as_ref()).await.unwrap().is_none());
    assert!(find_login(&world.context, elsewhere.login.as_ref()).await.unwrap().is_some());
    assert_eq!(sign_out(&world.context, &PERSON, &browser).await.unwrap(), [], "nobody is there any more");

    world.advance(Duration::seconds(1));
    let kept = tokens(&world, &client, &mut browser, "toy-ann", "openid profile offline_access").await;
    sign_out(&world.context, &PERSON, &browser).await.unwrap();
    assert!(world.is_alive(&kept).await, "access while the person is away");
}

#[tokio::test]
async fn clients_are_told_however_a_session_ends() {
    let world = World::new();
    let context = &world.context;
    let (told, silent) = (client(&world).await, world.client_by(ClientOrigin::Operator).await);
    for number in 0..4 {
        world.advance(Duration::seconds(1));
        let mut browser = Browser::default();
        tokens(&world, &told, &mut browser, "toy-ann", "openid").await;
        world.advance(Duration::seconds(1));
        tokens(&world, &silent, &mut Browser::default(), "toy-ann", "profile").await;
        let notices = match number {
            0 => sign_out(context, &PERSON, &browser).await.unwrap(),
            1 => end_sessions(context, &PERSON, &browser, WhichSessions::This).await.unwrap().notices,
            2 => end_sessions(context, &PERSON, &browser, WhichSessions::All).await.unwrap().notices,
            _ => delete_account(context, &PERSON, &browser).await.unwrap(),
        };
        let before = world.outside.posted().len();
        for notice in notices {
            notify_logout(context.notifier(), notice).await.unwrap();
        }
        let posted = world.outside.posted();
        let [(url, form)] = &posted[before..] else {
            panic!("{number}: {} were told", posted.len() - before)
        };
        assert_eq!(url, BACK_CHANNEL);
        let [(name, token)] = form.as_slice() else { panic!("{form:?}") };
        assert_eq!((name.as_str(), token.split('.').count()), ("logout_token", 3));
    }
}

/// Answers with one status, or cannot be reached.
struct Outside(Result<u16, FetchError>);

#[async_trait]
impl Fetcher for Outside {
    async fn get(&self, _: &str) -> Result<Fetched, FetchError> {
        Err(FetchError::Unreachable)
    }

    async fn post_form(&self, _: &str, _: &[(&str, &str)]) -> Result<u16, FetchError> {
        self.0
    }

    async fn post(&self, _: Post<'_>) -> Result<Posted, FetchError> {
        Err(FetchError::Unreachable)
    }
}

#[tokio::test]
async fn a_client_that_did_not_hear_may_be_told_again() {
    let mut world = World::new();
    let client = client(&world).await;
    let mut browser = Browser::default();
    tokens(&world, &client, &mut browser, "toy-ann", "openid").await;
    let notice: LogoutNotice = sign_out(&world.context, &PERSON, &browser).await.unwrap()[0];
    for (answer, is_heard) in [
        (Ok(200), true),
        (Ok(204), true),
        (Ok(302), false),
        (Ok(400), false),
        (Ok(500), false),
        (Err(FetchError::Late), false),
    ] {
        world.context.fetcher = Arc::new(Outside(answer));
        let heard = notify_logout(world.context.notifier(), notice).await;
        assert_eq!(heard.is_ok(), is_heard, "{answer:?}");
        assert!(
            heard.is_ok()
                || matches!(heard, Err(NotifyLogoutError::Refused(_) | NotifyLogoutError::Fetch(_)))
        );
    }
}
