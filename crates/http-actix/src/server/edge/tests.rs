//! Whom the log names: a person who complains knows the reference on the page, their wallet, the application,
//! or where they were.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::test::TestRequest;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::site::{Browser, From, ISSUER, Kind, Site, sign};

/// Keeps every event as one line of `name=value`.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("countersign")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Lines {
    /// The last line with this message.
    fn last(&self, message: &str) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = lines.iter().rev().find(|line| line.contains(&format!("message={message} ")));
        found.unwrap_or_else(|| panic!("{message} in {lines:?}")).clone()
    }

    fn all(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}

const PEER: &str = "203.0.113.77:4711";
const NETWORK: &str = "address=203.0.113.0/24 ";

fn from_afar(request: TestRequest) -> TestRequest {
    request.peer_addr(PEER.parse().unwrap())
}

#[actix_web::test]
async fn a_complaint_is_found_by_the_client_the_wallet_or_the_network_and_no_line_holds_a_secret() {
    let lines = Lines::default();
    let _logs = tracing::subscriber::set_default(lines.clone());
    let site = Site::new().await;
    let client = site.clients.iter().find(|client| client.kind == Kind::Confidential).unwrap().clone();
    let named = format!("client.id=\"{}\" ", client.id);
    let uri = &client.uris[0];
    let query = |scope: &str| {
        format!(
            "/oauth/authorize?client_id={}&redirect_uri={uri}&response_type=code&scope={scope}&state=s1",
            client.id
        )
    };

    site.send(from_afar(TestRequest::get().uri(&query("admin")))).await;
    let refused = lines.last("authorization refused");
    assert!(refused.contains(&named) && refused.contains(NETWORK), "{refused}");

    let mut browser = Browser::default();
    browser.open(&site, &query("profile")).await;
    let mut body = json!({
        "wallet_address": "toy-annabella-7", "client_id": client.id, "redirect_uri": uri, "state": "s1",
    });
    let ask = TestRequest::post().uri("/oauth/challenge").set_json(&body);
    let issued = browser.send(&site, ask, From::Ours).await.json();
    let text = issued["challenge"].as_str().unwrap().to_owned();
    body["challenge"] = json!(text);
    body["signature"] = json!("a forged signature");
    let login = |body: &serde_json::Value| from_afar(TestRequest::post().uri("/oauth/login").set_json(body));
    assert_eq!(browser.send(&site, login(&body), From::Ours).await.status, 401);
    let refused = lines.last("refused");
    let wallet = "wallet=\"toy-an…la-7\" ";
    assert!(
        [&named, wallet, NETWORK, "another sentence"].iter().all(|part| refused.contains(part)),
        "{refused}"
    );

    let form = [
        ("wallet_address", "toy-annabella-7"),
        ("client_id", &client.id),
        ("redirect_uri", uri),
        ("state", "s1"),
        ("challenge", &text),
        ("signature", "another forged signature"),
    ];
    let by_hand = from_afar(TestRequest::post().uri("/oauth/login"))
        .insert_header(("Accept", "text/html"))
        .insert_header(("X-Request-Id", "ref-of-this-one"))
        .set_form(form);
    let page = browser.send(&site, by_hand, From::Ours).await;
    assert_eq!(page.status, 401);
    assert!(page.body.contains("Reference: <code id=\"request-id\">ref-of-this-one</code>"), "{}", page.body);
    let refused = lines.last("refused");
    assert!(refused.contains(wallet) && !refused.contains("duration_us"), "{refused}");

    let signature = sign("toy-annabella-7", &text);
    body["signature"] = json!(signature);
    let code = browser.send(&site, login(&body), From::Ours).await.location.unwrap();
    let signed_in = lines.last("signed in");
    let named_by_id = format!("client.id={} ", client.id);
    assert!([&*named_by_id, wallet, NETWORK].iter().all(|part| signed_in.contains(part)), "{signed_in}");

    let code = url::Url::parse(&code)
        .unwrap()
        .query_pairs()
        .find(|(name, _)| name == "code")
        .unwrap()
        .1
        .into_owned();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", uri),
        ("client_id", &client.id),
        ("client_secret", "a wrong secret"),
    ];
    site.send(from_afar(TestRequest::post().uri("/oauth/token").set_form(form))).await;
    let refused = lines.last("refused");
    assert!(refused.contains(&named) && refused.contains(NETWORK), "{refused}");

    let all = lines.all();
    let nonce = text.split_once("Nonce: ").unwrap().1.lines().next().unwrap();
    for secret in [nonce, &signature, "forged signature", &code, "a wrong secret", "toy-annabella-7"] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
}

/// Anything can stand in a field: also what should be in another one.
#[actix_web::test]
async fn what_is_neither_a_client_id_nor_a_wallet_is_not_logged() {
    let lines = Lines::default();
    let _logs = tracing::subscriber::set_default(lines.clone());
    let site = Site::new().await;
    let form = [
        ("grant_type", "authorization_code"),
        ("code", "c"),
        ("redirect_uri", "r"),
        ("client_id", "hunter2"),
    ];
    site.send(TestRequest::post().uri("/oauth/token").set_form(form)).await;
    let basic = TestRequest::post()
        .uri("/oauth/revoke")
        .insert_header(("Authorization", "Basic aHVudGVyMjpodW50ZXIy"))
        .set_form([("token", "t")]);
    site.send(basic).await;
    site.send(TestRequest::get().uri("/oauth/authorize?client_id=hunter2")).await;
    let login = json!({
        "wallet_address": "hunter2", "client_id": "hunter2", "redirect_uri": "r", "state": "s", "challenge": "c",
        "signature": "s",
    });
    let request = TestRequest::post().uri("/oauth/login").insert_header(("Origin", ISSUER)).set_json(&login);
    site.send(request).await;
    let all = lines.all();
    assert!(all.contains("message=refused") && !all.contains("hunter2"), "{all}");
}
