use std::collections::HashSet;

use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::code::CodeRejected;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use time::Duration;

use crate::Refuse;
use crate::tests::world::{CHALLENGE, REDIRECT_URI, TestClient, VERIFIER, World, as_client};
use crate::tokens::exchange_code::{ExchangeCode, ExchangeCodeError, exchange_code};

fn why(error: &ExchangeCodeError) -> Option<CodeRejected> {
    match error {
        ExchangeCodeError::Rejected { why, shown: _ } => Some(*why),
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
    assert_eq!(info.wallet_account.as_deref(), Some("toy:1:toy-ann"));
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

/// What a client hears of a refused code.
fn told(error: &ExchangeCodeError) -> String {
    let refusal = error.refusal();
    assert_eq!(refusal.code.name(), "invalid_grant", "{error:?}");
    refusal.description.into_owned()
}

/// Presents a code with another redirect URI than it was sent to.
async fn elsewhere(world: &World, client: &TestClient, code: &Secret) -> ExchangeCodeError {
    let exchange = ExchangeCode {
        credentials: client.credentials(),
        code: code.clone(),
        redirect_uri: format!("{REDIRECT_URI}/"),
        verifier: None,
        resources: Vec::new(),
        proof: None,
    };
    exchange_code(&world.context, as_client, exchange).await.unwrap_err()
}

const PKCE: [(&str, &str); 2] = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];

/// A well-formed verifier of nothing here.
const OTHER_VERIFIER: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// nobody who may have stolen a code learns anything about it.
#[tokio::test]
async fn a_064_a_code_that_may_be_stolen_is_refused_in_one_sentence_whatever_is_wrong() {
    let world = World::new();
    let (client, other) = (world.client().await, world.client().await);
    let code = world.code(&client, "toy-ann", &[]).await;
    let unknown = Secret::with_id(code.id().unwrap(), [7; 32]);
    let mut errors = vec![
        world.exchange(&client, &unknown).await.unwrap_err(),
        world.exchange(&other, &code).await.unwrap_err(),
    ];
    world.exchange(&client, &code).await.unwrap();
    errors.push(world.exchange(&client, &code).await.unwrap_err());
    let with_pkce = world.code(&client, "toy-ann", &PKCE).await;
    for _ in ["another verifier", "and after it the code is revoked"] {
        errors.push(world.exchange_with(&client, &with_pkce, Some(OTHER_VERIFIER)).await.unwrap_err());
    }
    let why: Vec<_> = errors.iter().filter_map(why).collect();
    assert_eq!(
        why,
        [
            CodeRejected::Unknown,
            CodeRejected::OtherClient,
            CodeRejected::Replayed,
            CodeRejected::VerifierMismatch,
            CodeRejected::Revoked,
        ]
    );
    let told: HashSet<_> = errors.iter().map(told).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told.iter().all(|told| told.starts_with("authorization code is not valid: ")));
}

#[tokio::test]
async fn a_client_that_proved_who_it_is_hears_what_is_wrong_with_its_own_request() {
    let world = World::new();
    let client = world.client().await;
    let plain = world.code(&client, "toy-ann", &[]).await;
    let with_pkce =
        [world.code(&client, "toy-ann", &PKCE).await, world.code(&client, "toy-ann", &PKCE).await];
    let cut = Secret::new(&plain.expose()[..40]);
    let mut heard = vec![
        told(&world.exchange(&client, &cut).await.unwrap_err()),
        told(&elsewhere(&world, &client, &plain).await),
        told(&world.exchange_with(&client, &plain, Some(VERIFIER)).await.unwrap_err()),
        told(&world.exchange_with(&client, &with_pkce[0], None).await.unwrap_err()),
        told(&world.exchange_with(&client, &with_pkce[1], Some("short")).await.unwrap_err()),
    ];
    world.advance(Duration::seconds(60));
    heard.push(told(&world.exchange(&client, &plain).await.unwrap_err()));
    for (heard, begins) in heard.iter().zip([
        "code does not look like a code of this server: ",
        "redirect_uri is not the one that the code was sent to: ",
        "code_verifier was sent, but the authorization request had no code_challenge: ",
        "code_verifier is missing: ",
        "code_verifier must be 43 to 128 characters ",
        "authorization code has expired: ",
    ]) {
        assert!(heard.starts_with(begins), "{heard}");
    }
}

/// A public client proves nothing, so whoever stole its code would hear the same.
#[tokio::test]
async fn a_public_client_hears_only_what_its_request_shows_whatever_the_code_is() {
    let world = World::new();
    let (client, other) = (world.public_client().await, world.public_client().await);
    let (mine, used) =
        (world.code(&client, "toy-ann", &PKCE).await, world.code(&client, "toy-ann", &PKCE).await);
    world.exchange_with(&client, &used, Some(VERIFIER)).await.unwrap();
    let unknown = Secret::with_id(mine.id().unwrap(), [7; 32]);
    let late = world.code(&client, "toy-ann", &PKCE).await;
    for (verifier, begins) in [
        (Some(OTHER_VERIFIER), "authorization code is not valid: "),
        (None, "code_verifier is missing: "),
        (Some("short"), "code_verifier must be 43 to 128 characters "),
    ] {
        let fresh = world.code(&client, "toy-ann", &PKCE).await;
        for (client, code) in [(&other, &mine), (&client, &unknown), (&client, &used), (&client, &fresh)] {
            let heard = told(&world.exchange_with(client, code, verifier).await.unwrap_err());
            assert!(heard.starts_with(begins), "{heard}");
        }
    }
    world.advance(Duration::seconds(60));
    let heard = told(&world.exchange_with(&client, &late, Some(VERIFIER)).await.unwrap_err());
    assert!(heard.starts_with("authorization code is not valid: "), "{heard}");
}

#[tokio::test]
async fn on_a_loopback_issuer_every_client_hears_the_exact_cause() {
    let mut world = World::new();
    world.context.policy.public_url = PublicUrl::parse("http://localhost:8080").unwrap();
    let (client, public, other) = (world.client().await, world.public_client().await, world.client().await);
    let code = world.code(&client, "toy-ann", &[]).await;
    let unknown = Secret::with_id(code.id().unwrap(), [7; 32]);
    let of_public = world.code(&public, "toy-ann", &PKCE).await;
    let heard = [
        told(&world.exchange(&client, &unknown).await.unwrap_err()),
        told(&world.exchange(&other, &code).await.unwrap_err()),
        told(&elsewhere(&world, &client, &code).await),
        world.exchange(&client, &code).await.map(|_| String::new()).unwrap(),
        told(&world.exchange(&client, &code).await.unwrap_err()),
        told(&world.exchange_with(&public, &of_public, Some(OTHER_VERIFIER)).await.unwrap_err()),
        told(&world.exchange_with(&public, &of_public, Some(VERIFIER)).await.unwrap_err()),
    ];
    for (heard, begins) in heard.iter().zip([
        "authorization code is unknown here: ",
        "authorization code was issued to another client: ",
        "redirect_uri is not the one that the code was sent to: ",
        "",
        "authorization code was used before: ",
        "code_verifier does not match the code_challenge, ",
        "authorization code was revoked, ",
    ]) {
        assert!(heard.starts_with(begins), "{heard}");
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
        let expected =
            if wrong.is_none() { CodeRejected::VerifierMissing } else { CodeRejected::VerifierMismatch };
        assert_eq!(why(&error), Some(expected));
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
            as_client,
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
async fn on_a_loopback_issuer_a_client_hears_what_is_wrong_with_its_credentials() {
    let mut world = World::new();
    world.context.policy.public_url = PublicUrl::parse("http://localhost:8080").unwrap();
    let (client, public) = (world.client().await, world.public_client().await);
    let told = async |client_id: &str| {
        let wrong = TestClient { id: client_id.to_owned(), secret: Some(Secret::new("x")), ..client.clone() };
        world.exchange(&wrong, &Secret::new("x")).await.unwrap_err().refusal().description.into_owned()
    };
    assert!(
        told("5b0e7d2c-0d7e-4a53-9a43-8f1d8b0b6f10")
            .await
            .ends_with("no client with this client_id is registered here")
    );
    assert!(told(&client.id).await.ends_with("client_secret is not the one of this client"));
    assert!(told(&public.id).await.contains("another way to authenticate"));
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
