//! C-05: storage fails at each call of each flow. The right error comes out and nothing is half done.

use super::breakable::{break_after, world};
use super::programs;
use super::world::PERSON;
use crate::Refuse;
use crate::sign_in::complete_login::LoginWishes;
use crate::sign_in::continue_session::{ContinueWishes, continue_session};
use crate::steps::login::Browser;

fn is_unavailable(error: &impl Refuse) -> bool {
    error.refusal().code.name() == "temporarily_unavailable"
}

#[tokio::test]
async fn a_072_an_exchange_that_storage_broke_can_be_repeated() {
    for calls in 0..3 {
        let (world, storage) = world();
        let client = world.client().await;
        let code = world.code(&client, "toy-ann", &[]).await;
        break_after(&world, &storage, calls).await;
        let error = world.exchange(&client, &code).await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(world.exchange(&client, &code).await.is_ok(), "after {calls} calls");
    }
}

#[tokio::test]
async fn a_refresh_that_storage_broke_can_be_repeated() {
    for calls in 0..3 {
        let (world, storage) = world();
        let client = world.client().await;
        let tokens = world.tokens(&client, "toy-ann").await;
        break_after(&world, &storage, calls).await;
        let error = world.refresh(&client, &tokens).await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(world.refresh(&client, &tokens).await.is_ok(), "after {calls} calls");
    }
}

#[tokio::test]
async fn a_092_a_revocation_that_storage_broke_is_no_success() {
    for calls in 0..3 {
        let (world, storage) = world();
        let client = world.client().await;
        let tokens = world.tokens(&client, "toy-ann").await;
        break_after(&world, &storage, calls).await;
        let error = world.revoke(&client, tokens.refresh_token.as_ref().unwrap()).await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(world.is_alive(&tokens).await);
        world.revoke(&client, tokens.refresh_token.as_ref().unwrap()).await.unwrap();
        assert!(!world.is_alive(&tokens).await);
    }
}

#[tokio::test]
async fn a_login_that_storage_broke_can_be_repeated_with_the_same_signature() {
    for calls in 0..3 {
        let (world, storage) = world();
        let client = world.client().await;
        let mut pending = world.pending(&client, &[]).await;
        break_after(&world, &storage, calls).await;
        let error = world.sign_in(&mut pending, "toy-ann").await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(world.sign_in(&mut pending, "toy-ann").await.is_ok());
    }
}

#[tokio::test]
async fn a_session_whose_continuing_storage_broke_can_be_continued_again() {
    for calls in 0..2 {
        let (world, storage) = world();
        let client = world.client().await;
        let mut browser = Browser::default();
        world.remember(&mut browser, &mut world.pending(&client, &[]).await, "toy-ann").await;
        let next = world.pending(&client, &[("state", "next")]).await;
        break_after(&world, &storage, calls).await;
        let error = continue_session(&world.context, &PERSON, &next, &browser, ContinueWishes::default())
            .await
            .unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(
            continue_session(&world.context, &PERSON, &next, &browser, ContinueWishes::default())
                .await
                .is_ok()
        );
    }
}

#[tokio::test]
async fn a_sign_in_does_not_fail_with_the_e_mail_address_that_came_with_it() {
    let (world, storage) = world();
    let client = world.client().await;
    let mut pending = world.pending(&client, &[]).await;
    break_after(&world, &storage, 3).await;
    let wishes = LoginWishes { email: Some("ann@example.com".to_owned()), ..LoginWishes::default() };
    let done = world.sign_in_with(&mut pending, "toy-ann", wishes).await.unwrap();
    assert!(done.link.is_none());
}

#[tokio::test]
async fn a_replayed_code_is_never_answered_before_its_tokens_are_dead() {
    let (world, storage) = world();
    let client = world.client().await;
    let code = world.code(&client, "toy-ann", &[]).await;
    world.exchange(&client, &code).await.unwrap();
    break_after(&world, &storage, 2).await;
    let error = world.exchange(&client, &code).await.unwrap_err();
    assert!(is_unavailable(&error), "the revocation failed, so the answer is not invalid_grant: {error:?}");
}

#[tokio::test]
async fn a_072_a_program_whose_sign_in_storage_broke_can_repeat_it() {
    for calls in 0..5 {
        let (world, storage) = world();
        let client = programs::program(&world).await;
        let text = programs::text(&world, &client).await;
        break_after(&world, &storage, calls).await;
        let error = programs::redeem(&world, programs::signed(&client, &text)).await.unwrap_err();
        assert!(is_unavailable(&error), "after {calls} calls: {error:?}");
        assert!(
            programs::redeem(&world, programs::signed(&client, &text)).await.is_ok(),
            "after {calls} calls"
        );
    }
}
