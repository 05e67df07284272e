//! Audiences and consents under attack: whatever a client sends, its tokens are only for what somebody signed
//! for, and a remembered sign-in repeats only one consent (F-01, F-03, F-09).

use countersign_domain::client::ClientOrigin;
use countersign_domain::id::ClientId;
use countersign_domain::parameters::Parameters;
use countersign_domain::pending::{ClientRequest, PendingAuthorization, Requester};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::ResourceRules;
use countersign_domain::secret::Secret;
use countersign_ports::UpdateClient;

use crate::clients::open_resource::close_resources;
use crate::sign_in::begin_authorization::{BeginAuthorizationError, Begun, begin_authorization};
use crate::sign_in::begin_device::{DeviceAsks, begin_device};
use crate::sign_in::continue_session::{ContinueSessionError, ContinueWishes, continue_session};
use crate::sign_in::describe_sign_in::{Standing, describe_sign_in};
use crate::sign_in::find_device::find_device;
use crate::sign_in::issue_challenge::issue_challenge;
use crate::sign_in::push_authorization::push_authorization;
use crate::steps::login::Browser;
use crate::tests::world::{
    PERSON, REDIRECT_URI, TestClient, World, as_client, as_person, code_of, named, parameter, request, sign,
};
use crate::tokens::exchange_code::{ExchangeCode, exchange_code};
use crate::tokens::exchange_device_code::{ExchangeDeviceCode, exchange_device_code};
use crate::tokens::issue_client_tokens::{IssueClientTokens, issue_client_tokens};
use crate::tokens::read_user_info::ReadUserInfoError;
use crate::tokens::refresh_tokens::{RefreshTokens, refresh_tokens};
use crate::tokens::sign_in_program::{
    ProgramChallenge, SignInProgram, issue_program_challenge, sign_in_program,
};
use crate::{Refuse, TokenAnswer};

const ISSUER: &str = "https://auth.example.com";
const A: &str = "https://a.example";
const B: &str = "https://b.example";
const ELSEWHERE: &str = "https://evil.example/cb";

/// Resources that nobody may name, in many spellings. They are refused everywhere.
const NEVER: [&str; 17] = [
    "https://bank-api.example/mcp",
    "https://a.example/",
    "https://A.example",
    "HTTPS://a.example",
    "https://a.example:443",
    "https://%61.example",
    "https://a.example?",
    "https://a.example#x",
    "http://a.example",
    "https://named.example",
    "https://auth.example.com/oauth/userinfo",
    "https://auth.example.com/",
    "https://AUTH.example.com/oauth/%75serinfo",
    "urn:uuid:01a1fd8c-6900-7000-8000-599900000001",
    "urn:countersign:scope:email",
    "01a1fd8c-6900-7000-8000-599900000001",
    "a.example",
];

fn texts(uris: &[&str]) -> Vec<String> {
    uris.iter().map(|uri| (*uri).to_owned()).collect()
}

fn audience(world: &World, tokens: &TokenAnswer) -> Vec<String> {
    world.context.signer.read_access_token(tokens.access_token.expose()).unwrap().audience
}

/// A client that may do everything, with two redirect URIs.
async fn client(world: &World) -> TestClient {
    let grant_types = [
        "authorization_code",
        "refresh_token",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:countersign:params:oauth:grant-type:wallet-signature",
    ];
    let requested = RequestedMetadata {
        redirect_uris: Some(texts(&[REDIRECT_URI, ELSEWHERE])),
        grant_types: Some(texts(&grant_types)),
        scopes: Some(texts(&["openid", "profile", "email"])),
        ..RequestedMetadata::default()
    };
    world.register(requested).await
}

fn exchange(client: &TestClient, code: &Secret, resources: &[&str]) -> ExchangeCode {
    ExchangeCode {
        credentials: client.credentials(),
        code: code.clone(),
        redirect_uri: REDIRECT_URI.to_owned(),
        verifier: None,
        resources: texts(resources),
        proof: None,
    }
}

fn refresh(client: &TestClient, tokens: &TokenAnswer, resources: &[&str]) -> RefreshTokens {
    RefreshTokens {
        credentials: client.credentials(),
        refresh_token: tokens.refresh_token.clone().unwrap(),
        scope: None,
        resources: texts(resources),
        proof: None,
    }
}

/// Begins an authorization for this resource. The answer is its error, or `taken`.
async fn begin_with(world: &World, client: &TestClient, resource: &str) -> String {
    let asked = request(client, &[("resource", resource)]);
    match begin_authorization(&world.context, as_person, &asked, &Browser::default()).await {
        Ok(_) => "taken".to_owned(),
        Err(BeginAuthorizationError::Redirect { to, .. }) => parameter(&to.address(), "error").unwrap(),
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn f_01_what_nobody_declared_is_refused_where_people_would_sign() {
    let world = World::new();
    let client = client(&world).await;
    for uri in NEVER {
        assert_eq!(begin_with(&world, &client, uri).await, "invalid_target", "{uri}");
        let asked = request(&client, &[("resource", A), ("resource", uri)]);
        let pushed = push_authorization(&world.context, &client.credentials(), &asked, None).await;
        assert_eq!(pushed.unwrap_err().refusal().code.name(), "invalid_target", "{uri}");
        let asks = DeviceAsks { credentials: client.credentials(), scope: None, resources: texts(&[A, uri]) };
        let device = begin_device(&world.context, asks).await;
        assert_eq!(device.unwrap_err().refusal().code.name(), "invalid_target", "{uri}");
        let resources = texts(&[uri]);
        let asked = ProgramChallenge {
            client_id: &client.id,
            name: named("toy-ann"),
            scope: None,
            resources: &resources,
        };
        let program = issue_program_challenge(&world.context, asked).await;
        assert_eq!(program.unwrap_err().refusal().code.name(), "invalid_target", "{uri}");
        let asked = IssueClientTokens {
            credentials: client.credentials(),
            scope: None,
            resources: texts(&[uri]),
            proof: None,
        };
        let own = issue_client_tokens(&world.context, asked).await;
        assert_eq!(own.unwrap_err().refusal().code.name(), "invalid_target", "{uri}");
    }
    assert_eq!(begin_with(&world, &client, A).await, "taken");
}

#[tokio::test]
async fn f_01_a_code_and_a_refresh_token_give_nothing_that_was_not_signed_for() {
    let world = World::new();
    let client = client(&world).await;
    type Parameters = &'static [(&'static str, &'static str)];
    let more: [(Parameters, &[&str]); 4] = [
        (&[], &[ISSUER]),
        (&[("resource", A)], &[A]),
        (&[("resource", A), ("scope", "openid")], &[A, ISSUER]),
        (&[("scope", "openid")], &[ISSUER]),
    ];
    for (asked, granted) in more {
        let code = world.code(&client, "toy-ann", asked).await;
        for uri in NEVER.into_iter().chain([A, B, ISSUER]).filter(|uri| !granted.contains(uri)) {
            let refused = exchange_code(&world.context, as_client, exchange(&client, &code, &[uri])).await;
            assert_eq!(refused.unwrap_err().refusal().code.name(), "invalid_target", "{asked:?} {uri}");
            let refused =
                exchange_code(&world.context, as_client, exchange(&client, &code, &[granted[0], uri])).await;
            assert_eq!(refused.unwrap_err().refusal().code.name(), "invalid_target", "{asked:?} {uri}");
        }
        // Nothing was used up.
        let mut tokens =
            exchange_code(&world.context, as_client, exchange(&client, &code, &[])).await.unwrap();
        assert_eq!(audience(&world, &tokens), granted);
        for uri in NEVER.into_iter().chain([A, B, ISSUER]).filter(|uri| !granted.contains(uri)) {
            let refused = refresh_tokens(&world.context, as_client, refresh(&client, &tokens, &[uri])).await;
            assert_eq!(refused.unwrap_err().refusal().code.name(), "invalid_target", "{asked:?} {uri}");
        }
        for uri in granted {
            tokens =
                refresh_tokens(&world.context, as_client, refresh(&client, &tokens, &[uri])).await.unwrap();
            assert!(audience(&world, &tokens).iter().all(|uri| granted.contains(&uri.as_str())));
        }
        tokens = refresh_tokens(&world.context, as_client, refresh(&client, &tokens, &[])).await.unwrap();
        assert_eq!(audience(&world, &tokens), granted, "an earlier token with fewer takes nothing away");
    }
}

#[tokio::test]
async fn f_01_a_device_and_a_program_get_what_was_signed_for() {
    let world = World::new();
    let client = client(&world).await;
    let asks = DeviceAsks {
        credentials: client.credentials(),
        scope: Some("profile".to_owned()),
        resources: texts(&[A]),
    };
    let device = begin_device(&world.context, asks).await.unwrap();
    let typed = device.user_code.to_string();
    let mut pending = find_device(&world.context, &typed).await.unwrap().unwrap();
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    assert!(text.ends_with("\n- urn:countersign:scope:profile\n- https://a.example"), "{text}");
    world.sign_in(&mut pending, "toy-ann").await.unwrap();
    let poll = |resources: &[&str]| ExchangeDeviceCode {
        credentials: client.credentials(),
        device_code: device.device_code.clone(),
        resources: texts(resources),
        proof: None,
    };
    for uri in NEVER.into_iter().chain([B, ISSUER]) {
        let refused = exchange_device_code(&world.context, as_client, poll(&[uri])).await.unwrap_err();
        assert_eq!(refused.refusal().code.name(), "invalid_target", "{uri}");
    }
    let tokens = exchange_device_code(&world.context, as_client, poll(&[])).await.unwrap();
    assert_eq!(audience(&world, &tokens), [A]);

    let (scope, resources) = (Some("profile"), texts(&[A]));
    let name = named("toy-ann");
    let asked = ProgramChallenge { client_id: &client.id, name, scope, resources: &resources };
    let text = issue_program_challenge(&world.context, asked).await.unwrap().text;
    let redeem = |resources: &[&str]| SignInProgram {
        credentials: client.credentials(),
        challenge: text.clone(),
        signature: sign("toy-ann", &text),
        wallet_address: None,
        resources: texts(resources),
        proof: None,
    };
    for uri in NEVER.into_iter().chain([B, ISSUER]) {
        let refused = sign_in_program(&world.context, &PERSON, redeem(&[uri])).await.unwrap_err();
        assert_eq!(refused.refusal().code.name(), "invalid_target", "{uri}");
    }
    let tokens = sign_in_program(&world.context, &PERSON, redeem(&[A])).await.unwrap();
    assert_eq!(audience(&world, &tokens), [A]);
}

#[tokio::test]
async fn f_01_the_text_of_a_browser_names_every_resource() {
    let world = World::new();
    let client = client(&world).await;
    let mut pending = world.pending(&client, &[("resource", B), ("resource", A)]).await;
    let text = issue_challenge(&world.context, &mut pending, named("toy-ann")).unwrap().text;
    assert!(
        text.ends_with("\n- urn:countersign:scope:profile\n- https://b.example\n- https://a.example"),
        "{text}"
    );
}

#[tokio::test]
async fn f_01_only_the_operator_opens_a_named_resource_and_closes_it_again() {
    let world = World::new();
    let client = client(&world).await;
    let id = ClientId::parse(&client.id).unwrap();
    assert_eq!(begin_with(&world, &client, "https://named.example").await, "invalid_target");
    world.open(&client, "https://named.example").await;
    assert_eq!(begin_with(&world, &client, "https://named.example").await, "taken");
    let code = world.code(&client, "toy-ann", &[("resource", "https://named.example")]).await;
    let tokens = exchange_code(&world.context, as_client, exchange(&client, &code, &[])).await.unwrap();
    assert_eq!(audience(&world, &tokens), ["https://named.example"]);
    close_resources(world.context.management(), id, &texts(&["https://named.example"])).await.unwrap();
    let refused =
        refresh_tokens(&world.context, as_client, refresh(&client, &tokens, &[])).await.unwrap_err();
    assert_eq!(refused.refusal().code.name(), "invalid_target");
    assert_eq!(begin_with(&world, &client, "https://named.example").await, "invalid_target");
}

#[tokio::test]
async fn f_01_where_any_resource_is_taken_no_client_is_one() {
    let mut world = World::new();
    let local = PublicUrl::parse("http://127.0.0.1:9").unwrap();
    world.context.policy.resources = ResourceRules::new(local.clone(), Vec::new()).unwrap();
    world.context.policy.public_url = local;
    let client = client(&world).await;
    assert_eq!(begin_with(&world, &client, "https://whatever.example/mcp").await, "taken");
    for uri in [format!("urn:uuid:{}", client.id), client.id.clone(), "http://localhost:9/x".to_owned()] {
        assert_eq!(begin_with(&world, &client, &uri).await, "invalid_target", "{uri}");
    }
}

/// The same request of a client, with another redirect URI.
fn at(place: &str, pending: PendingAuthorization) -> PendingAuthorization {
    let redirect_uri = RedirectUri::from_trusted(place.to_owned());
    let request = pending.client_request().unwrap().clone();
    let requester = Requester::Client(ClientRequest { redirect_uri, ..request });
    PendingAuthorization { requester, ..pending }
}

/// Ann signed for one API at one place. The client tries every way to get anything else without a signature.
#[tokio::test]
async fn f_03_a_remembered_sign_in_goes_where_it_was_signed_for_and_nowhere_else() {
    for origin in [ClientOrigin::SelfRegistered, ClientOrigin::Operator] {
        let world = World::new();
        let registered = client(&world).await;
        let id = ClientId::parse(&registered.id).unwrap();
        let stored = world.context.clients.find_fresh(id).await.unwrap().unwrap();
        let client = countersign_domain::client::Client { origin, ..stored };
        world.context.clients.update(UpdateClient { client, event: None }).await.unwrap();
        let mut browser = Browser { name: "Firefox on Linux".to_owned(), login: None };
        let signed = [("scope", "profile"), ("resource", A)];
        let mut pending = world.pending(&registered, &signed).await;
        world.remember(&mut browser, &mut pending, "toy-ann").await;
        let mut attacks: Vec<(Vec<(&str, &str)>, &str)> = vec![
            (vec![("scope", "profile")], REDIRECT_URI),
            (vec![("scope", "profile"), ("resource", B)], REDIRECT_URI),
            (vec![("scope", "profile"), ("resource", A), ("resource", B)], REDIRECT_URI),
            (vec![("scope", "profile email"), ("resource", A)], REDIRECT_URI),
            (vec![("scope", "openid profile"), ("resource", A)], REDIRECT_URI),
            (vec![("scope", "email"), ("resource", A)], REDIRECT_URI),
            (vec![("scope", "profile"), ("resource", A)], ELSEWHERE),
            (vec![("scope", "profile")], ELSEWHERE),
        ];
        for (more, place) in &mut attacks {
            let pending = at(place, world.pending(&registered, more).await);
            let standing = describe_sign_in(&world.context, &pending, &browser).await.unwrap().standing;
            assert!(matches!(standing, Standing::MustSign { .. }), "{more:?} {place}");
            let wishes = ContinueWishes::default();
            let refused =
                continue_session(&world.context, &PERSON, &pending, &browser, wishes).await.unwrap_err();
            assert!(matches!(refused, ContinueSessionError::ConsentMissing), "{more:?} {place}: {refused:?}");
            more.push(("prompt", "none"));
            let asked = Parameters::from_form(&request(&registered, more).to_form())
                .with("redirect_uri", (*place).to_owned());
            let refused = begin_authorization(&world.context, as_person, &asked, &browser).await;
            let Err(BeginAuthorizationError::Redirect { to, .. }) = refused else { panic!("{refused:?}") };
            assert_eq!(parameter(&to.address(), "error").as_deref(), Some("consent_required"), "{more:?}");
        }
        // What was signed for still continues. A second place beside it has a consent of its own.
        let again = world.pending(&registered, &[signed[0], signed[1], ("state", "again")]).await;
        let wishes = ContinueWishes::default();
        let to =
            continue_session(&world.context, &PERSON, &again, &browser, wishes).await.unwrap().to.address();
        let tokens = world.exchange(&registered, &code_of(&to)).await.unwrap();
        assert_eq!(audience(&world, &tokens), [A]);
        let mut there = at(ELSEWHERE, world.pending(&registered, &[("scope", "email")]).await);
        world.remember(&mut browser, &mut there, "toy-ann").await;
        let mixed = world.pending(&registered, &[("scope", "email"), ("state", "mixed")]).await;
        let wishes = ContinueWishes::default();
        assert!(
            continue_session(&world.context, &PERSON, &mixed, &browser, wishes).await.is_err(),
            "two consents are not combined"
        );
        if origin == ClientOrigin::Operator {
            let silent = request(&registered, &[signed[0], signed[1], ("prompt", "none")]);
            let answered = begin_authorization(&world.context, as_person, &silent, &browser).await;
            assert!(matches!(answered, Ok(Begun::Answered { .. })), "{answered:?}");
        }
    }
}

#[tokio::test]
async fn f_03_a_browsers_consent_is_none_for_a_device() {
    let world = World::new();
    let client = client(&world).await;
    let mut browser = Browser { name: "Firefox on Linux".to_owned(), login: None };
    let mut pending = world.pending(&client, &[("scope", "profile")]).await;
    world.remember(&mut browser, &mut pending, "toy-ann").await;
    let scope = Some("profile".to_owned());
    let asks = DeviceAsks { credentials: client.credentials(), scope, resources: Vec::new() };
    let device = begin_device(&world.context, asks.clone()).await.unwrap();
    let mut pending = find_device(&world.context, &device.user_code.to_string()).await.unwrap().unwrap();
    let wishes = ContinueWishes::default();
    let refused = continue_session(&world.context, &PERSON, &pending, &browser, wishes).await.unwrap_err();
    assert!(matches!(refused, ContinueSessionError::ConsentMissing), "{refused:?}");
    world.remember(&mut browser, &mut pending, "toy-ann").await;
    let device = begin_device(&world.context, asks).await.unwrap();
    let pending = find_device(&world.context, &device.user_code.to_string()).await.unwrap().unwrap();
    assert!(
        continue_session(&world.context, &PERSON, &pending, &browser, wishes).await.is_ok(),
        "devices are one place"
    );
}

#[tokio::test]
async fn f_09_userinfo_takes_tokens_that_are_for_this_server() {
    let world = World::new();
    let client = client(&world).await;
    let cases: [(&[(&str, &str)], bool); 4] = [
        (&[("scope", "profile")], true),
        (&[("scope", "profile"), ("resource", A)], false),
        (&[("scope", "openid profile"), ("resource", A)], true),
        (&[("scope", "openid profile")], true),
    ];
    for (asked, opens) in cases {
        let code = world.code(&client, "toy-ann", asked).await;
        let tokens = world.exchange(&client, &code).await.unwrap();
        match world.user_info(&tokens).await {
            Ok(_) => assert!(opens, "{asked:?}"),
            Err(ReadUserInfoError::TokenInvalid) => assert!(!opens, "{asked:?}"),
            Err(error) => panic!("{error:?}"),
        }
    }
    // This is how MCP clients that speak OpenID Connect do it: they name the resource in both requests.
    let code = world.code(&client, "toy-ann", &[("scope", "openid profile"), ("resource", A)]).await;
    let tokens = exchange_code(&world.context, as_client, exchange(&client, &code, &[A])).await.unwrap();
    assert_eq!(audience(&world, &tokens), [A, ISSUER]);
    assert!(world.user_info(&tokens).await.is_ok());
}
