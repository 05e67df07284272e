//! Scopes of the operator's resources: declared, registered, signed for, in tokens, and under attack.

use countersign_conformance::one_member::OneMember as _;
use countersign_domain::client::ClientOrigin;
use countersign_domain::group::GroupName;
use countersign_domain::id::ClientId;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{OpenTo, Resource, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use countersign_ports::ChangeMember;

use crate::act_refused::ActRefused;
use crate::clients::declare_resource::{create_resource, delete_resource, list_resources, update_resource};
use crate::clients::open_resource::close_resources;
use crate::clients::register_client::{RegisterClientError, register_client};
use crate::clients::update_client::update_client;
use crate::sign_in::begin_authorization::{BeginAuthorizationError, begin_authorization};
use crate::sign_in::continue_session::{ContinueSessionError, ContinueWishes, continue_session};
use crate::sign_in::describe_sign_in::{Standing, describe_sign_in};
use crate::sign_in::issue_challenge::issue_challenge;
use crate::steps::login::Browser;
use crate::tests::breakable;
use crate::tests::world::{
    CLIENT, PERSON, REDIRECT_URI, TestClient, World, as_client, as_person, code_of, named, parameter,
    request, toy,
};
use crate::tokens::exchange_code::{ExchangeCode, exchange_code};
use crate::tokens::introspect_token::introspect_token;
use crate::tokens::issue_client_tokens::{IssueClientTokens, issue_client_tokens};
use crate::tokens::refresh_tokens::{RefreshTokens, refresh_tokens};
use crate::{Refuse, TokenAnswer};

const ISSUER: &str = "https://auth.example.com";
const PHOTOS: &str = "https://photos.example/api";
const PAY: &str = "https://pay.example/api";

fn scope(name: &str, needs: Option<&str>) -> ResourceScope {
    ResourceScope {
        name: ScopeName::parse(name).unwrap(),
        title: ScopeTitle::parse(&format!("See {name}")).unwrap(),
        titles: [("de".to_owned(), ScopeTitle::parse("Fotos sehen").unwrap())].into(),
        needs: needs.map(|group| GroupName::parse(group).unwrap()),
    }
}

fn resource(world: &World, uri: &str, open_to: OpenTo, scopes: Vec<ResourceScope>) -> Resource {
    let now = world.context.clock.now();
    let created_at = now.replace_nanosecond(0).unwrap();
    Resource { uri: uri.to_owned(), name: None, open_to, scopes, created_at }
}

/// Photos, open to all, with a scope that needs a group; payslips, open by name.
async fn declare(world: &World) {
    let photos =
        vec![scope("photos.admin", Some("staff")), scope("photos.read", None), scope("photos.write", None)];
    let photos = resource(world, PHOTOS, OpenTo::Everyone, photos);
    create_resource(world.context.management(), photos).await.unwrap();
    let pay = resource(world, PAY, OpenTo::Named, vec![scope("pay.read", None)]);
    create_resource(world.context.management(), pay).await.unwrap();
}

fn metadata(scopes: &str) -> RequestedMetadata {
    let grant_types = ["authorization_code", "refresh_token", "client_credentials"];
    RequestedMetadata {
        client_name: Some("Photo Album".to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        scope: Some(scopes.to_owned()),
        grant_types: Some(grant_types.map(ToOwned::to_owned).to_vec()),
        ..RequestedMetadata::default()
    }
}

async fn registered(world: &World, scopes: &str, origin: ClientOrigin) -> TestClient {
    registered_as(world, metadata(scopes), origin).await
}

async fn registered_as(world: &World, metadata: RequestedMetadata, origin: ClientOrigin) -> TestClient {
    let registered = register_client(world.context.management(), metadata, origin).await.unwrap();
    TestClient {
        id: registered.client.id.to_string(),
        secret: registered.secret,
        registration_token: registered.registration_token,
    }
}

fn texts(uris: &[&str]) -> Vec<String> {
    uris.iter().map(|uri| (*uri).to_owned()).collect()
}

async fn exchange(
    world: &World,
    client: &TestClient,
    code: &Secret,
    resources: &[&str],
) -> Result<TokenAnswer, &'static str> {
    let exchange = ExchangeCode {
        credentials: client.credentials(),
        code: code.clone(),
        redirect_uri: REDIRECT_URI.to_owned(),
        verifier: None,
        resources: texts(resources),
        proof: None,
    };
    exchange_code(&world.context, as_client, exchange).await.map_err(|error| error.refusal().code.name())
}

async fn refresh(
    world: &World,
    client: &TestClient,
    tokens: &TokenAnswer,
    scope: Option<&str>,
    resources: &[&str],
) -> Result<TokenAnswer, &'static str> {
    let refresh = RefreshTokens {
        credentials: client.credentials(),
        refresh_token: tokens.refresh_token.clone().unwrap(),
        scope: scope.map(ToOwned::to_owned),
        resources: texts(resources),
        proof: None,
    };
    refresh_tokens(&world.context, as_client, refresh).await.map_err(|error| error.refusal().code.name())
}

/// What an access token is for, and what it allows.
fn says(world: &World, tokens: &TokenAnswer) -> (String, String) {
    let read = world.context.signer.read_access_token(tokens.access_token.expose()).unwrap();
    (read.audience.join(" "), tokens.scope.to_string())
}

fn of(aud: &str, scope: &str) -> (String, String) {
    (aud.to_owned(), scope.to_owned())
}

/// The error that the client gets for this request.
async fn refused(world: &World, client: &TestClient, more: &[(&str, &str)]) -> &'static str {
    match begin_authorization(&world.context, as_person, &request(client, more), &Browser::default()).await {
        Err(BeginAuthorizationError::Redirect { error, .. }) => error.code.name(),
        other => panic!("{more:?}: {other:?}"),
    }
}

#[tokio::test]
async fn a_scope_of_a_resource_is_signed_for_and_carried_by_the_token() {
    let world = World::new();
    declare(&world).await;
    let client = registered(&world, "openid profile photos.read", ClientOrigin::SelfRegistered).await;
    let mut pending = world.pending(&client, &[("scope", "photos.read")]).await;
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    assert!(text.contains("- urn:countersign:scope:photos.read\n") && text.contains(PHOTOS), "{text}");
    let code = code_of(&world.sign_in(&mut pending, "toy-ann").await.unwrap());
    let tokens = exchange(&world, &client, &code, &[]).await.unwrap();
    assert_eq!(says(&world, &tokens), of(PHOTOS, "photos.read"));
    let facts = introspect_token(&world.context, &client.credentials(), &tokens.access_token).await;
    let facts = facts.unwrap().unwrap();
    assert_eq!((facts.scope.to_string(), facts.audience), ("photos.read".to_owned(), Some(texts(&[PHOTOS]))));
    let again = refresh(&world, &client, &tokens, None, &[]).await.unwrap();
    assert_eq!(says(&world, &again), of(PHOTOS, "photos.read"));
}

#[tokio::test]
async fn f_08_the_resources_own_client_introspects_its_tokens() {
    let world = World::new();
    declare(&world).await;
    let client = registered(&world, "photos.read", ClientOrigin::SelfRegistered).await;
    let code = world.code(&client, "toy-ann", &[("scope", "photos.read")]).await;
    let tokens = exchange(&world, &client, &code, &[]).await.unwrap();
    for (uri, origin, is_told) in [
        (PHOTOS, ClientOrigin::Operator, true),
        (PAY, ClientOrigin::Operator, false),
        (PHOTOS, ClientOrigin::SelfRegistered, false),
    ] {
        let mut metadata = metadata("profile");
        metadata.display.client_uri = Some(uri.to_owned());
        let api = registered_as(&world, metadata, origin).await;
        let facts = introspect_token(&world.context, &api.credentials(), &tokens.access_token).await.unwrap();
        let told = facts.map(|facts| facts.scope.to_string());
        assert_eq!(told, is_told.then(|| "photos.read".to_owned()), "{uri}");
    }
}

#[tokio::test]
async fn with_openid_the_token_is_for_this_server_too() {
    let world = World::new();
    declare(&world).await;
    let client = registered(&world, "openid photos.read", ClientOrigin::SelfRegistered).await;
    let code = world.code(&client, "toy-ann", &[("scope", "openid photos.read")]).await;
    let tokens = exchange(&world, &client, &code, &[]).await.unwrap();
    assert_eq!(says(&world, &tokens), of(&format!("{PHOTOS} {ISSUER}"), "openid photos.read"));
    assert!(world.user_info(&tokens).await.is_ok());
}

#[tokio::test]
async fn f_01_one_sign_in_for_two_resources_gives_a_token_for_each() {
    let world = World::new();
    declare(&world).await;
    let scopes = "photos.read pay.read";
    let client = registered(&world, scopes, ClientOrigin::Operator).await;
    let code = world.code(&client, "toy-ann", &[("scope", scopes)]).await;
    assert_eq!(exchange(&world, &client, &code, &[]).await.unwrap_err(), "invalid_target");
    let both = exchange(&world, &client, &code, &[PHOTOS, PAY]).await;
    assert_eq!(both.unwrap_err(), "invalid_target", "and nothing is used up");
    let photos = exchange(&world, &client, &code, &[PHOTOS]).await.unwrap();
    assert_eq!(says(&world, &photos), of(PHOTOS, "photos.read"));
    let pay = refresh(&world, &client, &photos, None, &[PAY]).await.unwrap();
    assert_eq!(says(&world, &pay), of(PAY, "pay.read"));
    let wrong = refresh(&world, &client, &pay, Some("pay.read"), &[PHOTOS]).await;
    assert_eq!(wrong.unwrap_err(), "invalid_scope", "a token for one resource carries no scope of another");
    assert!(refresh(&world, &client, &pay, Some("photos.read"), &[]).await.is_ok());
}

#[tokio::test]
async fn a_refresh_never_widens_what_was_signed() {
    let world = World::new();
    declare(&world).await;
    let client = registered(&world, "photos.read photos.write", ClientOrigin::SelfRegistered).await;
    let code = world.code(&client, "toy-ann", &[("scope", "photos.read")]).await;
    let tokens = exchange(&world, &client, &code, &[]).await.unwrap();
    for scope in ["photos.write", "photos.read photos.write", "pay.read", "photos.reader", "nonsense"] {
        let widened = refresh(&world, &client, &tokens, Some(scope), &[]).await;
        assert_eq!(widened.unwrap_err(), "invalid_scope", "{scope}");
    }
    assert!(refresh(&world, &client, &tokens, Some("photos.read"), &[]).await.is_ok());
}

#[tokio::test]
async fn what_is_not_declared_registered_or_open_is_refused() {
    let world = World::new();
    declare(&world).await;
    let stranger = registered(&world, "openid photos.read", ClientOrigin::SelfRegistered).await;
    let other = "https://a.example";
    for (more, code) in [
        (&[("scope", "photos.write")][..], "invalid_scope"),
        (&[("scope", "pay.read")], "invalid_scope"),
        (&[("scope", "photos.nothing")], "invalid_scope"),
        (&[("scope", "OpenID")], "invalid_scope"),
        (&[("scope", "openid\u{a0}")], "invalid_scope"),
        (&[("scope", "photos.read"), ("resource", PAY)], "invalid_target"),
        (&[("scope", "photos.read"), ("resource", other)], "invalid_scope"),
        (&[("scope", "photos.read"), ("audience", other)], "invalid_scope"),
        (&[("scope", "photos.read"), ("audience", PHOTOS), ("resource", other)], "invalid_target"),
        (&[("scope", "openid"), ("audience", "https://unknown.example")], "invalid_target"),
    ] {
        assert_eq!(refused(&world, &stranger, more).await, code, "{more:?}");
    }
    let absurd = "photos.read ".repeat(60);
    assert_eq!(refused(&world, &stranger, &[("scope", &absurd)]).await, "invalid_scope");
    let by_audience = world.pending(&stranger, &[("scope", "photos.read"), ("audience", PHOTOS)]).await;
    assert_eq!(by_audience.access().unwrap().resources, [PHOTOS]);
    let doubled = world.pending(&stranger, &[("scope", "photos.read photos.read  photos.read")]).await;
    assert_eq!(doubled.scope().to_string(), "photos.read");
}

#[tokio::test]
async fn a_request_that_does_not_fit_into_a_text_is_refused() {
    let world = World::new();
    let names: Vec<String> = (10..74).map(|place| format!("s{place}")).collect();
    let scopes = names.iter().map(|name| scope(name, None)).collect();
    let long = resource(&world, PHOTOS, OpenTo::Everyone, scopes);
    create_resource(world.context.management(), long).await.unwrap();
    let client = registered(&world, &names.join(" "), ClientOrigin::SelfRegistered).await;
    assert_eq!(refused(&world, &client, &[("scope", &names.join(" "))]).await, "invalid_scope");
    let few = world.pending(&client, &[("scope", &names[0])]).await;
    assert_eq!(few.scope().to_string(), names[0]);
}

#[tokio::test]
async fn strangers_register_scopes_of_open_resources_only() {
    let world = World::new();
    declare(&world).await;
    let management = world.context.management();
    for (scopes, left) in [
        ("pay.read", "openid profile offline_access"),
        ("email pay.read", "email"),
        ("email photos.nothing photos.read", "email photos.read"),
        ("Profile", "openid profile offline_access"),
        ("email openid\u{200b}", "email"),
    ] {
        let stranger = register_client(management, metadata(scopes), ClientOrigin::SelfRegistered).await;
        assert_eq!(stranger.unwrap().client.metadata.scopes.to_string(), left, "{scopes}");
    }
    for (scopes, unknown) in [("photos.nothing", "a value"), ("openid a:b", "a:b"), ("Profile", "Profile")] {
        let rejected = register_client(management, metadata(scopes), ClientOrigin::Operator).await;
        let Err(RegisterClientError::Rejected(rejected)) = rejected else { panic!("{scopes}: {rejected:?}") };
        assert!(rejected.to_string().starts_with(&format!("scope holds {unknown}, ")), "{rejected}");
    }
    let ours = register_client(management, metadata("pay.read"), ClientOrigin::Operator).await.unwrap();
    assert_eq!(ours.client.resources, [PAY], "with the scope the operator opened its resource");
}

/// An API answers 403 `insufficient_scope`, and the client asks again for more.
#[tokio::test]
async fn a_client_that_named_no_scopes_steps_up_to_scopes_of_open_resources() {
    let world = World::new();
    declare(&world).await;
    let unspecific = RequestedMetadata { scope: None, ..metadata("") };
    let client = registered_as(&world, unspecific, ClientOrigin::SelfRegistered).await;
    let first = world.code(&client, "toy-ann", &[("scope", "openid mcp:tools")]).await;
    assert_eq!(says(&world, &exchange(&world, &client, &first, &[]).await.unwrap()), of(ISSUER, "openid"));
    let all = "openid photos.read photos.write pay.read wallets groups";
    let mut pending = world.pending(&client, &[("scope", all)]).await;
    assert_eq!(pending.scope().to_string(), "openid photos.read photos.write");
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    assert!(text.contains("- urn:countersign:scope:photos.write\n") && !text.contains("pay.read"), "{text}");
    let code = code_of(&world.sign_in(&mut pending, "toy-ann").await.unwrap());
    let tokens = exchange(&world, &client, &code, &[]).await.unwrap();
    let both = of(&format!("{PHOTOS} {ISSUER}"), "openid photos.read photos.write");
    assert_eq!((tokens.scope.to_string(), says(&world, &tokens)), (both.1.clone(), both));
    let elsewhere = world.pending(&client, &[("scope", all), ("resource", "https://a.example")]).await;
    assert_eq!(elsewhere.scope().to_string(), "openid", "the rest belongs to another resource");
    for origin in [ClientOrigin::SelfRegistered, ClientOrigin::Operator] {
        let named = registered(&world, "openid email", origin).await;
        assert_eq!(refused(&world, &named, &[("scope", "photos.read")]).await, "invalid_scope", "{origin:?}");
    }
}

#[tokio::test]
async fn a_client_cannot_give_itself_more_than_the_operator_gave_it() {
    let world = World::new();
    declare(&world).await;
    let ours = registered(&world, "photos.read", ClientOrigin::Operator).await;
    let stranger = registered(&world, "photos.read", ClientOrigin::SelfRegistered).await;
    let update = async |client: &TestClient, scopes: &str| {
        let token = &client.registration_token;
        let updated = update_client(&world.context, &CLIENT, &client.id, token, None, metadata(scopes)).await;
        updated.is_ok_and(|updated| updated.client.metadata.scopes.to_string() == scopes)
    };
    assert!(update(&ours, "photos.read").await, "what it has");
    assert!(
        !update(&ours, "profile photos.read").await,
        "an operator registered it, so only operators widen it"
    );
    assert!(!update(&ours, "photos.read photos.write").await);
    assert!(!update(&ours, "pay.read").await);
    assert!(!update(&stranger, "pay.read").await);
    assert!(update(&stranger, "photos.read photos.write").await, "a person signs for it");
}

#[tokio::test]
async fn a_client_by_itself_gets_what_the_operator_gave_to_it() {
    let world = World::new();
    declare(&world).await;
    let ours = registered(&world, "photos.read photos.admin", ClientOrigin::Operator).await;
    let stranger = registered(&world, "photos.read", ClientOrigin::SelfRegistered).await;
    let ask = async |client: &TestClient, scope: Option<&str>, resources: &[&str]| {
        let asked = IssueClientTokens {
            credentials: client.credentials(),
            scope: scope.map(ToOwned::to_owned),
            resources: texts(resources),
            proof: None,
        };
        let answer = issue_client_tokens(&world.context, asked).await;
        answer.map(|tokens| says(&world, &tokens)).map_err(|error| error.refusal().code.name())
    };
    assert_eq!(ask(&ours, Some("photos.read"), &[]).await, Ok(of(PHOTOS, "photos.read")));
    assert_eq!(ask(&ours, Some("photos.read"), &[PHOTOS]).await, Ok(of(PHOTOS, "photos.read")));
    assert_eq!(ask(&ours, None, &[PHOTOS]).await, Ok(of(PHOTOS, "photos.read")), "a client is in no group");
    assert_eq!(ask(&ours, None, &[]).await, Ok(of(ISSUER, "")));
    assert_eq!(ask(&ours, Some("photos.admin"), &[]).await, Err("access_denied"));
    assert_eq!(ask(&ours, Some("photos.write"), &[]).await, Err("invalid_scope"));
    assert_eq!(ask(&ours, Some("pay.read"), &[PAY]).await, Err("invalid_scope"));
    assert_eq!(ask(&stranger, Some("photos.read"), &[]).await, Err("invalid_scope"));
    assert_eq!(ask(&stranger, Some("photos.read"), &[PHOTOS]).await, Err("invalid_scope"));
    assert_eq!(ask(&stranger, None, &[PHOTOS]).await, Err("invalid_target"));
}

#[tokio::test]
async fn f_03_a_remembered_sign_in_repeats_only_what_was_signed() {
    let world = World::new();
    declare(&world).await;
    let client = registered(&world, "photos.read photos.write pay.read", ClientOrigin::Operator).await;
    let mut browser = Browser::default();
    let mut pending = world.pending(&client, &[("scope", "photos.read")]).await;
    world.remember(&mut browser, &mut pending, "toy-ann").await;
    for (scope, resource, may) in [
        ("photos.read", PHOTOS, true),
        ("photos.write", PHOTOS, false),
        ("photos.read photos.write", PHOTOS, false),
        ("pay.read", PAY, false),
    ] {
        let more = [("scope", scope), ("resource", resource), ("state", scope)];
        let pending = world.pending(&client, &more).await;
        let done =
            continue_session(&world.context, &PERSON, &pending, &browser, ContinueWishes::default()).await;
        assert_eq!(done.is_ok(), may, "{scope}: {done:?}");
        assert!(may || matches!(done, Err(ContinueSessionError::ConsentMissing)), "{scope}");
    }
    let more = world.pending(&client, &[("scope", "photos.read photos.write")]).await;
    let shown = describe_sign_in(&world.context, &more, &browser).await.unwrap();
    let Standing::MustSign { new: Some(new), .. } = shown.standing else { panic!("{shown:?}") };
    assert_eq!(new.to_string(), "photos.write");
}

#[tokio::test]
async fn who_lacks_the_group_gets_the_rest_or_nothing() {
    let world = World::new();
    declare(&world).await;
    let client = registered(&world, "photos.read photos.admin", ClientOrigin::SelfRegistered).await;
    let both = "photos.read photos.admin";
    let code = world.code(&client, "toy-ann", &[("scope", both)]).await;
    let tokens = exchange(&world, &client, &code, &[]).await.unwrap();
    assert_eq!(says(&world, &tokens), of(PHOTOS, "photos.read"));
    let widened = refresh(&world, &client, &tokens, Some("photos.admin"), &[]).await;
    assert_eq!(widened.unwrap_err(), "invalid_scope");
    let mut pending = world.pending(&client, &[("scope", "photos.admin")]).await;
    let answer = world.sign_in(&mut pending, "toy-ann").await.unwrap();
    assert_eq!(parameter(&answer, "error").as_deref(), Some("access_denied"));
    assert_eq!(parameter(&answer, "code"), None);
    let mut browser = Browser::default();
    let mut first = world.pending(&client, &[("scope", both), ("state", "2")]).await;
    world.remember(&mut browser, &mut first, "toy-ann").await;
    let again = world.pending(&client, &[("scope", both), ("state", "3")]).await;
    let done = continue_session(&world.context, &PERSON, &again, &browser, ContinueWishes::default()).await;
    assert!(done.is_ok(), "what was withheld was signed for: {done:?}");
}

#[tokio::test]
async fn from_the_answer_of_a_deletion_on_no_token_is_issued_for_it() {
    let world = World::new();
    declare(&world).await;
    let client = registered(&world, "openid photos.read photos.write", ClientOrigin::SelfRegistered).await;
    let ask = async |scope| {
        let code = world.code(&client, "toy-ann", &[("scope", scope)]).await;
        exchange(&world, &client, &code, &[]).await.unwrap()
    };
    let (alone, with_us) = (ask("photos.read").await, ask("openid photos.read photos.write").await);
    let signed = world.code(&client, "toy-ann", &[("scope", "photos.read")]).await;
    let management = world.context.management();
    let in_use = delete_resource(management, PHOTOS, false).await.unwrap_err();
    assert!(matches!(&in_use, ActRefused::ResourceInUse(uses) if (uses.clients, uses.grants) == (1, 3)));
    let whole = list_resources(management).await.unwrap().resource(PHOTOS).unwrap().clone();
    let less = Resource { scopes: vec![scope("photos.read", None)], ..whole };
    let in_use = update_resource(management, less.clone(), false).await.unwrap_err();
    assert!(matches!(&in_use, ActRefused::ResourceInUse(uses) if (uses.clients, uses.grants) == (1, 1)));
    update_resource(management, less, true).await.unwrap();
    let narrowed = refresh(&world, &client, &with_us, None, &[]).await.unwrap();
    assert_eq!(says(&world, &narrowed).1, "openid photos.read");
    delete_resource(management, PHOTOS, true).await.unwrap();
    assert_eq!(exchange(&world, &client, &signed, &[]).await.unwrap_err(), "invalid_target");
    assert_eq!(refresh(&world, &client, &alone, None, &[]).await.unwrap_err(), "invalid_target");
    let rest = refresh(&world, &client, &narrowed, None, &[]).await.unwrap();
    assert_eq!(says(&world, &rest), of(ISSUER, "openid"));
    assert_eq!(refused(&world, &client, &[("scope", "photos.read")]).await, "invalid_scope");
    let challenge = "A".repeat(43);
    let all = [("scope", ""), ("code_challenge", challenge.as_str()), ("code_challenge_method", "S256")];
    let all = world.pending(&client, &all).await;
    assert_eq!(all.scope().to_string(), "openid", "what is gone is left out");
}

#[tokio::test]
async fn a_declaration_that_cannot_be_is_refused() {
    let world = World::new();
    declare(&world).await;
    let management = world.context.management();
    let create = async |uri: &str, names: &[&str]| {
        let scopes = names.iter().map(|name| scope(name, None)).collect();
        let resource = resource(&world, uri, OpenTo::Everyone, scopes);
        create_resource(management, resource).await.unwrap_err().to_string()
    };
    assert!(create("https://a.example", &[]).await.contains("the setting `resources` declares"));
    assert!(create(PHOTOS, &["x"]).await.contains("is declared already"));
    assert!(create("https://new.example", &["pay.read"]).await.contains(PAY), "it says whose scope it is");
    assert!(create("https://auth.example.com/x", &[]).await.contains("this server itself"));
    assert!(create("new", &[]).await.contains("not an absolute URI"));
}

#[tokio::test]
async fn whoever_names_no_resource_does_not_read_them() {
    let (world, storage) = breakable::world();
    let client = world.client().await;
    let tokens = world.tokens(&client, "toy-ann").await;
    let tokens = world.refresh(&client, &tokens).await.unwrap();
    world.user_info(&tokens).await.unwrap();
    introspect_token(&world.context, &client.credentials(), &tokens.access_token).await.unwrap();
    assert!(!storage.asked().contains(&"list_resources"));
}

#[tokio::test]
async fn a_client_that_was_given_a_scope_has_its_resource_until_it_is_closed() {
    let world = World::new();
    declare(&world).await;
    let ours = registered(&world, "pay.read", ClientOrigin::Operator).await;
    let code = world.code(&ours, "toy-ann", &[("scope", "pay.read")]).await;
    let tokens = exchange(&world, &ours, &code, &[]).await.unwrap();
    assert_eq!(says(&world, &tokens), of(PAY, "pay.read"));
    let id = ClientId::named(&ours.id).unwrap();
    close_resources(world.context.management(), id, &texts(&[PAY])).await.unwrap();
    assert_eq!(refused(&world, &ours, &[("scope", "pay.read")]).await, "invalid_scope");
    assert_eq!(refresh(&world, &ours, &tokens, None, &[]).await.unwrap_err(), "invalid_target");
}

#[tokio::test]
async fn a_scope_that_needs_a_group_follows_the_group() {
    let world = World::new();
    declare(&world).await;
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    let both = "photos.read photos.admin";
    let client = registered(&world, both, ClientOrigin::SelfRegistered).await;
    let code = world.code(&client, "toy-ann", &[("scope", both)]).await;
    let tokens = exchange(&world, &client, &code, &[]).await.unwrap();
    assert_eq!(says(&world, &tokens), of(PHOTOS, "photos.admin photos.read"));
    let alone = world.code(&client, "toy-ann", &[("scope", "photos.admin")]).await;
    let alone = exchange(&world, &client, &alone, &[]).await.unwrap();
    let group = GroupName::parse("staff").unwrap();
    let now = world.context.clock.now();
    let leave = ChangeMember { group, member: Subject::Wallet(toy("toy-ann")), now, event: None };
    assert!(world.context.storage.remove_member(leave).await.unwrap());
    let rest = refresh(&world, &client, &tokens, None, &[]).await.unwrap();
    assert_eq!(says(&world, &rest), of(PHOTOS, "photos.read"));
    assert_eq!(refresh(&world, &client, &alone, None, &[]).await.unwrap_err(), "access_denied");
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    let again = refresh(&world, &client, &rest, None, &[]).await.unwrap();
    assert_eq!(says(&world, &again), of(PHOTOS, "photos.admin photos.read"), "the grant has it still");
}

#[tokio::test]
async fn who_joins_after_signing_signs_in_again_for_what_was_withheld() {
    let world = World::new();
    declare(&world).await;
    let both = "photos.read photos.admin";
    let client = registered(&world, both, ClientOrigin::SelfRegistered).await;
    let mut browser = Browser::default();
    let mut pending = world.pending(&client, &[("scope", both)]).await;
    let answer = world.remember(&mut browser, &mut pending, "toy-ann").await;
    let tokens = exchange(&world, &client, &code_of(&answer), &[]).await.unwrap();
    world.join("staff", Subject::Wallet(toy("toy-ann"))).await;
    let refreshed = refresh(&world, &client, &tokens, None, &[]).await.unwrap();
    assert_eq!(says(&world, &refreshed), of(PHOTOS, "photos.read"), "the grant was made without it");
    let again = world.pending(&client, &[("scope", both), ("state", "2")]).await;
    let done =
        continue_session(&world.context, &PERSON, &again, &browser, ContinueWishes::default()).await.unwrap();
    let tokens = exchange(&world, &client, &code_of(&done.to.address()), &[]).await.unwrap();
    assert_eq!(says(&world, &tokens), of(PHOTOS, "photos.admin photos.read"), "it was signed for");
}
