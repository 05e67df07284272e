use countersign_domain::client::ClientOrigin;
use countersign_domain::error::Reason;
use countersign_domain::public_url::PublicUrl;

use crate::Refuse;
use crate::sign_in::begin_authorization::{BeginAuthorizationError, begin_authorization};
use crate::sign_in::deny_authorization::deny_authorization;
use crate::steps::login::Browser;
use crate::tests::world::{CHALLENGE, REDIRECT_URI, TestClient, World, as_person, parameter, request};

async fn refusal(
    world: &World,
    parameters: &countersign_domain::parameters::Parameters,
) -> (Option<String>, String) {
    let error =
        begin_authorization(&world.context, as_person, parameters, &Browser::default()).await.unwrap_err();
    let name = error.refusal().code.name().to_owned();
    match error {
        BeginAuthorizationError::Redirect { to, .. } => (Some(to.address()), name),
        BeginAuthorizationError::ShowPage(_)
        | BeginAuthorizationError::Document(_)
        | BeginAuthorizationError::Store(_) => (None, name),
    }
}

#[tokio::test]
async fn a_023_a_024_nothing_is_redirected_before_client_and_redirect_uri_are_proven() {
    let world = World::new();
    let client = world.client().await;
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[("client_id", "5b0e7d2c-0d7e-4a53-9a43-8f1d8b0b6f10")], "invalid_client"),
        (&[("client_id", "x")], "invalid_client"),
        (&[("client_id", "")], "invalid_client"),
        (&[("redirect_uri", "https://evil.example/cb")], "invalid_request"),
        (&[("redirect_uri", "")], "invalid_request"),
        (&[("redirect_uri", REDIRECT_URI), ("redirect_uri", "https://evil.example/cb")], "invalid_request"),
    ];
    for (more, code) in cases {
        assert_eq!(refusal(&world, &request(&client, more)).await, (None, code.to_owned()), "{more:?}");
    }
}

/// what is registered is told to the developers of the operator's own clients and to those who
/// work on this machine, and to nobody about a client that a stranger registered.
#[tokio::test]
async fn a_redirect_uri_that_is_not_registered_is_explained_for_the_operators_own_clients_and_on_loopback() {
    let mut world = World::new();
    let (own, strangers) =
        (world.client_by(ClientOrigin::Operator).await, world.client_by(ClientOrigin::SelfRegistered).await);
    let told = async |world: &World, client: &TestClient, sent: &str| {
        let asked = request(client, &[("redirect_uri", sent)]);
        let error =
            begin_authorization(&world.context, as_person, &asked, &Browser::default()).await.unwrap_err();
        let refusal = error.refusal();
        assert_eq!((refusal.code.name(), refusal.reason), ("invalid_request", Some(Reason::RedirectUri)));
        refusal.description.into_owned()
    };
    let slash = format!("{REDIRECT_URI}/");
    let explained = format!(
        "Invalid redirect_uri: {slash} is not registered (the slash at the end differs); registered: {REDIRECT_URI}"
    );
    assert_eq!(told(&world, &own, &slash).await, explained);
    assert_eq!(told(&world, &strangers, &slash).await, "Invalid redirect_uri");
    assert_eq!(told(&world, &strangers, "").await, "Invalid redirect_uri");
    let markup = told(&world, &own, "https://photos.example/<script>").await;
    assert!(!markup.contains('<') && markup.ends_with(&format!("registered: {REDIRECT_URI}")), "{markup}");
    world.context.policy.public_url = PublicUrl::parse("http://localhost:8080").unwrap();
    assert_eq!(told(&world, &strangers, &slash).await, explained);
}

#[tokio::test]
async fn a_026_to_a_034_every_other_refusal_goes_to_the_client_with_state_and_issuer() {
    let world = World::new();
    let client = world.client().await;
    let cases: [(&[(&str, &str)], &str); 17] = [
        (&[("response_type", "")], "invalid_request"),
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("response_type", "code id_token")], "unsupported_response_type"),
        (&[("scope", "")], "invalid_scope"),
        (&[("scope", "admin")], "invalid_scope"),
        (&[("scope", "openid")], "invalid_scope"),
        (&[("scope", "profile"), ("scope", "email")], "invalid_request"),
        (&[("code_challenge", CHALLENGE)], "invalid_request"),
        (&[("code_challenge", CHALLENGE), ("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "S256")], "invalid_request"),
        (&[("request", "x")], "request_not_supported"),
        (&[("request_uri", "https://x.example")], "request_uri_not_supported"),
        (&[("prompt", "none")], "login_required"),
        (&[("prompt", "none login")], "invalid_request"),
        (&[("max_age", "-1")], "invalid_request"),
        (&[("nonce", "a\0b")], "invalid_request"),
        (&[("response_mode", "fragment")], "invalid_request"),
    ];
    for (more, code) in cases {
        let (to, name) = refusal(&world, &request(&client, more)).await;
        let to = to.unwrap();
        assert_eq!(name, code, "{more:?}");
        assert_eq!(parameter(&to, "error").as_deref(), Some(code));
        assert_eq!(parameter(&to, "state").as_deref(), Some("s 1"));
        assert_eq!(parameter(&to, "iss").as_deref(), Some("https://auth.example.com"), "A-042");
        assert!(to.starts_with(REDIRECT_URI));
    }
}

#[tokio::test]
async fn a_scope_that_is_refused_is_named_beside_those_that_are_not() {
    let world = World::new();
    let client = world.client_by(ClientOrigin::Operator).await;
    let known = "it knows openid profile email offline_access wallets wallet_proof groups";
    let unknown = |name: &str| format!("scope holds {name}, which this server does not know; {known}");
    let cases = [
        (
            "openid",
            "scope holds openid, which the client did not register; it registered profile email".to_owned(),
        ),
        (
            "profile wallets openid",
            "scope holds openid wallets, which the client did not register; it registered profile email"
                .to_owned(),
        ),
        ("profile roles", unknown("roles")),
        ("mcp:tools-1", unknown("mcp:tools-1")),
    ];
    for (scope, description) in cases {
        let (to, _) = refusal(&world, &request(&client, &[("scope", scope)])).await;
        assert_eq!(parameter(&to.unwrap(), "error_description"), Some(description), "{scope}");
    }
}

/// Clients show descriptions, and anyone can write a link with a scope of their choice.
#[tokio::test]
async fn a_refusal_repeats_no_scope_that_could_be_markup_or_an_address_or_a_sentence() {
    let world = World::new();
    let client = world.client_by(ClientOrigin::Operator).await;
    let long = "x".repeat(41);
    for scope in [
        "<b>call</b>",
        "https://evil.example/",
        "evil.example",
        "call+49-30",
        "caf\u{e9}",
        "a\tb",
        "'",
        "\"",
        &long,
    ] {
        let (to, _) = refusal(&world, &request(&client, &[("scope", scope)])).await;
        let told = parameter(&to.unwrap(), "error_description").unwrap();
        assert!(
            told.starts_with("scope holds a value, which this server does not know; "),
            "{scope}: {told}"
        );
    }
}

#[tokio::test]
async fn a_028_state_and_scope_may_be_missing_with_an_s256_challenge_only() {
    let world = World::new();
    let client = world.client().await;
    let (_, name) = refusal(&world, &request(&client, &[("state", "")])).await;
    assert_eq!(name, "invalid_request");
    let pkce =
        [("state", ""), ("scope", ""), ("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    let pending = world.pending(&client, &pkce).await;
    assert_eq!(pending.client_request().unwrap().state, None);
    assert_eq!(pending.scope().to_string(), "profile email");
}

#[tokio::test]
async fn a_032_a_public_client_must_use_pkce() {
    let world = World::new();
    let client = world.public_client().await;
    let (_, name) = refusal(&world, &request(&client, &[])).await;
    assert_eq!(name, "invalid_request");
    world.pending(&client, &[("code_challenge", CHALLENGE), ("code_challenge_method", "S256")]).await;
}

#[tokio::test]
async fn a_035_unknown_and_advisory_parameters_change_nothing() {
    let world = World::new();
    let client = world.client().await;
    let plain = world.pending(&client, &[]).await;
    let decorated = [("display", "popup"), ("claims_locales", "x"), ("acr_values", "y"), ("foo", "bar")];
    assert_eq!(world.pending(&client, &decorated).await, plain);
}

#[tokio::test]
async fn a_043_a_denied_request_tells_the_client() {
    let world = World::new();
    let client = world.client().await;
    let pending = world.pending(&client, &[]).await;
    let to = deny_authorization(&world.context, &pending).await.unwrap().address();
    assert_eq!(parameter(&to, "error").as_deref(), Some("access_denied"));
    assert_eq!(parameter(&to, "state").as_deref(), Some("s 1"));
    assert_eq!(parameter(&to, "iss").as_deref(), Some("https://auth.example.com"));
}
