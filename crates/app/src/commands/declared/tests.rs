//! Exports of random databases: applied to an empty one they give the same export, and at home they change nothing.

use std::path::Path;
use std::sync::Arc;

use countersign_conformance::fakes::{FakeFetcher, FakeReader, ManualClock, SeededEntropy};
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client_assertion::AssertionAudience;
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{
    OpenTo, Resource, ResourceName, ResourceRules, ResourceScope, ScopeTitle,
};
use countersign_domain::scope::ScopeName;
use countersign_operators::declared::export::export;
use countersign_operators::people::add_members::add_members;
use countersign_operators::people::change_access::change_access;
use countersign_operators::people::find_who::find_who;
use countersign_operators::people::groups::create_group;
use countersign_operators::people::groups::delete_group;
use countersign_ports::{Clock, Storage, WalletVerifier};
use countersign_usecases::Policy;
use countersign_usecases::clients::declare_resource::{create_resource, delete_resource};
use countersign_usecases::clients::open_resource::close_resources;
use countersign_usecases::clients::register_client::{Given, Opened, register_declared};
use countersign_usecases::context::blocks::Blocks;
use countersign_usecases::context::clients::Clients;
use countersign_usecases::context::resources::Resources;
use proptest::prelude::*;

use super::*;

/// A database in memory, and whoever manages it.
struct Place {
    storage: Arc<MemoryStorage>,
    clients: Clients,
    resources: Resources,
    blocks: Blocks,
    wallets: Arc<dyn WalletVerifier>,
    clock: Arc<ManualClock>,
    entropy: SeededEntropy,
    fetcher: Arc<FakeFetcher>,
    policy: Policy,
}

impl Place {
    fn new() -> Self {
        let storage = Arc::new(MemoryStorage::default());
        let clock = Arc::new(ManualClock::default());
        let stored = || Arc::<MemoryStorage>::clone(&storage) as Arc<dyn Storage>;
        let ticking = || Arc::<ManualClock>::clone(&clock) as Arc<dyn Clock>;
        let public_url = PublicUrl::parse("https://id.example").unwrap();
        Self {
            clients: Clients::new(stored(), ticking()),
            resources: Resources::new(stored(), ticking()),
            blocks: Blocks::new(stored(), ticking()),
            wallets: (Wiring::standard().wallets)(countersign_adapters_crypto::WalletSettings::default()),
            entropy: SeededEntropy::new(1),
            fetcher: Arc::new(FakeFetcher::default()),
            policy: Policy {
                resources: ResourceRules::new(public_url.clone(), Vec::new()).unwrap(),
                public_url,
                lifetimes: Lifetimes::default(),
                default_access: AccessRule::Everyone,
                client_documents: false,
                synthetic_email: false,
                assertion_audience: AssertionAudience::default(),
                wallets_per_user: 20,
                events: countersign_usecases::context::cause::EventPolicy {
                    retention: None,
                    whole_addresses: false,
                },
                playground: false,
                desk: None,
            },
            storage,
            clock,
        }
    }

    fn management(&self) -> Management<'_> {
        Management {
            storage: &*self.storage,
            clients: &self.clients,
            resources: &self.resources,
            blocks: &self.blocks,
            wallets: &*self.wallets,
            jws: &FakeReader,
            fetcher: &*self.fetcher,
            clock: &*self.clock,
            entropy: &self.entropy,
            policy: &self.policy,
            cause: &countersign_usecases::context::cause::SERVER,
            once: None,
        }
    }

    async fn written(&self) -> String {
        let exported = export(self.management()).await.unwrap();
        let mut out = Vec::new();
        written::write(&exported, true, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Applies a file twice. Returns the first plan, after the second was empty.
    async fn apply(&self, folder: &Path, text: &str) -> countersign_operators::declared::plan::Plan {
        let path = folder.join("declared.toml");
        std::fs::write(&path, text).unwrap();
        let files = read(&[path]).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"));
        let first = make_plan(self.management(), &files, Prune::Keep).await;
        let first = first.unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        carry_out(self.management(), &files, Prune::Keep, &first, &|_, _| {}).await.unwrap();
        let second = make_plan(self.management(), &files, Prune::Delete).await.unwrap();
        assert!(second.is_empty() && second.left.is_empty(), "{second:#?}\n{text}");
        first
    }
}

/// A client, by numbers that choose among its fields.
#[derive(Clone, Debug)]
struct Made {
    name: String,
    method: usize,
    scopes: Vec<usize>,
    rule: Vec<usize>,
    release: Vec<usize>,
    texts: Vec<bool>,
    closes: bool,
}

fn readable_text() -> impl Strategy<Value = String> {
    "[a-zA-Zéßж\"\\\\#=\\[\\]{}'.,:/ 𝔘-]{0,12}[a-z\"]"
}

fn made() -> impl Strategy<Value = Made> {
    let numbers = || prop::collection::vec(0..6_usize, 0..4);
    let choice = (
        readable_text(),
        0..4_usize,
        numbers(),
        numbers(),
        numbers(),
        prop::collection::vec(any::<bool>(), 12),
        any::<bool>(),
    );
    choice.prop_map(|(name, method, scopes, rule, release, texts, closes)| Made {
        name,
        method,
        scopes,
        rule,
        release,
        texts,
        closes,
    })
}

fn group_name(number: usize) -> GroupName {
    GroupName::parse(&format!("g{number}:x.y_z-")).unwrap()
}

fn scope_name(number: usize) -> String {
    format!("r{}.s{number}", number / 2)
}

async fn register(place: &Place, made: &Made) {
    const KEYS: &str = r#"{"keys": [{"kid": "1",  "x": "né", "n": null}]}"#;
    let management = place.management();
    let said = |place: usize| made.texts[place];
    let text = |place: usize, text: &str| said(place).then(|| text.to_owned());
    let method = ["client_secret_basic", "client_secret_post", "none", "private_key_jwt"][made.method];
    let known = ["openid", "email", "groups"].into_iter().take(made.scopes.len()).map(str::to_owned);
    let own = made.scopes.iter().map(|number| scope_name(*number));
    let display = countersign_domain::client::DisplayMetadata {
        client_uri: text(0, "https://a.example/?q=\"x\"'y'#z").map(|uri| uri.replace(['"', '\'', '#'], "")),
        logo_uri: text(1, "https://a.example/logo.png"),
        contacts: if said(2) {
            vec!["a@b.example".to_owned(), "Zoë \"Z\" \\".to_owned()]
        } else {
            Vec::new()
        },
        jwks: (method == "private_key_jwt" || said(3)).then(|| KEYS.to_owned()),
        application_type: text(4, "native"),
        id_token_signed_response_alg: text(5, "EdDSA"),
        post_logout_redirect_uris: if said(6) {
            vec!["https://a.example/bye".to_owned()]
        } else {
            Vec::new()
        },
        ..Default::default()
    };
    let requested = RequestedMetadata {
        client_name: Some(made.name.clone()),
        redirect_uris: Some(vec!["https://a.example/cb".to_owned(), "http://127.0.0.1/%22?a=b".to_owned()]),
        scopes: Some(known.chain(own).collect()).filter(|scopes: &Vec<String>| !scopes.is_empty()),
        token_endpoint_auth_method: Some(method.to_owned()),
        require_pushed_authorization_requests: Some(said(7)),
        dpop_bound_access_tokens: Some(said(8)),
        backchannel_logout_uri: text(9, "https://a.example/logout"),
        grant_types: said(10).then(|| vec!["authorization_code".to_owned()]),
        display,
        ..RequestedMetadata::default()
    };
    let opened = if said(11) { vec!["https://r1.example".to_owned()] } else { Vec::new() };
    let given = Given { resources: Opened::AndOfScopes(opened), ..Given::default() };
    let client = register_declared(management, requested, given).await.unwrap().client;
    if made.closes {
        let id = client.id;
        close_resources(management, id, &["https://r0.example".to_owned()]).await.unwrap();
    }
    let names = |numbers: &[usize]| {
        let names: Vec<_> = numbers.iter().map(|number| group_name(*number).to_string()).collect();
        names.join(",")
    };
    let rule = match made.rule.as_slice() {
        [] => None,
        [0, ..] => Some(AccessRule::Nobody),
        groups => AccessRule::parse(&format!("groups:{}", names(groups))).ok(),
    };
    let release = match made.release.as_slice() {
        [] => Release::OfRule,
        [0, ..] => Release::All,
        groups => Release::parse(&names(groups)).unwrap(),
    };
    change_access(management, client, rule, Some(release)).await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn an_export_makes_the_same_export_elsewhere_and_changes_nothing_at_home(
        titles in prop::collection::vec(prop::option::of(readable_text()), 6),
        members in prop::collection::vec((0..6_usize, 0..8_usize), 0..12),
        needs in prop::collection::vec(prop::option::of(0..6_usize), 6),
        named in any::<[bool; 3]>(),
        clients in prop::collection::vec(made(), 0..6),
        deleted_groups in prop::collection::vec(0..6_usize, 0..3),
        deleted_resources in prop::collection::vec(0..3_usize, 0..2),
    ) {
        const WALLETS: [&str; 8] = [
            "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23",
            "eip155:8453:0x00000000219ab540356cBB839Cbe05303d7705Fa",
            "bip122:000000000019d6689c085ae165831e93:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
            "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv",
            "tron:0x2b6653dc:TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
            "cosmos:cosmoshub-4:cosmos1t2uflqwqe0fsj0shcfkrvpukewcw40yjj6hdc0",
            "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
            "eip155:1:0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
        ];
        countersign_conformance::harness::run(async {
            let home = Place::new();
            let management = home.management();
            for (number, title) in titles.iter().enumerate() {
                let title = title.as_ref().map(|title| GroupTitle::parse(title).unwrap());
                create_group(management, group_name(number), title, &[]).await.unwrap();
            }
            for (group, wallet) in members {
                if let Ok(who) = find_who(management, WALLETS[wallet], None).await {
                    add_members(management, &group_name(group), vec![who]).await.unwrap();
                }
            }
            for (number, is_named) in named.into_iter().enumerate() {
                let scope = |number: usize| ResourceScope {
                    name: ScopeName::parse(&scope_name(number)).unwrap(),
                    title: ScopeTitle::parse("Say \"hello\" \\ é").unwrap(),
                    titles: if is_named { [("pt-BR".to_owned(), ScopeTitle::parse("Olá").unwrap())].into() } else { [].into() },
                    needs: needs[number].map(group_name),
                };
                let resource = Resource {
                    uri: format!("https://r{number}.example"),
                    name: is_named.then(|| ResourceName::parse("Olá \"one\"").unwrap()),
                    open_to: if is_named { OpenTo::Named } else { OpenTo::Everyone },
                    scopes: vec![scope(number * 2), scope(number * 2 + 1)],
                    created_at: home.clock.now(),
                };
                create_resource(management, resource).await.unwrap();
            }
            for made in &clients {
                register(&home, made).await;
            }
            for number in deleted_groups {
                let _ = delete_group(management, &group_name(number), true, None).await;
            }
            for number in deleted_resources {
                let _ = delete_resource(management, &format!("https://r{number}.example"), true).await;
            }

            let first = home.written().await;
            assert_eq!(home.written().await, first);
            let folder = tempfile::tempdir().unwrap();
            let elsewhere = Place::new();
            elsewhere.apply(folder.path(), &first).await;
            assert_eq!(elsewhere.written().await, first);
            home.apply(folder.path(), &first).await;
            assert_eq!(home.written().await, first);
        });
    }
}
