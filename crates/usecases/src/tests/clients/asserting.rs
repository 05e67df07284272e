//! Clients that authenticate with signatures (A-111, E-23).

use countersign_conformance::fakes::FakeReader;
use countersign_domain::client::DisplayMetadata;
use countersign_domain::client_auth::{ClientCredentials, ClientProof, ClientRejected};
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use serde_json::{Value, json};
use time::Duration;

use crate::act_refused::ActRefused;
use crate::clients::register_client::register_client;
use crate::clients::rotate_client_secret::rotate_client_secret;
use crate::clients::update_client::update_client;
use crate::tests::world::{CLIENT, REDIRECT_URI, TestClient, World};
use crate::tokens::revoke_token::{RevokeToken, RevokeTokenError, revoke_token};
use crate::{AuthenticateClientError, Refuse};

const JWKS_URI: &str = "https://photos.example/jwks";

fn requested(display: DisplayMetadata) -> RequestedMetadata {
    let method = Some("private_key_jwt".to_owned());
    RequestedMetadata { token_endpoint_auth_method: method, display, ..RequestedMetadata::default() }
}

fn with_keys() -> DisplayMetadata {
    DisplayMetadata { jwks: Some(FakeReader::jwks("k1")), ..DisplayMetadata::default() }
}

fn with_uri() -> DisplayMetadata {
    DisplayMetadata { jwks_uri: Some(JWKS_URI.to_owned()), ..DisplayMetadata::default() }
}

impl World {
    /// A valid assertion of the client, with some claims replaced.
    fn assertion(&self, client: &TestClient, kid: &str, more: &Value) -> String {
        let now = self.context.clock.now().unix_timestamp();
        let issuer = self.context.policy.public_url.as_str();
        let mut claims = json!({
            "iss": client.id, "sub": client.id, "aud": issuer, "iat": now, "exp": now + 60, "jti": "1"
        });
        claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        FakeReader::sign(kid, &claims)
    }

    /// Revokes a token that does not exist, so only the client is authenticated.
    async fn prove(&self, client: &TestClient, proof: ClientProof) -> Result<(), RevokeTokenError> {
        let credentials = ClientCredentials { client_id: client.id.clone(), proof };
        revoke_token(&self.context, &CLIENT, RevokeToken { credentials, token: Secret::new("nothing") }).await
    }

    async fn assert(&self, client: &TestClient, assertion: String) -> Result<(), RevokeTokenError> {
        self.prove(client, ClientProof::Assertion(assertion)).await
    }
}

fn is_refused(error: &RevokeTokenError) -> bool {
    let rejected = ClientRejected::AssertionRejected;
    matches!(error, RevokeTokenError::Client(AuthenticateClientError::Rejected { why, .. }) if *why == rejected)
}

#[tokio::test]
async fn a_111_an_assertion_is_good_once() {
    let world = World::new();
    let client = world.register(requested(with_keys())).await;
    assert!(client.secret.is_none());
    let assertion = world.assertion(&client, "k1", &json!({}));
    assert!(world.assert(&client, assertion.clone()).await.is_ok());
    for _ in 0..2 {
        let error = world.assert(&client, assertion.clone()).await.unwrap_err();
        assert!(is_refused(&error), "{error:?}");
    }
    // The same identifier in another text counts as the same assertion, as long as one of them is valid
    // (E-23).
    let disguised = world.assertion(&client, "k1", &json!({ "more": 1 }));
    assert!(world.assert(&client, disguised).await.is_err());
    world.advance(Duration::seconds(89));
    assert!(world.assert(&client, assertion).await.is_err());
    let next = world.assertion(&client, "k1", &json!({ "jti": "2" }));
    assert!(world.assert(&client, next).await.is_ok());
}

#[tokio::test]
async fn a_111_identifiers_of_one_client_are_not_those_of_another() {
    let world = World::new();
    for _ in 0..2 {
        let client = world.register(requested(with_keys())).await;
        let assertion = world.assertion(&client, "k1", &json!({}));
        assert!(world.assert(&client, assertion).await.is_ok());
    }
}

#[tokio::test]
async fn a_111_whatever_is_wrong_the_answer_is_the_same_and_nothing_is_used_up() {
    let world = World::new();
    let client = world.register(requested(with_keys())).await;
    let other = world.register(requested(with_keys())).await;
    let now = world.context.clock.now().unix_timestamp();
    let good = world.assertion(&client, "k1", &json!({}));
    let wrong = [
        String::new(),
        "garbage".to_owned(),
        format!("{good}x"),
        world.assertion(&client, "k2", &json!({})),
        world.assertion(&other, "k1", &json!({})),
        world.assertion(&client, "k1", &json!({ "aud": "https://other.example" })),
        world.assertion(&client, "k1", &json!({ "exp": now })),
        world.assertion(&client, "k1", &json!({ "exp": now + 301 })),
        world.assertion(&client, "k1", &json!({ "iat": now + 31 })),
        world.assertion(&client, "k1", &json!({ "jti": null })),
    ];
    let mut answers = Vec::new();
    for assertion in wrong {
        answers.push(world.assert(&client, assertion).await.unwrap_err().refusal());
    }
    answers.push(world.prove(&client, ClientProof::None).await.unwrap_err().refusal());
    answers.push(world.prove(&client, ClientProof::Secret(Secret::new("x"))).await.unwrap_err().refusal());
    let nobody = TestClient { id: "5b0e7d2c-0d7e-4a53-9a43-8f1d8b0b6f10".to_owned(), ..client.clone() };
    answers.push(world.assert(&nobody, good.clone()).await.unwrap_err().refusal());
    let secretive = world.client().await;
    let of_secretive = world.assertion(&secretive, "k1", &json!({}));
    answers.push(world.assert(&secretive, of_secretive).await.unwrap_err().refusal());
    for answer in &answers {
        assert_eq!(answer.code.name(), "invalid_client");
        assert_eq!(*answer, answers[0]);
    }
    assert!(world.assert(&client, good).await.is_ok());
}

#[tokio::test]
async fn keys_are_fetched_and_once_more_when_the_client_signs_with_a_new_one() {
    let world = World::new();
    let client = world.register(requested(with_uri())).await;
    let assertion = |kid: &str, id: &str| world.assertion(&client, kid, &json!({ "jti": id }));
    assert!(world.assert(&client, assertion("k1", "1")).await.is_err(), "there is nothing yet");
    world.outside.put(JWKS_URI, &FakeReader::jwks("k1"));
    for id in ["2", "3"] {
        assert!(world.assert(&client, assertion("k1", id)).await.is_ok());
    }
    assert_eq!(world.outside.asked(), [JWKS_URI; 2]);
    world.outside.put(JWKS_URI, &FakeReader::jwks("k2"));
    for id in ["4", "5"] {
        assert!(world.assert(&client, assertion("k2", id)).await.is_ok());
    }
    assert_eq!(world.outside.asked(), [JWKS_URI; 3]);
    assert!(world.assert(&client, assertion("k1", "6")).await.is_err(), "the client took it back");
}

#[tokio::test]
async fn a_client_that_named_an_algorithm_uses_no_other() {
    let world = World::new();
    for (name, is_good) in [("ES256", true), ("RS256", false)] {
        let named = DisplayMetadata { token_endpoint_auth_signing_alg: Some(name.to_owned()), ..with_keys() };
        let client = world.register(requested(named)).await;
        let assertion = world.assertion(&client, "k1", &json!({}));
        assert_eq!(world.assert(&client, assertion).await.is_ok(), is_good, "{name}");
    }
}

#[tokio::test]
async fn a_client_without_keys_cannot_prove_itself_by_them() {
    let world = World::new();
    let display = |jwks: Option<&str>, uri: Option<&str>| DisplayMetadata {
        jwks: jwks.map(ToOwned::to_owned),
        jwks_uri: uri.map(ToOwned::to_owned),
        ..DisplayMetadata::default()
    };
    let algorithm =
        DisplayMetadata { token_endpoint_auth_signing_alg: Some("HS256".to_owned()), ..with_keys() };
    for wrong in [
        display(None, None),
        display(Some("{}"), None),
        display(Some("garbage"), None),
        display(Some(&FakeReader::jwks("k1")), Some(JWKS_URI)),
        display(None, Some("http://photos.example/jwks")),
        algorithm,
    ] {
        let requested = RequestedMetadata {
            client_name: Some("Photo Album".to_owned()),
            redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
            ..requested(wrong)
        };
        let origin = countersign_domain::client::ClientOrigin::SelfRegistered;
        let error = register_client(world.context.management(), requested, origin).await.unwrap_err();
        assert_eq!(error.refusal().code.name(), "invalid_client_metadata");
    }
}

#[tokio::test]
async fn an_update_changes_keys_and_does_not_take_them_away() {
    let world = World::new();
    let client = world.register(requested(with_keys())).await;
    let update = |requested: RequestedMetadata| {
        let requested = RequestedMetadata {
            client_name: Some("Photo Album".to_owned()),
            redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
            ..requested
        };
        update_client(&world.context, &CLIENT, &client.id, &client.registration_token, None, requested)
    };
    for method in ["none", "client_secret_post"] {
        let method = Some(method.to_owned());
        let changed =
            RequestedMetadata { token_endpoint_auth_method: method, ..RequestedMetadata::default() };
        assert_eq!(update(changed).await.unwrap_err().refusal().code.name(), "invalid_client_metadata");
    }
    let newer = DisplayMetadata { jwks: Some(FakeReader::jwks("k2")), ..DisplayMetadata::default() };
    assert_eq!(update(requested(newer)).await.unwrap().client.authentication.method(), "private_key_jwt");
    assert!(world.assert(&client, world.assertion(&client, "k1", &json!({}))).await.is_err());
    assert!(world.assert(&client, world.assertion(&client, "k2", &json!({}))).await.is_ok());
    let id = countersign_domain::id::ClientId::parse(&client.id).unwrap();
    let rotated = rotate_client_secret(world.context.management(), id, KeepOld::NOT).await;
    assert!(matches!(rotated, Err(ActRefused::NoSecret)));
}
