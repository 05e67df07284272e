//! A wallet signs in without a browser.

use countersign_domain::consent::ConsentDestination;
use countersign_domain::id::ClientId;
use countersign_domain::secret::Secret;
use time::Duration;

use crate::sign_in::complete_login::{LoginWishes, SignedChallenge, complete_login};
use crate::sign_in::issue_challenge::issue_challenge;
use crate::tests::programs::{challenge, program, redeem, signed, text};
use crate::tests::world::{PERSON, TestClient, World, named, sign};
use crate::tokens::sign_in_program::{ProgramChallengeError, SignInProgram, SignInProgramError};
use crate::{Refuse, TokenAnswer};

#[tokio::test]
async fn a_signed_text_is_exchanged_for_tokens_of_the_wallets_user() {
    let world = World::new();
    let client = program(&world).await;
    let answer = redeem(&world, signed(&client, &text(&world, &client).await)).await.unwrap();
    assert_eq!(answer.scope.to_string(), "profile email", "all that the client registered");
    let user = world.user_of(&answer).await;
    let at_a_browser = world.tokens(&client, "toy-ann").await;
    assert_eq!(world.user_of(&at_a_browser).await, user);
    assert!(world.refresh(&client, &answer).await.is_ok());
    let client = ClientId::parse(&client.id).unwrap();
    let consents = world.context.storage.consents_at(user, client).await.unwrap();
    let at_a_program =
        consents.iter().find(|consent| consent.terms.destination == ConsentDestination::Program);
    assert_eq!(at_a_program.unwrap().scope, answer.scope);
}

#[tokio::test]
async fn the_resources_of_the_text_are_the_audience_and_may_be_narrowed() {
    let world = World::new();
    let client = program(&world).await;
    let both = ["https://a.example", "https://b.example"];
    let read = |answer: &TokenAnswer| {
        world.context.signer.read_access_token(answer.access_token.expose()).unwrap().audience
    };
    let text = challenge(&world, &client, Some("profile"), &both).await.unwrap().text;
    let all = redeem(&world, signed(&client, &text)).await.unwrap();
    assert_eq!(
        (read(&all), all.scope.to_string()),
        (both.map(ToOwned::to_owned).to_vec(), "profile".to_owned())
    );
    let text = challenge(&world, &client, None, &both).await.unwrap().text;
    let narrow = |uri: &str| SignInProgram { resources: vec![uri.to_owned()], ..signed(&client, &text) };
    let error = redeem(&world, narrow("https://c.example")).await.unwrap_err();
    assert_eq!(error.refusal().code.name(), "invalid_target");
    let one = redeem(&world, narrow(both[1])).await.unwrap();
    assert_eq!(read(&one), [both[1]], "the refusal used nothing up");
}

#[tokio::test]
async fn b_001_a_text_works_once() {
    let world = World::new();
    let client = program(&world).await;
    let text = text(&world, &client).await;
    let first = redeem(&world, signed(&client, &text)).await.unwrap();
    let error = redeem(&world, signed(&client, &text)).await.unwrap_err();
    assert!(matches!(error, SignInProgramError::Spent), "{error:?}");
    assert_eq!(error.refusal().code.name(), "invalid_grant");
    assert!(world.is_alive(&first).await);
}

#[tokio::test]
async fn b_002_a_text_of_a_browsers_request_is_not_redeemed_here() {
    let world = World::new();
    let client = program(&world).await;
    let mut pending = world.pending(&client, &[]).await;
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    let error = redeem(&world, signed(&client, &text)).await.unwrap_err();
    assert!(matches!(error, SignInProgramError::NotOurs), "{error:?}");
}

#[tokio::test]
async fn b_002_a_programs_text_answers_no_request_of_a_browser() {
    let world = World::new();
    let client = program(&world).await;
    let mut pending = world.pending(&client, &[]).await;
    issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap();
    let text = text(&world, &client).await;
    let signed = SignedChallenge {
        wallet_address: "toy-ann".to_owned(),
        signature: sign("toy-ann", &text),
        challenge: text,
    };
    let refused = complete_login(&world.context, &PERSON, &mut pending, signed, LoginWishes::default()).await;
    assert_eq!(refused.unwrap_err().refusal().description, "Challenge is not valid or has expired");
}

#[tokio::test]
async fn b_003_a_text_of_another_client_is_refused_and_stays_good_for_its_own() {
    let world = World::new();
    let (client, other) = (program(&world).await, program(&world).await);
    let text = text(&world, &client).await;
    let error = redeem(&world, signed(&other, &text)).await.unwrap_err();
    assert!(matches!(error, SignInProgramError::NotOurs), "{error:?}");
    assert!(redeem(&world, signed(&client, &text)).await.is_ok());
}

#[tokio::test]
async fn b_006_another_wallet_or_signature_is_refused_and_uses_nothing_up() {
    let world = World::new();
    let client = program(&world).await;
    let text = text(&world, &client).await;
    let wrong = SignInProgram { signature: sign("toy-bob", &text), ..signed(&client, &text) };
    let error = redeem(&world, wrong).await.unwrap_err();
    assert_eq!(
        (error.refusal().code.name(), &*error.refusal().description),
        ("invalid_grant", "Failed to verify signature")
    );
    let says =
        |address: &str| SignInProgram { wallet_address: Some(address.to_owned()), ..signed(&client, &text) };
    for address in ["toy-bob", "nobody", "toy:2:toy-ann"] {
        let error = redeem(&world, says(address)).await.unwrap_err();
        assert!(matches!(error, SignInProgramError::NotOurs), "{address}: {error:?}");
    }
    assert!(redeem(&world, says("toy:1:toy-ann")).await.is_ok());
}

#[tokio::test]
async fn b_008_a_text_ends_at_its_second() {
    let world = World::new();
    let client = program(&world).await;
    let text = text(&world, &client).await;
    world.advance(Duration::minutes(5));
    let error = redeem(&world, signed(&client, &text)).await.unwrap_err();
    assert!(matches!(error, SignInProgramError::Expired), "{error:?}");
}

#[tokio::test]
async fn only_a_client_that_registered_for_it_gets_texts_and_tokens() {
    let world = World::new();
    let (client, other) = (program(&world).await, world.client().await);
    let text = text(&world, &client).await;
    assert!(matches!(
        challenge(&world, &other, None, &[]).await,
        Err(ProgramChallengeError::GrantTypeNotAllowed)
    ));
    let error = redeem(&world, signed(&other, &text)).await.unwrap_err();
    assert!(matches!(error, SignInProgramError::GrantTypeNotAllowed), "{error:?}");
    let nobody = TestClient { id: "nobody".to_owned(), ..client.clone() };
    assert!(matches!(challenge(&world, &nobody, None, &[]).await, Err(ProgramChallengeError::ClientUnknown)));
    let stranger = TestClient { secret: Some(Secret::new("wrong")), ..client };
    assert_eq!(
        redeem(&world, signed(&stranger, &text)).await.unwrap_err().refusal().code.name(),
        "invalid_client"
    );
}

#[tokio::test]
async fn a_055_what_cannot_stand_in_a_text_is_refused() {
    let world = World::new();
    let client = program(&world).await;
    let refusal = |scope, resources: &'static [&'static str]| {
        let (world, client) = (&world, &client);
        async move { challenge(world, client, scope, resources).await.unwrap_err().refusal().code.name() }
    };
    assert_eq!(refusal(Some("openid"), &[]).await, "invalid_scope");
    assert_eq!(refusal(Some("what"), &[]).await, "invalid_scope");
    let told = challenge(&world, &client, Some("openid"), &[]).await.unwrap_err().refusal().description;
    assert!(told.starts_with("scope holds nothing that this client may ask for; it registered "), "{told}");
    assert_eq!(refusal(None, &["urn:countersign:scope:wallets"]).await, "invalid_target");
    assert_eq!(refusal(None, &["no uri"]).await, "invalid_target");
    let long: &'static str = format!("https://a.example/{}", "a".repeat(1_000)).leak();
    assert_eq!(refusal(None, Vec::leak(vec![long])).await, "invalid_target");
}
