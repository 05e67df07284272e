//! Clients that did not register and are described by a document of their own.

use std::sync::Arc;

use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::ClientOrigin;
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::id::ClientId;
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use serde_json::{Value, json};
use time::Duration;

use crate::Refuse;
use crate::clients::delete_client::remove_client;
use crate::clients::open_resource::close_resources;
use crate::sign_in::begin_authorization::{BeginAuthorizationError, Begun, begin_authorization};
use crate::sign_in::continue_session::{ContinueWishes, continue_session};
use crate::sign_in::describe_sign_in::describe_sign_in;
use crate::sign_in::sign_out::{SignOutError, SignOutRequest, SignOutStep, judge_sign_out};
use crate::steps::login::Browser;
use crate::tests::world::{
    CHALLENGE, PERSON, REDIRECT_URI, TestClient, VERIFIER, World, as_person, code_of, parameter, request, toy,
};

const ADDRESS: &str = "https://app.example/client.json";
const PKCE: [(&str, &str); 2] = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];

fn client() -> TestClient {
    TestClient { id: ADDRESS.to_owned(), secret: None, registration_token: Secret::new("nobody has it") }
}

/// A document with some fields replaced; null removes a field.
fn document(change: &Value) -> String {
    let mut document = json!({
        "client_id": ADDRESS,
        "client_name": "Command line",
        "redirect_uris": [REDIRECT_URI],
        "token_endpoint_auth_method": "none",
    });
    for (name, value) in change.as_object().unwrap() {
        document[name] = value.clone();
    }
    document.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    document.to_string()
}

fn world_with(change: &Value) -> World {
    let world = World::new();
    world.outside.put(ADDRESS, &document(change));
    world
}

async fn begin(world: &World, client: &TestClient) -> Result<Begun, BeginAuthorizationError> {
    begin_authorization(&world.context, as_person, &request(client, &PKCE), &Browser::default()).await
}

async fn refusal(world: &World, client: &TestClient) -> String {
    let error = begin(world, client).await.unwrap_err();
    assert!(!matches!(error, BeginAuthorizationError::Redirect { .. }), "nothing is redirected: {error:?}");
    assert_eq!(error.refusal().code.name(), "invalid_client");
    error.refusal().description.into_owned()
}

#[tokio::test]
async fn a_client_that_a_document_describes_signs_people_in() {
    let world = world_with(&json!({}));
    let id = ClientId::of_document(ADDRESS);
    let mut pending = world.pending(&client(), &PKCE).await;
    let access = pending.access().unwrap();
    assert_eq!((access.client, access.document.as_deref()), (id, Some(ADDRESS)));
    assert_eq!(world.context.clients.find_fresh(id).await.unwrap(), None, "nobody signed yet");
    let code = code_of(&world.sign_in(&mut pending, "toy-ann").await.unwrap());
    let stored = world.context.clients.find_fresh(id).await.unwrap().unwrap();
    assert_eq!((stored.origin, stored.document.as_deref()), (ClientOrigin::Document, Some(ADDRESS)));
    let tokens = world.exchange_with(&client(), &code, Some(VERIFIER)).await.unwrap();
    let read = world.context.signer.read_access_token(tokens.access_token.expose()).unwrap();
    assert_eq!(read.client, ADDRESS);
    assert!(world.refresh(&client(), &tokens).await.is_ok());
    let by_its_made_id = TestClient { id: id.to_string(), ..client() };
    assert!(world.refresh(&by_its_made_id, &tokens).await.is_err(), "it is called by its address alone");
    assert_eq!(refusal(&world, &by_its_made_id).await, "Invalid client_id");
}

#[tokio::test]
async fn a_document_without_scopes_may_ask_for_the_usual_ones() {
    let absent = [PKCE[0], PKCE[1], ("scope", "")];
    for scope in [json!({}), json!({"scope": ""}), json!({"scope": " "}), json!({"scope": "mcp:tools"})] {
        let world = world_with(&scope);
        let asked = [PKCE[0], PKCE[1], ("scope", "openid profile email offline_access wallets groups x:y")];
        let pending = world.pending(&client(), &asked).await;
        assert_eq!(pending.scope().to_string(), "openid profile offline_access", "{scope}");
        assert_eq!(world.pending(&client(), &absent).await.scope(), pending.scope(), "and without one");
    }
    let world = world_with(&json!({"scope": "mcp:tools email other"}));
    assert_eq!(
        world.pending(&client(), &[PKCE[0], PKCE[1], ("scope", "email")]).await.scope().to_string(),
        "email"
    );
}

#[tokio::test]
async fn a_document_opens_no_client_that_the_operator_closed() {
    let world = world_with(&json!({}));
    world.sign_in(&mut world.pending(&client(), &PKCE).await, "toy-ann").await.unwrap();
    let mut pending = world.pending(&client(), &PKCE).await;
    world.decide(&client(), "nobody", Release::OfRule).await;
    let refused = world.sign_in(&mut pending, "toy-ann").await.unwrap_err().refusal();
    assert_eq!(refused.code, OAuthErrorCode::NotAdmitted);
    // What its document says changes, and is stored again at the next sign-in.
    world.decide(&client(), "groups:staff", Release::OfRule).await;
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    let later = World::on(Arc::clone(&world.storage));
    later.advance(Duration::seconds(10));
    later.outside.put(ADDRESS, &document(&json!({"client_name": "Another name"})));
    later.sign_in(&mut pending, "toy-ann").await.unwrap();
    let stored = later.context.clients.find_fresh(ClientId::of_document(ADDRESS)).await.unwrap().unwrap();
    assert_eq!(stored.metadata.name, "Another name");
    assert_eq!(stored.access.rule, AccessRule::parse("groups:staff").ok());
}

#[tokio::test]
async fn a_118_a_document_cannot_name_the_scope_of_groups() {
    for (scope, had) in [("groups email", "email"), ("groups", "openid profile offline_access")] {
        let world = world_with(&json!({"scope": scope}));
        assert_eq!(
            world.pending(&client(), &[PKCE[0], PKCE[1], ("scope", had)]).await.scope().to_string(),
            had
        );
        let asked = request(&client(), &[PKCE[0], PKCE[1], ("scope", "groups")]);
        let error =
            begin_authorization(&world.context, as_person, &asked, &Browser::default()).await.unwrap_err();
        assert_eq!(error.refusal().code, OAuthErrorCode::InvalidScope, "{scope}");
    }
}

#[tokio::test]
async fn a_document_that_breaks_a_rule_describes_no_client() {
    let rules = [
        (json!({"client_id": "https://app.example/other.json"}), "client_id in the document is not its URL"),
        (json!({"client_id": null}), "client_id in the document is not its URL"),
        (json!({"client_secret": "everybody knows"}), "its document holds a client secret"),
        (json!({"client_secret_expires_at": 0}), "its document holds a client secret"),
        (
            json!({"token_endpoint_auth_method": "client_secret_basic"}),
            "token_endpoint_auth_method in its document needs a secret",
        ),
        (json!({"redirect_uris": null}), "in its document redirect_uris is missing"),
        (json!({"redirect_uris": []}), "in its document redirect_uris takes 1 to 20 URIs"),
        (
            json!({"redirect_uris": "x"}),
            "its document is not a JSON object with the fields of client metadata",
        ),
        (json!({"grant_types": ["client_credentials"]}), "in its document grant_types must name"),
        (json!({"response_types": ["token"]}), "in its document response_types must be [code]"),
        (json!({"logo_uri": "http://app.example/x"}), "in its document logo_uri must be an https address"),
    ];
    for (change, rule) in rules {
        let told = refusal(&world_with(&change), &client()).await;
        assert!(told.starts_with("Invalid client_id: "), "{told}");
        assert!(told.contains(rule), "{change}: {told}");
    }
}

#[tokio::test]
async fn a_document_that_cannot_be_fetched_says_nothing_about_why() {
    let world = World::new();
    assert_eq!(refusal(&world, &client()).await, "Invalid client_id: its document cannot be fetched");
    world.outside.put(ADDRESS, "[]");
    assert!(refusal(&world, &client()).await.contains("is not a JSON object"));
}

#[tokio::test]
async fn an_address_that_is_none_of_a_document_is_not_asked() {
    let world = world_with(&json!({}));
    for id in ["http://app.example/client.json", "https://app.example", "https://app.example/client.json?x=1"]
    {
        let other = TestClient { id: id.to_owned(), ..client() };
        assert_eq!(refusal(&world, &other).await, "Invalid client_id", "{id}");
    }
    assert_eq!(world.outside.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn an_operator_may_take_none_of_them() {
    let mut world = world_with(&json!({}));
    world.context.policy.client_documents = false;
    assert_eq!(refusal(&world, &client()).await, "Invalid client_id");
    assert_eq!(world.outside.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn a_redirect_uri_that_the_document_does_not_name_is_refused() {
    let world = world_with(&json!({"redirect_uris": ["https://app.example/cb"]}));
    assert_eq!(begin(&world, &client()).await.unwrap_err().refusal().description, "Invalid redirect_uri");
}

/// A public client must use PKCE.
#[tokio::test]
async fn a_client_with_a_document_must_use_pkce() {
    let world = world_with(&json!({}));
    let browser = Browser::default();
    let refused = begin_authorization(&world.context, as_person, &request(&client(), &[]), &browser).await;
    assert_eq!(refused.unwrap_err().refusal().code.name(), "invalid_request");
}

#[tokio::test]
async fn people_see_who_answers_for_the_document_and_are_always_asked() {
    let world = world_with(&json!({}));
    let mut browser = Browser::default();
    let mut pending = world.pending(&client(), &PKCE).await;
    let shown = describe_sign_in(&world.context, &pending, &browser).await.unwrap().client.unwrap();
    assert_eq!(shown.described_at.as_deref(), Some("app.example"));
    assert!(!shown.self_registered);
    world.remember(&mut browser, &mut pending, "toy-ann").await;
    let silent = request(&client(), &[PKCE[0], PKCE[1], ("prompt", "none")]);
    let error = begin_authorization(&world.context, as_person, &silent, &browser).await.unwrap_err();
    assert_eq!(error.refusal().code.name(), "consent_required");
}

/// The other worlds stand for a replica that never fetched the document, and for a later time.
#[tokio::test]
async fn a_document_that_changed_meanwhile_counts_when_somebody_signs() {
    let world = world_with(&json!({}));
    let mut pending = world.pending(&client(), &PKCE).await;
    let elsewhere = world_with(&json!({"redirect_uris": ["https://app.example/elsewhere"]}));
    let refused = elsewhere.sign_in(&mut pending, "toy-ann").await.unwrap_err();
    assert_eq!(refused.refusal().description, "Invalid client_id");
    let id = ClientId::of_document(ADDRESS);
    assert_eq!(elsewhere.context.clients.find_fresh(id).await.unwrap(), None);
    let renamed = world_with(&json!({"client_name": "Renamed"}));
    renamed.sign_in(&mut pending, "toy-ann").await.unwrap();
    assert_eq!(renamed.context.clients.find_fresh(id).await.unwrap().unwrap().metadata.name, "Renamed");
}

#[tokio::test]
async fn whoever_goes_on_has_the_document_looked_at_again() {
    let world = world_with(&json!({}));
    let mut browser = Browser::default();
    world.remember(&mut browser, &mut world.pending(&client(), &PKCE).await, "toy-ann").await;
    let next = world.pending(&client(), &[PKCE[0], PKCE[1], ("state", "next")]).await;
    let to = continue_session(&world.context, &PERSON, &next, &browser, ContinueWishes::default())
        .await
        .unwrap()
        .to;
    assert!(parameter(&to.address(), "code").is_some(), "{to:?}");
    let id = ClientId::of_document(ADDRESS);
    assert!(remove_client(world.context.management(), id).await.unwrap());
    let last = world.pending(&client(), &[PKCE[0], PKCE[1], ("state", "last")]).await;
    assert!(
        continue_session(&world.context, &PERSON, &last, &browser, ContinueWishes::default()).await.is_err()
    );
    assert_eq!(world.context.clients.find_fresh(id).await.unwrap(), None, "only a signature makes it known");
}

#[tokio::test]
async fn a_secret_does_not_prove_a_client_that_has_none() {
    let world = world_with(&json!({}));
    let code = code_of(&world.sign_in(&mut world.pending(&client(), &PKCE).await, "toy-ann").await.unwrap());
    let with_secret = TestClient { secret: Some(Secret::new("guess")), ..client() };
    assert!(world.exchange_with(&with_secret, &code, Some(VERIFIER)).await.is_err());
    let credentials: ClientCredentials = client().credentials();
    assert_eq!(credentials.client_id, ADDRESS);
    assert!(world.exchange_with(&client(), &code, Some(VERIFIER)).await.is_ok());
}

#[tokio::test]
async fn such_a_client_gets_people_back_after_signing_them_out() {
    let bye = "https://app.example/bye";
    let world = world_with(&json!({"post_logout_redirect_uris": [bye]}));
    world.sign_in(&mut world.pending(&client(), &PKCE).await, "toy-ann").await.unwrap();
    let back = async |client_id: String| {
        let request = SignOutRequest {
            client_id: Some(client_id),
            post_logout_redirect_uri: Some(bye.to_owned()),
            ..SignOutRequest::default()
        };
        judge_sign_out(&world.context, &request, &Browser::default())
            .await
            .map(|judged| judged.back.unwrap().address)
    };
    assert_eq!(back(ADDRESS.to_owned()).await.unwrap(), bye);
    let by_its_made_id = back(ClientId::of_document(ADDRESS).to_string()).await;
    assert!(matches!(by_its_made_id, Err(SignOutError::ClientUnknown)));
}

#[tokio::test]
async fn what_the_operator_opened_or_closed_to_such_a_client_stays_so_whoever_signs_in() {
    let world = world_with(&json!({}));
    let id = ClientId::of_document(ADDRESS);
    let opened = async || world.context.clients.find_fresh(id).await.unwrap().unwrap().resources;
    world.sign_in(&mut world.pending(&client(), &PKCE).await, "toy-ann").await.unwrap();
    let mut waiting = world.pending(&client(), &PKCE).await;
    world.open(&client(), "https://named.example").await;
    world.sign_in(&mut waiting, "toy-bob").await.unwrap();
    assert_eq!(opened().await, ["https://named.example"]);
    let mut waiting = world.pending(&client(), &PKCE).await;
    close_resources(world.context.management(), id, &["https://named.example".to_owned()]).await.unwrap();
    world.sign_in(&mut waiting, "toy-eve").await.unwrap();
    assert!(opened().await.is_empty());
}

#[tokio::test]
async fn f_02_such_a_client_moves_no_browser_by_signing_out_somebody_who_is_not_there() {
    let bye = "https://app.example/bye";
    let world = world_with(&json!({"post_logout_redirect_uris": [bye]}));
    let mut pending = world.pending(&client(), &[PKCE[0], PKCE[1], ("scope", "openid")]).await;
    let code = code_of(&world.sign_in(&mut pending, "toy-ann").await.unwrap());
    let tokens = world.exchange_with(&client(), &code, Some(VERIFIER)).await.unwrap();
    let request = SignOutRequest {
        id_token_hint: tokens.id_token,
        post_logout_redirect_uri: Some(bye.to_owned()),
        ..SignOutRequest::default()
    };
    let judged = judge_sign_out(&world.context, &request, &Browser::default()).await.unwrap();
    assert!(matches!(judged.step, SignOutStep::NotSignedIn), "a page with a link");
}
