//! A client asks for tokens of its own.

use countersign_domain::grant::Holder;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;

use crate::tests::world::{TestClient, World};
use crate::tokens::issue_client_tokens::{IssueClientTokens, IssueClientTokensError, issue_client_tokens};
use crate::tokens::read_user_info::ReadUserInfoError;
use crate::{Refuse, TokenAnswer};

async fn machine(world: &World) -> TestClient {
    let grant_types = ["client_credentials", "refresh_token"].map(ToOwned::to_owned).to_vec();
    world.register(RequestedMetadata { grant_types: Some(grant_types), ..RequestedMetadata::default() }).await
}

async fn ask(
    world: &World,
    client: &TestClient,
    scope: Option<&str>,
    resources: &[&str],
) -> Result<TokenAnswer, IssueClientTokensError> {
    let asked = IssueClientTokens {
        credentials: client.credentials(),
        scope: scope.map(ToOwned::to_owned),
        resources: resources.iter().map(|uri| (*uri).to_owned()).collect(),
        proof: None,
    };
    issue_client_tokens(&world.context, asked).await
}

#[tokio::test]
async fn a_client_gets_an_access_token_and_nothing_else() {
    let world = World::new();
    let client = machine(&world).await;
    world.open(&client, "https://api.example").await;
    let answer = ask(&world, &client, None, &["https://api.example"]).await.unwrap();
    assert!(answer.scope.is_empty() && answer.id_token.is_none());
    assert!(answer.refresh_token.is_none(), "although the client registered the grant type");
    let read = world.context.signer.read_access_token(answer.access_token.expose()).unwrap();
    assert_eq!((read.audience, read.client), (vec!["https://api.example".to_owned()], client.id.clone()));
    let found = world.context.storage.find_access(read.id).await.unwrap().unwrap();
    assert_eq!(found.holder, Holder::Client);
    assert_eq!(
        (found.client.to_string(), read.subject),
        (client.id, found.client.as_uuid()),
        "its subject is the client"
    );
}

#[tokio::test]
async fn a_token_of_a_client_tells_nothing_about_people_and_can_be_revoked() {
    let world = World::new();
    let client = machine(&world).await;
    let answer = ask(&world, &client, None, &[]).await.unwrap();
    assert!(matches!(world.user_info(&answer).await, Err(ReadUserInfoError::ScopeInsufficient)));
    world.revoke(&client, &answer.access_token).await.unwrap();
    assert!(matches!(world.user_info(&answer).await, Err(ReadUserInfoError::TokenInvalid)));
}

#[tokio::test]
async fn a_scope_that_tells_about_a_person_is_refused() {
    let world = World::new();
    let client = machine(&world).await;
    for scope in ["openid", "profile", "email", "offline_access", "wallets", "wallet_proof", "what is this"] {
        let error = ask(&world, &client, Some(scope), &[]).await.unwrap_err();
        assert_eq!(error.refusal().code.name(), "invalid_scope", "{scope}");
    }
    assert!(ask(&world, &client, Some(" "), &[]).await.is_ok());
}

#[tokio::test]
async fn only_a_client_that_registered_for_it_gets_tokens_of_its_own() {
    let world = World::new();
    for client in [world.client().await, world.public_client().await] {
        let error = ask(&world, &client, None, &[]).await.unwrap_err();
        assert!(matches!(error, IssueClientTokensError::GrantTypeNotAllowed), "{error:?}");
    }
    let client = machine(&world).await;
    let stranger = TestClient { secret: Some(Secret::new("wrong")), ..client.clone() };
    let error = ask(&world, &stranger, None, &[]).await.unwrap_err();
    assert_eq!(error.refusal().code.name(), "invalid_client");
    let error = ask(&world, &client, None, &["no uri"]).await.unwrap_err();
    assert_eq!(error.refusal().code.name(), "invalid_target");
}
