//! Each change is begun, signed and carried out, and its events prove it.

use std::collections::BTreeMap;

use countersign_domain::act::{Act, ActName, OfflineAccess, ResourceWords, UsedBy};
use countersign_domain::admin_key::{AdminKeyName, AdminScope, AdminScopes};
use countersign_domain::admission::{AccessRule, ClientAccess, Release};
use countersign_domain::challenge::MAX_CHANGE_TEXT;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::desk::operators::Quorum;
use countersign_domain::desk::pending::FactName;
use countersign_domain::event::{Actor, EventKind, EventPerson};
use countersign_domain::group::GroupTitle;
use countersign_domain::invitation::{InvitationLimits, Inviter};
use countersign_domain::person_name::PersonName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{OpenTo, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::subject::Subject;
use countersign_usecases::act_refused::ActRefused;
use serde_json::Value;

use super::{Office, Signing, block, delete, group, id_of};
use crate::admin_keys::create_admin_key::create_admin_key;
use crate::desk::begin_change::{BeginChangeError, begin_change};
use crate::desk::complete_change::Completed;
use crate::desk::review::{BecomesName, review_change};
use crate::operate::Effect;
use crate::people::groups::create_group;
use crate::people::invitations::{NewInvitation, create_invitation};
use crate::people::names::name_subject;
use crate::people::suspend::suspend;
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
    ResourceWords { uri: API.to_owned(), name: None, open_to: OpenTo::Everyone, scopes: vec![scope] }
}

fn key(name: &str) -> AdminKeyName {
    AdminKeyName::parse(name).unwrap()
}

fn scopes() -> AdminScopes {
    AdminScopes::of([AdminScope::parse("clients:write").unwrap()])
}

async fn make_group(office: &Office, name: &str) {
    create_group(office.world.context.management(), group(name), None, &[]).await.unwrap();
}

/// A change of this name that is possible.
async fn possible(office: &Office, name: ActName) -> Act {
    let world = &office.world;
    let client = async || -> countersign_domain::act::NamedClient { id_of(&office.client().await).into() };
    let eve = async || {
        office.sign_in("toy-eve").await;
        office.user("toy-eve").await
    };
    match name {
        ActName::BlockUser => Act::Block { who: Subject::User(eve().await.into()), reason: None },
        ActName::BlockWallet => block("toy-mallory"),
        ActName::UnblockUser => {
            let user = eve().await;
            world.block(Subject::User(user)).await;
            Act::Unblock { who: Subject::User(user.into()) }
        }
        ActName::UnblockWallet => {
            world.block(Subject::Wallet(toy("toy-mallory"))).await;
            Act::Unblock { who: Subject::Wallet(toy("toy-mallory").into()) }
        }
        ActName::SuspendOperator => {
            Act::Suspend { who: Subject::Wallet(toy("toy-cal").into()), reason: Some("last day".to_owned()) }
        }
        ActName::RestoreOperator => {
            let cal = Subject::Wallet(toy("toy-cal"));
            suspend(world.context.management(), cal.clone(), None).await.unwrap();
            Act::Restore { who: cal.into() }
        }
        ActName::SignOut => Act::SignOut { user: eve().await.into(), offline: Some(OfflineAccess::Ended) },
        ActName::NameUser => Act::Name {
            who: Subject::User(eve().await.into()),
            name: PersonName::parse("Eve \"E\" O'Neill").ok(),
        },
        ActName::NameWallet => {
            let wallet = Subject::Wallet(toy("toy-mallory"));
            let name = PersonName::parse("Mallory").ok();
            name_subject(world.context.management(), wallet.clone(), name).await.unwrap();
            Act::Name { who: wallet.into(), name: None }
        }
        ActName::DeleteUser => Act::DeleteUser { user: eve().await.into() },
        ActName::CreateGroup => Act::CreateGroup {
            group: group("staff"),
            title: GroupTitle::parse("Staff").ok(),
            members: Vec::new(),
        },
        ActName::RetitleGroup => {
            make_group(office, "staff").await;
            Act::RetitleGroup { group: group("staff"), title: GroupTitle::parse("Sta\"ff é").ok() }
        }
        ActName::DeleteGroup => {
            make_group(office, "staff").await;
            Act::DeleteGroup { group: group("staff"), used_by: UsedBy::default(), needed_by: Vec::new() }
        }
        ActName::AddMembers => {
            make_group(office, "staff").await;
            Act::AddMembers { group: group("staff"), members: vec![Subject::Wallet(toy("toy-eve").into())] }
        }
        ActName::RemoveMembers => {
            let user = eve().await;
            world.join("staff", Subject::User(user)).await;
            Act::RemoveMembers { group: group("staff"), members: vec![Subject::User(user.into())] }
        }
        ActName::CreateInvitation => {
            make_group(office, "staff").await;
            Act::CreateInvitation {
                group: group("staff"),
                limits: InvitationLimits::USUAL,
                name: PersonName::parse("Eve").ok(),
                inviter: Inviter::parse("The \"Millers\" é").ok(),
                client: Some(client().await),
            }
        }
        ActName::RevokeInvitation => {
            make_group(office, "staff").await;
            let new = NewInvitation {
                group: group("staff"),
                limits: InvitationLimits::USUAL,
                name: None,
                inviter: None,
                client: None,
            };
            let created = create_invitation(world.context.management(), new).await.unwrap();
            Act::RevokeInvitation { invitation: created.invitation.id.into() }
        }
        ActName::RegisterClient => Act::RegisterClient {
            id: None,
            metadata: metadata("Photos"),
            resources: vec![NAMED.to_owned()],
            fields: Vec::new(),
            access: Some(ClientAccess { rule: Some(AccessRule::Nobody), release: Release::All }),
        },
        ActName::ChangeClient => {
            Act::ChangeClient { client: client().await, metadata: metadata("Pictures"), fields: Vec::new() }
        }
        ActName::DeleteClient => Act::DeleteClient { client: client().await },
        ActName::RotateSecret => Act::RotateSecret { client: client().await, keep_old: KeepOld::NOT },
        ActName::OpenResources => {
            Act::OpenResources { client: client().await, resources: vec![NAMED.to_owned()] }
        }
        ActName::CloseResources => {
            let client = office.client().await;
            world.open(&client, NAMED).await;
            Act::CloseResources { client: id_of(&client).into(), resources: vec![NAMED.to_owned()] }
        }
        ActName::SetAccess => Act::SetAccess {
            client: client().await,
            rule: Some(AccessRule::Everyone),
            release: Some(Release::All),
        },
        ActName::CreateResource => Act::CreateResource { resource: resource("See") },
        ActName::UpdateResource => {
            declare(office).await;
            Act::UpdateResource { resource: resource("See more"), used_by: UsedBy::default() }
        }
        ActName::DeleteResource => {
            declare(office).await;
            Act::DeleteResource { uri: API.to_owned(), used_by: UsedBy::default() }
        }
        ActName::RotateKeys => Act::RotateKeys { at_once: false, algorithms: SigningAlgorithm::ALL.to_vec() },
        ActName::WithdrawKey => Act::WithdrawKey { kid: "key-1".to_owned() },
        ActName::CreateAdminKey => {
            Act::CreateAdminKey { name: key("CI"), scopes: scopes(), lives: Some(3_600) }
        }
        ActName::RevokeAdminKey => {
            create_admin_key(world.context.management(), key("CI"), scopes(), None).await.unwrap();
            Act::RevokeAdminKey { name: key("CI") }
        }
        ActName::WithdrawProposal => {
            let ada = office.operator("toy-ada").await;
            let client = office.client().await;
            Act::WithdrawProposal { proposal: office.propose(&ada, delete(&client)).await }
        }
        ActName::RefuseProposal => {
            let bob = office.operator("toy-bob").await;
            let client = office.client().await;
            let proposal = office.propose(&bob, delete(&client)).await;
            Act::RefuseProposal { proposal, reason: Some("not now".to_owned()) }
        }
    }
}

async fn declare(office: &Office) {
    use countersign_usecases::clients::declare_resource::create_resource;
    let ResourceWords { uri, name, open_to, scopes } = resource("See");
    let now = office.world.context.clock.now();
    let created_at = now.replace_nanosecond(0).unwrap();
    let resource = countersign_domain::resource::Resource { uri, name, open_to, scopes, created_at };
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
    for &name in ActName::ALL {
        let is_of_two = matches!(name, ActName::WithdrawProposal | ActName::RefuseProposal);
        let quorum = if is_of_two { Quorum::Two } else { Quorum::One };
        let office = Office::new(quorum);
        let change = possible(&office, name).await;
        assert_eq!(change.name(), name);
        let ada = office.operator("toy-ada").await;
        let before = office.acts().await;

        let (pending, shown) = office.begin(&ada, change).await;
        assert_eq!(office.acts().await, before, "{name}: nothing happens before the signature");
        let (text, told) = (shown.text.text.clone(), shown.change.act_event());
        assert!(text.len() <= MAX_CHANGE_TEXT && text.is_ascii(), "{name}");
        let done = office.finish(&ada, (pending, shown)).await.unwrap();

        assert!(matches!(done, Completed::Done { .. }), "{name}: {done:?}");
        let mut acts = office.acts().await;
        acts.retain(|act| !before.contains(act));
        assert!(!acts.is_empty(), "{name}");
        for act in &acts {
            assert!(told.kinds.contains(&act.kind), "{name}: {act:?}");
            assert_eq!(act.actor, Actor::Wallet("toy:1:toy-ada".to_owned()));
            // The log's line of a deletion names the person, so the event does not name the request.
            let request = (act.kind != EventKind::AccountDeleted).then_some("request-7");
            assert_eq!(act.request.as_deref(), request);
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
    for name in ActName::ALL
        .iter()
        .copied()
        .filter(|name| !matches!(name, ActName::WithdrawProposal | ActName::RefuseProposal))
    {
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
    assert_eq!(dangerous, 8);
}

#[tokio::test]
async fn what_a_change_makes_is_shown_once() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    for (name, is_shown) in [
        (ActName::RegisterClient, (|effect| matches!(effect, Effect::Registered(_))) as fn(&Effect) -> bool),
        (ActName::RotateSecret, |effect| matches!(effect, Effect::Rotated(..))),
        (ActName::CreateAdminKey, |effect| matches!(effect, Effect::AdminKeyCreated(_))),
        (ActName::RotateKeys, |effect| matches!(effect, Effect::Keys(_))),
        (ActName::DeleteUser, |effect| matches!(effect, Effect::UserDeleted(..))),
        (ActName::BlockUser, |effect| matches!(effect, Effect::Blocked(..))),
        (ActName::CreateGroup, |effect| matches!(effect, Effect::GroupCreated(_))),
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
async fn the_link_of_an_invitation_is_shown_once() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let change = possible(&office, ActName::CreateInvitation).await;
    let done = office.make(&ada, change).await.unwrap();
    let Completed::Done { effect: Effect::InvitationCreated(created), .. } = done else { panic!("{done:?}") };
    let secret = created.link.expose().rsplit('/').next().unwrap();
    let hash = SecretHash::of(&Secret::new(secret));
    let found = office.world.context.storage.find_invitation_by_hash(hash).await.unwrap();
    assert_eq!(found, Some(created.invitation));
    let events = office.world.storage.fresh_events(1_000).await.unwrap();
    assert!(!format!("{events:?}").contains(secret), "no event has it");
}

#[tokio::test]
async fn what_cannot_be_is_refused_before_anybody_signs() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let nobody = countersign_domain::id::UserId::random([7; 16]);
    let nothing = countersign_domain::id::ClientId::of_document("nothing");
    let public = office.world.public_client().await;
    make_group(&office, "staff").await;
    let group_of =
        |name| Act::DeleteGroup { group: group(name), used_by: UsedBy::default(), needed_by: Vec::new() };
    let add = |group_name, member| Act::AddMembers { group: group(group_name), members: vec![member] };
    let long = RequestedMetadata {
        redirect_uris: Some(
            (0..20).map(|place| format!("https://a.example/{place}{}", "x".repeat(300))).collect(),
        ),
        ..*metadata("Long")
    };
    type Why = fn(&ActRefused) -> bool;
    let refused: Vec<(Act, Why)> = vec![
        (Act::SignOut { user: nobody.into(), offline: None }, |why| {
            matches!(why, ActRefused::UserUnknown(_))
        }),
        (Act::DeleteUser { user: nobody.into() }, |why| matches!(why, ActRefused::UserUnknown(_))),
        (
            Act::Block { who: Subject::Wallet(toy("toy-x").into()), reason: Some("a\u{202e}b".to_owned()) },
            |why| matches!(why, ActRefused::Reason(_)),
        ),
        (Act::Unblock { who: Subject::Wallet(toy("toy-x").into()) }, |why| {
            matches!(why, ActRefused::NoChange)
        }),
        (group_of("nope"), |why| matches!(why, ActRefused::GroupUnknown(_))),
        (Act::CreateGroup { group: group("staff"), title: None, members: Vec::new() }, |why| {
            matches!(why, ActRefused::GroupTaken(_))
        }),
        (add("nope", Subject::Wallet(toy("toy-x").into())), |why| matches!(why, ActRefused::GroupUnknown(_))),
        (add("staff", Subject::User(nobody.into())), |why| matches!(why, ActRefused::UserUnknown(_))),
        (
            Act::RemoveMembers { group: group("staff"), members: vec![Subject::Wallet(toy("toy-x").into())] },
            |why| matches!(why, ActRefused::NoChange),
        ),
        (Act::DeleteClient { client: nothing.into() }, |why| matches!(why, ActRefused::ClientUnknown(_))),
        (Act::RotateSecret { client: id_of(&public).into(), keep_old: KeepOld::NOT }, |why| {
            matches!(why, ActRefused::NoSecret)
        }),
        (
            Act::RegisterClient {
                id: None,
                metadata: metadata(""),
                resources: Vec::new(),
                fields: Vec::new(),
                access: None,
            },
            |why| matches!(why, ActRefused::Metadata(_)),
        ),
        (
            Act::RegisterClient {
                id: None,
                metadata: Box::new(long),
                resources: Vec::new(),
                fields: Vec::new(),
                access: None,
            },
            |why| matches!(why, ActRefused::TooLong),
        ),
        (
            Act::OpenResources {
                client: id_of(&public).into(),
                resources: vec!["https://x.example".to_owned()],
            },
            |why| matches!(why, ActRefused::NotDeclared(_)),
        ),
        (
            Act::SetAccess {
                client: id_of(&public).into(),
                rule: Some(AccessRule::parse("groups:nope").unwrap()),
                release: None,
            },
            |why| matches!(why, ActRefused::NamedGroupUnknown(_)),
        ),
        (Act::DeleteResource { uri: API.to_owned(), used_by: UsedBy::default() }, |why| {
            matches!(why, ActRefused::ResourceUnknown(_))
        }),
        (Act::WithdrawKey { kid: "nope".to_owned() }, |why| matches!(why, ActRefused::Keys(_))),
        (Act::RotateKeys { at_once: true, algorithms: Vec::new() }, |why| {
            matches!(why, ActRefused::NoChange)
        }),
        (Act::CreateAdminKey { name: key("CI"), scopes: AdminScopes::default(), lives: None }, |why| {
            matches!(why, ActRefused::NoScope)
        }),
        (Act::RevokeAdminKey { name: key("CI") }, |why| matches!(why, ActRefused::AdminKeyUnknown(_))),
        (
            Act::WithdrawProposal {
                proposal: countersign_domain::id::GrantId::from_uuid(uuid::Uuid::from_u128(7)),
            },
            |why| matches!(why, ActRefused::NoSuchProposal),
        ),
    ];
    for (change, is_why) in refused {
        match begin_change(office.desk(), &ada, change.clone(), Signing::default()).await {
            Err(BeginChangeError::Refused(why)) => assert!(is_why(&why), "{change:?}: {why:?}"),
            other => panic!("{change:?}: {other:?}"),
        }
    }
}

/// In the group as a user, and through a wallet.
#[tokio::test]
async fn whoever_takes_a_member_out_learns_how_they_stay_in() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    office.sign_in("toy-eve").await;
    let eve = office.user("toy-eve").await;
    office
        .make(&ada, Act::CreateGroup { group: group("staff"), title: None, members: Vec::new() })
        .await
        .unwrap();
    for member in [Subject::User(eve.into()), Subject::Wallet(toy("toy-eve").into())] {
        office.make(&ada, Act::AddMembers { group: group("staff"), members: vec![member] }).await.unwrap();
    }
    let remove = |member| Act::RemoveMembers { group: group("staff"), members: vec![member] };
    let still_in = async |act: &Act| {
        let review = review_change(office.desk(), ada.session.user, act).await.unwrap();
        let name = BecomesName::Fact(FactName::StillIn);
        review.becomes.into_iter().find(|becomes| becomes.name == name).map(|becomes| becomes.stays)
    };
    let begun = office.begin(&ada, remove(Subject::User(eve.into()))).await;
    assert_eq!(still_in(&begun.1.change).await, Some(vec!["toy:1:toy-eve".to_owned()]));
    let done = office.finish(&ada, begun).await.unwrap();
    let Completed::Done { effect: Effect::Removed(_, removed), .. } = done else { panic!("{done:?}") };
    assert_eq!(removed[0].still, [Subject::Wallet(toy("toy-eve"))]);
    let begun = office.begin(&ada, remove(Subject::Wallet(toy("toy-eve").into()))).await;
    assert_eq!(still_in(&begun.1.change).await, None);
    let done = office.finish(&ada, begun).await.unwrap();
    assert!(
        matches!(&done, Completed::Done { effect: Effect::Removed(_, removed), .. } if removed[0].still.is_empty()),
        "{done:?}"
    );
}

#[tokio::test]
async fn whoever_deletes_a_group_reads_which_scopes_need_it() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    office
        .make(&ada, Act::CreateGroup { group: group("staff"), title: None, members: Vec::new() })
        .await
        .unwrap();
    let scope = ResourceScope {
        name: ScopeName::parse("photos.admin").unwrap(),
        title: ScopeTitle::parse("Manage photos").unwrap(),
        titles: BTreeMap::new(),
        needs: Some(group("staff")),
    };
    let resource = ResourceWords {
        uri: "https://scoped.example".to_owned(),
        name: None,
        open_to: OpenTo::Everyone,
        scopes: vec![scope],
    };
    office.make(&ada, Act::CreateResource { resource }).await.unwrap();
    let delete =
        Act::DeleteGroup { group: group("staff"), used_by: UsedBy::default(), needed_by: Vec::new() };
    let (pending, shown) = office.begin(&ada, delete).await;
    let words = "No one gets the scopes that need it: photos.admin.";
    assert!(shown.text.text.contains(words), "{}", shown.text.text);
    let review = review_change(office.desk(), ada.session.user, &shown.change).await.unwrap();
    let name = BecomesName::Fact(FactName::Scopes);
    let scopes = review.becomes.iter().find(|becomes| becomes.name == name).unwrap();
    assert_eq!(scopes.gone, ["photos.admin"]);
    office.finish(&ada, (pending, shown)).await.unwrap();
    office.verify().await.unwrap();
}
