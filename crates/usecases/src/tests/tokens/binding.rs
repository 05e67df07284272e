//! Tokens that are bound to a key (RFC 9449, A-110).

use std::sync::atomic::{AtomicU64, Ordering};

use countersign_conformance::fakes::FakeReader;
use countersign_domain::dpop::{DpopRejected, token_hash};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use countersign_domain::user_info::UserInfo;
use serde_json::{Value, json};
use time::Duration;

use crate::sign_in::push_authorization::{PushAuthorizationError, push_authorization};
use crate::tests::world::{CHALLENGE, REDIRECT_URI, TestClient, VERIFIER, World, as_client, request};
use crate::tokens::exchange_code::{ExchangeCode, ExchangeCodeError, exchange_code};
use crate::tokens::read_user_info::{Presented, ReadUserInfoError, read_user_info};
use crate::tokens::refresh_tokens::{RefreshTokens, RefreshTokensError, refresh_tokens};
use crate::{ProveKeyError, Refuse, TokenAnswer};

static NEXT_ID: AtomicU64 = AtomicU64::new(1);
const PKCE: [(&str, &str); 2] = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];

impl World {
    /// A valid proof by this key, with some claims replaced.
    fn proof(&self, key: &str, path: &str, more: &Value) -> String {
        let now = self.context.clock.now();
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed).to_string();
        let mut claims = json!({
            "jti": id, "htm": "POST", "htu": self.context.policy.public_url.join(path),
            "iat": now.unix_timestamp(), "nonce": self.context.keys.nonces.nonce(now)
        });
        claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        FakeReader::sign_as(key, "dpop+jwt", &claims)
    }

    fn token_proof(&self, key: &str) -> Option<String> {
        Some(self.proof(key, "/oauth/token", &json!({})))
    }

    async fn redeem_with(
        &self,
        client: &TestClient,
        code: &Secret,
        proof: Option<String>,
    ) -> Result<TokenAnswer, ExchangeCodeError> {
        let exchange = ExchangeCode {
            credentials: client.credentials(),
            code: code.clone(),
            redirect_uri: REDIRECT_URI.to_owned(),
            verifier: Some(Secret::new(VERIFIER)),
            resources: Vec::new(),
            proof,
        };
        exchange_code(&self.context, as_client, exchange).await
    }

    async fn refresh_with(
        &self,
        client: &TestClient,
        tokens: &TokenAnswer,
        proof: Option<String>,
    ) -> Result<TokenAnswer, RefreshTokensError> {
        let refresh = RefreshTokens {
            credentials: client.credentials(),
            refresh_token: tokens.refresh_token.clone().unwrap(),
            scope: None,
            resources: Vec::new(),
            proof,
        };
        refresh_tokens(&self.context, as_client, refresh).await
    }

    async fn bound_tokens(&self, client: &TestClient, key: &str) -> TokenAnswer {
        let code = self.code(client, "toy-ann", &PKCE).await;
        self.redeem_with(client, &code, self.token_proof(key)).await.unwrap()
    }

    async fn ask(&self, token: &Secret, proof: Option<String>) -> Result<UserInfo, ReadUserInfoError> {
        let presented = Presented::Dpop { method: "GET".to_owned(), proof };
        read_user_info(&self.context, token, &presented).await
    }

    fn user_info_proof(&self, key: &str, token: &Secret) -> Option<String> {
        let more = json!({ "htm": "GET", "ath": token_hash(token.expose()) });
        Some(self.proof(key, "/oauth/userinfo", &more))
    }
}

fn code_of_error<E: Refuse>(error: &E) -> OAuthErrorCode {
    error.refusal().code
}

#[tokio::test]
async fn a_110_a_token_that_is_bound_is_worth_nothing_without_its_key() {
    let world = World::new();
    let client = world.client().await;
    let tokens = world.bound_tokens(&client, "ann").await;
    assert!(tokens.key.is_some());
    let token = &tokens.access_token;
    assert!(
        matches!(world.user_info(&tokens).await, Err(ReadUserInfoError::TokenInvalid)),
        "as a bearer token"
    );
    let error = world.ask(token, None).await.unwrap_err();
    assert_eq!(code_of_error(&error), OAuthErrorCode::InvalidDpopProof);
    let error = world.ask(token, world.user_info_proof("thief", token)).await.unwrap_err();
    assert_eq!(code_of_error(&error), OAuthErrorCode::InvalidToken);
    let other = world.user_info_proof("ann", &Secret::new("other"));
    let error = world.ask(token, other).await.unwrap_err();
    assert!(matches!(error, ReadUserInfoError::Key(ProveKeyError::Claims(DpopRejected::OtherToken))));
    let good = world.user_info_proof("ann", token);
    assert!(world.ask(token, good.clone()).await.is_ok());
    let again = world.ask(token, good).await.unwrap_err();
    assert!(matches!(again, ReadUserInfoError::Key(ProveKeyError::Replayed)));
    let stale = world.user_info_proof("ann", token);
    world.advance(Duration::minutes(6));
    let error = world.ask(token, stale).await.unwrap_err();
    assert_eq!(code_of_error(&error), OAuthErrorCode::UseDpopNonce);
    let unbound = world.tokens(&client, "toy-ann").await;
    let proof = world.user_info_proof("ann", &unbound.access_token);
    assert!(matches!(world.ask(&unbound.access_token, proof).await, Err(ReadUserInfoError::TokenInvalid)));
}

#[tokio::test]
async fn a_110_a_proof_that_is_refused_uses_up_neither_code_nor_refresh_token() {
    let world = World::new();
    let client = world.client().await;
    let code = world.code(&client, "toy-ann", &PKCE).await;
    let old = world.token_proof("ann");
    world.advance(Duration::seconds(40));
    for (name, value, reason) in [
        ("nonce", json!(null), OAuthErrorCode::UseDpopNonce),
        ("nonce", json!("made up"), OAuthErrorCode::UseDpopNonce),
        ("htm", json!("GET"), OAuthErrorCode::InvalidDpopProof),
        ("htu", json!("https://auth.example.com/oauth/userinfo"), OAuthErrorCode::InvalidDpopProof),
    ] {
        let proof = world.proof("ann", "/oauth/token", &json!({ name: value }));
        let error = world.redeem_with(&client, &code, Some(proof)).await.unwrap_err();
        assert_eq!(code_of_error(&error), reason, "{name}");
    }
    let error = world.redeem_with(&client, &code, Some("garbage".to_owned())).await.unwrap_err();
    assert_eq!(code_of_error(&error), OAuthErrorCode::InvalidDpopProof);
    let tokens = world.redeem_with(&client, &code, old.clone()).await.unwrap();
    let error = world.refresh_with(&client, &tokens, old).await.unwrap_err();
    assert!(matches!(error, RefreshTokensError::Key(ProveKeyError::Replayed)));
    assert!(
        world.refresh_with(&client, &tokens, world.token_proof("bob")).await.is_ok(),
        "a client with a secret may change its key"
    );
}

#[tokio::test]
async fn a_110_the_refresh_tokens_of_public_clients_are_bound() {
    let world = World::new();
    let client = world.public_client().await;
    let tokens = world.bound_tokens(&client, "ann").await;
    let error = world.refresh_with(&client, &tokens, None).await.unwrap_err();
    assert_eq!(code_of_error(&error), OAuthErrorCode::InvalidRequest);
    let error = world.refresh_with(&client, &tokens, world.token_proof("thief")).await.unwrap_err();
    assert_eq!(code_of_error(&error), OAuthErrorCode::InvalidGrant);
    let next = world.refresh_with(&client, &tokens, world.token_proof("ann")).await.unwrap();
    assert_eq!(next.key, tokens.key);
}

#[tokio::test]
async fn a_110_a_code_that_is_bound_is_redeemed_with_its_key_alone() {
    let world = World::new();
    let client = world.client().await;
    let jkt = world.bound_tokens(&client, "ann").await.key.unwrap().to_string();
    let code = world.code(&client, "toy-ann", &[PKCE[0], PKCE[1], ("dpop_jkt", &jkt)]).await;
    let error = world.redeem_with(&client, &code, None).await.unwrap_err();
    assert_eq!(code_of_error(&error), OAuthErrorCode::InvalidRequest);
    let error = world.redeem_with(&client, &code, world.token_proof("thief")).await.unwrap_err();
    assert_eq!(code_of_error(&error), OAuthErrorCode::InvalidGrant);
    assert!(world.redeem_with(&client, &code, world.token_proof("ann")).await.is_ok());
}

#[tokio::test]
async fn a_110_a_proof_beside_a_pushed_request_binds_the_code_and_contradicts_no_dpop_jkt() {
    let world = World::new();
    let client = world.client().await;
    let jkt = world.bound_tokens(&client, "ann").await.key.unwrap().to_string();
    let push = |more: Vec<(&'static str, String)>, key: &str| {
        let more: Vec<(&str, &str)> = more.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (parameters, proof) = (request(&client, &more), world.proof(key, "/oauth/par", &json!({})));
        let (context, credentials) = (&world.context, client.credentials());
        async move { push_authorization(context, &credentials, &parameters, Some(&proof)).await }
    };
    let error = push(vec![("dpop_jkt", jkt.clone())], "other").await.unwrap_err();
    assert!(matches!(error, PushAuthorizationError::Key(ProveKeyError::OtherKey)));
    assert_eq!(code_of_error(&error), OAuthErrorCode::InvalidRequest);
    push(vec![("dpop_jkt", jkt)], "ann").await.unwrap();
    for named in [Vec::new(), vec![("dpop_jkt", String::new())]] {
        let pushed = push(named, "ann").await.unwrap();
        let pending = world.pending(&client, &[("request_uri", &pushed.request_uri)]).await;
        assert!(pending.client_request().unwrap().key.is_some());
    }
}

#[tokio::test]
async fn a_110_a_client_that_promised_to_bind_its_tokens_gets_no_other() {
    let world = World::new();
    let promise = Some(true);
    let client = RequestedMetadata { dpop_bound_access_tokens: promise, ..RequestedMetadata::default() };
    let client = world.register(client).await;
    let code = world.code(&client, "toy-ann", &PKCE).await;
    let error = world.redeem_with(&client, &code, None).await.unwrap_err();
    assert!(matches!(error, ExchangeCodeError::Key(ProveKeyError::Missing)));
    assert!(world.redeem_with(&client, &code, world.token_proof("ann")).await.is_ok());
}
