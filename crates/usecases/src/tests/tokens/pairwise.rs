//! Pairwise clients: nothing that one sector receives can be matched with what another one receives.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::email::EmailAddress;
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use serde_json::{Value, json};
use time::Duration;

use crate::Refuse;
use crate::TokenAnswer;
use crate::clients::change_client::change_client;
use crate::clients::register_client::register_client;
use crate::clients::update_client::update_client;
use crate::sign_in::begin_authorization::{BeginAuthorizationError, begin_authorization};
use crate::sign_in::continue_session::{ContinueWishes, continue_session};
use crate::sign_in::sign_out::{SignOutRequest, SignOutStep, judge_sign_out, sign_out};
use crate::steps::login::Browser;
use crate::steps::notify_logout::notify_logout;
use crate::tests::world::{
    CLIENT, PERSON, REDIRECT_URI, TestClient, World, as_person, code_of, parameter, request,
};
use crate::tokens::introspect_token::introspect_token;

const PHOTOS: &str = "https://photos.example/sector.json";
const PICS: &str = "https://pics.example/sector.json";

fn pairwise(sector: Option<&str>) -> RequestedMetadata {
    let mut requested = RequestedMetadata {
        client_name: Some("Photos".to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        scopes: Some(["openid", "profile", "email", "offline_access"].map(str::to_owned).to_vec()),
        backchannel_logout_uri: sector.map(|_| "https://photos.example/logged-out".to_owned()),
        ..RequestedMetadata::default()
    };
    requested.display.subject_type = Some("pairwise".to_owned());
    requested.display.sector_identifier_uri = sector.map(str::to_owned);
    requested
}

/// A world in which two hosts vouch for the same redirect URI.
fn world() -> World {
    let world = World::new();
    for sector in [PHOTOS, PICS] {
        world.outside.put(sector, &json!(["https://other.example/", REDIRECT_URI]).to_string());
    }
    world
}

async fn client_in(world: &World, sector: Option<&str>) -> TestClient {
    world.register_by(pairwise(sector), ClientOrigin::Operator).await
}

async fn stored(world: &World, client: &TestClient) -> Client {
    world.context.clients.find_fresh(ClientId::named(&client.id).unwrap()).await.unwrap().unwrap()
}

fn claims(token: &Secret) -> Value {
    let payload = token.expose().split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

async fn sub(world: &World, client: &TestClient, who: &str) -> String {
    let code = world.code(client, who, &[("scope", "openid")]).await;
    let tokens = world.exchange(client, &code).await.unwrap();
    claims(tokens.id_token.as_ref().unwrap())["sub"].as_str().unwrap().to_owned()
}

/// All values of an answer that are long enough to say something.
fn values(of: &Value, into: &mut BTreeSet<String>) {
    match of {
        Value::String(text) => {
            into.extend(text.split([' ', '/', '@', '.']).filter(|part| part.len() >= 4).map(str::to_owned));
        }
        Value::Number(number) => {
            into.insert(number.to_string());
        }
        Value::Array(list) => list.iter().for_each(|value| values(value, into)),
        Value::Object(object) => object.values().for_each(|value| values(value, into)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Everything that a client receives about a user of a remembered sign-in, and about the end of it.
async fn received(world: &World, client: &TestClient, browser: &Browser) -> (TokenAnswer, BTreeSet<String>) {
    let state = world.context.clock.now().to_string();
    let pending = world.pending(client, &[("scope", "openid"), ("state", &state)]).await;
    let wishes = ContinueWishes::default();
    let to = continue_session(&world.context, &PERSON, &pending, browser, wishes).await.unwrap().to;
    let tokens = world.exchange(client, &code_of(&to.address())).await.unwrap();
    let tokens = world.refresh(client, &tokens).await.unwrap();
    let info = world.user_info(&tokens).await.unwrap();
    let mut seen = BTreeSet::new();
    for token in [tokens.id_token.as_ref().unwrap(), &tokens.access_token] {
        values(&claims(token), &mut seen);
    }
    let picture = info.picture.clone().unwrap_or_default();
    values(&json!([info.subject.to_string(), info.preferred_username, info.name, picture]), &mut seen);
    assert_eq!((&info.address, &info.wallet_address, &info.wallet_account), (&None, &None, &None));
    for token in [&tokens.access_token, tokens.refresh_token.as_ref().unwrap()] {
        let facts = introspect_token(&world.context, &client.credentials(), token).await.unwrap().unwrap();
        assert_eq!(facts.subject.to_string(), info.subject.to_string());
        values(&json!([facts.subject.to_string(), facts.id.to_string()]), &mut seen);
    }
    (tokens, seen)
}

#[tokio::test]
async fn two_sectors_receive_nothing_in_common_about_a_user() {
    let world = world();
    let (photos, pics) = (client_in(&world, Some(PHOTOS)).await, client_in(&world, Some(PICS)).await);
    let mut all: BTreeMap<String, HashSet<(usize, usize)>> = BTreeMap::new();
    for user in 0..40 {
        let (who, mut browser) = (format!("toy-{user}-of-many"), Browser::default());
        for client in [&photos, &pics] {
            let mut pending = world.pending(client, &[("scope", "openid")]).await;
            world.remember(&mut browser, &mut pending, &who).await;
        }
        for (number, client) in [&photos, &pics].into_iter().enumerate() {
            world.advance(Duration::seconds(7));
            let (tokens, seen) = received(&world, client, &browser).await;
            assert!(claims(tokens.id_token.as_ref().unwrap())["sid"].is_string());
            assert!(
                claims(&tokens.access_token)["auth_time"].is_null(),
                "the time of the sign-in is the same"
            );
            for value in seen {
                all.entry(value).or_default().insert((number, user));
            }
        }
        let notices = sign_out(&world.context, &PERSON, &browser).await.unwrap();
        assert_eq!(notices.len(), 2);
        for notice in notices {
            world.advance(Duration::seconds(7));
            let number = usize::from(notice.client.to_string() == pics.id);
            notify_logout(world.context.notifier(), notice).await.unwrap();
            let (_, form) = world.outside.posted().pop().unwrap();
            let mut seen = BTreeSet::new();
            values(&claims(&Secret::new(form[0].1.clone())), &mut seen);
            for value in seen {
                all.entry(value).or_default().insert((number, user));
            }
        }
    }
    for (value, places) in &all {
        let (clients, users): (HashSet<_>, HashSet<_>) = places.iter().copied().unzip();
        assert!(clients.len() == 1 || users.len() > 1, "{value} is about one user, at both clients");
    }
    let about_one = all.values().filter(|places| places.len() == 1).count();
    assert!(about_one > 400, "{about_one}: the test sees what is about a user");
}

#[tokio::test]
async fn ten_thousand_users_have_nothing_in_common_in_two_sectors() {
    let world = world();
    let (photos, pics) = (client_in(&world, Some(PHOTOS)).await, client_in(&world, Some(PICS)).await);
    let keys = &world.context.keys;
    let known: Vec<_> = [stored(&world, &photos).await, stored(&world, &pics).await]
        .iter()
        .map(|client| keys.pairwise.known_to(client))
        .collect();
    let mut seen = HashSet::new();
    for number in 0..10_000_u128 {
        // As alike as ids can be.
        let user = UserId::random(number.to_be_bytes());
        let subjects = known.iter().map(|known_as| {
            let subject = known_as.subject(user);
            assert_eq!(known_as.user(subject), user);
            subject
        });
        for subject in subjects.chain([user.as_public()]) {
            let picture = keys.pictures.name_of(subject).to_string();
            for value in [subject.to_string(), picture, EmailAddress::synthetic(subject).to_string()] {
                assert!(seen.insert(value));
            }
        }
    }
}

#[tokio::test]
async fn one_sector_knows_a_user_by_one_sub_and_every_other_by_another() {
    let world = world();
    let photos = client_in(&world, Some(PHOTOS)).await;
    let beside = client_in(&world, Some(PHOTOS)).await;
    // Its redirect URI is on that host, so it needs no list.
    let by_host = client_in(&world, None).await;
    let pics = client_in(&world, Some(PICS)).await;
    let mut public = pairwise(None);
    public.display.subject_type = None;
    let public = world.register_by(public, ClientOrigin::Operator).await;
    for who in ["toy-ann", "toy-bob"] {
        let known = sub(&world, &photos, who).await;
        assert_eq!(
            (sub(&world, &beside, who).await, sub(&world, &by_host, who).await),
            (known.clone(), known.clone())
        );
        assert_eq!(sub(&world, &photos, who).await, known, "at every sign-in");
        let (other, public) = (sub(&world, &pics, who).await, sub(&world, &public, who).await);
        assert_eq!(HashSet::from([known, other, public]).len(), 3);
    }
}

#[tokio::test]
async fn an_application_without_a_host_is_a_sector_of_its_own() {
    let world = world();
    let mut native = pairwise(None);
    native.redirect_uris = Some(vec!["com.example.photos:/cb".to_owned(), "http://127.0.0.1/cb".to_owned()]);
    native.token_endpoint_auth_method = Some("none".to_owned());
    let known = |client: Client| {
        let user = UserId::random([7; 16]);
        world.context.keys.pairwise.known_to(&client).subject(user)
    };
    let one = world.register(native.clone()).await;
    let other = world.register(native).await;
    assert_ne!(known(stored(&world, &one).await), known(stored(&world, &other).await));
}

/// The error that the client gets.
async fn refusal(world: &World, client: &TestClient, more: &[(&str, &str)]) -> String {
    match begin_authorization(&world.context, as_person, &request(client, more), &Browser::default()).await {
        Err(BeginAuthorizationError::Redirect { to, .. }) => parameter(&to.address(), "error").unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_client_names_users_by_its_own_ids_for_them() {
    let world = world();
    let (photos, pics) = (client_in(&world, Some(PHOTOS)).await, client_in(&world, Some(PICS)).await);
    let tokens = async |client: &TestClient, who: &str| {
        let code = world.code(client, who, &[("scope", "openid")]).await;
        world.exchange(client, &code).await.unwrap()
    };
    let (here, there) = (tokens(&photos, "toy-ann").await, tokens(&pics, "toy-ann").await);
    let [mine, foreign] = [&here, &there].map(|tokens| tokens.id_token.clone().unwrap());
    let named = |token: &Secret| format!(r#"{{"id_token":{{"sub":{{"value":{}}}}}}}"#, claims(token)["sub"]);
    for (name, value, is_understood) in [
        ("id_token_hint", mine.expose().to_owned(), true),
        ("claims", named(&mine), true),
        ("id_token_hint", foreign.expose().to_owned(), false),
        ("claims", named(&foreign), false),
    ] {
        let asked = [("scope", "openid"), (name, value.as_str())];
        for (who, is_meant) in [("toy-ann", true), ("toy-bob", false)] {
            let to = world.sign_in(&mut world.pending(&photos, &asked).await, who).await.unwrap();
            let error = parameter(&to, "error");
            assert_eq!(error.is_none(), is_meant && is_understood, "{name} {who}: {error:?}");
            assert!(error.is_none_or(|error| error == "login_required"));
        }
    }
    assert_eq!(
        refusal(&world, &photos, &[("claims", r#"{"id_token":{"sub":{"value":"toy-ann"}}}"#)]).await,
        "login_required"
    );
}

#[tokio::test]
async fn a_hint_signs_out_whom_its_client_means() {
    let world = world();
    let photos = client_in(&world, Some(PHOTOS)).await;
    let mut browser = Browser::default();
    let mut pending = world.pending(&photos, &[("scope", "openid")]).await;
    let to = world.remember(&mut browser, &mut pending, "toy-ann").await;
    let ann = world.exchange(&photos, &code_of(&to)).await.unwrap();
    let code = world.code(&photos, "toy-bob", &[("scope", "openid")]).await;
    let bob = world.exchange(&photos, &code).await.unwrap();
    let at_once = async |tokens: &TokenAnswer| {
        let request = SignOutRequest { id_token_hint: tokens.id_token.clone(), ..SignOutRequest::default() };
        let judged = judge_sign_out(&world.context, &request, &browser).await.unwrap();
        matches!(judged.step, SignOutStep::AtOnce)
    };
    assert!(at_once(&ann).await && !at_once(&bob).await);
}

#[tokio::test]
async fn the_time_of_the_sign_in_is_sent_to_a_pairwise_client_that_asks_for_it() {
    let world = world();
    let client = client_in(&world, Some(PHOTOS)).await;
    let essential = r#"{"id_token":{"auth_time":{"essential":true}}}"#;
    let optional = r#"{"id_token":{"auth_time":null}}"#;
    for (more, is_sent) in [
        (None, false),
        (Some(("max_age", "3600")), true),
        (Some(("claims", essential)), true),
        (Some(("claims", optional)), false),
        (Some(("prompt", "login")), false),
    ] {
        let asked: Vec<_> = [("scope", "openid")].into_iter().chain(more).collect();
        let code = world.code(&client, "toy-ann", &asked).await;
        let tokens = world.exchange(&client, &code).await.unwrap();
        let refreshed = world.refresh(&client, &tokens).await.unwrap();
        for tokens in [tokens, refreshed] {
            let (id, access) = (claims(tokens.id_token.as_ref().unwrap()), claims(&tokens.access_token));
            assert_eq!(
                (id["auth_time"].is_i64(), access["auth_time"].is_i64()),
                (is_sent, is_sent),
                "{more:?}"
            );
        }
    }
}

/// A token of before keeps its `sub` until it ends, and so does userinfo for it.
#[tokio::test]
async fn an_operator_makes_a_client_pairwise_and_every_later_token_says_so() {
    let world = world();
    let mut public = pairwise(None);
    public.display.subject_type = None;
    let client = world.register_by(public, ClientOrigin::Operator).await;
    let code = world.code(&client, "toy-ann", &[("scope", "openid")]).await;
    let before = world.exchange(&client, &code).await.unwrap();
    let info = world.user_info(&before).await.unwrap();
    change_client(world.context.management(), stored(&world, &client).await, pairwise(None)).await.unwrap();
    assert_eq!(world.user_info(&before).await.unwrap().subject, info.subject);
    let after = world.refresh(&client, &before).await.unwrap();
    let known = world.user_info(&after).await.unwrap();
    assert_ne!(known.subject, info.subject);
    assert_ne!(known.preferred_username, info.preferred_username);
    assert_eq!(claims(after.id_token.as_ref().unwrap())["sub"], json!(known.subject.to_string()));
}

#[tokio::test]
async fn a_list_that_does_not_vouch_for_the_client_is_named_in_the_error() {
    let world = world();
    let (html, lacking, mixed) = ("https://a.example/", "https://b.example/", "https://c.example/");
    world.outside.put(html, "<!doctype html><title>Photos</title>");
    world.outside.put(lacking, r#"["https://photos.example/other"]"#);
    world.outside.put(mixed, &json!([REDIRECT_URI, 7]).to_string());
    let an_array = "sector_identifier_uri must return a JSON array of strings";
    for (sector, shown) in [
        (html, an_array),
        (mixed, an_array),
        (lacking, "sector_identifier_uri returns a list without redirect_uris[0]"),
        (
            "https://nowhere.example/",
            "sector_identifier_uri cannot be fetched: it must answer at a public https address, in time, and with 64 KiB \
             at most",
        ),
        (
            "http://photos.example/sector.json",
            "sector_identifier_uri must be an https address, or http on a loopback host",
        ),
    ] {
        for origin in [ClientOrigin::Operator, ClientOrigin::SelfRegistered] {
            let mut requested = pairwise(Some(sector));
            requested.backchannel_logout_uri = None;
            let refused = register_client(world.context.management(), requested, origin).await.unwrap_err();
            let refusal = refused.refusal();
            assert_eq!(
                (refusal.code.name(), &*refusal.description),
                ("invalid_client_metadata", shown),
                "{sector} {origin:?}"
            );
        }
    }
}

/// The host is asked when a client registers, and when what it vouches for changes.
#[tokio::test]
async fn the_list_is_fetched_again_only_when_it_matters() {
    let world = world();
    let client = client_in(&world, Some(PHOTOS)).await;
    let times = || world.outside.asked().len();
    assert_eq!(times(), 1);
    let change = async |change: fn(&mut RequestedMetadata)| {
        let mut requested = pairwise(Some(PHOTOS));
        change(&mut requested);
        let before = stored(&world, &client).await;
        change_client(world.context.management(), before, requested).await
    };
    change(|requested| requested.client_name = Some("Pictures".to_owned())).await.unwrap();
    assert_eq!(times(), 1);
    let refused =
        change(|requested| requested.redirect_uris = Some(vec!["https://photos.example/2".to_owned()]));
    assert!(refused.await.is_err() && times() > 1);
}

#[tokio::test]
async fn a_sector_changes_only_on_purpose_and_nobody_but_an_operator_makes_a_client_public_again() {
    let world = world();
    let elsewhere = |requested: &mut RequestedMetadata| {
        requested.redirect_uris = Some(vec!["https://pics.example/cb".to_owned()]);
    };
    let client = client_in(&world, None).await;
    let mut moved = pairwise(None);
    elsewhere(&mut moved);
    let refused =
        change_client(world.context.management(), stored(&world, &client).await, moved.clone()).await;
    assert!(refused.unwrap_err().to_string().starts_with("redirect_uris would move"));
    let mut public = pairwise(None);
    public.display.subject_type = None;
    change_client(world.context.management(), stored(&world, &client).await, public.clone()).await.unwrap();

    let own = world.register(pairwise(None)).await;
    let token = &own.registration_token;
    for (requested, shown) in
        [(moved, "redirect_uris would move"), (public, "subject_type must stay pairwise")]
    {
        let refused =
            update_client(&world.context, &CLIENT, &own.id, token, None, requested).await.unwrap_err();
        assert!(refused.refusal().description.starts_with(shown), "{refused:?}");
    }
    // An operator's client changes nothing about it by itself.
    let given = client_in(&world, None).await;
    let mut public = pairwise(None);
    public.display.subject_type = Some("public".to_owned());
    let update =
        update_client(&world.context, &CLIENT, &given.id, &given.registration_token, None, public).await;
    assert!(update.unwrap_err().refusal().description.starts_with("subject_type belongs to the operator"));
}
