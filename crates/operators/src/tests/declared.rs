//! Files that declare things: wherever a run is interrupted or overtaken, the next one comes to the same end.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_conformance::fakes::SeededEntropy;
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::admission::{AccessRule, ClientAccess, Release};
use countersign_domain::client::ClientAuthentication;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::ClientId;
use countersign_domain::person_name::PersonName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{OpenTo, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use countersign_ports::Storage;

use super::breakable::{break_after, world as on_breakable};
use super::world::{World, toy};
use crate::declared::apply::{ApplyError, apply};
use crate::declared::export::export;
use crate::declared::make_plan::{PlanError, make_plan};
use crate::declared::plan::Prune;
use crate::declared::{
    DeclaredFiles, FileClient, FileGroup, FilePerson, FileResource, FileSecret, FileWallet, Item, Spot,
};
use crate::people::add_members::add_members;
use crate::people::change_access::change_access;
use crate::people::groups::create_group;
use crate::people::names::name_subject;

const FILE: &str = "/declared.toml";

fn item<T>(value: T) -> Item<T> {
    Item { at: Spot { file: FILE.into(), line: 1, column: 1 }, fields: BTreeMap::new(), value }
}

fn name(text: &str) -> GroupName {
    GroupName::parse(text).unwrap()
}

fn group(text: &str, title: &str, wallets: &[&str]) -> Item<FileGroup> {
    let wallets = wallets.iter().map(|wallet| FileWallet { name: (*wallet).to_owned(), kind: None });
    let title = GroupTitle::parse(title).ok();
    item(FileGroup { name: name(text), title, users: Vec::new(), wallets: wallets.collect() })
}

fn person(wallet: &str, name: &str) -> Item<FilePerson> {
    let who = FileWallet { name: wallet.to_owned(), kind: None };
    item(FilePerson { who, name: PersonName::parse(name).unwrap() })
}

fn resource(uri: &str, scopes: &[&str]) -> Item<FileResource> {
    let scope = |name: &&str| ResourceScope {
        name: ScopeName::parse(name).unwrap(),
        title: ScopeTitle::parse("See your photos").unwrap(),
        titles: BTreeMap::new(),
        needs: None,
    };
    let scopes = scopes.iter().map(scope).collect();
    item(FileResource { uri: uri.to_owned(), name: None, open_to: OpenTo::Named, scopes })
}

fn client(text: &str, scope: &str, access: &str, secret: Option<&str>) -> Item<FileClient> {
    item(FileClient {
        id: ClientId::of_name(text),
        is_derived: true,
        requested: RequestedMetadata {
            client_name: Some(text.to_owned()),
            redirect_uris: Some(vec!["https://photos.example/cb".to_owned()]),
            scope: Some(scope.to_owned()),
            ..RequestedMetadata::default()
        },
        access: ClientAccess { rule: AccessRule::parse(access).ok(), release: Release::OfRule },
        resources: None,
        secret: secret.map(|secret| FileSecret { secret: Secret::new(secret), keep_old: KeepOld::NOT }),
    })
}

/// Two states of a file with every kind of change between them, in both directions.
fn files() -> [DeclaredFiles; 2] {
    let sources = vec![Arc::<str>::from(FILE)];
    let before = DeclaredFiles {
        sources: sources.clone(),
        groups: vec![
            group("staff", "Staff", &["toy-alice", "toy-mallory"]),
            group("admins", "", &["toy-alice"]),
            group("gone", "Gone", &["toy-bob"]),
        ],
        resources: vec![
            resource("https://x.example", &["x.read", "x.write"]),
            resource("https://y.example", &["y.read"]),
            resource("https://gone.example", &["gone.read"]),
        ],
        clients: vec![
            client("Album", "profile x.read", "nobody", Some("the first secret")),
            client("Wiki", "openid profile", "groups:admins", None),
            client("Gone", "profile gone.read", "groups:gone", None),
        ],
        people: vec![person("toy-alice", "Alice"), person("toy-bob", "Bob")],
    };
    let after = DeclaredFiles {
        sources,
        groups: vec![
            group("staff", "Crew", &["toy-alice"]),
            group("admins", "Admins", &["toy-alice", "toy-mallory", "toy-carol"]),
            group("new", "New", &["toy-dave"]),
        ],
        resources: vec![
            resource("https://x.example", &["x.read", "y.read"]),
            resource("https://y.example", &["gone.read", "x.write"]),
            resource("https://new.example", &["new.read"]),
        ],
        clients: vec![
            client("Album", "profile x.write new.read", "groups:staff", Some("the second secret")),
            client("Wiki", "openid profile", "groups:new", None),
            client("New", "profile y.read", "groups:new,admins", Some("the new one's secret")),
        ],
        people: vec![person("toy-alice", "Alice Liddell"), person("toy-carol", "Carol")],
    };
    [before, after]
}

async fn run(world: &World, files: &DeclaredFiles) -> Result<(), String> {
    let management = world.context.management();
    let plan = make_plan(management, files, Prune::Delete).await.map_err(|error| match error {
        PlanError::Mistakes(mistakes) => format!("{mistakes:?}"),
        PlanError::Store(error) => error.to_string(),
    })?;
    let done = apply(management, files, Prune::Delete, &plan, &|_, _| {}).await;
    done.map_err(|error| match error {
        ApplyError::Mistakes(mistakes) => format!("{mistakes:?}"),
        ApplyError::Overtaken | ApplyError::Store(_) => error.to_string(),
    })
}

/// What is there, without what differs from one database to the next.
async fn content(world: &World) -> String {
    let mut exported = export(world.context.management()).await.unwrap();
    for resource in &mut exported.resources {
        resource.created_at = time::OffsetDateTime::UNIX_EPOCH;
    }
    let clients = exported.clients.iter().map(|exported| {
        let client = &exported.client;
        let knows = |secret: &str| match &client.authentication {
            ClientAuthentication::Secret { secrets, .. } => secrets.current.admits(&Secret::new(secret)),
            ClientAuthentication::Keys | ClientAuthentication::Public => false,
        };
        let secrets = ["the first secret", "the second secret", "the new one's secret"].map(knows);
        format!(
            "{:?} {:?} {:?} {:?} {secrets:?}",
            client.id, client.metadata, client.resources, client.access
        )
    });
    let declared = world.storage.list_declarations().await.unwrap();
    let declared: Vec<_> =
        declared.iter().map(|declared| (&declared.thing.kind, &declared.thing.key)).collect();
    format!(
        "{:#?} {:#?} {:#?} {:#?} {declared:#?}",
        clients.collect::<Vec<_>>(),
        exported.groups,
        exported.resources,
        exported.people
    )
}

async fn has_nothing_to_do(world: &World, files: &DeclaredFiles) -> bool {
    make_plan(world.context.management(), files, Prune::Delete).await.unwrap().is_empty()
}

/// Is this wallet let in to the client?
async fn gets_in(world: &World, client: &str, wallet: &str) -> bool {
    let found = world.storage.find_client(ClientId::of_name(client)).await.unwrap();
    let standing = world.storage.standing_of(&toy(wallet)).await.unwrap();
    found.is_some_and(|client| client.access.rule_or(&AccessRule::Everyone).admits(&standing))
}

/// The content after each state alone.
async fn ends() -> [String; 2] {
    let [before, after] = files();
    let world = World::new();
    run(&world, &before).await.unwrap();
    let one = content(&world).await;
    run(&world, &after).await.unwrap();
    [one, content(&world).await]
}

#[tokio::test]
async fn the_second_run_has_nothing_to_do_and_writes_nothing() {
    let storage = Arc::new(MemoryStorage::default());
    let world = World::on(Arc::<MemoryStorage>::clone(&storage) as Arc<dyn Storage>);
    for files in files() {
        run(&world, &files).await.unwrap();
        let snapshot = storage.snapshot();
        assert!(has_nothing_to_do(&world, &files).await);
        run(&world, &files).await.unwrap();
        assert!(storage.is_as(&snapshot));
    }
}

#[tokio::test]
async fn wherever_a_run_is_interrupted_the_next_one_finishes_it() {
    let [_, end] = ends().await;
    let [before, after] = files();
    let mut interrupted = 0;
    for calls in 0.. {
        let (world, storage) = on_breakable();
        run(&world, &before).await.unwrap();
        break_after(&world, &storage, calls).await;
        let done = run(&world, &after).await;
        break_after(&world, &storage, -1).await;
        assert!(!gets_in(&world, "Album", "toy-mallory").await, "after {calls} calls");
        assert!(!gets_in(&world, "Wiki", "toy-mallory").await, "after {calls} calls");
        assert!(gets_in(&world, "Wiki", "toy-alice").await || gets_in(&world, "Wiki", "toy-dave").await);
        run(&world, &after).await.unwrap();
        assert!(has_nothing_to_do(&world, &after).await);
        assert_eq!(content(&world).await, end, "after {calls} calls");
        if done.is_ok() {
            break;
        }
        interrupted += 1;
    }
    assert!(interrupted > 50, "{interrupted}");
}

#[tokio::test]
async fn wherever_a_replica_is_overtaken_both_agree() {
    let [_, end] = ends().await;
    let [before, after] = files();
    for calls in 0..120 {
        let (world, storage) = on_breakable();
        run(&world, &before).await.unwrap();
        let mut other = World::at(storage.inner() as Arc<dyn Storage>, Arc::clone(&world.clock));
        // No two replicas make the same ids.
        other.context.entropy = Arc::new(SeededEntropy::new(2));
        let files = after.clone();
        storage.between(vec![(calls, Box::pin(async move { run(&other, &files).await.unwrap() }))]);
        run(&world, &after).await.unwrap();
        storage.rest().await;
        assert!(has_nothing_to_do(&world, &after).await, "after {calls} calls");
        assert_eq!(content(&world).await, end, "after {calls} calls");
    }
}

#[tokio::test]
async fn what_commands_made_stays_whatever_is_pruned() {
    let world = World::new();
    let [before, _] = files();
    run(&world, &before).await.unwrap();
    let management = world.context.management();
    create_group(management, name("made"), None, &[]).await.unwrap();
    let carol = Subject::Wallet(toy("toy-carol"));
    add_members(management, &name("staff"), vec![carol.clone()]).await.unwrap();
    for (wallet, text) in [("toy-carol", "Carol"), ("toy-alice", "Alice")] {
        let named =
            name_subject(management, Subject::Wallet(toy(wallet)), PersonName::parse(text).ok()).await;
        named.unwrap();
    }
    let emptier = DeclaredFiles { groups: vec![group("staff", "Staff", &[])], ..DeclaredFiles::default() };
    let emptier = DeclaredFiles { sources: before.sources.clone(), ..emptier };
    run(&world, &emptier).await.unwrap();
    let left = export(management).await.unwrap();
    let names: Vec<_> = left.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!((names, left.clients.len(), left.resources.len()), (vec!["made", "staff"], 0, 0));
    assert_eq!(left.groups[1].wallets, [toy("toy-carol")]);
    let people: Vec<_> = left.people.iter().map(|person| person.name.as_str()).collect();
    assert_eq!(people, ["Carol"], "the other two were the file's");
    let elsewhere = DeclaredFiles { sources: vec!["/other.toml".into()], ..DeclaredFiles::default() };
    assert!(has_nothing_to_do(&world, &elsewhere).await, "another file prunes only its own");
}

/// A decision of a command about a declared client holds until the next run, which says so first.
#[tokio::test]
async fn a_declared_client_goes_back_to_what_its_file_says() {
    let world = World::new();
    let [before, _] = files();
    run(&world, &before).await.unwrap();
    let end = content(&world).await;
    let management = world.context.management();
    let wiki = management.clients.find_fresh(ClientId::of_name("Wiki")).await.unwrap().unwrap();
    change_access(management, wiki, Some(AccessRule::Nobody), Some(Release::All)).await.unwrap();
    let planned = make_plan(management, &before, Prune::Keep).await.unwrap();
    assert_eq!(planned.changes.len(), 1);
    run(&world, &before).await.unwrap();
    assert_eq!(content(&world).await, end);
}

/// Nobody else's client becomes the operator's by a file.
#[tokio::test]
async fn clients_of_others_cannot_be_declared() {
    let world = World::new();
    let stranger = world.client().await;
    let id = ClientId::parse(&stranger.id).unwrap();
    let mut declared = client("Album", "profile", "everyone", None);
    declared.value.id = id;
    declared.value.is_derived = false;
    let files = DeclaredFiles { clients: vec![declared], ..DeclaredFiles::default() };
    let told = run(&world, &files).await.unwrap_err();
    assert!(told.contains("registered itself"), "{told}");
}

/// The name of a client that registered itself is nobody's.
#[tokio::test]
async fn the_name_of_a_stranger_s_client_may_be_declared() {
    let world = World::new();
    let stranger = world.client().await;
    let registered = world.context.clients.find_fresh(ClientId::parse(&stranger.id).unwrap()).await.unwrap();
    let files = DeclaredFiles {
        clients: vec![client(&registered.unwrap().metadata.name, "profile", "everyone", None)],
        sources: vec![FILE.into()],
        ..DeclaredFiles::default()
    };
    run(&world, &files).await.unwrap();
    assert_eq!(export(world.context.management()).await.unwrap().others, 1);
}
