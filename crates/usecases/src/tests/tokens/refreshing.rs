use countersign_domain::public_url::PublicUrl;
use countersign_domain::refresh::RefreshRejected;
use countersign_domain::secret::Secret;
use time::Duration;

use crate::TokenAnswer;
use crate::tests::world::{CHALLENGE, VERIFIER, World};
use crate::tokens::refresh_tokens::RefreshTokensError;

fn why(error: &RefreshTokensError) -> Option<RefreshRejected> {
    match error {
        RefreshTokensError::Rejected { why, shown: _ } => Some(*why),
        RefreshTokensError::Client(_)
        | RefreshTokensError::GrantTypeNotAllowed
        | RefreshTokensError::Scope(_)
        | RefreshTokensError::Resource(_)
        | RefreshTokensError::Contended
        | RefreshTokensError::Mint(_)
        | RefreshTokensError::Key(_)
        | RefreshTokensError::Store(_) => None,
    }
}

#[tokio::test]
async fn a_073_a_refresh_gives_a_new_pair_and_the_old_access_token_goes_on() {
    let world = World::new();
    let client = world.client().await;
    let first = world.tokens(&client, "toy-ann").await;
    let second = world.refresh(&client, &first).await.unwrap();
    assert_ne!(first.refresh_token, second.refresh_token);
    assert!(world.is_alive(&first).await && world.is_alive(&second).await);
}

#[tokio::test]
async fn a_074_a_rotated_token_presented_again_ends_the_family() {
    let world = World::new();
    let client = world.client().await;
    let first = world.tokens(&client, "toy-ann").await;
    let second = world.refresh(&client, &first).await.unwrap();
    let error = world.refresh(&client, &first).await.unwrap_err();
    assert_eq!(why(&error), Some(RefreshRejected::Reused));
    assert!(!world.is_alive(&first).await && !world.is_alive(&second).await);
    assert_eq!(why(&world.refresh(&client, &second).await.unwrap_err()), Some(RefreshRejected::Revoked));
}

#[tokio::test]
async fn a_075_a_public_client_may_repeat_within_the_grace_and_never_has_two_live_branches() {
    let world = World::new();
    let client = world.public_client().await;
    let pkce = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    let code = world.code(&client, "toy-ann", &pkce).await;
    let first = world.exchange_with(&client, &code, Some(VERIFIER)).await.unwrap();
    let lost = world.refresh(&client, &first).await.unwrap();
    world.advance(Duration::seconds(9));
    let replaced = world.refresh(&client, &first).await.unwrap();
    assert!(!world.is_alive(&lost).await, "the lost answer's access token is dead");
    assert!(world.is_alive(&replaced).await);
    let error = world.refresh(&client, &lost).await.unwrap_err();
    assert_eq!(why(&error), Some(RefreshRejected::Reused), "its refresh token is no second branch");
    assert!(!world.is_alive(&replaced).await);
}

#[tokio::test]
async fn a_075_the_grace_ends_with_time_and_with_the_use_of_the_successor() {
    let world = World::new();
    let client = world.public_client().await;
    let pkce = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    for used in [false, true] {
        let code = world.code(&client, "toy-ann", &pkce).await;
        let first = world.exchange_with(&client, &code, Some(VERIFIER)).await.unwrap();
        let second = world.refresh(&client, &first).await.unwrap();
        if used {
            world.refresh(&client, &second).await.unwrap();
        } else {
            world.advance(Duration::seconds(10));
        }
        assert_eq!(why(&world.refresh(&client, &first).await.unwrap_err()), Some(RefreshRejected::Reused));
    }
}

#[tokio::test]
async fn a_076_another_client_gets_nothing_and_does_no_harm() {
    let world = World::new();
    let (client, thief) = (world.client().await, world.client().await);
    let tokens = world.tokens(&client, "toy-ann").await;
    assert_eq!(why(&world.refresh(&thief, &tokens).await.unwrap_err()), Some(RefreshRejected::OtherClient));
    assert!(world.refresh(&client, &tokens).await.is_ok());
}

#[tokio::test]
async fn a_077_what_is_not_a_live_refresh_token_is_refused() {
    let world = World::new();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    let code = world.code(&client, "toy-ann", &[]).await;
    let refresh = tokens.refresh_token.clone().unwrap();
    let truncated = Secret::new(&refresh.expose()[..60]);
    for (wrong, expected) in [
        (tokens.access_token.clone(), RefreshRejected::OtherToken),
        (code, RefreshRejected::Unknown),
        (truncated, RefreshRejected::Unknown),
        (Secret::new(""), RefreshRejected::Unknown),
    ] {
        let attempt = TokenAnswer { refresh_token: Some(wrong), ..tokens.clone() };
        assert_eq!(why(&world.refresh(&client, &attempt).await.unwrap_err()), Some(expected));
    }
    world.advance(Duration::days(30));
    assert_eq!(why(&world.refresh(&client, &tokens).await.unwrap_err()), Some(RefreshRejected::Expired));
}

/// What clients learn about four refresh tokens: another client's, a used one, a revoked one, and an expired
/// one.
async fn told_of_bad_tokens(world: &World) -> [String; 4] {
    let (client, thief) = (world.client().await, world.client().await);
    let told = |error: RefreshTokensError| crate::Refuse::refusal(&error).description.into_owned();
    let first = world.tokens(&client, "toy-ann").await;
    let others = told(world.refresh(&thief, &first).await.unwrap_err());
    let second = world.refresh(&client, &first).await.unwrap();
    let used = told(world.refresh(&client, &first).await.unwrap_err());
    let revoked = told(world.refresh(&client, &second).await.unwrap_err());
    let old = world.tokens(&client, "toy-ann").await;
    world.advance(Duration::days(30));
    [others, used, revoked, told(world.refresh(&client, &old).await.unwrap_err())]
}

#[tokio::test]
async fn a_refresh_token_that_may_be_stolen_is_refused_in_one_sentence_and_on_loopback_for_its_exact_cause() {
    let mut world = World::new();
    let [others, used, revoked, expired] = told_of_bad_tokens(&world).await;
    assert!(others.starts_with("refresh token is not valid: "), "{others}");
    assert_eq!((&used, &revoked), (&others, &others));
    assert!(expired.starts_with("refresh token has expired: "), "{expired}");
    world.context.policy.public_url = PublicUrl::parse("http://localhost:8080").unwrap();
    let exact = told_of_bad_tokens(&world).await;
    for (told, begins) in
        exact.iter().zip(["was issued to another", "was used before", "was revoked", "has expired"])
    {
        assert!(told.starts_with(&format!("refresh token {begins}")), "{told}");
    }
}

#[tokio::test]
async fn a_078_a_family_ends_after_a_year_however_often_it_is_refreshed() {
    let world = World::new();
    let client = world.client().await;
    let mut tokens = world.tokens(&client, "toy-ann").await;
    for _ in 0..18 {
        world.advance(Duration::days(20));
        tokens = world.refresh(&client, &tokens).await.unwrap();
    }
    world.advance(Duration::days(4));
    tokens = world.refresh(&client, &tokens).await.unwrap();
    world.advance(Duration::days(1));
    assert_eq!(why(&world.refresh(&client, &tokens).await.unwrap_err()), Some(RefreshRejected::Expired));
}

#[tokio::test]
async fn a_079_a_narrower_access_token_does_not_narrow_the_family() {
    let world = World::new();
    let client = world.client().await;
    let first = world.tokens(&client, "toy-ann").await;
    let narrow = world.refresh_to(&client, &first, Some("email")).await.unwrap();
    assert_eq!(narrow.scope.to_string(), "email");
    let error = world.user_info(&narrow).await.unwrap_err();
    assert!(matches!(error, crate::tokens::read_user_info::ReadUserInfoError::ScopeInsufficient), "A-085");
    let wide = world.refresh(&client, &narrow).await.unwrap();
    assert_eq!(wide.scope.to_string(), "profile email");
}

#[tokio::test]
async fn a_073_a_wider_or_unknown_scope_is_refused_and_consumes_nothing() {
    let world = World::new();
    let client = world.client().await;
    let code = world.code(&client, "toy-ann", &[("scope", "profile")]).await;
    let tokens = world.exchange(&client, &code).await.unwrap();
    for scope in ["profile email", "admin"] {
        let error = world.refresh_to(&client, &tokens, Some(scope)).await.unwrap_err();
        assert_eq!(crate::Refuse::refusal(&error).code.name(), "invalid_scope");
    }
    assert!(world.refresh(&client, &tokens).await.is_ok());
}
