//! The scope and the claim `groups`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_conformance::fixtures;
use countersign_conformance::one_member::OneMember as _;
use countersign_domain::admission::Release;
use countersign_domain::client::ClientOrigin;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, GrantId};
use countersign_domain::particulars::Particulars;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::subject::Subject;
use countersign_ports::{ChangeMember, CompleteLogin, UpdateClient};
use serde_json::{Value, json};

use crate::clients::update_client::update_client;
use crate::sign_in::begin_authorization::begin_authorization;
use crate::sign_in::begin_device::{DeviceAsks, begin_device};
use crate::steps::login::Browser;
use crate::tests::breakable;
use crate::tests::world::{CLIENT, REDIRECT_URI, TestClient, World, as_person, request, toy};
use crate::tokens::introspect_token::introspect_token;
use crate::{Refuse, TokenAnswer};

const ALL: &str = "openid profile email offline_access groups";

fn requested(scope: &str) -> RequestedMetadata {
    RequestedMetadata { scope: Some(scope.to_owned()), scopes: None, ..RequestedMetadata::default() }
}

async fn register(world: &World, scope: &str, origin: ClientOrigin) -> TestClient {
    let scopes = Some(scope.split(' ').map(ToOwned::to_owned).collect());
    world.register_by(RequestedMetadata { scopes, ..RequestedMetadata::default() }, origin).await
}

async fn client(world: &World) -> TestClient {
    register(world, ALL, ClientOrigin::Operator).await
}

async fn tokens(world: &World, client: &TestClient, scope: &str) -> TokenAnswer {
    let code = world.code(client, "toy-ann", &[("scope", scope)]).await;
    world.exchange(client, &code).await.unwrap()
}

fn claim(token: &str) -> Value {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice::<Value>(&payload).unwrap()["groups"].clone()
}

fn names(groups: Option<&[GroupName]>) -> Value {
    json!(groups.map(|groups| groups.iter().map(GroupName::as_str).collect::<Vec<_>>()))
}

/// What the access token, the ID token, userinfo and introspection say.
async fn told(world: &World, client: &TestClient, tokens: &TokenAnswer) -> [Value; 4] {
    let info = world.user_info(tokens).await.unwrap();
    let facts = introspect_token(&world.context, &client.credentials(), &tokens.access_token).await;
    [
        claim(tokens.access_token.expose()),
        tokens.id_token.as_ref().map_or(Value::Null, |token| claim(token.expose())),
        names(info.groups.as_deref()),
        names(facts.unwrap().unwrap().groups.as_deref()),
    ]
}

async fn leave(world: &World, group: &str, member: Subject) {
    let command = ChangeMember {
        group: GroupName::parse(group).unwrap(),
        member,
        now: world.context.clock.now(),
        event: None,
    };
    assert!(world.context.storage.remove_member(command).await.unwrap());
}

#[tokio::test]
async fn a_118_the_groups_that_are_told_are_those_that_the_operator_releases_and_no_others() {
    let world = World::new();
    let client = client(&world).await;
    for group in ["staff", "eu:sales", "admins"] {
        world.join(group, Subject::Wallet(toy("toy-ann"))).await;
    }
    for (rule, release, expected) in [
        ("everyone", Release::OfRule, json!([])),
        ("groups:staff,nobody-is-here", Release::OfRule, json!(["staff"])),
        ("groups:staff", Release::All, json!(["admins", "eu:sales", "staff"])),
        ("everyone", Release::parse("staff,eu:sales,x").unwrap(), json!(["eu:sales", "staff"])),
    ] {
        world.decide(&client, rule, release.clone()).await;
        let tokens = tokens(&world, &client, ALL).await;
        assert_eq!(
            told(&world, &client, &tokens).await,
            [(); 4].map(|()| expected.clone()),
            "{rule} {release:?}"
        );
    }
}

#[tokio::test]
async fn the_claim_is_there_exactly_when_the_scope_is() {
    let world = World::new();
    let client = client(&world).await;
    world.decide(&client, "everyone", Release::All).await;
    let without = tokens(&world, &client, "openid profile").await;
    assert_eq!(told(&world, &client, &without).await, [(); 4].map(|()| Value::Null));
    let with = tokens(&world, &client, "openid groups").await;
    assert_eq!(told(&world, &client, &with).await, [(); 4].map(|()| json!([])));
    let narrower = world.refresh_to(&client, &with, Some("openid")).await.unwrap();
    assert_eq!(told(&world, &client, &narrower).await, [(); 4].map(|()| Value::Null));
    let asked = [("scope", "openid"), ("claims", r#"{"userinfo":{"groups":null}}"#)];
    let code = world.code(&client, "toy-ann", &asked).await;
    let by_claim = world.exchange(&client, &code).await.unwrap();
    assert_eq!(by_claim.scope.to_string(), "openid groups");
}

#[tokio::test]
async fn userinfo_and_introspection_tell_the_groups_of_now_and_tokens_those_of_when_they_were_made() {
    let world = World::new();
    let client = client(&world).await;
    world.decide(&client, "everyone", Release::All).await;
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    let tokens = tokens(&world, &client, ALL).await;
    // Twice, because what the token means is remembered after the first time.
    for _ in 0..2 {
        assert_eq!(told(&world, &client, &tokens).await, [(); 4].map(|()| json!(["staff"])));
    }
    leave(&world, "staff", Subject::Wallet(toy("toy-ann"))).await;
    let user = world.user_of(&tokens).await;
    world.join("friends", Subject::User(user)).await;
    let [then, now] = [json!(["staff"]), json!(["friends"])];
    assert_eq!(told(&world, &client, &tokens).await, [then.clone(), then, now.clone(), now.clone()]);
    let refresh_token = tokens.refresh_token.as_ref().unwrap();
    let facts = introspect_token(&world.context, &client.credentials(), refresh_token).await.unwrap();
    assert_eq!(names(facts.unwrap().groups.as_deref()), now);
    let refreshed = world.refresh(&client, &tokens).await.unwrap();
    assert_eq!(told(&world, &client, &refreshed).await, [(); 4].map(|()| json!(["friends"])));
}

#[tokio::test]
async fn a_118_a_client_that_registered_itself_gets_the_rest_without_an_error() {
    let world = World::new();
    let client = register(&world, ALL, ClientOrigin::SelfRegistered).await;
    let id = ClientId::parse(&client.id).unwrap();
    let scopes = async || world.context.clients.find_fresh(id).await.unwrap().unwrap().metadata.scopes;
    assert_eq!(scopes().await.to_string(), "openid profile email offline_access");
    let again = RequestedMetadata {
        client_name: Some("Photos".to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        ..requested("groups profile")
    };
    let updated =
        update_client(&world.context, &CLIENT, &client.id, &client.registration_token, None, again).await;
    assert_eq!(updated.unwrap().client.metadata.scopes.to_string(), "profile");
    let granted = world.pending(&client, &[("scope", "profile groups")]).await;
    assert_eq!(granted.scope().to_string(), "profile");
    let asked = request(&client, &[("scope", "groups")]);
    let error =
        begin_authorization(&world.context, as_person, &asked, &Browser::default()).await.unwrap_err();
    assert_eq!(error.refusal().code, OAuthErrorCode::InvalidScope);
}

/// The row says that the client registered the scope, as no release of ours stores it.
#[tokio::test]
async fn a_118_a_stored_scope_that_a_client_cannot_have_is_never_granted() {
    let world = World::new();
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    let device = "urn:ietf:params:oauth:grant-type:device_code";
    let client = world
        .register(RequestedMetadata {
            grant_types: Some(
                ["authorization_code", "refresh_token", device].map(ToOwned::to_owned).to_vec(),
            ),
            ..RequestedMetadata::default()
        })
        .await;
    let id = ClientId::parse(&client.id).unwrap();
    let mut stored = world.context.clients.find_fresh(id).await.unwrap().unwrap();
    stored.metadata.scopes = ScopeSet::from_stored("openid profile groups").unwrap();
    assert!(
        world.context.clients.update(UpdateClient { client: stored.clone(), event: None }).await.unwrap()
    );
    world.decide(&client, "everyone", Release::All).await;
    let granted = world.pending(&client, &[("scope", "openid groups")]).await;
    assert_eq!(granted.scope().to_string(), "openid");
    let asked = request(&client, &[("scope", "groups")]);
    let error =
        begin_authorization(&world.context, as_person, &asked, &Browser::default()).await.unwrap_err();
    assert_eq!(error.refusal().code, OAuthErrorCode::InvalidScope);
    let scope = Some("groups".to_owned());
    let asks = DeviceAsks { credentials: client.credentials(), scope, resources: Vec::new() };
    assert_eq!(
        begin_device(&world.context, asks).await.unwrap_err().refusal().code,
        OAuthErrorCode::InvalidScope
    );
    // Not even for a grant that names it.
    let code = Secret::with_id(GrantId::at(fixtures::NOW, [9; 10]).as_uuid(), [9; 32]);
    let login = CompleteLogin {
        id: GrantId::from_uuid(code.id().unwrap()),
        client: id,
        redirect_uri: Some(RedirectUri::from_trusted(REDIRECT_URI.to_owned())),
        scope: stored.metadata.scopes,
        code_challenge: None,
        code_hash: SecretHash::of(&code),
        particulars: Particulars::default(),
        ..fixtures::complete_login_of(toy("toy-ann"))
    };
    world.context.storage.complete_login(login).await.unwrap();
    let tokens = world.exchange(&client, &code).await.unwrap();
    assert_eq!(tokens.scope.to_string(), "openid profile");
    assert_eq!(told(&world, &client, &tokens).await, [(); 4].map(|()| Value::Null));
}

fn many(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("group-of-a-long-name-{number:04}")).collect()
}

#[tokio::test]
async fn groups_that_do_not_fit_into_a_token_give_none_and_burn_nothing() {
    let world = World::new();
    let client = client(&world).await;
    world.decide(&client, "everyone", Release::All).await;
    // 25 characters and three more for each: 146 fit into 4,096 bytes.
    for group in many(146) {
        world.join(&group, Subject::Wallet(toy("toy-ann"))).await;
    }
    let tokens = tokens(&world, &client, ALL).await;
    let code = world.code(&client, "toy-ann", &[("scope", ALL)]).await;
    let user = world.user_of(&tokens).await;
    world.join("one-more", Subject::User(user)).await;
    let told_to_client =
        "the groups of this user do not fit into a token: ask without the scope groups, or tell the operator";
    for refused in [
        world.exchange(&client, &code).await.unwrap_err().refusal(),
        world.refresh(&client, &tokens).await.unwrap_err().refusal(),
    ] {
        assert_eq!((refused.code, &*refused.description), (OAuthErrorCode::InvalidScope, told_to_client));
    }
    assert_eq!(world.user_info(&tokens).await.unwrap().groups.unwrap().len(), 147, "userinfo tells all");
    let narrower = world.refresh_to(&client, &tokens, Some("openid profile")).await.unwrap();
    assert!(world.is_alive(&narrower).await);
    world.decide(&client, "everyone", Release::parse("one-more").unwrap()).await;
    assert!(world.exchange(&client, &code).await.is_ok(), "the operator released fewer");
}

#[tokio::test]
async fn groups_are_read_once_where_they_are_needed_and_not_at_all_elsewhere() {
    let (world, storage) = breakable::world();
    let client = client(&world).await;
    let plain = world.code(&client, "toy-ann", &[("scope", "openid profile")]).await;
    let telling = world.code(&client, "toy-ann", &[("scope", ALL)]).await;
    storage.asked();
    let plain = world.exchange(&client, &plain).await.unwrap();
    assert_eq!(storage.asked(), ["find_grant", "redeem_code"]);
    world.user_info(&plain).await.unwrap();
    assert_eq!(storage.asked(), ["find_access"]);
    world.exchange(&client, &telling).await.unwrap();
    assert_eq!(storage.asked(), ["find_grant", "groups_of", "find_email", "redeem_code"]);
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    world.decide(&client, "groups:staff", Release::OfRule).await;
    storage.asked();
    world.refresh(&client, &plain).await.unwrap();
    assert_eq!(storage.asked(), ["find_client", "find_refresh", "groups_of", "rotate_refresh"]);
}
