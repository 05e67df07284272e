//! Each change is begun, signed and carried out, and its events prove it.

use std::collections::BTreeMap;

use countersign_domain::admin_key::{AdminKeyName, AdminScope, AdminScopes};
use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::challenge::MAX_CHANGE_TEXT;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::desk::change::{Change, ResourceWords, UsedBy, Whom};
use countersign_domain::desk::operators::Quorum;
use countersign_domain::event::{Actor, EventKind, EventPerson};
use countersign_domain::group::GroupTitle;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{OpenTo, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_ports::Member;
use serde_json::Value;

use super::{Office, block, delete, group, id_of};
use crate::admin_keys::create_admin_key::create_admin_key;
use crate::desk::ChangeRefused;
use crate::desk::begin_change::{BeginChangeError, begin_change};
use crate::desk::complete_change::{Completed, Effect};
use crate::people::create_group::create_group;
use crate::tests::world::{REDIRECT_URI, toy};

const API: &str = "https://photos-api.example";
const NAMED: &str = "https://named.example";

fn metadata(name: &str) -> Box<RequestedMetadata> {
    Box::new(RequestedMetadata {
        client_name: Some(name.to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        ..RequestedMetadata::default()
    })
}

fn resource(title: &str) -> ResourceWords {
    let scope = ResourceScope {
        name: ScopeName::parse("photos.read").unwrap(),
        title: ScopeTitle::parse(title).unwrap(),
        titles: BTreeMap::new(),
        needs: None,
    };
    ResourceWords { uri: API.to_owned(), open_to: OpenTo::Everyone, scopes: vec![scope] }
}

fn key(name: &str) -> AdminKeyName {
    AdminKeyName::parse(name).unwrap()
}

fn scopes() -> AdminScopes {
    AdminScopes::of([AdminScope::parse("clients:write").unwrap()])
}

async fn make_group(office: &Office, name: &str) {
    create_group(office.world.context.management(), group(name), None).await.unwrap();
}

/// A change of this name that is possible.
async fn possible(office: &Office, name: &str) -> Change {
    let world = &office.world;
    let client =
        async || -> countersign_domain::desk::change::NamedClient { id_of(&office.client().await).into() };
    let eve = async || {
        office.sign_in("toy-eve").await;
        office.user("toy-eve").await
    };
    match name {
        "user-block" => Change::Block { who: Whom::User(eve().await.into()), reason: None },
        "wallet-block" => block("toy-mallory"),
        "user-unblock" => {
            let user = eve().await;
            world.block(countersign_ports::Blocked::User(user)).await;
            Change::Unblock { who: Whom::User(user.into()) }
        }
        "wallet-unblock" => {
            world.block(countersign_ports::Blocked::Wallet(toy("toy-mallory"))).await;
            Change::Unblock { who: Whom::Wallet(toy("toy-mallory")) }
        }
        "user-sign-out" => Change::SignOut { user: eve().await.into() },
        "user-delete" => Change::DeleteUser { user: eve().await.into() },
        "group-create" => {
            Change::CreateGroup { group: group("staff"), title: GroupTitle::parse("Staff").ok() }
        }
        "group-retitle" => {
            make_group(office, "staff").await;
            Change::RetitleGroup { group: group("staff"), title: GroupTitle::parse("Sta\"ff é").ok() }
        }
        "group-delete" => {
            make_group(office, "staff").await;
            Change::DeleteGroup { group: group("staff"), used_by: UsedBy::default() }
        }
        "member-add" => {
            make_group(office, "staff").await;
            Change::AddMember { group: group("staff"), member: Whom::Wallet(toy("toy-eve")) }
        }
        "member-remove" => {
            let user = eve().await;
            world.join("staff", Member::User(user)).await;
            Change::RemoveMember { group: group("staff"), member: Whom::User(user.into()) }
        }
        "client-register" => Change::RegisterClient {
            id: None,
            metadata: metadata("Photos"),
            resources: vec![NAMED.to_owned()],
        },
        "client-change" => Change::ChangeClient { client: client().await, metadata: metadata("Pictures") },
        "client-delete" => Change::DeleteClient { client: client().await },
        "client-rotate-secret" => Change::RotateSecret { client: client().await, keep_old: KeepOld::NOT },
        "client-open-resources" => {
            Change::OpenResources { client: client().await, resources: vec![NAMED.to_owned()] }
        }
        "client-close-resources" => {
            let client = office.client().await;
            world.open(&client, NAMED).await;
            Change::CloseResources { client: id_of(&client).into(), resources: vec![NAMED.to_owned()] }
        }
        "client-access" => Change::SetAccess {
            client: client().await,
            rule: Some(AccessRule::Everyone),
            release: Some(Release::All),
        },
        "resource-create" => Change::CreateResource { resource: resource("See") },
        "resource-update" => {
            declare(office).await;
            Change::UpdateResource { resource: resource("See more"), used_by: UsedBy::default() }
        }
        "resource-delete" => {
            declare(office).await;
            Change::DeleteResource { uri: API.to_owned(), used_by: UsedBy::default() }
        }
        "keys-rotate" => Change::RotateKeys { at_once: false, algorithms: SigningAlgorithm::ALL.to_vec() },
        "key-withdraw" => Change::WithdrawKey { kid: "key-1".to_owned() },
        "admin-key-create" => {
            Change::CreateAdminKey { name: key("CI"), scopes: scopes(), lives: Some(3_600) }
        }
        "admin-key-revoke" => {
            create_admin_key(world.context.management(), key("CI"), scopes(), None).await.unwrap();
            Change::RevokeAdminKey { name: key("CI") }
        }
        "proposal-withdraw" => {
            let ada = office.operator("toy-ada").await;
            let client = office.client().await;
            Change::WithdrawProposal { proposal: office.propose(&ada, delete(&client)).await }
        }
        other => panic!("nobody tries the change {other}"),
    }
}

async fn declare(office: &Office) {
    use crate::clients::declare_resource::create_resource;
    let ResourceWords { uri, open_to, scopes } = resource("See");
    let now = office.world.context.clock.now();
    let created_at = now.replace_nanosecond(0).unwrap();
    let resource = countersign_domain::resource::Resource { uri, open_to, scopes, created_at };
    create_resource(office.world.context.management(), resource).await.unwrap();
}

/// The texts under an event.
fn texts(signed: &str) -> Vec<String> {
    let signed: Value = serde_json::from_str(signed).unwrap();
    let signatures = signed["signatures"].as_array().unwrap().iter();
    signatures.map(|signature| signature["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn each_change_is_signed_and_carried_out_and_its_events_carry_the_proof() {
    for name in Change::NAMES {
        let quorum = if *name == "proposal-withdraw" { Quorum::Two } else { Quorum::One };
        let office = Office::new(quorum);
        let change = possible(&office, name).await;
        assert_eq!(change.name(), *name);
        let ada = office.operator("toy-ada").await;
        let before = office.acts().await;

        let (pending, shown) = office.begin(&ada, change).await;
        assert_eq!(office.acts().await, before, "{name}: nothing happens before the signature");
        let (text, told) = (shown.text.text.clone(), shown.change.told());
        assert!(text.len() <= MAX_CHANGE_TEXT && text.is_ascii(), "{name}");
        let done = office.finish(&ada, (pending, shown)).await.unwrap();

        assert!(matches!(done, Completed::Done { .. }), "{name}: {done:?}");
        let mut acts = office.acts().await;
        acts.retain(|act| !before.contains(act));
        assert!(!acts.is_empty(), "{name}");
        for act in &acts {
            assert!(told.kinds.contains(&act.kind), "{name}: {act:?}");
            assert_eq!(act.actor, Actor::Wallet("toy:1:toy-ada".to_owned()));
            assert_eq!(act.request.as_deref(), Some("request-7"));
            if act.kind == EventKind::AccountDeleted {
                assert_eq!(act.signed, None, "what names a deleted person goes");
                assert!(matches!(act.person, Some(EventPerson::Deleted(_))));
            } else {
                assert_eq!(texts(act.signed.as_ref().unwrap().as_str()), [text.as_str()], "{name}");
            }
        }
        for event in office.events().await {
            let is_signed = event.signed.is_some();
            assert!(!is_signed || matches!(event.actor, Actor::Wallet(_)), "{name}: {event:?}");
        }
        let verified = office.verify().await.unwrap_or_else(|broken| panic!("{name}: {broken}"));
        let proven = office.acts().await.iter().filter(|act| act.signed.is_some()).count();
        assert_eq!(verified.signatures, u64::try_from(proven).unwrap(), "{name}");
        assert_eq!(verified.signatures_unchecked, 0);
    }
}

#[tokio::test]
async fn each_dangerous_change_waits_for_the_second_and_its_events_carry_both_signatures() {
    let mut dangerous = 0;
    for name in Change::NAMES.iter().filter(|name| **name != "proposal-withdraw") {
        let office = Office::new(Quorum::Two);
        let change = possible(&office, name).await;
        let (ada, bob) = (office.operator("toy-ada").await, office.operator("toy-bob").await);
        let (pending, shown) = office.begin(&ada, change).await;
        let (needs_second, first_text) = (shown.needs_second, shown.text.text.clone());
        let id = match office.finish(&ada, (pending, shown)).await.unwrap() {
            Completed::Done { .. } => {
                assert!(!needs_second, "{name}");
                continue;
            }
            Completed::Proposed { proposal, .. } => proposal.id,
        };
        assert!(needs_second, "{name}");
        dangerous += 1;
        let kinds: Vec<_> = office.acts().await.iter().map(|act| act.kind).collect();
        assert_eq!(kinds, [EventKind::ChangeProposed], "{name}: only proposed");

        let done = office.countersign(&bob, id).await.unwrap();

        assert!(matches!(done, Completed::Done { .. }), "{name}: {done:?}");
        let mut acts = office.acts().await;
        acts.retain(|act| act.kind != EventKind::ChangeProposed);
        assert!(!acts.is_empty(), "{name}");
        for act in acts.iter().filter(|act| act.kind != EventKind::AccountDeleted) {
            assert_eq!(act.actor, Actor::Wallet("toy:1:toy-bob".to_owned()), "{name}");
            let texts = texts(act.signed.as_ref().unwrap().as_str());
            assert_eq!((texts.len(), &texts[0]), (2, &first_text), "{name}");
        }
        office.verify().await.unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
    assert_eq!(dangerous, 7);
}

#[tokio::test]
async fn what_a_change_makes_is_shown_once() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    for (name, is_shown) in [
        ("client-register", (|effect| matches!(effect, Effect::Registered(_))) as fn(&Effect) -> bool),
        ("client-rotate-secret", |effect| matches!(effect, Effect::Rotated(_))),
        ("admin-key-create", |effect| matches!(effect, Effect::AdminKey(_))),
        ("keys-rotate", |effect| matches!(effect, Effect::Keys(_))),
        ("user-delete", |effect| matches!(effect, Effect::Deleted(_))),
        ("user-block", |effect| matches!(effect, Effect::Ended(_))),
        ("group-create", |effect| matches!(effect, Effect::Done)),
    ] {
        let change = possible(&office, name).await;
        let done = office.make(&ada, change).await.unwrap();
        let Completed::Done { effect, .. } = done else { panic!("{name}") };
        assert!(is_shown(&effect), "{name}: {effect:?}");
        if let Effect::Registered(registered) = effect {
            let found = office.world.context.clients.find_fresh(registered.client.id).await.unwrap();
            assert_eq!(found.unwrap().resources, [NAMED]);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_is_refused_before_anybody_signs() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let nobody = countersign_domain::id::UserId::random([7; 16]);
    let nothing = countersign_domain::id::ClientId::of_document("nothing");
    let public = office.world.public_client().await;
    make_group(&office, "staff").await;
    let group_of = |name| Change::DeleteGroup { group: group(name), used_by: UsedBy::default() };
    let add = |group_name, member| Change::AddMember { group: group(group_name), member };
    let long = RequestedMetadata {
        redirect_uris: Some(
            (0..20).map(|place| format!("https://a.example/{place}{}", "x".repeat(300))).collect(),
        ),
        ..*metadata("Long")
    };
    type Why = fn(&ChangeRefused) -> bool;
    let refused: Vec<(Change, Why)> = vec![
        (Change::SignOut { user: nobody.into() }, |why| matches!(why, ChangeRefused::UserUnknown(_))),
        (Change::DeleteUser { user: nobody.into() }, |why| matches!(why, ChangeRefused::UserUnknown(_))),
        (Change::Block { who: Whom::Wallet(toy("toy-x")), reason: Some("a\u{202e}b".to_owned()) }, |why| {
            matches!(why, ChangeRefused::Reason(_))
        }),
        (Change::Unblock { who: Whom::Wallet(toy("toy-x")) }, |why| matches!(why, ChangeRefused::NoChange)),
        (group_of("nope"), |why| matches!(why, ChangeRefused::GroupUnknown(_))),
        (Change::CreateGroup { group: group("staff"), title: None }, |why| {
            matches!(why, ChangeRefused::GroupTaken)
        }),
        (add("nope", Whom::Wallet(toy("toy-x"))), |why| matches!(why, ChangeRefused::GroupUnknown(_))),
        (add("staff", Whom::User(nobody.into())), |why| matches!(why, ChangeRefused::UserUnknown(_))),
        (Change::RemoveMember { group: group("staff"), member: Whom::Wallet(toy("toy-x")) }, |why| {
            matches!(why, ChangeRefused::NoChange)
        }),
        (Change::DeleteClient { client: nothing.into() }, |why| matches!(why, ChangeRefused::ClientUnknown)),
        (Change::RotateSecret { client: id_of(&public).into(), keep_old: KeepOld::NOT }, |why| {
            matches!(why, ChangeRefused::NoSecret)
        }),
        (Change::RegisterClient { id: None, metadata: metadata(""), resources: Vec::new() }, |why| {
            matches!(why, ChangeRefused::Metadata(_))
        }),
        (Change::RegisterClient { id: None, metadata: Box::new(long), resources: Vec::new() }, |why| {
            matches!(why, ChangeRefused::TooLong)
        }),
        (
            Change::OpenResources {
                client: id_of(&public).into(),
                resources: vec!["https://x.example".to_owned()],
            },
            |why| matches!(why, ChangeRefused::Opened(_)),
        ),
        (
            Change::SetAccess {
                client: id_of(&public).into(),
                rule: Some(AccessRule::parse("groups:nope").unwrap()),
                release: None,
            },
            |why| matches!(why, ChangeRefused::GroupUnknown(_)),
        ),
        (Change::DeleteResource { uri: API.to_owned(), used_by: UsedBy::default() }, |why| {
            matches!(why, ChangeRefused::Resource(_))
        }),
        (Change::WithdrawKey { kid: "nope".to_owned() }, |why| matches!(why, ChangeRefused::Keys(_))),
        (Change::RotateKeys { at_once: true, algorithms: Vec::new() }, |why| {
            matches!(why, ChangeRefused::NoChange)
        }),
        (Change::CreateAdminKey { name: key("CI"), scopes: AdminScopes::default(), lives: None }, |why| {
            matches!(why, ChangeRefused::NoScope)
        }),
        (Change::RevokeAdminKey { name: key("CI") }, |why| matches!(why, ChangeRefused::AdminKeyUnknown)),
        (
            Change::WithdrawProposal {
                proposal: countersign_domain::id::GrantId::from_uuid(uuid::Uuid::nil()),
            },
            |why| matches!(why, ChangeRefused::NoSuchProposal),
        ),
    ];
    for (change, is_why) in refused {
        match begin_change(office.desk(), &ada, change.clone(), None).await {
            Err(BeginChangeError::Refused(why)) => assert!(is_why(&why), "{change:?}: {why:?}"),
            other => panic!("{change:?}: {other:?}"),
        }
    }
}
