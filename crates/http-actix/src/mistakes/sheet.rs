//! One server, its clients, and a line for each mistake.

use actix_web::test::TestRequest;
use countersign_domain::secret::Secret;
use serde_json::{Value, json};
use url::Url;
use url::form_urlencoded::Serializer;

use crate::site::{Answer, Browser, From, Kind, Site, TestClient, sign};

pub(super) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(super) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// No client has it.
pub(super) const NOBODY: &str = "0199b1f0-0000-7000-8000-000000000000";
const WALLET: &str = "toy-ann";

/// Names and values of a query or a form.
pub(super) type Pairs = Vec<(String, String)>;

pub(super) fn pairs(list: &[(&str, &str)]) -> Pairs {
    list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Replaces a parameter, or adds it; an empty value removes it.
pub(super) fn with(mut pairs: Pairs, name: &str, value: &str) -> Pairs {
    pairs.retain(|(key, _)| key != name);
    if !value.is_empty() {
        pairs.push((name.to_owned(), value.to_owned()));
    }
    pairs
}

/// One line of the page.
pub(super) struct Entry {
    pub(super) chapter: &'static str,
    pub(super) mistake: &'static str,
    pub(super) status: u16,
    pub(super) error: String,
    pub(super) says: String,
    pub(super) change: &'static str,
}

pub(super) struct Sheet {
    pub(super) site: Site,
    pub(super) entries: Vec<Entry>,
    chapter: &'static str,
    states: usize,
}

/// The tokens of a sign-in.
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: String,
    pub(super) id: String,
}

impl Sheet {
    pub(super) async fn new(issuer: &'static str) -> Self {
        Self { site: Site::at(issuer).await, entries: Vec::new(), chapter: "", states: 0 }
    }

    pub(super) fn chapter(&mut self, chapter: &'static str) {
        self.chapter = chapter;
    }

    pub(super) fn client(&self, kind: Kind) -> TestClient {
        self.site.clients.iter().find(|client| client.kind == kind).unwrap().clone()
    }

    /// Writes a line: what an answer says, in its body or in the address that it leads to.
    pub(super) fn enter(&mut self, mistake: &'static str, answer: &Answer, change: &'static str) {
        let (error, says) = match &answer.location {
            Some(to) => (parameter(to, "error"), parameter(to, "error_description")),
            None => {
                let json = answer.json();
                let text = |name: &str| json[name].as_str().map(ToOwned::to_owned);
                (text("error"), text("error_description"))
            }
        };
        let (error, says) = (error.unwrap_or_default(), says.unwrap_or_default());
        assert!(!error.is_empty() && !says.is_empty(), "{mistake}: {answer:?}");
        self.write(mistake, answer.status, error, &says, change);
    }

    pub(super) fn write(
        &mut self,
        mistake: &'static str,
        status: u16,
        error: String,
        says: &str,
        change: &'static str,
    ) {
        // Two issuers say the same but for their own names.
        let says = says
            .replace(self.site.issuer, "https://auth.example.com")
            .replace('|', "\\|")
            .replace('<', "&lt;");
        self.entries.push(Entry { chapter: self.chapter, mistake, status, error, says, change });
    }

    /// A good authorization request.
    pub(super) fn request(&mut self, client: &TestClient) -> Pairs {
        self.states += 1;
        let (id, uri, state) = (client.id.clone(), client.uris[0].clone(), format!("s{}", self.states));
        let mut request = pairs(&[
            ("client_id", &id),
            ("redirect_uri", &uri),
            ("response_type", "code"),
            ("scope", "openid profile offline_access"),
            ("state", &state),
        ]);
        if client.secret.is_none() {
            request.extend(pairs(&[("code_challenge", CHALLENGE), ("code_challenge_method", "S256")]));
        }
        request
    }

    pub(super) async fn authorize(&self, request: &Pairs) -> Answer {
        let query = Serializer::new(String::new()).extend_pairs(request).finish();
        self.site.send(TestRequest::get().uri(&format!("/oauth/authorize?{query}"))).await
    }

    /// Makes a good request with one mistake in it.
    pub(super) async fn authorize_with(
        &mut self,
        client: &TestClient,
        mistake: &'static str,
        (name, value): (&str, &str),
        change: &'static str,
    ) {
        let request = with(self.request(client), name, value);
        let answer = self.authorize(&request).await;
        self.enter(mistake, &answer, change);
    }

    /// Signs in, up to the page's answer; the signature is made over this text instead of the right one, if
    /// one is given.
    pub(super) async fn log_in(&self, request: &Pairs, over: Option<&str>) -> Answer {
        let mut browser = Browser::default();
        let query = Serializer::new(String::new()).extend_pairs(request).finish();
        browser.open(&self.site, &format!("/oauth/authorize?{query}")).await;
        let field = |name: &str| request.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let mut body = json!({
            "wallet_address": WALLET, "client_id": field("client_id"), "redirect_uri": field("redirect_uri"),
            "state": field("state"),
        });
        let ask = TestRequest::post().uri("/oauth/challenge").set_json(&body);
        let issued = browser.send(&self.site, ask, From::Ours).await.json();
        let text = issued["challenge"].as_str().unwrap_or_else(|| panic!("{issued}")).to_owned();
        body["signature"] = json!(sign(WALLET, over.unwrap_or(&text)));
        body["challenge"] = json!(text);
        let login = TestRequest::post().uri("/oauth/login").insert_header(("Accept", "application/json"));
        browser.send(&self.site, login.set_json(&body), From::Ours).await
    }

    /// Signs in and gives the code.
    pub(super) async fn code(&self, request: &Pairs) -> String {
        let answer = self.log_in(request, None).await;
        let to = answer.json()["redirect_to"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned();
        parameter(&to, "code").unwrap()
    }

    /// A good exchange of a new code.
    pub(super) async fn exchange(&mut self, client: &TestClient) -> Pairs {
        let request = self.request(client);
        let code = self.code(&request).await;
        exchange_of(client, &code)
    }

    pub(super) async fn token(&self, form: &Pairs) -> Answer {
        self.site.send(TestRequest::post().uri("/oauth/token").set_form(form)).await
    }

    /// Signs in and gives the tokens.
    pub(super) async fn tokens(&mut self, client: &TestClient) -> Tokens {
        let form = self.exchange(client).await;
        let answer = self.token(&form).await.json();
        let text = |name: &str| answer[name].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        Tokens { access: text("access_token"), refresh: text("refresh_token"), id: text("id_token") }
    }

    pub(super) async fn register(&self, body: &Value) -> Answer {
        self.site.send(TestRequest::post().uri("/oauth/clients").set_json(body)).await
    }
}

/// The exchange of a code, as it should be.
pub(super) fn exchange_of(client: &TestClient, code: &str) -> Pairs {
    let mut form = pairs(&[
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", &client.uris[0]),
        ("client_id", &client.id),
    ]);
    match &client.secret {
        Some(secret) => form.extend(pairs(&[("client_secret", secret)])),
        None => form.extend(pairs(&[("code_verifier", VERIFIER)])),
    }
    form
}

/// A code or a token that this server could have issued, and did not.
pub(super) fn unknown() -> String {
    Secret::with_id(NOBODY.parse().unwrap(), [7; 32]).expose().to_owned()
}

fn parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
