//! Events tell who asked, from which network, and by which request.

use actix_web::test::TestRequest;
use countersign_domain::event::Event;
use countersign_ports::EventStore;
use serde_json::json;
use url::Url;

use crate::site::{Answer, Browser, From, Kind, Site, sign};

/// The request with this id, from an address of the network 203.0.113.0/24. It claims to come from elsewhere.
fn asked(request: TestRequest, id: &str) -> TestRequest {
    let peer = "203.0.113.77:4711".parse().unwrap();
    request
        .peer_addr(peer)
        .insert_header(("X-Request-Id", id.to_owned()))
        .insert_header(("X-Forwarded-For", "198.51.100.9"))
}

async fn events(site: &Site) -> Vec<Event> {
    site.storage.fresh_events(1_000).await.unwrap()
}

/// What the event of this request tells: kind, actor, address.
async fn told(site: &Site, id: &str) -> Vec<(&'static str, String, Option<String>)> {
    let events = events(site).await.into_iter().filter(|event| event.request.as_deref() == Some(id));
    let tell = |event: Event| {
        (event.kind.name(), event.actor.to_string(), event.address.map(|address| address.to_string()))
    };
    events.map(tell).collect()
}

fn by(kind: &'static str, actor: &str) -> Vec<(&'static str, String, Option<String>)> {
    vec![(kind, actor.to_owned(), Some("203.0.113.0/24".to_owned()))]
}

fn of_form(path: &str, form: &[(&str, &str)]) -> TestRequest {
    TestRequest::post().uri(path).set_form(form)
}

/// Signs in, and returns the code.
async fn sign_in(site: &Site, client_id: &str, uri: &str, id: &str) -> String {
    let query = format!(
        "/oauth/authorize?client_id={client_id}&redirect_uri={uri}&response_type=code&scope=profile&state=s1"
    );
    let mut browser = Browser::default();
    browser.open(site, &query).await;
    let mut body = json!({
        "wallet_address": "toy-annabella-7", "client_id": client_id, "redirect_uri": uri, "state": "s1",
    });
    let ask = TestRequest::post().uri("/oauth/challenge").set_json(&body);
    let issued = browser.send(site, ask, From::Ours).await.json();
    let text = issued["challenge"].as_str().unwrap().to_owned();
    body["signature"] = json!(sign("toy-annabella-7", &text));
    body["challenge"] = json!(text);
    let login = asked(TestRequest::post().uri("/oauth/login").set_json(&body), id);
    let to = browser.send(site, login, From::Ours).await.location.unwrap();
    let to = Url::parse(&to).unwrap();
    to.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
}

#[actix_web::test]
async fn an_event_names_who_asked_the_request_and_the_network_that_no_header_can_change() {
    let site = Site::new().await;
    let client = site.clients.iter().find(|client| client.kind == Kind::Confidential).unwrap().clone();
    let (uri, secret) = (&client.uris[0], client.secret.as_deref().unwrap());
    let code = sign_in(&site, &client.id, uri, "login-1").await;
    assert_eq!(told(&site, "login-1").await, by("sign_in", "person"));

    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", uri),
        ("client_id", &client.id),
        ("client_secret", secret),
    ];
    let before = events(&site).await.len();
    let exchange = |id: &str| asked(of_form("/oauth/token", &form), id);
    let tokens: Answer = site.send(exchange("exchange-1")).await;
    assert_eq!(tokens.status, 200, "{}", tokens.body);
    let access_token = tokens.json()["access_token"].as_str().unwrap().to_owned();
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.json()["refresh_token"].as_str().unwrap()),
        ("client_id", &client.id),
        ("client_secret", secret),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    assert_eq!(site.send(TestRequest::post().uri("/oauth/token").set_form(refresh)).await.status, 200);
    assert_eq!(events(&site).await.len(), before, "tokens leave no event");

    let revoke = [("token", access_token.as_str()), ("client_id", &client.id), ("client_secret", secret)];
    assert_eq!(site.send(asked(of_form("/oauth/revoke", &revoke), "revoke-1")).await.status, 200);
    assert_eq!(told(&site, "revoke-1").await, by("grant_revoked", "client"));
    assert_eq!(site.send(exchange("replay-1")).await.status, 400);
    assert_eq!(told(&site, "replay-1").await, by("grant_revoked", "client"));

    let metadata = json!({ "client_name": "Photos", "redirect_uris": ["https://photos.example/cb"] });
    let register = TestRequest::post().uri("/oauth/clients").set_json(&metadata);
    assert_eq!(site.send(asked(register, "register-1")).await.status, 201);
    assert_eq!(told(&site, "register-1").await, by("client_registered", "client"));
}

#[actix_web::test]
async fn a_request_without_an_id_gets_one_and_its_event_has_it() {
    let site = Site::new().await;
    let client = site.clients.iter().find(|client| client.kind == Kind::Confidential).unwrap().clone();
    sign_in(&site, &client.id, &client.uris[0], "not an id").await;
    let events = events(&site).await;
    let signed_in = events.iter().find(|event| event.kind.name() == "sign_in").unwrap();
    let id = signed_in.request.as_deref().unwrap();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
}
