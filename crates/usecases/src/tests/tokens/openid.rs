//! ID tokens, requested claims and users, and resources.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::id_token::IdTokenRead;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use serde_json::{Value, json};
use time::Duration;

use crate::TokenAnswer;
use crate::sign_in::begin_authorization::{BeginAuthorizationError, begin_authorization};
use crate::steps::login::Browser;
use crate::tests::world::{
    CHALLENGE, REDIRECT_URI, TestClient, VERIFIER, World, as_client, as_person, code_of, parameter, request,
};
use crate::tokens::exchange_code::{ExchangeCode, ExchangeCodeError, exchange_code};
use crate::tokens::refresh_tokens::{RefreshTokens, refresh_tokens};

const ALL: &str = "openid profile email offline_access wallets wallet_proof";

async fn openid_client(world: &World) -> TestClient {
    let scopes = Some(ALL.split(' ').map(ToOwned::to_owned).collect());
    world.register(RequestedMetadata { scopes, ..RequestedMetadata::default() }).await
}

fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

fn id_token(tokens: &TokenAnswer) -> Value {
    claims(tokens.id_token.as_ref().unwrap().expose())
}

async fn tokens(world: &World, client: &TestClient, address: &str, more: &[(&str, &str)]) -> TokenAnswer {
    let code = world.code(client, address, more).await;
    world.exchange(client, &code).await.unwrap()
}

/// The error that the client gets.
async fn refusal(world: &World, client: &TestClient, more: &[(&str, &str)]) -> String {
    match begin_authorization(&world.context, as_person, &request(client, more), &Browser::default()).await {
        Err(BeginAuthorizationError::Redirect { to, .. }) => parameter(&to.address(), "error").unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_100_an_id_token_says_who_signed_in_when_and_for_whom() {
    let world = World::new();
    let client = openid_client(&world).await;
    let asked = [("scope", "openid profile"), ("nonce", "n 1")];
    let code = world.code(&client, "toy-ann", &asked).await;
    let signed_at = world.context.clock.now();
    world.advance(Duration::seconds(5));
    let tokens = world.exchange(&client, &code).await.unwrap();
    let now = world.context.clock.now().unix_timestamp();
    let info = world.user_info(&tokens).await.unwrap();
    let claims = id_token(&tokens);
    for (name, value) in [
        ("iss", json!("https://auth.example.com")),
        ("sub", json!(info.subject.to_string())),
        ("aud", json!(client.id)),
        ("iat", json!(now)),
        ("exp", json!(now + 3600)),
        ("auth_time", json!(signed_at.unix_timestamp())),
        ("nonce", json!("n 1")),
        ("amr", json!(["wallet"])),
        ("acr", json!("urn:countersign:acr:wallet")),
        ("preferred_username", json!(info.preferred_username)),
        ("at_hash", json!(SigningAlgorithm::Rs256.half_hash(tokens.access_token.expose()))),
    ] {
        assert_eq!(claims[name], value, "{name}");
    }
    assert!(claims.get("wallet_proof").is_none() && claims.get("sid").is_none());
}

#[tokio::test]
async fn a_101_without_scope_openid_there_is_no_id_token() {
    let world = World::new();
    let client = openid_client(&world).await;
    let tokens = tokens(&world, &client, "toy-ann", &[("scope", "profile email")]).await;
    assert!(tokens.id_token.is_none());
}

#[tokio::test]
async fn a_102_a_refresh_gives_an_id_token_of_the_same_sign_in_without_the_nonce() {
    let world = World::new();
    let client = openid_client(&world).await;
    let first = tokens(&world, &client, "toy-ann", &[("scope", "openid profile"), ("nonce", "n")]).await;
    world.advance(Duration::minutes(5));
    let second = world.refresh(&client, &first).await.unwrap();
    let (before, after) = (id_token(&first), id_token(&second));
    for name in ["iss", "sub", "aud", "auth_time"] {
        assert_eq!(before[name], after[name], "{name}");
    }
    assert!(after.get("nonce").is_none());
    assert!(after["iat"].as_i64() > before["iat"].as_i64());
    let narrow = world.refresh_to(&client, &second, Some("profile")).await.unwrap();
    assert!(narrow.id_token.is_none(), "a token that does not reach openid comes alone");
}

#[tokio::test]
async fn what_was_signed_is_told_to_whoever_may_see_it_so_that_they_can_check_it() {
    let world = World::new();
    let client = openid_client(&world).await;
    let tokens = tokens(&world, &client, "toy-ann", &[("scope", "openid wallet_proof")]).await;
    let claims = id_token(&tokens);
    let text = claims["wallet_proof"]["text"].as_str().unwrap();
    assert!(text.contains("toy-ann") && text.contains(&client.id), "{text}");
}

#[tokio::test]
async fn a_user_who_is_asked_for_is_the_only_one_who_gets_the_client_a_code() {
    let world = World::new();
    let client = openid_client(&world).await;
    let tokens = tokens(&world, &client, "toy-ann", &[("scope", "openid")]).await;
    let hint = tokens.id_token.unwrap();
    let again = [("scope", "openid"), ("id_token_hint", hint.expose())];
    let to = world.sign_in(&mut world.pending(&client, &again).await, "toy-ann").await.unwrap();
    assert!(parameter(&to, "code").is_some());
    let to = world.sign_in(&mut world.pending(&client, &again).await, "toy-bob").await.unwrap();
    assert_eq!(parameter(&to, "error").as_deref(), Some("login_required"));
    assert!(parameter(&to, "code").is_none());
    let IdTokenRead { subject, .. } = world.context.signer.read_id_token(hint.expose()).unwrap();
    let wanted = format!(r#"{{"id_token":{{"sub":{{"value":"{subject}"}}}}}}"#);
    let asked = [("scope", "openid"), ("claims", wanted.as_str())];
    let to = world.sign_in(&mut world.pending(&client, &asked).await, "toy-bob").await.unwrap();
    assert_eq!(parameter(&to, "error").as_deref(), Some("login_required"));
}

#[tokio::test]
async fn of_several_users_who_are_asked_for_each_gets_the_client_a_code_and_nobody_else() {
    let world = World::new();
    let client = openid_client(&world).await;
    let mut ids = Vec::new();
    let mut hint = None;
    for name in ["toy-ann", "toy-bob", "toy-cem"] {
        let id_token = tokens(&world, &client, name, &[("scope", "openid")]).await.id_token.unwrap();
        ids.push(world.context.signer.read_id_token(id_token.expose()).unwrap().subject);
        hint.get_or_insert(id_token);
    }
    let [ann, bob, cem] = ids[..] else { panic!("{ids:?}") };
    let wanted = format!(r#"{{"userinfo":{{"sub":{{"values":["{bob}","nobody","{ann}"]}}}}}}"#);
    let asked = [("scope", "openid"), ("claims", wanted.as_str())];
    for (name, error) in [("toy-ann", None), ("toy-bob", None), ("toy-cem", Some("login_required"))] {
        let to = world.sign_in(&mut world.pending(&client, &asked).await, name).await.unwrap();
        assert_eq!(parameter(&to, "error").as_deref(), error, "{name}");
        assert_eq!(parameter(&to, "code").is_some(), error.is_none(), "{name}");
    }
    // Whatever else names a user takes from the list.
    let hint = hint.unwrap();
    let hinted = [asked[0], asked[1], ("id_token_hint", hint.expose())];
    let to = world.sign_in(&mut world.pending(&client, &hinted).await, "toy-bob").await.unwrap();
    assert_eq!(parameter(&to, "error").as_deref(), Some("login_required"));
    let apart = format!(r#"{{"userinfo":{{"sub":{{"values":["{bob}","{cem}"],"value":"{ann}"}}}}}}"#);
    assert_eq!(refusal(&world, &client, &[("claims", apart.as_str())]).await, "login_required");
    let many = vec![format!("\"{ann}\""); 11].join(",");
    let many = format!(r#"{{"userinfo":{{"sub":{{"values":[{many}]}}}}}}"#);
    assert_eq!(refusal(&world, &client, &[("claims", many.as_str())]).await, "invalid_request");
}

#[tokio::test]
async fn hints_and_claims_that_cannot_be_read_are_refused() {
    let world = World::new();
    let client = openid_client(&world).await;
    for (name, value, error) in [
        ("id_token_hint", "garbage", "invalid_request"),
        ("claims", "garbage", "invalid_request"),
        ("claims", "[]", "invalid_request"),
        ("claims", r#"{"id_token":[]}"#, "invalid_request"),
        ("claims", r#"{"id_token":{"sub":{"value":7}}}"#, "login_required"),
        ("claims", r#"{"userinfo":{"sub":{"value":"nobody"}}}"#, "login_required"),
        ("claims", r#"{"userinfo":{"sub":{"values":["nobody"]}}}"#, "login_required"),
        ("claims", r#"{"userinfo":{"sub":{"values":[]}}}"#, "login_required"),
        ("claims", r#"{"userinfo":{"sub":{"values":"nobody"}}}"#, "invalid_request"),
        ("claims", r#"{"userinfo":{"sub":7}}"#, "invalid_request"),
        ("claims", r#"{"userinfo":null,"userinfo":{}}"#, "invalid_request"),
        ("claims", r#"{"userinfo":{"sub":null,"sub":null}}"#, "invalid_request"),
        ("claims", r#"{"userinfo":{"email":{"essential":true,"essential":false}}}"#, "invalid_request"),
        ("claims", r#"{"other":{"a":[{"b":1,"\u0062":2}]}}"#, "invalid_request"),
        ("max_age", "+5", "invalid_request"),
        ("max_age", "-5", "invalid_request"),
        ("max_age", " 5", "invalid_request"),
        ("max_age", "5.0", "invalid_request"),
        ("response_mode", "fragment", "invalid_request"),
        ("dpop_jkt", "short", "invalid_request"),
        ("resource", "relative", "invalid_target"),
    ] {
        assert_eq!(refusal(&world, &client, &[(name, value)]).await, error, "{name}={value}");
    }
}

#[tokio::test]
async fn a_103_claims_that_are_asked_for_one_by_one_come_with_their_scope_if_the_client_has_it() {
    let world = World::new();
    let asked = r#"{"userinfo":{"email":{"essential":true},"nickname":null},"id_token":{"name":null,"acr":{"values":["x"]}}}"#;
    let more = [("scope", "openid"), ("claims", asked)];
    let client = openid_client(&world).await;
    assert_eq!(world.pending(&client, &more).await.scope().to_string(), "openid profile email");
    let scopes = Some(vec!["openid".to_owned()]);
    let without = world.register(RequestedMetadata { scopes, ..RequestedMetadata::default() }).await;
    assert_eq!(world.pending(&without, &more).await.scope().to_string(), "openid");
}

/// The audience of the access token.
fn audience(tokens: &TokenAnswer) -> Value {
    claims(tokens.access_token.expose())["aud"].clone()
}

#[tokio::test]
async fn a_108_access_tokens_are_for_the_resources_of_the_request_and_a_refresh_keeps_them() {
    let world = World::new();
    let client = openid_client(&world).await;
    let pkce = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    let more = [pkce[0], pkce[1], ("resource", "https://a.example"), ("resource", "https://b.example")];
    let code = world.code(&client, "toy-ann", &more).await;
    let exchange = |resources: Vec<String>| ExchangeCode {
        credentials: client.credentials(),
        code: code.clone(),
        redirect_uri: REDIRECT_URI.to_owned(),
        verifier: Some(Secret::new(VERIFIER)),
        resources,
        proof: None,
    };
    let wider =
        exchange_code(&world.context, as_client, exchange(vec!["https://c.example".to_owned()])).await;
    assert!(matches!(wider, Err(ExchangeCodeError::Resource(_))), "the refusal uses nothing up");
    let narrow = exchange(vec!["https://b.example".to_owned()]);
    let first = exchange_code(&world.context, as_client, narrow).await.unwrap();
    assert_eq!(audience(&first), json!("https://b.example"));
    let refresh = RefreshTokens {
        credentials: client.credentials(),
        refresh_token: first.refresh_token.unwrap(),
        scope: None,
        resources: Vec::new(),
        proof: None,
    };
    let second = refresh_tokens(&world.context, as_client, refresh).await.unwrap();
    assert_eq!(audience(&second), json!(["https://a.example", "https://b.example"]));
    let plain = tokens(&world, &client, "toy-ann", &[]).await;
    assert_eq!(audience(&plain), json!("https://auth.example.com"));
}

#[tokio::test]
async fn the_redirect_of_a_refused_user_carries_state_and_issuer() {
    let world = World::new();
    let client = openid_client(&world).await;
    let hint = tokens(&world, &client, "toy-ann", &[("scope", "openid")]).await.id_token.unwrap();
    let more = [("scope", "openid"), ("id_token_hint", hint.expose())];
    let mut pending = world.pending(&client, &more).await;
    let to = world.sign_in(&mut pending, "toy-bob").await.unwrap();
    assert_eq!(parameter(&to, "state").as_deref(), Some("s 1"));
    assert_eq!(parameter(&to, "iss").as_deref(), Some("https://auth.example.com"));
    let good = world.pending(&client, &[("scope", "openid")]).await;
    let good = code_of(&world.sign_in(&mut good.clone(), "toy-bob").await.unwrap());
    assert!(world.exchange(&client, &good).await.is_ok());
}
