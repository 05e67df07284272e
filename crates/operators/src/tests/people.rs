//! What an operator decides about people.

use std::collections::BTreeSet;

use countersign_domain::act::OfflineAccess;
use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::ClientOrigin;
use countersign_domain::event::EventKind;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::subject::Subject;
use countersign_ports::{BlockPut, EventFilter, EventOrder, EventPage, PeopleFilter};
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::clients::delete_client::remove_client;
use countersign_usecases::context::blocks::IfBlocked;
use countersign_usecases::steps::login::Browser;
use countersign_usecases::steps::recognize_account::RecognizeError;

use crate::people::add_members::add_members;
use crate::people::block::block;
use crate::people::change_access::change_access;
use crate::people::delete_user::delete_user;
use crate::people::find_who::{FindUserError, FindWhoError, find_user, find_who};
use crate::people::groups::create_group;
use crate::people::groups::delete_group;
use crate::people::list_groups::list_groups;
use crate::people::list_people::{ListPeopleError, list_people};
use crate::people::list_wallets::{ListWalletsError, list_wallets};
use crate::people::look_up_client::{LookUpClientError, look_up_client};
use crate::people::read_person::read_person;
use crate::people::remove_members::remove_members;
use crate::people::sign_out_user::sign_out_user;
use crate::people::unblock::unblock;
use crate::tests::world::{TestClient, World, code_of, toy};

fn group(name: &str) -> GroupName {
    GroupName::parse(name).unwrap()
}

/// A user whom nobody knows.
fn nobody() -> UserId {
    UserId::random([7; 16])
}

/// A client whose people are told of at the end of a session.
async fn client(world: &World, name: &str) -> TestClient {
    let requested = RequestedMetadata {
        client_name: Some(name.to_owned()),
        scopes: Some(["profile", "email", "offline_access"].map(ToOwned::to_owned).to_vec()),
        backchannel_logout_uri: Some("https://photos.example/out".to_owned()),
        ..RequestedMetadata::default()
    };
    world.register_by(requested, ClientOrigin::Operator).await
}

/// Signs in on a browser that remembers it, and returns the tokens.
async fn remembered(
    world: &World,
    client: &TestClient,
    address: &str,
    scope: &str,
) -> countersign_usecases::TokenAnswer {
    let mut pending = world.pending(client, &[("scope", scope)]).await;
    let answer = world.remember(&mut Browser::default(), &mut pending, address).await;
    world.exchange(client, &code_of(&answer)).await.unwrap()
}

async fn user_of(world: &World, address: &str) -> UserId {
    world.storage.find_owner(toy(address)).await.unwrap().unwrap()
}

#[tokio::test]
async fn somebody_is_named_by_id_by_address_or_with_the_chain() {
    let world = World::new();
    let management = world.context.management();
    let client = client(&world, "Album").await;
    world.tokens(&client, "toy-ann").await;
    let user = user_of(&world, "toy-ann").await;
    for text in [user.to_string(), user.to_string().to_uppercase()] {
        assert_eq!(find_who(management, &text, None).await.unwrap(), Subject::User(user));
    }
    for text in ["toy-ann", "toy:1:toy-ann"] {
        assert_eq!(find_who(management, text, None).await.unwrap(), Subject::Wallet(toy("toy-ann")));
        assert_eq!(find_user(management, text, None).await.unwrap(), user);
    }
    let stranger = find_user(management, "toy-bob", None).await;
    assert!(matches!(stranger, Err(FindUserError::NobodyYet(account)) if account == toy("toy-bob")));
    for (text, expected) in [
        ("ann", "wallet_address is not an address of a supported wallet"),
        ("", "wallet_address is not an address of a supported wallet"),
        ("toy:2:toy-ann", "chain is not one that wallet_address can belong to here: toy:1 (Toy)"),
    ] {
        match find_who(management, text, None).await {
            Err(FindWhoError::Unrecognized(error)) => assert_eq!(error.to_string(), expected),
            other => panic!("{text}: {other:?}"),
        }
    }
    let unknown = find_user(management, "ann", None).await;
    let unknown = matches!(
        unknown,
        Err(FindUserError::Who(FindWhoError::Unrecognized(RecognizeError::AddressUnknown)))
    );
    assert!(unknown);
}

#[tokio::test]
async fn a_block_ends_what_was_given_and_names_the_clients_to_tell() {
    let world = World::new();
    let management = world.context.management();
    let client = client(&world, "Album").await;
    let tokens = remembered(&world, &client, "toy-ann", "profile offline_access").await;
    let user = user_of(&world, "toy-ann").await;
    let done =
        block(management, Subject::User(user), Some("spam".to_owned()), IfBlocked::EndAccess).await.unwrap();
    assert_eq!((done.put == BlockPut::AlreadyThere, done.ended.sessions, done.ended.grants), (false, 1, 1));
    let told: Vec<_> = done.ended.notices.iter().map(|notice| (notice.user, notice.client)).collect();
    assert_eq!(told, [(user, ClientId::named(&client.id).unwrap())]);
    assert!(!world.is_alive(&tokens).await);
    let person = read_person(management, user).await.unwrap().unwrap();
    assert_eq!(person.person.listed.block.unwrap().reason.as_deref(), Some("spam"));
    assert_eq!(person.clients.len(), 1, "the consent stays, with its client");

    let again = block(management, Subject::Wallet(toy("toy-ann")), None, IfBlocked::EndAccess).await.unwrap();
    assert!(again.put == BlockPut::Stored && again.ended.grants == 0);
    let wallet = Subject::Wallet(toy("toy-ann"));
    let free = unblock(management, Subject::User(user)).await.unwrap();
    assert!(free.was_blocked && free.still == [wallet.clone()]);
    assert!(!unblock(management, Subject::User(user)).await.unwrap().was_blocked);
    block(management, Subject::User(user), None, IfBlocked::EndAccess).await.unwrap();
    let free = unblock(management, wallet).await.unwrap();
    assert!(free.was_blocked && free.still == [Subject::User(user)]);
    assert!(!world.is_alive(&tokens).await, "what ended stays ended");
}

#[tokio::test]
async fn a_user_who_does_not_exist_is_refused_by_every_command() {
    let world = World::new();
    let management = world.context.management();
    let who = Subject::User(nobody());
    assert!(matches!(
        block(management, who.clone(), None, IfBlocked::EndAccess).await,
        Err(ActRefused::UserUnknown(_))
    ));
    assert!(matches!(unblock(management, who).await, Err(ActRefused::UserUnknown(_))));
    assert!(matches!(
        sign_out_user(management, nobody(), OfflineAccess::Ended).await,
        Err(ActRefused::UserUnknown(_))
    ));
    assert!(matches!(
        delete_user(management, &world.context.keys.record, nobody()).await,
        Err(ActRefused::UserUnknown(_))
    ));
    assert_eq!(read_person(management, nobody()).await.unwrap(), None);
}

#[tokio::test]
async fn an_operators_sign_out_ends_everything_and_keeps_offline_access_only_if_asked() {
    for offline in [OfflineAccess::Ended, OfflineAccess::Kept] {
        let is_kept = offline == OfflineAccess::Kept;
        let world = World::new();
        let management = world.context.management();
        let client = client(&world, "Album").await;
        let away = remembered(&world, &client, "toy-ann", "profile offline_access").await;
        let here = remembered(&world, &client, "toy-ann", "profile").await;
        let nowhere = world.tokens(&client, "toy-ann").await;
        let bystander = world.tokens(&client, "toy-bob").await;
        let user = user_of(&world, "toy-ann").await;
        let ended = sign_out_user(management, user, offline).await.unwrap();
        let grants = if is_kept { 2 } else { 3 };
        assert_eq!((ended.sessions, ended.grants, ended.notices.len()), (2, grants, 2));
        assert_eq!(world.is_alive(&away).await, is_kept, "userinfo, {offline:?}");
        let refreshed = world.refresh(&client, &away).await;
        assert_eq!(refreshed.is_ok(), is_kept, "refresh, {offline:?}");
        assert!(world.is_alive(&bystander).await);
        assert!(!world.is_alive(&here).await && !world.is_alive(&nowhere).await);
        let filter = EventFilter { kinds: vec![EventKind::UserSignedOut], ..EventFilter::default() };
        let page = EventPage { order: EventOrder::NewestFirst, after: None, limit: 10 };
        let told = world.storage.list_events(&filter, page).await.unwrap();
        let details = format!("{{\"offline_access\":\"{}\"}}", offline.name());
        assert_eq!(told.iter().map(|event| event.details.as_str()).collect::<Vec<_>>(), [details]);
    }
}

#[tokio::test]
async fn whoever_is_deleted_leaves_clients_to_tell() {
    let world = World::new();
    let management = world.context.management();
    let client = client(&world, "Album").await;
    let tokens = remembered(&world, &client, "toy-ann", "profile").await;
    let user = user_of(&world, "toy-ann").await;
    let told = delete_user(management, &world.context.keys.record, user).await.unwrap();
    assert_eq!(told.iter().map(|notice| notice.user).collect::<Vec<_>>(), [user]);
    assert!(!world.is_alive(&tokens).await);
}

#[tokio::test]
async fn members_are_added_all_or_none_and_removed_as_they_were_added() {
    let world = World::new();
    let management = world.context.management();
    let client = client(&world, "Album").await;
    world.tokens(&client, "toy-ann").await;
    let user = user_of(&world, "toy-ann").await;
    let staff = group("staff");
    create_group(management, staff.clone(), None, &[]).await.unwrap();
    world.advance(time::Duration::seconds(1));
    let taken = create_group(management, staff.clone(), None, &[]).await;
    assert!(matches!(taken, Err(ActRefused::GroupTaken(_))));

    let wallets = ["toy-ann", "toy-bob"].map(|address| Subject::Wallet(toy(address)));
    let [ann, bob] = wallets.clone();
    let members = vec![bob.clone(), Subject::User(nobody())];
    let unknown = add_members(management, &staff, members).await;
    assert!(matches!(unknown, Err(ActRefused::MemberUnknown(user)) if user == nobody()));
    let missing = add_members(management, &group("stuff"), vec![bob.clone()]).await;
    assert!(matches!(missing, Err(ActRefused::GroupUnknown(_))));
    assert_eq!(list_groups(management).await.unwrap()[0].wallets, 0);

    let members = vec![ann.clone(), bob.clone(), Subject::User(user)];
    let added = add_members(management, &staff, members.clone()).await.unwrap();
    let said: Vec<_> = added.into_iter().map(|added| (added.user, added.already)).collect();
    assert_eq!(said, [(Some(user), false), (None, false), (Some(user), false)]);
    assert!(add_members(management, &staff, members).await.unwrap().iter().all(|added| added.already));

    let removed = remove_members(management, &staff, vec![Subject::User(user), bob.clone()]).await.unwrap();
    assert_eq!((removed[0].was_member, &*removed[0].still), (true, &[ann.clone()][..]));
    assert_eq!((removed[1].was_member, &*removed[1].still), (true, &[][..]));
    let again = remove_members(management, &staff, vec![Subject::User(user), bob]).await.unwrap();
    assert!(again.iter().all(|removed| !removed.was_member));
    assert_eq!(again[0].still, [ann]);
}

#[tokio::test]
async fn a_group_that_is_in_use_is_deleted_by_force_alone() {
    let world = World::new();
    let management = world.context.management();
    let client = client(&world, "Wiki").await;
    let [staff, guests] = ["staff", "guests"].map(group);
    for name in [&staff, &guests] {
        create_group(management, name.clone(), None, &[]).await.unwrap();
    }
    let stored = look_up_client(management, &client.id).await.unwrap();
    let rule = Some(AccessRule::Groups(vec![staff.clone()]));
    change_access(management, stored, rule, Some(Release::Groups(vec![guests.clone()]))).await.unwrap();
    delete_group(management, &guests, false, None).await.unwrap();
    match delete_group(management, &staff, false, None).await {
        Err(ActRefused::GroupInUse(found)) => {
            assert_eq!((found.counted.users, found.counted.wallets, found.is_default), (0, 0, false));
            assert_eq!(found.clients.len(), 1);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(delete_group(management, &staff, true, None).await.unwrap().clients.len(), 1);
    let gone = delete_group(management, &staff, true, None).await;
    assert!(matches!(gone, Err(ActRefused::GroupUnknown(_))));

    create_group(management, staff.clone(), None, &[]).await.unwrap();
    let mut world = world;
    world.context.policy.default_access = AccessRule::Groups(vec![staff.clone()]);
    let (management, everyone) = (world.context.management(), Some(AccessRule::Everyone));
    let stored = look_up_client(management, &client.id).await.unwrap();
    change_access(management, stored, everyone, None).await.unwrap();
    match delete_group(management, &staff, false, None).await {
        Err(ActRefused::GroupInUse(found)) => assert!(found.is_default && found.clients.is_empty()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn access_names_only_groups_that_are_there() {
    let world = World::new();
    let management = world.context.management();
    let client = client(&world, "Wiki").await;
    let stored = look_up_client(management, "Wiki").await.unwrap();
    assert_eq!(stored.id.to_string(), client.id);
    let rule = AccessRule::Groups(vec![group("staff")]);
    for (rule, release) in [
        (Some(rule.clone()), None),
        (Some(AccessRule::Everyone), Some(Release::Groups(vec![group("staff")]))),
    ] {
        let refused = change_access(management, stored.clone(), rule, release).await;
        assert!(matches!(refused, Err(ActRefused::NamedGroupUnknown(name)) if name == group("staff")));
    }
    assert_eq!(look_up_client(management, "Wiki").await.unwrap().access, stored.access);
    create_group(management, group("staff"), None, &[]).await.unwrap();
    let changed = change_access(management, stored.clone(), Some(rule.clone()), None).await.unwrap();
    assert_eq!((changed.before, &changed.now.rule), (stored.access.clone(), &rule));
    assert!(!changed.now.lets_somebody_in(), "it has no members");
    add_members(management, &group("staff"), vec![Subject::Wallet(toy("toy-ann"))]).await.unwrap();
    let all =
        change_access(management, stored.clone(), Some(rule.clone()), Some(Release::All)).await.unwrap();
    assert!(all.now.lets_somebody_in());
    let kept = change_access(management, stored.clone(), None, None).await.unwrap();
    assert_eq!((kept.now.client.access.rule, kept.now.client.access.release), (None, Release::All));
    remove_client(management, stored.id).await.unwrap();
    let gone = change_access(management, stored, Some(AccessRule::Nobody), None).await;
    assert!(matches!(gone, Err(ActRefused::ClientUnknown(_))));
}

/// Anyone can register a client with the name of another.
#[tokio::test]
async fn a_name_that_two_clients_have_names_neither() {
    let world = World::new();
    let management = world.context.management();
    let first = client(&world, "Wiki").await;
    assert!(look_up_client(management, "Wiki").await.is_ok());
    let second = client(&world, "Wiki").await;
    match look_up_client(management, "Wiki").await {
        Err(LookUpClientError::Several(clients)) => {
            let ids: BTreeSet<_> = clients.iter().map(|client| client.id.to_string()).collect();
            assert_eq!(ids, [first.id, second.id].into());
        }
        other => panic!("{other:?}"),
    }
    for unknown in ["Wiki ", "wiki", "", &nobody().to_string(), "https://wiki.example/client"] {
        assert!(matches!(look_up_client(management, unknown).await, Err(LookUpClientError::Unknown)));
    }
}

#[tokio::test]
async fn lists_say_whether_there_is_more() {
    let world = World::new();
    let management = world.context.management();
    let client = client(&world, "Album").await;
    for address in ["toy-ann", "toy-bob", "toy-cat"] {
        world.tokens(&client, address).await;
    }
    let all = list_people(management, PeopleFilter::default(), None, 3).await.unwrap();
    assert!(all.people.len() == 3 && !all.more);
    let some = list_people(management, PeopleFilter::default(), None, 2).await.unwrap();
    assert!(some.people[..] == all.people[..2] && some.more);
    let after = Some(some.people[1].id);
    let rest = list_people(management, PeopleFilter::default(), after, 2).await.unwrap();
    assert!(rest.people[..] == all.people[2..] && !rest.more);
    let filter = PeopleFilter { group: Some(group("staff")), blocked: false };
    let unknown = list_people(management, filter, None, 2).await;
    assert!(matches!(unknown, Err(ListPeopleError::GroupUnknown(name)) if name == group("staff")));

    let all = list_wallets(management, None, 3).await.unwrap();
    assert!(all.wallets.len() == 3 && !all.more);
    let mut read = Vec::new();
    for _ in 0..3 {
        let after = read.last().map(|wallet: &crate::people::list_wallets::WalletListed| &wallet.account);
        let page = list_wallets(management, after, 1).await.unwrap();
        assert_eq!(page.more, read.len() < 2);
        read.extend(page.wallets);
    }
    assert_eq!(read, all.wallets);
    let stranger = list_wallets(management, Some(&toy("toy-dog")), 1).await;
    assert!(matches!(stranger, Err(ListWalletsError::AfterUnknown)));
}
