use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::code::CodeRejected;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use time::Duration;

use crate::Refuse;
use crate::tests::world::{CHALLENGE, REDIRECT_URI, VERIFIER, World};
use crate::tokens::exchange_code::{ExchangeCode, ExchangeCodeError, exchange_code};

fn why(error: &ExchangeCodeError) -> Option<CodeRejected> {
    match error {
        ExchangeCodeError::Rejected(rejected) => Some(*rejected),
        ExchangeCodeError::Client(_)
        | ExchangeCodeError::GrantTypeNotAllowed
        | ExchangeCodeError::Resource(_)
        | ExchangeCodeError::Mint(_)
        | ExchangeCodeError::Key(_)
        | ExchangeCodeError::Store(_) => None,
    }
}

#[tokio::test]
async fn a_059_a_code_becomes_tokens() {
    let world = World::new();
    let client = world.client().await;
    let code = world.code(&client, "toy-ann", &[("scope", "email profile")]).await;
    let tokens = world.exchange(&client, &code).await.unwrap();
    assert_eq!((tokens.expires_in, tokens.scope.to_string().as_str()), (3600, "profile email"));
    assert!(tokens.refresh_token.is_some());
    let info = world.user_info(&tokens).await.unwrap();
    assert_eq!(info.address.as_deref(), Some("toy-ann"));
    assert_eq!(info.wallet_account, "toy:1:toy-ann");
    assert!(info.preferred_username.starts_with("User_"));
}

#[tokio::test]
async fn a_065_a_code_presented_twice_is_refused_and_its_tokens_are_revoked() {
    let world = World::new();
    let client = world.client().await;
    let code = world.code(&client, "toy-ann", &[]).await;
    let tokens = world.exchange(&client, &code).await.unwrap();
    let refreshed = world.refresh(&client, &tokens).await.unwrap();
    world.advance(Duration::minutes(10));
    let error = world.exchange(&client, &code).await.unwrap_err();
    assert_eq!(why(&error), Some(CodeRejected::Replayed), "also long after the code expired");
    assert!(!world.is_alive(&tokens).await);
    assert!(!world.is_alive(&refreshed).await);
    assert!(world.refresh(&client, &refreshed).await.is_err());
}

#[tokio::test]
async fn a_066_a_wrong_client_does_not_burn_the_code() {
    let world = World::new();
    let (client, thief) = (world.client().await, world.client().await);
    let code = world.code(&client, "toy-ann", &[]).await;
    let error = world.exchange(&thief, &code).await.unwrap_err();
    assert_eq!(why(&error), Some(CodeRejected::OtherClient));
    assert!(world.exchange(&client, &code).await.is_ok());
    assert!(world.exchange(&thief, &code).await.is_err());
    let tokens = world.tokens(&client, "toy-ann").await;
    assert!(world.is_alive(&tokens).await, "nor does it kill what the right client got");
}

#[tokio::test]
async fn a_064_every_refusal_of_a_code_reads_the_same() {
    let world = World::new();
    let (client, other) = (world.client().await, world.client().await);
    let code = world.code(&client, "toy-ann", &[]).await;
    let unknown = Secret::with_id(code.id().unwrap(), [7; 32]);
    let elsewhere = ExchangeCode {
        credentials: client.credentials(),
        code: code.clone(),
        redirect_uri: format!("{REDIRECT_URI}/"),
        verifier: None,
        resources: Vec::new(),
        proof: None,
    };
    let mut errors = vec![
        world.exchange(&client, &Secret::new("garbage")).await.unwrap_err(),
        world.exchange(&client, &unknown).await.unwrap_err(),
        world.exchange(&other, &code).await.unwrap_err(),
        exchange_code(&world.context, elsewhere).await.unwrap_err(),
        world.exchange_with(&client, &code, Some(VERIFIER)).await.unwrap_err(),
    ];
    world.advance(Duration::seconds(60));
    errors.push(world.exchange(&client, &code).await.unwrap_err());
    for error in errors {
        let refusal = error.refusal();
        assert_eq!(
            (refusal.code.name(), refusal.description.as_ref()),
            ("invalid_grant", "authorization code is not valid"),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_044_a_code_is_good_until_its_last_second() {
    let world = World::new();
    let client = world.client().await;
    let code = world.code(&client, "toy-ann", &[]).await;
    world.advance(Duration::seconds(59));
    assert!(world.exchange(&client, &code).await.is_ok());
}

#[tokio::test]
async fn a_067_a_068_a_wrong_verifier_burns_the_code_and_the_right_one_redeems_it() {
    let world = World::new();
    let client = world.client().await;
    let pkce = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    let code = world.code(&client, "toy-ann", &pkce).await;
    assert!(world.exchange_with(&client, &code, Some(VERIFIER)).await.is_ok());
    for wrong in [None, Some(CHALLENGE)] {
        let code = world.code(&client, "toy-ann", &pkce).await;
        let error = world.exchange_with(&client, &code, wrong).await.unwrap_err();
        assert_eq!(why(&error), Some(CodeRejected::VerifierMismatch));
        let error = world.exchange_with(&client, &code, Some(VERIFIER)).await.unwrap_err();
        assert_eq!(why(&error), Some(CodeRejected::Revoked));
    }
}

#[tokio::test]
async fn a_062_wrong_secret_and_unknown_client_read_the_same_and_consume_nothing() {
    let world = World::new();
    let client = world.client().await;
    let code = world.code(&client, "toy-ann", &[]).await;
    let attempt = |client_id: &str, secret: Option<&str>| {
        let credentials =
            ClientCredentials { client_id: client_id.to_owned(), proof: secret.map(Secret::new).into() };
        let (code, redirect_uri) = (code.clone(), REDIRECT_URI.to_owned());
        exchange_code(
            &world.context,
            ExchangeCode {
                credentials,
                code,
                redirect_uri,
                verifier: None,
                resources: Vec::new(),
                proof: None,
            },
        )
    };
    let wrong = attempt(&client.id, Some("x")).await.unwrap_err().refusal();
    let unknown = attempt("5b0e7d2c-0d7e-4a53-9a43-8f1d8b0b6f10", Some("x")).await.unwrap_err().refusal();
    assert_eq!(wrong, unknown);
    assert_eq!(wrong.code.name(), "invalid_client");
    let missing = attempt(&client.id, None).await.unwrap_err().refusal();
    let missing_unknown = attempt("nobody", None).await.unwrap_err().refusal();
    assert_eq!(missing, missing_unknown, "A-062");
    assert!(world.exchange(&client, &code).await.is_ok());
}

#[tokio::test]
async fn a_063_a_grant_type_that_was_not_registered_is_refused() {
    let world = World::new();
    let grant_types = Some(vec!["authorization_code".to_owned()]);
    let client = world.register(RequestedMetadata { grant_types, ..RequestedMetadata::default() }).await;
    let code = world.code(&client, "toy-ann", &[]).await;
    let tokens = world.exchange(&client, &code).await.unwrap();
    assert!(tokens.refresh_token.is_none());
}
