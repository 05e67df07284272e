//! What operators do, by the use-cases of the command line.

use countersign_conformance::fixtures::RECORD_KEY;
use countersign_domain::act::OfflineAccess;
use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::ClientOrigin;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::desk::operators::{DeskPolicy, Quorum};
use countersign_domain::event::{EventKind, EventPerson};
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::invitation::InvitationLimits;
use countersign_domain::person_name::PersonName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{OpenTo, Resource};
use countersign_domain::subject::Subject;
use countersign_usecases::clients::change_client::change_client;
use countersign_usecases::clients::declare_resource::{create_resource, delete_resource, update_resource};
use countersign_usecases::clients::delete_client::remove_client;
use countersign_usecases::clients::open_resource::{close_resources, open_resources};
use countersign_usecases::clients::register_client::register_client;
use countersign_usecases::clients::rotate_client_secret::rotate_client_secret;
use countersign_usecases::context::blocks::IfBlocked;
use countersign_usecases::steps::login::Browser;
use serde_json::json;
use time::Duration;

use super::{Scene, Told};
use crate::people::add_members::add_members;
use crate::people::block::block;
use crate::people::change_access::change_access;
use crate::people::delete_user::delete_user;
use crate::people::groups::create_group;
use crate::people::groups::delete_group;
use crate::people::invitations::{NewInvitation, create_invitation, revoke_invitation};
use crate::people::names::name_subject;
use crate::people::remove_members::remove_members;
use crate::people::sign_out_user::sign_out_user;
use crate::people::suspend::{restore, suspend};
use crate::people::unblock::unblock;
use crate::tests::world::{REDIRECT_URI, TestClient, toy};

const NAMED: &str = "https://named.example";

fn id_of(client: &TestClient) -> ClientId {
    ClientId::named(&client.id).unwrap()
}

fn group(name: &str) -> GroupName {
    GroupName::parse(name).unwrap()
}

fn somebody() -> UserId {
    UserId::random([9; 16])
}

/// Ann is signed in at a client, and on a browser.
async fn ann(scene: &Scene) -> UserId {
    let client = scene.world.client().await;
    let mut pending = scene.world.pending(&client, &[]).await;
    scene.world.remember(&mut Browser::default(), &mut pending, "toy-ann").await;
    scene.user("toy-ann").await
}

fn metadata(name: &str) -> RequestedMetadata {
    RequestedMetadata {
        client_name: Some(name.to_owned()),
        redirect_uris: Some(vec![REDIRECT_URI.to_owned()]),
        ..RequestedMetadata::default()
    }
}

pub(super) async fn registering_a_client(scene: &mut Scene) {
    scene.begin().await;
    let management = scene.management();
    let registered = register_client(management, metadata("Photo Album"), ClientOrigin::Operator).await;
    let mut told = Told::of(EventKind::ClientRegistered, &scene.operator, json!({ "origin": "operator" }));
    told.client = Some(registered.unwrap().client.id);
    scene.told(&[told]).await;
}

pub(super) async fn changing_a_client(scene: &mut Scene) {
    let client = scene.world.client().await;
    let management = scene.management();
    let stored = management.clients.find_fresh(id_of(&client)).await.unwrap().unwrap();
    scene.begin().await;
    let management = scene.management();
    change_client(management, stored.clone(), metadata("")).await.unwrap_err();
    change_client(management, stored, metadata("Photos")).await.unwrap();
    let told = Told::of(EventKind::ClientChanged, &scene.operator, json!({ "what": "metadata" }));
    scene.told(&[told.client(&client)]).await;
}

pub(super) async fn opening_and_closing_resources(scene: &mut Scene) {
    let client = scene.world.client().await;
    scene.begin().await;
    let (id, management) = (id_of(&client), scene.management());
    let uris = [NAMED.to_owned()];
    open_resources(management, id, &["https://unknown.example".to_owned()]).await.unwrap_err();
    open_resources(management, ClientId::of_document("nobody"), &uris).await.unwrap_err();
    open_resources(management, id, &uris).await.unwrap();
    close_resources(management, id, &uris).await.unwrap();
    let changed = |details| Told::of(EventKind::ClientChanged, &scene.operator, details).client(&client);
    let told = [
        changed(json!({ "what": "resources", "opened": NAMED })),
        changed(json!({ "what": "resources", "closed": NAMED })),
    ];
    scene.told(&told).await;
}

pub(super) async fn rotating_a_secret(scene: &mut Scene) {
    let (client, public) = (scene.world.client().await, scene.world.public_client().await);
    scene.begin().await;
    let management = scene.management();
    let keep = |seconds| KeepOld::seconds(seconds).unwrap();
    rotate_client_secret(management, id_of(&public), keep(0)).await.unwrap_err();
    rotate_client_secret(management, id_of(&client), keep(3_600)).await.unwrap();
    rotate_client_secret(management, id_of(&client), keep(0)).await.unwrap();
    let told = [true, false].map(|kept| {
        Told::of(EventKind::SecretRotated, &scene.operator, json!({ "old_kept": kept })).client(&client)
    });
    scene.told(&told).await;
}

pub(super) async fn deleting_a_client(scene: &mut Scene) {
    let client = scene.world.client().await;
    scene.world.tokens(&client, "toy-ann").await;
    scene.begin().await;
    let management = scene.management();
    assert!(remove_client(management, id_of(&client)).await.unwrap());
    assert!(!remove_client(management, id_of(&client)).await.unwrap());
    scene.told(&[Told::of(EventKind::ClientDeleted, &scene.operator, json!({})).client(&client)]).await;
}

pub(super) async fn changing_access(scene: &mut Scene) {
    let client = scene.world.client().await;
    let stored = scene.management().clients.find_fresh(id_of(&client)).await.unwrap().unwrap();
    create_group(scene.management(), group("staff"), None, &[]).await.unwrap();
    scene.begin().await;
    let management = scene.management();
    let unknown = Some(AccessRule::parse("groups:nobody-knows").unwrap());
    change_access(management, stored.clone(), unknown, None).await.unwrap_err();
    let staff = Some(AccessRule::parse("groups:staff").unwrap());
    change_access(management, stored.clone(), staff, Some(Release::All)).await.unwrap();
    change_access(management, stored, None, None).await.unwrap();
    let changed = |details| Told::of(EventKind::AccessChanged, &scene.operator, details).client(&client);
    let told =
        [changed(json!({ "rule": "groups:staff", "release": "all" })), changed(json!({ "rule": "default" }))];
    scene.told(&told).await;
}

pub(super) async fn groups(scene: &mut Scene) {
    scene.begin().await;
    let management = scene.management();
    let title = Some(GroupTitle::parse("Our own people").unwrap());
    create_group(management, group("staff"), title, &[]).await.unwrap();
    scene.world.advance(Duration::seconds(1));
    create_group(management, group("staff"), None, &[]).await.unwrap_err();
    delete_group(management, &group("others"), true, None).await.unwrap_err();
    delete_group(management, &group("staff"), false, None).await.unwrap();
    let told = [EventKind::GroupCreated, EventKind::GroupDeleted]
        .map(|kind| Told::of(kind, &scene.operator, json!({ "group": "staff" })));
    scene.told(&told).await;
}

pub(super) async fn members(scene: &mut Scene) {
    let user = ann(scene).await;
    create_group(scene.management(), group("staff"), None, &[]).await.unwrap();
    scene.begin().await;
    let (management, staff) = (scene.management(), group("staff"));
    let both = || vec![Subject::User(user), Subject::Wallet(toy("toy-new"))];
    add_members(management, &staff, vec![Subject::User(somebody())]).await.unwrap_err();
    add_members(management, &group("others"), both()).await.unwrap_err();
    add_members(management, &staff, both()).await.unwrap();
    add_members(management, &staff, both()).await.unwrap();
    remove_members(management, &staff, both()).await.unwrap();
    remove_members(management, &staff, both()).await.unwrap();
    let told: Vec<_> = [EventKind::GroupMemberAdded, EventKind::GroupMemberRemoved]
        .into_iter()
        .flat_map(|kind| {
            let told = || Told::of(kind, &scene.operator, json!({ "group": "staff" }));
            [told().user(user), told().wallet("toy-new")]
        })
        .collect();
    scene.told(&told).await;
}

pub(super) async fn resources(scene: &mut Scene) {
    let uri = "https://photos.example/api";
    let resource = Resource {
        uri: uri.to_owned(),
        name: None,
        open_to: OpenTo::Everyone,
        scopes: Vec::new(),
        created_at: scene.world.context.clock.now(),
    };
    scene.begin().await;
    let management = scene.management();
    create_resource(management, Resource { uri: NAMED.to_owned(), ..resource.clone() }).await.unwrap_err();
    update_resource(management, resource.clone(), false).await.unwrap_err();
    create_resource(management, resource.clone()).await.unwrap();
    let later = resource.created_at + Duration::seconds(1);
    create_resource(management, Resource { created_at: later, ..resource.clone() }).await.unwrap_err();
    update_resource(management, Resource { open_to: OpenTo::Named, ..resource }, false).await.unwrap();
    delete_resource(management, uri, false).await.unwrap();
    delete_resource(management, uri, false).await.unwrap_err();
    let told = [EventKind::ResourceCreated, EventKind::ResourceChanged, EventKind::ResourceDeleted]
        .map(|kind| Told::of(kind, &scene.operator, json!({ "resource": uri })));
    scene.told(&told).await;
}

/// What the block ends is told by an event of its own, because it is a commit of its own.
pub(super) async fn blocking_a_user(scene: &mut Scene) {
    let user = ann(scene).await;
    scene.begin().await;
    let management = scene.management();
    let reason = || Some("a reason that only operators read".to_owned());
    block(management, Subject::User(somebody()), reason(), IfBlocked::EndAccess).await.unwrap_err();
    block(management, Subject::User(user), reason(), IfBlocked::EndAccess).await.unwrap();
    let told = [
        Told::of(EventKind::UserBlocked, &scene.operator, json!({})).user(user),
        Told::of(EventKind::GrantRevoked, &scene.operator.by_server(), json!({ "reason": "blocked" }))
            .user(user),
    ];
    scene.told(&told).await;
    assert!(unblock(scene.management(), Subject::User(user)).await.unwrap().was_blocked);
    assert!(!unblock(scene.management(), Subject::User(user)).await.unwrap().was_blocked);
    scene.told(&[Told::of(EventKind::UserUnblocked, &scene.operator, json!({})).user(user)]).await;
}

pub(super) async fn blocking_a_wallet(scene: &mut Scene) {
    ann(scene).await;
    scene.begin().await;
    let wallet = || Subject::Wallet(toy("toy-ann"));
    block(scene.management(), wallet(), None, IfBlocked::EndAccess).await.unwrap();
    let told = [
        Told::of(EventKind::WalletBlocked, &scene.operator, json!({})).wallet("toy-ann"),
        Told::of(EventKind::GrantRevoked, &scene.operator.by_server(), json!({ "reason": "blocked" }))
            .wallet("toy-ann"),
    ];
    scene.told(&told).await;
    assert!(unblock(scene.management(), wallet()).await.unwrap().was_blocked);
    assert!(!unblock(scene.management(), wallet()).await.unwrap().was_blocked);
    scene.told(&[Told::of(EventKind::WalletUnblocked, &scene.operator, json!({})).wallet("toy-ann")]).await;
}

pub(super) async fn naming_a_user_and_a_wallet(scene: &mut Scene) {
    let user = ann(scene).await;
    scene.begin().await;
    let name = || PersonName::parse("Ann").ok();
    name_subject(scene.management(), Subject::User(somebody()), name()).await.unwrap_err();
    for (who, kind) in [
        (Subject::User(user), EventKind::UserNamed),
        (Subject::Wallet(toy("toy-ann")), EventKind::WalletNamed),
    ] {
        let told = || {
            let told = Told::of(kind, &scene.operator, json!({}));
            if let Subject::User(user) = who { told.user(user) } else { told.wallet("toy-ann") }
        };
        let (first, last) = (told(), told());
        for (name, told) in [(name(), Some(first)), (name(), None), (None, Some(last)), (None, None)] {
            name_subject(scene.management(), who.clone(), name).await.unwrap();
            // Neither name is in the event.
            scene.told(told.as_slice()).await;
        }
    }
}

fn new_invitation(group: &GroupName) -> NewInvitation {
    let limits = InvitationLimits { uses: 2, lives: 3_600 };
    NewInvitation { group: group.clone(), limits, name: None, inviter: None, client: None }
}

pub(super) async fn inviting(scene: &mut Scene) {
    let (group, nowhere) = ("staff", "nowhere");
    let [group, nowhere] = [group, nowhere].map(|name| GroupName::parse(name).unwrap());
    create_group(scene.management(), group.clone(), None, &[]).await.unwrap();
    scene.begin().await;
    create_invitation(scene.management(), new_invitation(&nowhere)).await.unwrap_err();
    let created = create_invitation(scene.management(), new_invitation(&group)).await.unwrap();
    let id = created.invitation.id;
    let details = json!({ "invitation": id.to_string(), "group": "staff", "uses": "2" });
    scene.told(&[Told::of(EventKind::InvitationCreated, &scene.operator, details)]).await;
    revoke_invitation(scene.management(), id).await.unwrap();
    revoke_invitation(scene.management(), id).await.unwrap_err();
    let details = json!({ "invitation": id.to_string() });
    scene.told(&[Told::of(EventKind::InvitationRevoked, &scene.operator, details)]).await;
}

pub(super) async fn suspending_an_operator(scene: &mut Scene) {
    let user = ann(scene).await;
    let admins = ["toy-ann", "toy-unseen"].map(toy).to_vec();
    scene.world.context.policy.desk = Some(DeskPolicy { admins, group: None, quorum: Quorum::One });
    scene.begin().await;
    let reason = || Some("a reason that only operators read".to_owned());
    suspend(scene.management(), Subject::Wallet(toy("toy-bob")), reason()).await.unwrap_err();
    for who in [Subject::User(user), Subject::Wallet(toy("toy-unseen"))] {
        for kind in [EventKind::OperatorSuspended, EventKind::OperatorRestored] {
            for is_new in [true, false] {
                if kind == EventKind::OperatorSuspended {
                    suspend(scene.management(), who.clone(), reason()).await.unwrap();
                } else {
                    assert_eq!(restore(scene.management(), who.clone()).await.unwrap(), is_new);
                }
                let told = Told::of(kind, &scene.operator, json!({}));
                let told =
                    if let Subject::User(user) = who { told.user(user) } else { told.wallet("toy-unseen") };
                scene.told(if is_new { std::slice::from_ref(&told) } else { &[] }).await;
            }
        }
    }
}

pub(super) async fn signing_a_user_out(scene: &mut Scene) {
    let user = ann(scene).await;
    scene.begin().await;
    sign_out_user(scene.management(), somebody(), OfflineAccess::Ended).await.unwrap_err();
    sign_out_user(scene.management(), user, OfflineAccess::Ended).await.unwrap();
    let details = json!({ "offline_access": "ended" });
    scene.told(&[Told::of(EventKind::UserSignedOut, &scene.operator, details).user(user)]).await;
}

pub(super) async fn deleting_a_user(scene: &mut Scene) {
    let user = ann(scene).await;
    scene.begin().await;
    delete_user(scene.management(), &RECORD_KEY, somebody()).await.unwrap_err();
    delete_user(scene.management(), &RECORD_KEY, user).await.unwrap();
    delete_user(scene.management(), &RECORD_KEY, user).await.unwrap_err();
    let told = scene.news().await;
    let [told] = &told[..] else {
        assert!(scene.world.context.policy.events.retention.is_none(), "{told:#?}");
        return;
    };
    assert_eq!(
        (told.kind, &told.details),
        (EventKind::AccountDeleted, &json!({ "proof": told.details["proof"], "events": 1 }))
    );
    assert!(matches!(told.person, Some(EventPerson::Deleted(_))), "{told:?}");
    assert_eq!(told.cause, scene.operator);
}
