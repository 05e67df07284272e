use countersign_domain::challenge::ChallengeRejected;
use countersign_domain::pending::PendingAuthorization;
use time::Duration;

use crate::Refuse;
use crate::sign_in::complete_login::{
    CompleteLoginError, LoginWishes, SignedChallenge, SignedIn, complete_login,
};
use crate::sign_in::issue_challenge::issue_challenge;
use crate::steps::recognize_account::RecognizeError;
use crate::tests::world::{PERSON, World, code_of, named, parameter, sign};

fn signed(address: &str, text: &str, signature: String) -> SignedChallenge {
    SignedChallenge { wallet_address: address.to_owned(), challenge: text.to_owned(), signature }
}

async fn answer_with(
    world: &World,
    pending: &mut PendingAuthorization,
    signed: SignedChallenge,
) -> Result<SignedIn, CompleteLoginError> {
    complete_login(&world.context, &PERSON, pending, signed, LoginWishes::default()).await
}

#[tokio::test]
async fn a_041_a_good_signature_gives_exactly_code_state_and_issuer() {
    let world = World::new();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    let to = world.sign_in(&mut pending, "toy-ann").await.unwrap();
    let names: Vec<_> =
        url::Url::parse(&to).unwrap().query_pairs().map(|(name, _)| name.into_owned()).collect();
    assert_eq!(names, ["code", "state", "iss"]);
    assert_eq!(parameter(&to, "state").as_deref(), Some("s 1"));
    assert_eq!(code_of(&to).expose().len(), 64);
}

#[tokio::test]
async fn b_030_one_wallet_is_one_user_and_another_wallet_another() {
    let world = World::new();
    let (first, second) = (world.client().await, world.client().await);
    let ann = world.user_of(&world.tokens(&first, "toy-ann").await).await;
    let again = world.user_of(&world.tokens(&second, "toy-ann").await).await;
    let bob = world.user_of(&world.tokens(&first, "toy-bob").await).await;
    assert_eq!(ann, again);
    assert_ne!(ann, bob);
}

#[tokio::test]
async fn b_001_a_used_challenge_is_refused_whatever_copy_of_the_session_comes_back() {
    let world = World::new();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    let mut copy = pending.clone();
    let good = signed("toy-ann", &text, sign("toy-ann", &text));
    assert!(answer_with(&world, &mut pending, good.clone()).await.is_ok());
    let again = answer_with(&world, &mut copy, good).await.unwrap_err();
    assert!(matches!(again, CompleteLoginError::ChallengeSpent), "{again:?}");
    assert_eq!(again.refusal().description, "Challenge is not valid or has expired");
}

#[tokio::test]
async fn b_001_a_challenge_is_remembered_as_used_as_long_as_its_text_is_good() {
    let world = World::new();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    let good = signed("toy-ann", &text, sign("toy-ann", &text));
    let copy = pending.clone();
    answer_with(&world, &mut pending, good.clone()).await.unwrap();
    for _ in 0..299 {
        world.advance(Duration::seconds(1));
        while crate::upkeep::purge_expired::purge_expired(&world.context, world.past()).await.unwrap().more {}
        assert!(answer_with(&world, &mut copy.clone(), good.clone()).await.is_err());
    }
}

#[tokio::test]
async fn b_002_to_b_005_only_the_text_issued_for_this_request_and_address_is_taken() {
    let world = World::new();
    let client = world.client().await;
    let mut mine = world.pending(&client, &[("state", "mine")]).await;
    let mut yours = world.pending(&client, &[("state", "yours")]).await;
    let text = issue_challenge(&world.context, &mut mine, named("toy-ann")).unwrap().text;
    let other = issue_challenge(&world.context, &mut yours, named("toy-ann")).unwrap().text;
    let for_bob = issue_challenge(&world.context, &mut mine, named("toy-bob")).unwrap().text;
    let longer = format!("{text}\n");
    let refused = [
        signed("toy-ann", "free text", sign("toy-ann", "free text")),
        signed("toy-ann", &longer, sign("toy-ann", &longer)),
        signed("toy-ann", &other, sign("toy-ann", &other)),
        signed("toy-ann", &for_bob, sign("toy-ann", &for_bob)),
        signed("toy-bob", &text, sign("toy-bob", &text)),
        signed("nobody", &text, sign("toy-ann", &text)),
    ];
    for attempt in refused {
        let error = answer_with(&world, &mut mine, attempt).await.unwrap_err();
        assert_eq!(error.refusal().description, "Challenge is not valid or has expired");
    }
    let good = signed("toy-ann", &text, sign("toy-ann", &text));
    assert!(answer_with(&world, &mut mine, good).await.is_ok(), "nothing was used up");
}

#[tokio::test]
async fn a_050_a_bad_signature_may_be_tried_five_times() {
    let world = World::new();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    for _ in 0..5 {
        let bad = signed("toy-ann", &text, "nonsense".to_owned());
        let error = answer_with(&world, &mut pending, bad).await.unwrap_err();
        assert_eq!(error.refusal().description, "Failed to verify signature", "A-054");
    }
    let good = signed("toy-ann", &text, sign("toy-ann", &text));
    let error = answer_with(&world, &mut pending, good).await.unwrap_err();
    assert!(matches!(error, CompleteLoginError::Challenge(ChallengeRejected::Exhausted)));
}

#[tokio::test]
async fn b_008_a_challenge_expires_by_our_clock() {
    let world = World::new();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    world.advance(Duration::minutes(5));
    let late = signed("toy-ann", &text, sign("toy-ann", &text));
    let error = answer_with(&world, &mut pending, late).await.unwrap_err();
    assert!(matches!(error, CompleteLoginError::Challenge(ChallengeRejected::Expired)));
}

#[tokio::test]
async fn a_048_an_address_of_no_family_gets_no_challenge() {
    let world = World::new();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    let refused = issue_challenge(&world.context, &mut pending, named("0xnothing")).unwrap_err();
    assert_eq!(refused, RecognizeError::AddressUnknown);
    assert!(pending.challenges.is_empty());
}
