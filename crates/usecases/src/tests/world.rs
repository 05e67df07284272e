//! A small world: one server in memory, its clients, and people with toy wallets.

use std::sync::Arc;

use async_trait::async_trait;
use countersign_conformance::fakes::{FakeFetcher, FakeReader, FakeSigner, ManualClock, SeededEntropy};
use countersign_conformance::fixtures;
use countersign_conformance::memory::MemoryStorage;
use countersign_conformance::one_member::{MemberAdded, OneMember as _};
use countersign_domain::admission::{AccessRule, Block, Release};
use countersign_domain::challenge::TextKey;
use countersign_domain::client::ClientOrigin;
use countersign_domain::client_assertion::AssertionAudience;
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::dpop::DpopNonceKey;
use countersign_domain::event::Actor;
use countersign_domain::forgetting::Past;
use countersign_domain::group::{Group, GroupName};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::pairwise::PairwiseKey;
use countersign_domain::parameters::Parameters;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::picture::PictureKey;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{DeclaredResource, OpenTo, ResourceRules};
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use countersign_domain::user_info::UserInfo;
use countersign_domain::wallet::{AccountName, WalletAccount, WalletProof};
use countersign_ports::{
    ChangeAccess, ChangeMember, CreateGroup, PutBlock, RecognizedAccount, Storage, Verdict, VerifierError,
    WalletVerifier,
};
use time::Duration;
use url::Url;

use super::usecases::clients::open_resource::open_resources;
use super::usecases::clients::register_client::register_client;
use super::usecases::context::blocks::{Blocks, IfBlocked};
use super::usecases::context::cause::{Cause, EventPolicy};
use super::usecases::context::clients::Clients;
use super::usecases::context::resources::Resources;
use super::usecases::context::uses::Uses;
use super::usecases::sign_in::begin_authorization::{Begun, begin_authorization};
use super::usecases::sign_in::complete_login::{
    CompleteLoginError, LoginWishes, SignedChallenge, SignedIn, complete_login,
};
use super::usecases::sign_in::issue_challenge::issue_challenge;
use super::usecases::steps::login::Browser;
use super::usecases::tokens::exchange_code::{ExchangeCode, ExchangeCodeError, exchange_code};
use super::usecases::tokens::read_user_info::{Presented, ReadUserInfoError, read_user_info};
use super::usecases::tokens::refresh_tokens::{RefreshTokens, RefreshTokensError, refresh_tokens};
use super::usecases::tokens::revoke_token::{RevokeToken, RevokeTokenError, revoke_token};
use super::usecases::{Context, ContextKeys, Policy, TokenAnswer};

pub(super) const REDIRECT_URI: &str = "https://photos.example/cb";
pub(super) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(super) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// What a person asks for.
pub(super) static PERSON: Cause = Cause::of(Actor::Person);

/// What a client asks for.
pub(super) static CLIENT: Cause = Cause::of(Actor::Client);

pub(super) fn as_person() -> Cause {
    PERSON.clone()
}

pub(super) fn as_client() -> Cause {
    CLIENT.clone()
}

/// A family whose address is `toy-name` and whose signature is a sentence.
pub(super) struct ToyWallets;

#[async_trait]
impl WalletVerifier for ToyWallets {
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        let is_toy = address.strip_prefix("toy-").is_some_and(|name| !name.is_empty());
        if !is_toy || chain.is_some_and(|chain| chain != "toy:1") {
            return Vec::new();
        }
        let account = WalletAccount {
            family: "toy".to_owned(),
            chain: "toy:1".to_owned(),
            address: address.to_owned(),
        };
        vec![RecognizedAccount { account, kind: "Toy".into(), chain_id: "1".to_owned() }]
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        let good = proof.signature == sign(&proof.account.address, &proof.text);
        Ok(if good { Verdict::Valid(proof.account.clone()) } else { Verdict::Invalid("another sentence") })
    }
}

/// Names an account by its address alone.
pub(super) fn named(address: &str) -> AccountName<'_> {
    AccountName::read(address, None).unwrap()
}

/// The account of a toy wallet.
pub(super) fn toy(address: &str) -> WalletAccount {
    WalletAccount { family: "toy".to_owned(), chain: "toy:1".to_owned(), address: address.to_owned() }
}

/// The toy wallet's signature of a text.
pub(super) fn sign(address: &str, text: &str) -> String {
    format!("{address} signs {text}")
}

pub(super) struct World {
    pub(super) context: Context,
    /// The raw port, for changes that do not go through the use-cases.
    pub(super) storage: Arc<dyn Storage>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) outside: Arc<FakeFetcher>,
}

/// A registered client, as its developer knows it.
#[derive(Clone, Debug)]
pub(super) struct TestClient {
    pub(super) id: String,
    pub(super) secret: Option<Secret>,
    pub(super) registration_token: Secret,
}

impl TestClient {
    pub(super) fn credentials(&self) -> ClientCredentials {
        ClientCredentials { client_id: self.id.clone(), proof: self.secret.clone().into() }
    }
}

impl World {
    pub(super) fn new() -> Self {
        Self::on(Arc::new(MemoryStorage::default()))
    }

    pub(super) fn on(storage: Arc<dyn Storage>) -> Self {
        Self::at(storage, Arc::default())
    }

    /// Worlds that share a clock are replicas with the same time.
    pub(super) fn at(storage: Arc<dyn Storage>, clock: Arc<ManualClock>) -> Self {
        let public_url = PublicUrl::parse("https://auth.example.com").unwrap();
        let open_to_all =
            ["https://a.example", "https://b.example", "https://c.example", "https://api.example"];
        let declared = open_to_all.map(|uri| (uri, OpenTo::Everyone)).into_iter();
        let declared = declared.chain([("https://named.example", OpenTo::Named)]);
        let declared = declared.map(|(uri, open_to)| DeclaredResource { uri: uri.to_owned(), open_to });
        let resources = ResourceRules::new(public_url.clone(), declared.collect()).unwrap();
        let outside = Arc::new(FakeFetcher::default());
        let context = Context {
            storage: Arc::<dyn Storage>::clone(&storage),
            resources: Resources::new(Arc::<dyn Storage>::clone(&storage), Arc::<ManualClock>::clone(&clock)),
            uses: Uses::new(Arc::<dyn Storage>::clone(&storage), Arc::<dyn Storage>::clone(&storage)),
            clients: Clients::new(Arc::<dyn Storage>::clone(&storage), Arc::<ManualClock>::clone(&clock)),
            blocks: Blocks::new(Arc::<dyn Storage>::clone(&storage), Arc::<ManualClock>::clone(&clock)),
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
            policy: Policy {
                public_url,
                lifetimes: Lifetimes::default(),
                default_access: AccessRule::Everyone,
                resources,
                client_documents: true,
                synthetic_email: false,
                assertion_audience: AssertionAudience::default(),
                wallets_per_user: 20,
                events: EventPolicy { retention: Some(time::Duration::days(90)), whole_addresses: false },
                playground: false,
                desk: None,
            },
        };
        Self { context, storage, clock, outside }
    }

    /// What a deletion takes now, if all clocks agree and no margin is left.
    pub(super) fn past(&self) -> Past {
        fixtures::past(self.context.clock.now())
    }

    pub(super) fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
    }

    /// Opens a resource to a client, as the operator does.
    pub(super) async fn open(&self, client: &TestClient, uri: &str) {
        let id = ClientId::named(&client.id).unwrap();
        open_resources(self.context.management(), id, &[uri.to_owned()]).await.unwrap();
    }

    /// Decides whom a client lets in and which groups it is told, as the operator does.
    pub(super) async fn decide(&self, client: &TestClient, rule: &str, release: Release) {
        let rule = Some(AccessRule::parse(rule).unwrap());
        let client = ClientId::named(&client.id).unwrap();
        let command = ChangeAccess { client, rule, release: Some(release), event: None };
        assert!(self.context.clients.change_access(command).await.unwrap());
    }

    /// Puts somebody into a group, which need not be there yet.
    pub(super) async fn join(&self, group: &str, member: Subject) {
        let (name, now) = (GroupName::parse(group).unwrap(), self.context.clock.now());
        let group = Group { name: name.clone(), title: None, created_at: now };
        let create = CreateGroup { group, members: Vec::new(), event: None, text: None };
        self.context.storage.create_group(create).await.unwrap();
        let change = ChangeMember { group: name, member, now, event: None };
        assert_eq!(self.context.storage.add_member(change).await.unwrap(), MemberAdded::Added);
    }

    /// Blocks a user or a wallet, as the operator does.
    pub(super) async fn block(&self, who: Subject) {
        let block = Block { at: self.context.clock.now(), reason: Some("spam".to_owned()) };
        let command = PutBlock { who, block, event: None };
        self.context.blocks.block(command, IfBlocked::EndAccess, None).await.unwrap();
    }

    pub(super) async fn client(&self) -> TestClient {
        self.register(RequestedMetadata::default()).await
    }

    pub(super) async fn public_client(&self) -> TestClient {
        let method = Some("none".to_owned());
        self.register(RequestedMetadata {
            token_endpoint_auth_method: method,
            ..RequestedMetadata::default()
        })
        .await
    }

    pub(super) async fn client_by(&self, origin: ClientOrigin) -> TestClient {
        self.register_by(RequestedMetadata::default(), origin).await
    }

    pub(super) async fn register(&self, requested: RequestedMetadata) -> TestClient {
        self.register_by(requested, ClientOrigin::SelfRegistered).await
    }

    pub(super) async fn register_by(
        &self,
        mut requested: RequestedMetadata,
        origin: ClientOrigin,
    ) -> TestClient {
        requested.client_name.get_or_insert_with(|| "Photo Album".to_owned());
        requested.redirect_uris.get_or_insert_with(|| vec![REDIRECT_URI.to_owned()]);
        requested.scopes.get_or_insert_with(|| vec!["profile".to_owned(), "email".to_owned()]);
        let registered = register_client(self.context.management(), requested, origin).await.unwrap();
        TestClient {
            id: registered.client.id.to_string(),
            secret: registered.secret,
            registration_token: registered.registration_token,
        }
    }

    /// An ordinary request; `more` is added to it.
    pub(super) async fn pending(&self, client: &TestClient, more: &[(&str, &str)]) -> PendingAuthorization {
        let browser = Browser::default();
        match begin_authorization(&self.context, as_person, &request(client, more), &browser).await.unwrap() {
            Begun::Ask(pending) => *pending,
            Begun::Answered { to } => panic!("nobody was asked: {to:?}"),
        }
    }

    /// Signs in with a toy wallet and returns the code.
    pub(super) async fn code(&self, client: &TestClient, address: &str, more: &[(&str, &str)]) -> Secret {
        let mut pending = self.pending(client, more).await;
        code_of(&self.sign_in(&mut pending, address).await.unwrap())
    }

    pub(super) async fn sign_in(
        &self,
        pending: &mut PendingAuthorization,
        address: &str,
    ) -> Result<String, CompleteLoginError> {
        self.sign_in_with(pending, address, LoginWishes::default()).await.map(|done| done.to.address())
    }

    /// Signs in on a browser that remembers it from then on.
    pub(super) async fn remember(
        &self,
        browser: &mut Browser,
        pending: &mut PendingAuthorization,
        address: &str,
    ) -> String {
        let wishes = LoginWishes { remember: true, browser: browser.clone(), ..LoginWishes::default() };
        let done = self.sign_in_with(pending, address, wishes).await.unwrap();
        browser.login = Some(done.remembered.unwrap().secret);
        done.to.address()
    }

    pub(super) async fn sign_in_with(
        &self,
        pending: &mut PendingAuthorization,
        address: &str,
        wishes: LoginWishes,
    ) -> Result<SignedIn, CompleteLoginError> {
        let challenge = issue_challenge(&self.context, pending, named(address)).unwrap();
        let signed = SignedChallenge {
            wallet_address: address.to_owned(),
            signature: sign(address, &challenge.text),
            challenge: challenge.text,
        };
        complete_login(&self.context, &PERSON, pending, signed, wishes).await
    }

    pub(super) async fn exchange(
        &self,
        client: &TestClient,
        code: &Secret,
    ) -> Result<TokenAnswer, ExchangeCodeError> {
        self.exchange_with(client, code, None).await
    }

    pub(super) async fn exchange_with(
        &self,
        client: &TestClient,
        code: &Secret,
        verifier: Option<&str>,
    ) -> Result<TokenAnswer, ExchangeCodeError> {
        let exchange = ExchangeCode {
            credentials: client.credentials(),
            code: code.clone(),
            redirect_uri: REDIRECT_URI.to_owned(),
            verifier: verifier.map(Secret::new),
            resources: Vec::new(),
            proof: None,
        };
        exchange_code(&self.context, as_client, exchange).await
    }

    pub(super) async fn tokens(&self, client: &TestClient, address: &str) -> TokenAnswer {
        let code = self.code(client, address, &[("scope", "profile email")]).await;
        self.exchange(client, &code).await.unwrap()
    }

    pub(super) async fn refresh(
        &self,
        client: &TestClient,
        tokens: &TokenAnswer,
    ) -> Result<TokenAnswer, RefreshTokensError> {
        self.refresh_to(client, tokens, None).await
    }

    pub(super) async fn refresh_to(
        &self,
        client: &TestClient,
        tokens: &TokenAnswer,
        scope: Option<&str>,
    ) -> Result<TokenAnswer, RefreshTokensError> {
        let refresh = RefreshTokens {
            credentials: client.credentials(),
            refresh_token: tokens.refresh_token.clone().unwrap(),
            scope: scope.map(ToOwned::to_owned),
            resources: Vec::new(),
            proof: None,
        };
        refresh_tokens(&self.context, as_client, refresh).await
    }

    pub(super) async fn revoke(&self, client: &TestClient, token: &Secret) -> Result<(), RevokeTokenError> {
        let revoke = RevokeToken { credentials: client.credentials(), token: token.clone() };
        revoke_token(&self.context, &CLIENT, revoke).await
    }

    pub(super) async fn user_info(&self, tokens: &TokenAnswer) -> Result<UserInfo, ReadUserInfoError> {
        read_user_info(&self.context, &tokens.access_token, &Presented::Bearer).await
    }

    /// The user that a public client learns about.
    pub(super) async fn user_of(&self, tokens: &TokenAnswer) -> UserId {
        UserId::from_uuid(self.user_info(tokens).await.unwrap().subject.as_uuid())
    }

    pub(super) async fn is_alive(&self, tokens: &TokenAnswer) -> bool {
        self.user_info(tokens).await.is_ok()
    }
}

/// An authorization request; `more` replaces and adds parameters.
pub(super) fn request(client: &TestClient, more: &[(&str, &str)]) -> Parameters {
    let ordinary = [
        ("client_id", client.id.as_str()),
        ("redirect_uri", REDIRECT_URI),
        ("response_type", "code"),
        ("scope", "profile"),
        ("state", "s 1"),
    ];
    let kept = ordinary.into_iter().filter(|(name, _)| !more.iter().any(|(other, _)| other == name));
    let pairs = kept.chain(more.iter().copied()).map(|(name, value)| (name.to_owned(), value.to_owned()));
    Parameters::new(pairs.collect())
}

/// A parameter of a URL.
pub(super) fn parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

pub(super) fn code_of(address: &str) -> Secret {
    Secret::new(parameter(address, "code").unwrap())
}
