//! The server in this process, with all its handlers and middleware on the reference store, clients of every
//! kind, and browsers that keep cookies.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::to_bytes;
use actix_web::cookie::Key;
use actix_web::dev::Service;
use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::test::{TestRequest, init_service};
use actix_web::web::Data;
use actix_web::{App, HttpResponse, cookie};
use async_trait::async_trait;
use countersign_conformance::fakes::{FakeFetcher, FakeReader, FakeSigner, ManualClock, SeededEntropy};
use countersign_conformance::memory::{MemorySnapshot, MemoryStorage};
use countersign_domain::admission::AccessRule;
use countersign_domain::challenge::TextKey;
use countersign_domain::client::{ClientOrigin, DisplayMetadata};
use countersign_domain::client_assertion::AssertionAudience;
use countersign_domain::desk::operators::DeskPolicy;
use countersign_domain::dpop::DpopNonceKey;
use countersign_domain::epoch::Lineage;
use countersign_domain::form_key::FormKey;
use countersign_domain::id::ClientId;
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::pairwise::PairwiseKey;
use countersign_domain::picture::PictureKey;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{
    DeclaredResource, OpenTo, Resource, ResourceRules, ResourceScope, ScopeTitle,
};
use countersign_domain::scope::ScopeName;
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_metrics::{PushFigures, SealFigures, SecretFigures, Source, WriterFigures};
use countersign_ports::{Clock, RecognizedAccount, Storage, Verdict, VerifierError, WalletVerifier};
use countersign_usecases::clients::declare_resource::create_resource;
use countersign_usecases::clients::open_resource::open_resources;
use countersign_usecases::clients::register_client::register_client;
use countersign_usecases::context::blocks::Blocks;
use countersign_usecases::context::cause::EventPolicy;
use countersign_usecases::context::clients::Clients;
use countersign_usecases::context::footing::Footing;
use countersign_usecases::context::resources::Resources;
use countersign_usecases::context::uses::Uses;
use countersign_usecases::{Context, ContextKeys, Policy};
use serde_json::{Value, json};

use super::http::limits::connection::ConnectionLimits;
use super::http::server::{edge, routes, sealed_session};
use super::http::state::AppState;
use super::http::{DeskRoutes, HttpSettings, Registration};

pub(crate) const ISSUER: &str = "https://auth.example.com";
/// A resource that is open to every client.
pub(crate) const OPEN: &str = "https://api.example/open";
/// A resource with scopes that is open to every client.
pub(crate) const TOOLS: &str = "https://mcp.example/tools";
/// The scopes of [`TOOLS`].
pub(crate) const OF_TOOLS: [&str; 2] = ["tools.read", "tools.write"];
/// A resource with a scope that is open to no client.
pub(crate) const VAULT: &str = "https://mcp.example/vault";
/// A scope of [`VAULT`].
pub(crate) const OF_VAULT: &str = "vault.read";
/// A resource that the operator opened to [`Kind::Operator`] and [`Kind::Headless`] only.
pub(crate) const NAMED: &str = "https://api.example/named";
pub(crate) const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
pub(crate) const WALLET_GRANT: &str = "urn:countersign:params:oauth:grant-type:wallet-signature";
const DOCUMENT: &str = "https://app.example/client.json";

/// A wallet family whose addresses are like `toy-name` and whose signatures are sentences.
struct ToyWallets;

#[async_trait]
impl WalletVerifier for ToyWallets {
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        let is_toy = address.strip_prefix("toy-").is_some_and(|name| !name.is_empty());
        if !is_toy || chain.is_some_and(|chain| chain != "toy:1") {
            return Vec::new();
        }
        let (family, chain, address) = ("toy".to_owned(), "toy:1".to_owned(), address.to_owned());
        let account = WalletAccount { family, chain, address };
        vec![RecognizedAccount { account, kind: "Toy".into(), chain_id: "1".to_owned() }]
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        let good = proof.signature == sign(&proof.account.address, &proof.text);
        Ok(if good { Verdict::Valid(proof.account.clone()) } else { Verdict::Invalid("another sentence") })
    }
}

/// The toy wallet with this address.
pub(crate) fn wallet(address: &str) -> WalletAccount {
    WalletAccount { family: "toy".to_owned(), chain: "toy:1".to_owned(), address: address.to_owned() }
}

/// The signature of the toy wallet with this address.
pub(crate) fn sign(address: &str, text: &str) -> String {
    format!("{address} signs {text}")
}

struct Nothing;

impl Source for Nothing {
    fn signing_key_ages(&self) -> Vec<(&'static str, Duration)> {
        Vec::new()
    }

    fn secret_uses(&self) -> SecretFigures {
        SecretFigures::default()
    }

    fn pushes(&self) -> PushFigures {
        PushFigures::default()
    }

    fn seals(&self) -> SealFigures {
        SealFigures::default()
    }

    fn writer(&self) -> Option<WriterFigures> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Registered by the operator, with a secret.
    Operator,
    /// Registered by itself, with a secret.
    Confidential,
    /// Registered by itself, without a secret. Its redirect URIs use loopback and a scheme of its own.
    Public,
    /// Described by a document.
    Document,
    /// Pushes its requests.
    Pushing,
    /// Has tokens that are bound to a key.
    Bound,
    /// Runs on devices, but also in browsers.
    Device,
    /// Signs wallets in without a browser, and gets tokens of its own.
    Headless,
    /// A resource server that the operator appointed for [`OPEN`].
    Resource,
    /// A client that claims to be that resource server.
    Impostor,
}

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Operator,
        Self::Confidential,
        Self::Public,
        Self::Document,
        Self::Pushing,
        Self::Bound,
        Self::Device,
        Self::Headless,
        Self::Resource,
        Self::Impostor,
    ];
}

/// A client, as its developer knows it.
#[derive(Clone, Debug)]
pub(crate) struct TestClient {
    pub(crate) kind: Kind,
    /// The client id that it uses.
    pub(crate) id: String,
    /// The client id in texts to sign.
    pub(crate) in_texts: String,
    pub(crate) secret: Option<String>,
    pub(crate) uris: Vec<String>,
    pub(crate) scopes: Vec<String>,
}

impl TestClient {
    /// The scopes that the contract lets it have of those that it asks for: all or nothing for a client of the
    /// operator's, and otherwise those that it registered, and perhaps those of open resources. `None` if there are
    /// none.
    pub(crate) fn may_have(&self, asked: &BTreeSet<String>) -> Option<BTreeSet<String>> {
        let registered = |scope: &String| self.scopes.contains(scope);
        let is_usual = self.scopes == ["openid", "profile", "offline_access"] || self.scopes == ["profile"];
        let (is_lenient, opens) = match self.kind {
            Kind::Operator | Kind::Pushing | Kind::Headless | Kind::Resource => (false, false),
            Kind::Document => (true, true),
            Kind::Confidential | Kind::Public | Kind::Bound | Kind::Device | Kind::Impostor => {
                (true, is_usual)
            }
        };
        let is_open = |scope: &String| opens && OF_TOOLS.contains(&scope.as_str());
        let had: BTreeSet<String> =
            asked.iter().filter(|scope| registered(scope) || is_open(scope)).cloned().collect();
        (!had.is_empty() && (is_lenient || had == *asked)).then_some(had)
    }

    /// Is the port of a loopback host free for it, beside those of IP literals?
    pub(crate) fn has_free_localhost(&self) -> bool {
        self.secret.is_none()
    }

    /// Can the client have tokens for this audience, no matter who signs?
    pub(crate) fn may_be_for(&self, audience: &str) -> bool {
        match audience {
            ISSUER | OPEN | TOOLS => true,
            NAMED => matches!(self.kind, Kind::Operator | Kind::Headless),
            _ => false,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    /// Names and values. The value is empty if the cookie is removed.
    pub(crate) cookies: Vec<(String, String)>,
    pub(crate) dpop_nonce: Option<String>,
    /// All headers, by their names.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

type Answering = Pin<Box<dyn Future<Output = Answer>>>;

pub(crate) struct Site {
    /// Its address.
    pub(crate) issuer: &'static str,
    call: Box<dyn Fn(TestRequest) -> Answering>,
    pub(crate) context: Context,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) storage: Arc<MemoryStorage>,
    /// What is stored before a sequence begins: the clients, and what operators decided.
    pub(crate) base: MemorySnapshot,
    pub(crate) clients: Vec<TestClient>,
}

impl Site {
    pub(crate) async fn new() -> Self {
        Self::at(ISSUER).await
    }

    /// The same server at another address.
    pub(crate) async fn at(issuer: &'static str) -> Self {
        Self::with(issuer, None).await
    }

    /// The same server with a desk, perhaps.
    pub(crate) async fn with(issuer: &'static str, desk: Option<(DeskPolicy, DeskRoutes)>) -> Self {
        let (operators, desk) = desk.unzip();
        let (storage, clock, outside) =
            (Arc::<MemoryStorage>::default(), Arc::<ManualClock>::default(), Arc::<FakeFetcher>::default());
        let shared: Arc<dyn Storage> = Arc::<MemoryStorage>::clone(&storage);
        let context = Context {
            storage: Arc::<dyn Storage>::clone(&shared),
            resources: Resources::new(Arc::<dyn Storage>::clone(&shared), Arc::<ManualClock>::clone(&clock)),
            uses: Uses::new(Arc::<MemoryStorage>::clone(&storage), Arc::<MemoryStorage>::clone(&storage)),
            clients: Clients::new(Arc::<MemoryStorage>::clone(&storage), Arc::<ManualClock>::clone(&clock)),
            blocks: Blocks::new(shared, Arc::<ManualClock>::clone(&clock)),
            record: Arc::default(),
            access: Arc::default(),
            wallets: Arc::new(ToyWallets),
            signer: Arc::new(FakeSigner),
            jws: Arc::new(FakeReader),
            fetcher: Arc::<FakeFetcher>::clone(&outside),
            clock: Arc::<ManualClock>::clone(&clock),
            entropy: Arc::new(SeededEntropy::new(1)),
            mailer: None,
            keys: ContextKeys {
                texts: TextKey::new([7; 32]),
                nonces: DpopNonceKey::new([8; 32]),
                pictures: PictureKey::new([9; 32]),
                pairwise: PairwiseKey::new([8; 32]),
                record: countersign_conformance::fixtures::RECORD_KEY,
                restored_at: None,
            },
            policy: Policy { desk: operators, ..policy(issuer) },
        };
        for (uri, open_to, scopes) in
            [(TOOLS, OpenTo::Everyone, &OF_TOOLS[..]), (VAULT, OpenTo::Named, &[OF_VAULT])]
        {
            let scopes = scopes.iter().map(|name| {
                let name = ScopeName::parse(name).unwrap();
                let title = ScopeTitle::of_name(&name);
                ResourceScope { name, title, titles: BTreeMap::new(), needs: None }
            });
            let (uri, created_at) = (uri.to_owned(), clock.now().replace_nanosecond(0).unwrap());
            let resource = Resource { uri, name: None, open_to, scopes: scopes.collect(), created_at };
            create_resource(context.management(), resource).await.unwrap();
        }
        let mut clients = Vec::new();
        for kind in Kind::ALL {
            clients.push(register(&context, &outside, kind).await);
        }
        let settings = HttpSettings {
            registration: Registration::Open,
            rate_limits: false,
            trusted_proxies: Vec::new(),
            logs_whole_addresses: false,
            session_key: [9; 64],
            form_key: FormKey::new([4; 32]),
            template_directory: None,
            wallet_links: Vec::new(),
            contact: None,
            documentation: None,
            playground: false,
            dev: false,
            metrics: Arc::new(super::http::metrics("0", Box::new(Nothing))),
            shows_metrics: false,
            workers: 1,
            connections: ConnectionLimits { total: 1, of_one_address: 1 },
            own_clock: Arc::<ManualClock>::clone(&clock),
            footing: Arc::new(Footing::new(
                Arc::<MemoryStorage>::clone(&storage),
                Arc::<ManualClock>::clone(&clock),
                Lineage::default(),
            )),
            seals: Arc::default(),
            desk,
        };
        let key = Key::from(&settings.session_key);
        let ttl = cookie::time::Duration::seconds(context.policy.lifetimes.session.whole_seconds());
        let state = Data::new(AppState::new(context.clone(), settings).unwrap());
        let session = sealed_session(key, issuer.starts_with("https"), ttl);
        let app = App::new()
            .app_data(state.clone())
            .wrap(from_fn(edge::guard))
            .configure(|config| routes::configure(config, &state, session));
        let app = Rc::new(init_service(app).await);
        let call = Box::new(move |request: TestRequest| -> Answering {
            let app = Rc::clone(&app);
            Box::pin(async move {
                match app.call(request.to_request()).await {
                    Ok(response) => read(response.into_parts().1).await,
                    Err(error) => read(error.error_response()).await,
                }
            })
        });
        let base = storage.snapshot();
        Self { issuer, call, context, clock, storage, base, clients }
    }

    pub(crate) async fn send(&self, request: TestRequest) -> Answer {
        (self.call)(request).await
    }

    /// Posts a form as a client, which authenticates as it registered. With a key, it also sends a DPoP
    /// proof.
    pub(crate) async fn post_as(
        &self,
        client: &TestClient,
        path: &str,
        mut form: Vec<(String, String)>,
        key: Option<&str>,
    ) -> Answer {
        form.push(("client_id".to_owned(), client.id.clone()));
        form.extend(client.secret.clone().map(|secret| ("client_secret".to_owned(), secret)));
        let mut nonce: Option<String> = None;
        loop {
            let mut request = TestRequest::post().uri(path).set_form(&form);
            if let Some(key) = key {
                let id: [u8; 8] = countersign_ports::EntropyExt::bytes(&*self.context.entropy);
                let claims = json!({
                    "jti": format!("{}", u64::from_be_bytes(id)), "htm": "POST", "htu": format!("{}{path}", self.issuer),
                    "iat": self.clock.now().unix_timestamp(), "nonce": nonce.as_deref().unwrap_or("none"),
                });
                request = request.insert_header(("DPoP", FakeReader::sign_as(key, "dpop+jwt", &claims)));
            }
            let answer = self.send(request).await;
            let asks_again = answer.json()["error"] == "use_dpop_nonce" && nonce.is_none();
            match answer.dpop_nonce.clone().filter(|_| asks_again) {
                Some(given) => nonce = Some(given),
                None => return answer,
            }
        }
    }
}

fn policy(issuer: &str) -> Policy {
    let declared = vec![
        DeclaredResource { uri: OPEN.to_owned(), open_to: OpenTo::Everyone },
        DeclaredResource { uri: NAMED.to_owned(), open_to: OpenTo::Named },
    ];
    Policy {
        public_url: PublicUrl::parse(issuer).unwrap(),
        lifetimes: Lifetimes::default(),
        default_access: AccessRule::Everyone,
        resources: ResourceRules::new(PublicUrl::parse(issuer).unwrap(), declared).unwrap(),
        client_documents: true,
        assertion_audience: AssertionAudience::Issuer,
        synthetic_email: false,
        wallets_per_user: 20,
        events: EventPolicy { retention: Some(time::Duration::days(90)), whole_addresses: false },
        playground: false,
        desk: None,
    }
}

async fn read(response: HttpResponse) -> Answer {
    let header = |name: &str| {
        response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let (location, dpop_nonce) = (header("location"), header("dpop-nonce"));
    let cookies =
        response.cookies().map(|cookie| (cookie.name().to_owned(), cookie.value().to_owned())).collect();
    let status = response.status().as_u16();
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let headers = headers.collect();
    let body = to_bytes(response.into_body()).await.unwrap_or_default();
    let body = String::from_utf8_lossy(&body).into_owned();
    Answer { status, location, cookies, dpop_nonce, headers, body }
}

/// Registers a client of this kind, or publishes its document.
async fn register(context: &Context, outside: &FakeFetcher, kind: Kind) -> TestClient {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let code = ["authorization_code", "refresh_token"];
    let (uris, scopes, method, grant_types): (&[&str], &[&str], &str, Vec<&str>) = match kind {
        Kind::Operator => (
            &["https://op.example/cb", "https://op.example/other", "https://op2.example/cb"],
            &["openid", "profile", "email", "offline_access", "wallets"],
            "client_secret_post",
            code.to_vec(),
        ),
        Kind::Confidential => (
            &["https://self.example/cb", "https://self.example:8443/cb", "http://localhost:3000/cb"],
            &["openid", "profile", "email", "offline_access"],
            "client_secret_post",
            code.to_vec(),
        ),
        Kind::Public => (
            &[
                "http://127.0.0.1/cb",
                "http://[::1]/cb",
                "http://localhost/own",
                "com.example.app:/cb",
                "cursor://anysphere.cursor-mcp/cb",
            ],
            &["openid", "profile", "offline_access"],
            "none",
            code.to_vec(),
        ),
        Kind::Document => (
            &["https://app.example/cb", "http://127.0.0.1:9999/cb", "http://localhost/cb", "vscode://a.b/cb"],
            &["openid", "profile", "email", "offline_access"],
            "none",
            code.to_vec(),
        ),
        Kind::Pushing => (
            &["https://push.example/cb"],
            &["openid", "profile", "email"],
            "client_secret_post",
            code.to_vec(),
        ),
        Kind::Bound => {
            (&["https://bound.example/cb"], &["openid", "profile", "offline_access"], "none", code.to_vec())
        }
        Kind::Device => (
            &["https://device.example/cb"],
            &["openid", "profile", "email", "offline_access"],
            "client_secret_post",
            vec!["authorization_code", "refresh_token", DEVICE_GRANT],
        ),
        Kind::Headless => (
            &[],
            &["openid", "profile", "wallets"],
            "client_secret_post",
            vec![WALLET_GRANT, "client_credentials", "refresh_token"],
        ),
        Kind::Resource => (&[], &["profile"], "client_secret_post", vec!["client_credentials"]),
        Kind::Impostor => (
            &["https://impostor.example/cb"],
            &["profile"],
            "client_secret_post",
            vec!["authorization_code", "client_credentials"],
        ),
    };
    let (uris, scopes) = (texts(uris), texts(scopes));
    if kind == Kind::Document {
        let document = json!({
            "client_id": DOCUMENT, "client_name": "App", "redirect_uris": uris, "scope": scopes.join(" "),
            "token_endpoint_auth_method": method,
        });
        outside.put(DOCUMENT, &document.to_string());
        let in_texts = ClientId::of_document(DOCUMENT).to_string();
        return TestClient { kind, id: DOCUMENT.to_owned(), in_texts, secret: None, uris, scopes };
    }
    let origin = match kind {
        Kind::Operator | Kind::Pushing | Kind::Headless | Kind::Resource => ClientOrigin::Operator,
        Kind::Confidential | Kind::Public | Kind::Document | Kind::Bound | Kind::Device | Kind::Impostor => {
            ClientOrigin::SelfRegistered
        }
    };
    let address = matches!(kind, Kind::Resource | Kind::Impostor).then(|| OPEN.to_owned());
    let requested = RequestedMetadata {
        client_name: Some(format!("{kind:?}")),
        redirect_uris: Some(uris.clone()).filter(|uris| !uris.is_empty()),
        scopes: Some(scopes.clone()),
        grant_types: Some(texts(&grant_types)),
        token_endpoint_auth_method: Some(method.to_owned()),
        require_pushed_authorization_requests: Some(kind == Kind::Pushing),
        dpop_bound_access_tokens: Some(kind == Kind::Bound),
        display: DisplayMetadata { client_uri: address, ..DisplayMetadata::default() },
        ..RequestedMetadata::default()
    };
    let registered = register_client(context.management(), requested, origin).await.unwrap();
    if matches!(kind, Kind::Operator | Kind::Headless) {
        open_resources(context.management(), registered.client.id, &[NAMED.to_owned()]).await.unwrap();
    }
    let id = registered.client.id.to_string();
    let secret = registered.secret.map(|secret| secret.expose().to_owned());
    TestClient { kind, in_texts: id.clone(), id, secret, uris, scopes }
}

/// What the browser says about where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Our own page.
    Ours,
    /// The address bar.
    Nowhere,
    /// Another site.
    Elsewhere,
    /// A frame without an origin.
    Null,
}

/// A browser, which is no more than its cookies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Browser {
    pub(crate) cookies: BTreeMap<String, String>,
}

impl Browser {
    pub(crate) async fn send(&mut self, site: &Site, request: TestRequest, from: From) -> Answer {
        let request = match from {
            From::Ours => request
                .insert_header(("Origin", site.issuer))
                .insert_header(("Sec-Fetch-Site", "same-origin")),
            From::Nowhere => request,
            From::Elsewhere => request
                .insert_header(("Origin", "https://evil.example"))
                .insert_header(("Sec-Fetch-Site", "cross-site")),
            From::Null => request.insert_header(("Origin", "null")),
        };
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = site.send(request.insert_header(("Cookie", cookies.join("; ")))).await;
        for (name, value) in &answer.cookies {
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.clone(), value.clone());
            }
        }
        answer
    }

    /// Opens a page of ours.
    pub(crate) async fn open(&mut self, site: &Site, target: &str) -> Answer {
        let request =
            TestRequest::default().method(Method::GET).uri(target).insert_header(("Accept", "text/html"));
        self.send(site, request, From::Nowhere).await
    }

    /// Submits a form of a page of ours.
    pub(crate) async fn submit(&mut self, site: &Site, path: &str, fields: &[(String, String)]) -> Answer {
        let request = TestRequest::post().uri(path).set_form(fields);
        self.send(site, request, From::Ours).await
    }
}

/// A form in a page.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) action: String,
    pub(crate) fields: Vec<(String, String)>,
}

/// The forms of a page with their hidden fields.
pub(crate) fn forms(html: &str) -> Vec<Form> {
    let parts = html.split("<form").skip(1).map(|part| part.split("</form>").next().unwrap_or(part));
    parts
        .map(|part| {
            let (head, rest) = part.split_once('>').unwrap_or((part, ""));
            let inputs = rest.split("<input").skip(1).map(|input| input.split('>').next().unwrap_or(input));
            let hidden = inputs.filter(|input| attribute(input, "type").as_deref() == Some("hidden"));
            Form {
                action: attribute(head, "action").unwrap_or_default(),
                fields: hidden
                    .filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value")?)))
                    .collect(),
            }
        })
        .collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let value = rest.split('"').next()?;
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#x2F;", "/"),
        ("&amp;", "&"),
    ];
    Some(pairs.iter().fold(value.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain)))
}
