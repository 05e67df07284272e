//! Clients have lifetimes of their own, which only operators give, and which can be shortened afterwards.

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::id::ClientId;
use countersign_domain::lifetimes::Longest;
use countersign_domain::refresh::RefreshRejected;
use countersign_domain::registration::RequestedMetadata;
use time::Duration;

use crate::clients::change_client::change_client;
use crate::clients::update_client::update_client;
use crate::tests::world::{CLIENT, REDIRECT_URI, TestClient, World};
use crate::tokens::introspect_token::introspect_token;
use crate::tokens::refresh_tokens::RefreshTokensError;

/// A registration with these lifetimes.
fn lasting(access: Option<u32>, refresh: Option<u32>, idle: Option<u32>) -> RequestedMetadata {
    let mut requested = RequestedMetadata {
        client_name: Some("Photos".to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        scopes: Some(["openid", "profile", "email", "offline_access"].map(str::to_owned).to_vec()),
        ..RequestedMetadata::default()
    };
    requested.display.access_token_ttl = access;
    requested.display.refresh_token_ttl = refresh;
    requested.display.refresh_token_idle_ttl = idle;
    requested
}

async fn stored(world: &World, client: &TestClient) -> Client {
    world.context.clients.find_fresh(ClientId::named(&client.id).unwrap()).await.unwrap().unwrap()
}

async fn give(world: &World, client: &TestClient, lifetimes: RequestedMetadata) {
    let before = stored(world, client).await;
    change_client(world.context.management(), before, lifetimes).await.unwrap();
}

fn is_expired(error: &RefreshTokensError) -> bool {
    matches!(error, RefreshTokensError::Rejected { why: RefreshRejected::Expired, .. })
}

const DAY: u32 = 86_400;

#[tokio::test]
async fn each_client_has_its_own_lifetimes_or_those_of_the_settings() {
    let world = World::new();
    let usual = world.register_by(lasting(None, None, None), ClientOrigin::Operator).await;
    let short = world.register_by(lasting(Some(300), Some(DAY), Some(3_600)), ClientOrigin::Operator).await;
    let long = world.register_by(lasting(Some(DAY), None, Some(90 * DAY)), ClientOrigin::Operator).await;
    for (client, access, idle) in [(&usual, 3_600, 30 * DAY), (&short, 300, 3_600), (&long, DAY, 90 * DAY)] {
        let tokens = world.tokens(client, "toy-ann").await;
        assert_eq!(tokens.expires_in, i64::from(access));
        for (token, lasts) in [(&tokens.access_token, access), (tokens.refresh_token.as_ref().unwrap(), idle)]
        {
            let facts =
                introspect_token(&world.context, &client.credentials(), token).await.unwrap().unwrap();
            assert_eq!(facts.expires_at - facts.issued_at, Duration::seconds(lasts.into()));
        }
    }
    // However often it refreshes.
    let mut tokens = world.tokens(&short, "toy-ann").await;
    for _ in 0..47 {
        world.advance(Duration::minutes(30));
        tokens = world.refresh(&short, &tokens).await.unwrap();
    }
    world.advance(Duration::minutes(30));
    assert!(is_expired(&world.refresh(&short, &tokens).await.unwrap_err()), "a day after the sign-in");
}

#[tokio::test]
async fn a_shortening_counts_at_once_where_the_server_is_asked_and_at_the_next_refresh() {
    let world = World::new();
    let client = world.register_by(lasting(None, None, None), ClientOrigin::Operator).await;
    let tokens = world.tokens(&client, "toy-ann").await;
    let kept = world.tokens(&client, "toy-ben").await;
    world.advance(Duration::minutes(10));
    assert!(world.is_alive(&tokens).await);
    let ask = async |token| introspect_token(&world.context, &client.credentials(), token).await.unwrap();

    give(&world, &client, lasting(Some(900), None, Some(1_200))).await;
    assert!(world.is_alive(&tokens).await, "it is ten minutes old");
    let facts = ask(&tokens.access_token).await.unwrap();
    assert_eq!(facts.expires_at - facts.issued_at, Duration::minutes(15), "it says when it ends now");
    give(&world, &client, lasting(Some(300), None, Some(1_200))).await;
    assert!(!world.is_alive(&tokens).await);
    assert!(ask(&tokens.access_token).await.is_none());
    let refreshed = world.refresh(&client, &tokens).await.unwrap();
    assert_eq!(refreshed.expires_in, 300);
    assert!(world.is_alive(&refreshed).await);

    world.advance(Duration::minutes(10));
    assert!(is_expired(&world.refresh(&client, &kept).await.unwrap_err()));
    assert!(ask(kept.refresh_token.as_ref().unwrap()).await.is_none());
    // The other was refreshed ten minutes ago. Then a sign-in counts for five minutes.
    give(&world, &client, lasting(Some(300), Some(300), None)).await;
    assert!(is_expired(&world.refresh(&client, &refreshed).await.unwrap_err()));
}

#[tokio::test]
async fn a_lifetime_is_within_its_bounds() {
    let mut world = World::new();
    for (access, refresh, idle, field) in [
        (Some(59), None, None, "access_token_ttl takes 60 to 86400 seconds"),
        (Some(DAY + 1), None, None, "access_token_ttl takes 60 to 86400 seconds"),
        (None, Some(0), None, "refresh_token_ttl takes 60 to 31536000 seconds"),
        (None, None, Some(u32::MAX), "refresh_token_idle_ttl takes 60 to 31536000 seconds"),
    ] {
        let client = world.register_by(lasting(None, None, None), ClientOrigin::Operator).await;
        let before = stored(&world, &client).await;
        let refused = change_client(world.context.management(), before, lasting(access, refresh, idle))
            .await
            .unwrap_err();
        assert!(refused.to_string().contains(field), "{refused}");
    }
    // Who lowers the bounds lowers what clients have already.
    let client = world.register_by(lasting(Some(DAY), Some(30 * DAY), None), ClientOrigin::Operator).await;
    world.context.policy.lifetimes.longest =
        Longest { access_token: Duration::hours(2), refresh_token: Duration::days(7) };
    let tokens = world.tokens(&client, "toy-ann").await;
    assert_eq!(tokens.expires_in, 7_200);
    world.advance(Duration::days(7));
    assert!(is_expired(&world.refresh(&client, &tokens).await.unwrap_err()));
}

/// No client decides how long it goes on without its user.
#[tokio::test]
async fn only_operators_give_lifetimes() {
    let world = World::new();
    let own = world.register_by(lasting(Some(DAY), Some(DAY), Some(DAY)), ClientOrigin::SelfRegistered).await;
    assert_eq!(world.tokens(&own, "toy-ann").await.expires_in, 3_600);
    let given = world.register_by(lasting(Some(300), None, None), ClientOrigin::Operator).await;
    give(&world, &own, lasting(Some(300), None, None)).await;
    for client in [&own, &given] {
        for said in [lasting(Some(DAY), None, None), lasting(None, None, None), lasting(Some(1), None, None)]
        {
            let token = &client.registration_token;
            update_client(&world.context, &CLIENT, &client.id, token, None, said).await.unwrap();
            assert_eq!(world.tokens(client, "toy-ann").await.expires_in, 300);
        }
    }
}
