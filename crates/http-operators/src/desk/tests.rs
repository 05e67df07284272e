//! The desk as operators and others meet it, over the real routes and the reference store.

mod charts;
mod hidden;
mod pages;
mod signing;
mod texts;

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::cookie::Cookie;
use actix_web::http::Method;
use actix_web::test::TestRequest;
use async_trait::async_trait;
use countersign_domain::desk::operators::{DeskPolicy, Quorum};
use countersign_domain::event::Cause;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::KeyState;
use countersign_domain::wallet::WalletAccount;
use countersign_http_actix::DeskPlace;
use countersign_http_actix::DeskRoutes;
use countersign_ports::{KeyRing, KeyRingError, KeyRotation, ListedKey, RotatedKeys, StoreError};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use url::form_urlencoded;

use super::{PLACES, desk_routes};
use crate::ApplicationSettings;
use crate::Applications;
use crate::DeskSettings;
use crate::site::{Answer, ISSUER, Site, sign};

/// Three keys, which nobody can change.
struct FixedKeys;

#[async_trait]
impl KeyRing for FixedKeys {
    async fn list(&self, now: OffsetDateTime) -> Result<Vec<ListedKey>, StoreError> {
        let states = [KeyState::Active, KeyState::Announced, KeyState::Retired, KeyState::Withdrawn];
        let key = |state: KeyState| ListedKey {
            kid: format!("kid-{}", state.name()),
            algorithm: "RS256".to_owned(),
            state,
            created_at: now,
            active_from: now + Duration::DAY,
            withdrawn_at: (state == KeyState::Withdrawn).then_some(now),
            forget_after: (state == KeyState::Retired).then_some(now + Duration::DAY),
        };
        Ok(states.map(key).to_vec())
    }

    async fn rotate(
        &self,
        _: OffsetDateTime,
        _: &Cause,
        _: KeyRotation,
        _: &[SigningAlgorithm],
    ) -> Result<RotatedKeys, KeyRingError> {
        Ok(RotatedKeys::default())
    }

    async fn withdraw(&self, _: OffsetDateTime, _: &Cause, kid: &str) -> Result<String, KeyRingError> {
        Err(KeyRingError::Unknown(kid.to_owned()))
    }
}

/// Where the clients of these tests are.
const CALLBACK: &str = "https://wiki.example/cb";

struct OneApplication;

impl Applications for OneApplication {
    fn list(&self) -> Vec<(String, String)> {
        vec![("wiki".to_owned(), "Wiki <b>".to_owned())]
    }

    fn registration(&self, name: &str, at: &PublicUrl) -> Option<RequestedMetadata> {
        let uris = vec![at.join("/cb")];
        let metadata = RequestedMetadata {
            client_name: Some("Wiki".to_owned()),
            redirect_uris: Some(uris),
            ..RequestedMetadata::default()
        };
        (name == "wiki").then_some(metadata)
    }

    fn settings(&self, _: &str, at: &PublicUrl, id: &str, secret: &str) -> Option<ApplicationSettings> {
        Some(ApplicationSettings {
            file: "wiki.toml".to_owned(),
            text: format!("{} {id} {secret}", at.as_str()),
        })
    }
}

fn wallet(name: &str) -> WalletAccount {
    crate::site::wallet(&format!("toy-{name}"))
}

pub(crate) fn routes(place: DeskPlace) -> DeskRoutes {
    let warnings = vec!["the setting <b> is doubtful".to_owned()];
    let settings = DeskSettings {
        keys: Arc::new(FixedKeys),
        key_rotation: None,
        warnings,
        applications: Arc::new(OneApplication),
        counter: Arc::default(),
    };
    desk_routes(settings, place)
}

/// F-02: nobody can add a change without saying what carries it.
#[test]
fn f_02_every_place_of_the_desk_that_changes_something_has_a_row_that_says_what_carries_it() {
    const TABLE: &str = include_str!("../../../../docs/what-carries-a-change.md");
    let rows = TABLE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let mut rows: Vec<_> = rows.map(|(row, _)| row).filter(|row| row.contains(" /admin")).collect();
    rows.sort_unstable();
    let changing = PLACES.iter().filter(|place| place.allow == "POST");
    let mut wanted: Vec<_> = changing.map(|place| format!("POST /admin{}", place.path)).collect();
    wanted.sort_unstable();
    assert_eq!(rows, wanted);
}

async fn site(quorum: Quorum) -> Site {
    let admins = vec![wallet("ada"), wallet("bob")];
    let policy = DeskPolicy { admins, group: None, quorum };
    Site::with(ISSUER, Some((policy, routes(DeskPlace::Public)))).await
}

/// A browser, which keeps cookies.
struct Browser<'a> {
    site: &'a Site,
    cookies: BTreeMap<String, String>,
}

impl<'a> Browser<'a> {
    fn new(site: &'a Site) -> Self {
        Self { site, cookies: BTreeMap::new() }
    }

    /// A browser in which the wallet of this name is signed in.
    async fn of(site: &'a Site, name: &str) -> Self {
        let mut this = Self::new(site);
        assert_eq!(this.get("/account").await.status, 302);
        let address = wallet(name).address;
        let asked = json!({ "wallet_address": address });
        let text =
            this.json("/oauth/challenge", &asked).await.json()["challenge"].as_str().unwrap().to_owned();
        let signed = json!({
            "wallet_address": address, "signature": sign(&address, &text), "challenge": text, "remember": true,
            "client_id": "00000000-0000-0000-0000-000000000000", "redirect_uri": format!("{ISSUER}/account"),
        });
        let answer = this.json("/oauth/login", &signed).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        this
    }

    /// Signs in to a client, and returns the answer to the signature.
    async fn sign_in_to(&mut self, client: &str, name: &str) -> Answer {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        let asked = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("response_type", "code"), ("client_id", client), ("redirect_uri", CALLBACK)])
            .extend_pairs([("code_challenge", challenge), ("code_challenge_method", "S256"), ("state", "s")])
            .finish();
        let answer = self.get(&format!("/oauth/authorize?{asked}")).await;
        let to = answer.location.unwrap_or(answer.body);
        assert!(to.starts_with("/auth"), "{to}");
        let address = wallet(name).address;
        let asked = json!({ "wallet_address": address });
        let text = self.json("/oauth/challenge", &asked).await;
        let text = text.json()["challenge"].as_str().unwrap_or_else(|| panic!("{}", text.body)).to_owned();
        let signed = json!({
            "wallet_address": address, "signature": sign(&address, &text), "challenge": text,
            "client_id": client, "redirect_uri": CALLBACK, "state": "s",
        });
        self.json("/oauth/login", &signed).await
    }

    async fn send(&mut self, request: TestRequest) -> Answer {
        let request = self
            .cookies
            .iter()
            .fold(request, |request, (name, value)| request.cookie(Cookie::new(name.clone(), value.clone())));
        let answer = self.site.send(request).await;
        for (name, value) in &answer.cookies {
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.clone(), value.clone());
            }
        }
        answer
    }

    fn asking(method: Method, path: &str) -> TestRequest {
        TestRequest::with_uri(path).method(method).insert_header(("accept", "text/html"))
    }

    async fn get(&mut self, path: &str) -> Answer {
        self.send(Self::asking(Method::GET, path)).await
    }

    /// The body of a page that there is.
    async fn page(&mut self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(Self::asking(Method::POST, path).set_form(fields)).await
    }

    async fn json(&mut self, path: &str, body: &Value) -> Answer {
        self.send(TestRequest::post().uri(path).insert_header(("accept", "application/json")).set_json(body))
            .await
    }

    /// The secret of the desk's forms.
    async fn secret(&mut self) -> String {
        let page = self.page("/admin/wallets").await;
        value_of(&page, "form").unwrap()
    }

    /// Asks for a change, and returns the page with its text.
    async fn begin(&mut self, change: &str, fields: &[(&str, &str)]) -> Answer {
        let secret = self.secret().await;
        let fields: Vec<_> = [("form", secret.as_str()), ("change", change)]
            .into_iter()
            .chain(fields.iter().copied())
            .collect();
        self.post("/admin/changes", &fields).await
    }

    /// Signs the text of a page.
    async fn sign(&mut self, page: &str, name: &str) -> Answer {
        let [form, text] = ["form", "challenge"].map(|field| value_in(page, "sign-form", field));
        let path = if page.contains("/admin/proposals/sign") {
            "/admin/proposals/sign"
        } else {
            "/admin/changes/sign"
        };
        let signature = sign(&wallet(name).address, &text);
        self.post(path, &[("form", &form), ("challenge", &text), ("signature", &signature)]).await
    }
}

/// The value of the first field of this name.
fn value_of(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\""))?;
    Some(unescaped(rest.split_once('"')?.0))
}

/// The value of a field in the form with this id.
fn value_in(page: &str, form: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!("id=\"{form}\"")).unwrap_or_else(|| panic!("{form}: {page}"));
    value_of(rest, name).unwrap()
}

fn unescaped(text: &str) -> String {
    let signs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#x2F;", "/"),
        ("&amp;", "&"),
    ];
    signs.into_iter().fold(text.to_owned(), |text, (written, sign)| text.replace(written, sign))
}
