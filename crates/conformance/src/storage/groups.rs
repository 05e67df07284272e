//! Groups, and who is in them.

use std::sync::Arc;

use countersign_domain::admission::{Standing, UserStanding};
use countersign_domain::group::{Group, GroupName, GroupTitle, Membership, Through};
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::group_store::MOST_COUNTED;
use countersign_ports::{
    ChangeMember, ChangeMembers, CountedGroup, CreateGroup, DeleteGroup, GroupCreated, GroupMember,
    MembersChanged, MembersGo, RetitleGroup, Storage,
};
use time::Duration;

use super::steps;
use crate::fixtures;
use crate::one_member::{MemberAdded, OneMember as _};

const HOUR: Duration = Duration::hours(1);

fn titled(name: &GroupName, title: &str) -> Group {
    Group { title: Some(GroupTitle::parse(title).unwrap()), ..fixtures::group(name) }
}

async fn retitle(store: &dyn Storage, group: &GroupName, title: Option<&str>) -> bool {
    let title = title.map(|title| GroupTitle::parse(title).unwrap());
    store.retitle_group(RetitleGroup { group: group.clone(), title, event: None }).await.unwrap()
}

/// The group and its numbers of users and wallets.
async fn counted(store: &dyn Storage, name: &GroupName) -> Option<(Group, u64, u64)> {
    let found = store.find_group(name).await.unwrap();
    found.map(|CountedGroup { group, users, wallets }| (group, users, wallets))
}

async fn members_of(store: &dyn Storage, group: &GroupName) -> Vec<Subject> {
    let members = store.list_members(group, None, u32::MAX).await.unwrap();
    members.into_iter().map(|listed| listed.member).collect()
}

async fn remove(store: &dyn Storage, group: &GroupName, member: &Subject) -> bool {
    store.remove_member(fixtures::remove_member(group, member)).await.unwrap()
}

async fn groups_of(store: &dyn Storage, user: UserId) -> Vec<GroupName> {
    store.groups_of(user).await.unwrap()
}

fn wallet(account: &WalletAccount) -> Subject {
    Subject::Wallet(account.clone())
}

fn account(family: &str, address: &str) -> WalletAccount {
    WalletAccount { family: family.to_owned(), chain: format!("{family}:chain"), address: address.to_owned() }
}

/// What is known about a wallet of nobody in these groups.
fn in_groups(groups: &[GroupName]) -> Standing {
    Standing { groups: groups.to_vec(), ..Standing::default() }
}

/// It has no members yet.
pub async fn a_created_group_is_found(store: Arc<dyn Storage>) {
    let [name, other] = [fixtures::group_name(), steps::group(&*store).await];
    let group = titled(&name, "Staff of the EU");
    assert_eq!(counted(&*store, &name).await, None);
    let command = fixtures::new_group(group.clone());
    assert_eq!(store.create_group(command).await.unwrap(), GroupCreated::Stored);
    assert_eq!(counted(&*store, &name).await, Some((group, 0, 0)));
    assert_eq!(counted(&*store, &other).await, Some((fixtures::group(&other), 0, 0)));
}

/// Rule 3: the same command again gets the same answer, whatever happened to the group since.
pub async fn a_group_that_is_created_again_is_stored_once(store: Arc<dyn Storage>) {
    let name = fixtures::group_name();
    let command = fixtures::new_group(titled(&name, "First"));
    for _ in 0..2 {
        assert_eq!(store.create_group(command.clone()).await.unwrap(), GroupCreated::Stored);
    }
    assert!(retitle(&*store, &name, None).await);
    let user = steps::sign_in(&*store).await.new_user;
    steps::add(&*store, &name, &Subject::User(user)).await;
    assert_eq!(store.create_group(command).await.unwrap(), GroupCreated::Stored);
    assert_eq!(counted(&*store, &name).await, Some((fixtures::group(&name), 1, 0)));
}

/// The group that has the name stays as it is.
pub async fn a_taken_name_changes_no_group(store: Arc<dyn Storage>) {
    let name = steps::group(&*store).await;
    for title in ["Another", "Second"] {
        let group = Group { created_at: fixtures::NOW + HOUR, ..titled(&name, title) };
        assert_eq!(store.create_group(fixtures::new_group(group)).await.unwrap(), GroupCreated::NameTaken);
    }
    assert_eq!(counted(&*store, &name).await, Some((fixtures::group(&name), 0, 0)));
}

/// Nothing else of the group changes, and no other group.
pub async fn a_group_is_retitled(store: Arc<dyn Storage>) {
    let [name, other] = [steps::group(&*store).await, steps::group(&*store).await];
    let user = steps::sign_in(&*store).await.new_user;
    steps::add(&*store, &name, &Subject::User(user)).await;
    for title in [Some("First"), Some("Zweite"), Some("Zweite"), None, None] {
        assert!(retitle(&*store, &name, title).await);
        let group = title.map_or_else(|| fixtures::group(&name), |title| titled(&name, title));
        assert_eq!(counted(&*store, &name).await, Some((group, 1, 0)));
    }
    assert_eq!(counted(&*store, &other).await, Some((fixtures::group(&other), 0, 0)));
    let nobody = fixtures::group_name();
    assert!(!retitle(&*store, &nobody, Some("First")).await);
    assert_eq!(counted(&*store, &nobody).await, None, "a title creates no group");
}

/// The shortest and longest names, every kind of character, and titles in every alphabet. Names that look
/// alike to a pattern or to a collation are different groups.
pub async fn every_value_of_a_group_survives(store: Arc<dyn Storage>) {
    let long = "z".repeat(64);
    let names = ["a", "a_b", "axb", "a.b", "a-b", "ab", "a:b", "a%b", "null", "a--", &long];
    let titles = ["A", "Ünïcödé 名前 имя", "e\u{301} is not \u{e9}", "'; DROP TABLE user_groups; --", "%_\\"];
    let mut groups = Vec::new();
    for (place, name) in names.into_iter().filter_map(|name| GroupName::parse(name).ok()).enumerate() {
        let mut group = fixtures::group(&name);
        group.title = titles.get(place).map(|title| GroupTitle::parse(title).unwrap());
        group.created_at += Duration::microseconds(1);
        assert_eq!(
            store.create_group(fixtures::new_group(group.clone())).await.unwrap(),
            GroupCreated::Stored
        );
        groups.push(group);
    }
    assert_eq!(groups.len(), names.len() - 1, "a percent sign is in no name");
    let longest = GroupTitle::parse(&"🦀".repeat(100)).unwrap();
    groups[0].title = Some(longest.clone());
    let command = RetitleGroup { group: groups[0].name.clone(), title: Some(longest), event: None };
    assert!(store.retitle_group(command).await.unwrap());
    for group in groups {
        assert_eq!(counted(&*store, &group.name).await, Some((group, 0, 0)));
    }
}

/// Pages in the order of the bytes, without gaps or repetitions, with the numbers of members.
pub async fn groups_are_listed_by_name_in_pages(store: Arc<dyn Storage>) {
    let names = fixtures::groups(&["a", "a-", "a-b", "a.", "a0", "a:", "a_", "aa", "ab", "b"]);
    for place in [3, 9, 0, 4, 2, 1, 8, 7, 6, 5] {
        steps::create_group(&*store, &names[place]).await;
    }
    let login = steps::sign_in(&*store).await;
    steps::add(&*store, &names[2], &Subject::User(login.new_user)).await;
    for _ in 0..2 {
        steps::add(&*store, &names[2], &wallet(&fixtures::wallet_account())).await;
    }
    let page = async |after: Option<&GroupName>, limit| {
        let listed = store.list_groups(after, limit).await.unwrap();
        listed.into_iter().map(|counted| counted.group.name).collect::<Vec<_>>()
    };
    assert_eq!(page(None, u32::MAX).await, names);
    assert_eq!(page(None, 3).await, names[..3]);
    assert_eq!(page(Some(&names[2]), 3).await, names[3..6]);
    assert_eq!(page(Some(&names[8]), 3).await, names[9..]);
    assert_eq!(page(Some(&names[9]), 3).await, []);
    assert_eq!(page(None, 0).await, []);
    let listed = store.list_groups(Some(&names[1]), 1).await.unwrap();
    assert_eq!(listed, [CountedGroup { group: fixtures::group(&names[2]), users: 1, wallets: 2 }]);

    assert!(store.delete_group(DeleteGroup { name: names[4].clone(), event: None }).await.unwrap());
    assert_eq!(page(Some(&names[4]), 1).await, names[5..6], "a page may start after a deleted group");
    let never = &fixtures::groups(&["a_0"])[0];
    assert_eq!(page(Some(never), 1).await, names[7..8], "or after one that never was");
}

/// Nobody is in it any more, and a new group of its name begins without members. Other groups stay.
pub async fn a_deleted_group_is_gone_with_its_memberships(store: Arc<dyn Storage>) {
    let [gone, stays] = [steps::group(&*store).await, steps::group(&*store).await];
    let login = steps::sign_in(&*store).await;
    let unseen = fixtures::wallet_account();
    let members = [Subject::User(login.new_user), wallet(&login.account), wallet(&unseen)];
    for group in [&gone, &stays] {
        for member in &members {
            steps::add(&*store, group, member).await;
        }
    }
    assert!(store.delete_group(DeleteGroup { name: gone.clone(), event: None }).await.unwrap());
    assert_eq!(counted(&*store, &gone).await, None);
    assert_eq!(members_of(&*store, &gone).await, []);
    let left = std::slice::from_ref(&stays);
    assert_eq!(groups_of(&*store, login.new_user).await, left);
    assert_eq!(steps::standing(&*store, &login.account).await.groups, left);
    assert_eq!(steps::standing(&*store, &unseen).await, in_groups(left));
    for member in &members {
        assert!(!remove(&*store, &gone, member).await);
        let outcome = store.add_member(fixtures::add_member(&gone, member)).await.unwrap();
        assert_eq!(outcome, MemberAdded::GroupUnknown);
    }
    assert!(
        !store.delete_group(DeleteGroup { name: gone.clone(), event: None }).await.unwrap(),
        "it is already deleted"
    );

    let group = Group { created_at: fixtures::NOW + HOUR, ..fixtures::group(&gone) };
    let again = fixtures::new_group(group.clone());
    assert_eq!(store.create_group(again).await.unwrap(), GroupCreated::Stored);
    assert_eq!(counted(&*store, &gone).await, Some((group, 0, 0)));
    assert_eq!(groups_of(&*store, login.new_user).await, left);
    assert_eq!(counted(&*store, &stays).await, Some((fixtures::group(&stays), 1, 2)));
}

/// A client's rule may name a group that does not exist; deleting one leaves the rule as it is.
pub async fn the_rules_of_clients_outlive_a_group(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let client = fixtures::register_client();
    store.register_client(client.clone()).await.unwrap();
    let rule = fixtures::rule(&format!("groups:{group}"));
    assert!(store.change_access(fixtures::change_access(client.client.id, rule.clone())).await.unwrap());
    assert!(store.delete_group(DeleteGroup { name: group.clone(), event: None }).await.unwrap());
    let found = store.find_client(client.client.id).await.unwrap().unwrap();
    assert_eq!(found.access.rule, Some(rule));
    assert!(
        !store.delete_group(DeleteGroup { name: fixtures::group_name().clone(), event: None }).await.unwrap(),
        "there was none"
    );
}

/// Added again, a member keeps its time, and a wallet its chain.
pub async fn a_member_is_added_once(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let user = steps::sign_in(&*store).await.new_user;
    let unseen = fixtures::wallet_account();
    let elsewhere = WalletAccount { chain: "eip155:137".to_owned(), ..unseen.clone() };
    for (first, again) in [(Subject::User(user), Subject::User(user)), (wallet(&unseen), wallet(&elsewhere))]
    {
        steps::add(&*store, &group, &first).await;
        let now = fixtures::NOW + HOUR;
        let later = ChangeMember { now, ..fixtures::add_member(&group, &again) };
        assert_eq!(store.add_member(later).await.unwrap(), MemberAdded::AlreadyThere);
    }
    let added_at = fixtures::NOW;
    let expected = [
        GroupMember { member: Subject::User(user), added_at, user: Some(user) },
        GroupMember { member: wallet(&unseen), added_at, user: None },
    ];
    assert_eq!(store.list_members(&group, None, 10).await.unwrap(), expected);
    assert_eq!(counted(&*store, &group).await, Some((fixtures::group(&group), 1, 1)));
}

/// Neither a group nor a user is created by a member.
pub async fn members_need_a_group_and_users_must_exist(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let (nowhere, nobody) = (fixtures::group_name(), fixtures::user_id());
    let user = steps::sign_in(&*store).await.new_user;
    let unseen = wallet(&fixtures::wallet_account());
    for member in [&Subject::User(user), &Subject::User(nobody), &unseen] {
        let outcome = store.add_member(fixtures::add_member(&nowhere, member)).await.unwrap();
        assert_eq!(outcome, MemberAdded::GroupUnknown);
    }
    let outcome = store.add_member(fixtures::add_member(&group, &Subject::User(nobody))).await.unwrap();
    assert_eq!(outcome, MemberAdded::UserUnknown);
    assert_eq!(counted(&*store, &nowhere).await, None);
    assert_eq!(counted(&*store, &group).await, Some((fixtures::group(&group), 0, 0)));
    assert_eq!(groups_of(&*store, nobody).await, []);
    assert_eq!(store.find_account(nobody).await.unwrap(), None);
}

/// The first time only, out of this group only, and whatever the chain of a wallet.
pub async fn a_member_is_taken_out_once(store: Arc<dyn Storage>) {
    let [group, other] = [steps::group(&*store).await, steps::group(&*store).await];
    let login = steps::sign_in(&*store).await;
    let bystander = steps::sign_in(&*store).await;
    let elsewhere = WalletAccount { chain: "eip155:10".to_owned(), ..login.account.clone() };
    let [own, through] = [Subject::User(login.new_user), wallet(&login.account)];
    for group in [&group, &other] {
        for member in [&own, &through, &Subject::User(bystander.new_user)] {
            steps::add(&*store, group, member).await;
        }
    }
    assert!(remove(&*store, &group, &own).await);
    assert!(!remove(&*store, &group, &own).await);
    let standing = steps::standing(&*store, &login.account).await;
    assert!(standing.groups.contains(&group), "the user is still in it through the wallet");
    assert!(remove(&*store, &group, &wallet(&elsewhere)).await);
    assert!(!remove(&*store, &group, &through).await);
    assert_eq!(groups_of(&*store, login.new_user).await, std::slice::from_ref(&other));
    assert_eq!(members_of(&*store, &group).await, [Subject::User(bystander.new_user)]);
    assert_eq!(members_of(&*store, &other).await.len(), 3);
    for member in [wallet(&bystander.account), Subject::User(fixtures::user_id())] {
        assert!(!remove(&*store, &group, &member).await, "it never was one");
    }
    assert!(!remove(&*store, &fixtures::group_name(), &own).await);
}

/// Lists of groups take no longer if one of them is large. The list of members has all of them.
pub async fn members_are_counted_up_to_a_thousand_and_one(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let counts = [(1_000, 1_000), (1, MOST_COUNTED + 1), (2, MOST_COUNTED + 1)];
    let mut there = 0;
    for (more, expected) in counts {
        for _ in 0..more {
            steps::add(&*store, &group, &wallet(&fixtures::wallet_account())).await;
        }
        there += more;
        assert_eq!(counted(&*store, &group).await, Some((fixtures::group(&group), 0, expected)));
        let listed = store.list_groups(None, u32::MAX).await.unwrap();
        let found = listed.iter().find(|listed| listed.group.name == group).unwrap();
        assert_eq!((found.users, found.wallets), (0, expected));
    }
    assert_eq!(members_of(&*store, &group).await.len(), there);
}

/// Users by id, then wallets by family and address, byte for byte. Whoever a wallet belongs to now is named.
pub async fn members_are_listed_users_first_in_pages(store: Arc<dyn Storage>) {
    let [group, other] = [steps::group(&*store).await, steps::group(&*store).await];
    let mut users = Vec::new();
    for _ in 0..4 {
        users.push(steps::sign_in(&*store).await.new_user);
    }
    users.sort_unstable();
    let owner = steps::sign_in(&*store).await;
    let mut wallets = vec![owner.account.clone()];
    for (family, address) in
        [("Z:1", "b"), ("a", "B"), ("a", "a"), ("a", "b:c"), ("a:b", "c"), ("a", "ß"), ("a", "z")]
    {
        wallets.push(account(family, address));
    }
    wallets.sort_by(|one, other| (&one.family, &one.address).cmp(&(&other.family, &other.address)));
    let mut expected: Vec<_> = users.iter().map(|user| Subject::User(*user)).collect();
    expected.extend(wallets.iter().map(wallet));
    for member in expected.iter().rev() {
        steps::add(&*store, &group, member).await;
    }
    steps::add(&*store, &other, &Subject::User(owner.new_user)).await;

    let listed = store.list_members(&group, None, u32::MAX).await.unwrap();
    for (listed, member) in listed.iter().zip(&expected) {
        let user = match member {
            Subject::User(user) => Some(*user),
            Subject::Wallet(account) => (*account == owner.account).then_some(owner.new_user),
        };
        let member = member.clone();
        assert_eq!(*listed, GroupMember { member, added_at: fixtures::NOW, user });
    }
    let page = async |after: Option<&Subject>, limit| {
        let listed = store.list_members(&group, after, limit).await.unwrap();
        listed.into_iter().map(|listed| listed.member).collect::<Vec<_>>()
    };
    assert_eq!(page(None, u32::MAX).await, expected);
    for limit in 1..=expected.len() {
        let mut paged: Vec<Subject> = Vec::new();
        loop {
            let next = page(paged.last(), u32::try_from(limit).unwrap()).await;
            assert!(next.len() <= limit);
            if next.is_empty() {
                break;
            }
            paged.extend(next);
            assert!(paged.len() <= expected.len(), "a page repeats what came before");
        }
        assert_eq!(paged, expected, "in pages of {limit}");
    }
    assert_eq!(page(None, 0).await, []);

    for gone in [1, 3, 5] {
        assert!(remove(&*store, &group, &expected[gone]).await);
    }
    assert_eq!(page(Some(&expected[1]), 1).await, expected[2..3], "a page may start after a former member");
    assert_eq!(page(Some(&expected[3]), 1).await, expected[4..5], "where the users end, too");
    assert_eq!(page(Some(&expected[5]), 1).await, expected[6..7]);
    let elsewhere = match &expected[6] {
        Subject::Wallet(account) => WalletAccount { chain: "x:y".to_owned(), ..account.clone() },
        Subject::User(_) => panic!("there are four users"),
    };
    assert_eq!(
        page(Some(&wallet(&elsewhere)), 1).await,
        expected[7..8],
        "the chain has no place in the order"
    );
    assert_eq!(store.list_members(&fixtures::group_name(), None, 10).await.unwrap(), []);
}

/// An operator names a wallet that nobody has used. Whoever signs in with it first is in the group at once.
pub async fn a_wallet_is_in_a_group_before_its_first_sign_in(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let login = fixtures::complete_login();
    steps::add(&*store, &group, &wallet(&login.account)).await;
    let groups = vec![group.clone()];
    assert_eq!(steps::standing(&*store, &login.account).await, in_groups(&groups));
    assert_eq!(store.find_owner(login.account.clone()).await.unwrap(), None, "it makes no user");
    let user = steps::user_of(&*store, &login).await;
    let expected = Standing { user: Some(user), ..in_groups(&groups) };
    assert_eq!(steps::standing(&*store, &login.account).await, expected);
    assert_eq!(groups_of(&*store, user).await, groups);
    let listed = store.list_members(&group, None, 10).await.unwrap();
    assert_eq!(listed[0].user, Some(user));
    assert_eq!(counted(&*store, &group).await, Some((fixtures::group(&group), 0, 1)));
}

/// Family and address identify a wallet, byte for byte, wherever the colons stand. The chain does not count.
pub async fn wallets_in_groups_are_told_apart_by_family_and_address(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let member = account("a:b", "c:D");
    steps::add(&*store, &group, &wallet(&member)).await;
    let groups = [group.clone()];
    let elsewhere = WalletAccount { chain: "x:y".to_owned(), ..member.clone() };
    for same in [&member, &elsewhere] {
        assert_eq!(steps::standing(&*store, same).await, in_groups(&groups));
    }
    for (family, address) in [
        ("a", "b:c:D"),
        ("a:b:c", "D"),
        ("a:b", "c:d"),
        ("A:b", "c:D"),
        ("a:b", "c:D "),
        ("a:b", "c:"),
        ("a:b", "c:Ｄ"),
        ("", "a:b:c:D"),
        ("a_b", "c:D"),
    ] {
        let other = account(family, address);
        assert_eq!(steps::standing(&*store, &other).await, Standing::default(), "{family} {address}");
        assert!(!remove(&*store, &group, &wallet(&other)).await);
        steps::add(&*store, &group, &wallet(&other)).await;
    }
    assert_eq!(counted(&*store, &group).await, Some((fixtures::group(&group), 0, 10)));
    let contract = WalletAccount { family: "eip155:1".to_owned(), ..fixtures::wallet_account() };
    let key = WalletAccount { family: "eip155".to_owned(), ..contract.clone() };
    steps::add(&*store, &group, &wallet(&contract)).await;
    assert_eq!(steps::standing(&*store, &contract).await, in_groups(&groups));
    assert_eq!(steps::standing(&*store, &key).await, Standing::default(), "F-15");
}

/// The user's own and those of each wallet, each group once, in the order of the bytes.
pub async fn a_user_is_in_the_groups_of_every_wallet(store: Arc<dyn Storage>) {
    let names = fixtures::groups(&["b-own", "b.both", "b0first", "b:second", "b_all", "b_none", "ba"]);
    for name in names.iter().rev() {
        steps::create_group(&*store, name).await;
    }
    let [own, both, first, second, all, none, other] = names.as_slice() else { panic!("seven") };
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    let bystander = steps::sign_in(&*store).await;
    steps::add(&*store, other, &wallet(&bystander.account)).await;
    steps::add(&*store, none, &wallet(&fixtures::wallet_account())).await;
    for group in [all, both, own] {
        steps::add(&*store, group, &Subject::User(user)).await;
    }
    for group in [second, all] {
        steps::add(&*store, group, &wallet(&wallets[1])).await;
    }
    for group in [first, both, all] {
        let elsewhere = WalletAccount { chain: "eip155:10".to_owned(), ..wallets[0].clone() };
        steps::add(&*store, group, &wallet(&elsewhere)).await;
    }

    let groups = [own, both, first, second, all].map(Clone::clone);
    assert_eq!(groups_of(&*store, user).await, groups);
    for account in &wallets {
        let expected = Standing { user: Some(user), ..in_groups(&groups) };
        assert_eq!(steps::standing(&*store, account).await, expected);
    }
    assert_eq!(groups_of(&*store, bystander.new_user).await, std::slice::from_ref(other));

    let through = |account: &WalletAccount| Through::Wallet(account.clone());
    let mut sorted = wallets.clone();
    sorted.sort_by(|one, other| one.address.cmp(&other.address));
    let expected = [
        (own, Through::User),
        (both, Through::User),
        (both, through(&wallets[0])),
        (first, through(&wallets[0])),
        (second, through(&wallets[1])),
        (all, Through::User),
        (all, through(&sorted[0])),
        (all, through(&sorted[1])),
    ];
    let expected = expected.map(|(group, through)| Membership { group: group.clone(), through });
    let memberships = store.memberships_of(user).await.unwrap();
    assert_eq!(memberships, expected, "a wallet has the chain of its link");
}

/// A user who does not exist is in no group, and neither is one whom nobody put into any.
pub async fn nobody_is_in_no_group(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let login = steps::sign_in(&*store).await;
    steps::add(&*store, &group, &wallet(&fixtures::wallet_account())).await;
    for user in [login.new_user, fixtures::user_id()] {
        assert_eq!(groups_of(&*store, user).await, []);
        assert_eq!(store.memberships_of(user).await.unwrap(), []);
    }
    assert_eq!(steps::standing(&*store, &fixtures::wallet_account()).await, Standing::default());
    let expected = Standing { user: Some(login.new_user), ..Standing::default() };
    assert_eq!(steps::standing(&*store, &login.account).await, expected);
}

/// Unlinked, it takes its groups along; linked elsewhere, it brings them. What a user was put into stays with
/// the user.
pub async fn the_groups_of_a_wallet_go_where_it_goes(store: Arc<dyn Storage>) {
    let [own, brought] = [steps::group(&*store).await, steps::group(&*store).await];
    let (user, [stays, goes]) = steps::user_with_two_wallets(&*store).await;
    let other = steps::sign_in(&*store).await;
    steps::add(&*store, &own, &Subject::User(user)).await;
    steps::add(&*store, &brought, &wallet(&goes)).await;
    let both = [own.clone(), brought.clone()];
    assert_eq!(steps::standing(&*store, &stays).await.groups, both);

    steps::unlink(&*store, &stays, &goes).await;
    assert_eq!(groups_of(&*store, user).await, both[..1]);
    assert_eq!(steps::standing(&*store, &stays).await.groups, both[..1]);
    assert_eq!(steps::standing(&*store, &goes).await, in_groups(&both[1..]));

    steps::link(&*store, &other.account, &goes).await;
    assert_eq!(groups_of(&*store, user).await, both[..1]);
    for account in [&other.account, &goes] {
        let expected = Standing { user: Some(other.new_user), ..in_groups(&both[1..]) };
        assert_eq!(steps::standing(&*store, account).await, expected);
    }
    let listed = store.list_members(&brought, None, 10).await.unwrap();
    assert_eq!(listed[0].user, Some(other.new_user));

    steps::unlink(&*store, &goes, &goes).await;
    let back = fixtures::complete_login_of(goes.clone());
    assert_eq!(steps::user_of(&*store, &back).await, back.new_user);
    assert_eq!(groups_of(&*store, back.new_user).await, both[1..]);
    assert_eq!(groups_of(&*store, other.new_user).await, []);
}

/// The wallets stay in theirs, and bring them to their next users. A user's own membership is inherited by
/// nobody.
pub async fn a_deleted_user_leaves_their_groups(store: Arc<dyn Storage>) {
    let [own, brought] = [steps::group(&*store).await, steps::group(&*store).await];
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    steps::add(&*store, &own, &Subject::User(user)).await;
    steps::add(&*store, &brought, &wallet(&second)).await;
    assert!(store.delete_account(fixtures::delete_account(user)).await.unwrap());
    assert_eq!(groups_of(&*store, user).await, []);
    assert_eq!(members_of(&*store, &own).await, []);
    assert_eq!(members_of(&*store, &brought).await, [wallet(&second)]);
    assert_eq!(steps::standing(&*store, &first).await, Standing::default());
    assert_eq!(steps::standing(&*store, &second).await, in_groups(std::slice::from_ref(&brought)));
    let outcome = store.add_member(fixtures::add_member(&own, &Subject::User(user))).await.unwrap();
    assert_eq!(outcome, MemberAdded::UserUnknown);
    for (account, groups) in [(first, vec![]), (second, vec![brought])] {
        let login = fixtures::complete_login_of(account);
        assert_eq!(groups_of(&*store, steps::user_of(&*store, &login).await).await, groups);
    }
}

/// How many groups the user of the next clause is in.
const MANY: usize = 300;

/// None is left out, whatever the ways, and none is named twice.
pub async fn a_user_is_in_as_many_groups_as_there_are(store: Arc<dyn Storage>) {
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    let mut groups = Vec::new();
    for place in 0..MANY {
        let group = steps::group(&*store).await;
        let ways = [Subject::User(user), wallet(&wallets[0]), wallet(&wallets[1])];
        steps::add(&*store, &group, &ways[place % 3]).await;
        if place % 5 == 0 {
            steps::add(&*store, &group, &ways[(place + 1) % 3]).await;
        }
        groups.push(group);
    }
    assert_eq!(groups_of(&*store, user).await, groups);
    assert_eq!(steps::standing(&*store, &wallets[1]).await.groups, groups);
    assert_eq!(store.memberships_of(user).await.unwrap().len(), MANY + MANY / 5);
}

/// Which of a user's wallets are let in, and the groups of all of them, as one look at each would say.
pub async fn f_26_the_standing_of_a_user_says_what_that_of_each_wallet_does(store: Arc<dyn Storage>) {
    let store = &*store;
    let (user, [first, second]) = steps::user_with_two_wallets(store).await;
    let third = fixtures::wallet_account();
    steps::link(store, &first, &third).await;
    let (own, through, of_others) =
        (steps::group(store).await, steps::group(store).await, steps::group(store).await);
    steps::add(store, &own, &Subject::User(user)).await;
    steps::add(store, &through, &Subject::Wallet(second.clone())).await;
    steps::add(store, &of_others, &Subject::Wallet(fixtures::wallet_account())).await;
    let agrees = async |expected: &[&WalletAccount]| {
        let told = store.standing_of_user(user).await.unwrap();
        assert_eq!(told.wallets.iter().collect::<Vec<_>>(), expected);
        for wallet in [&first, &second, &third] {
            let standing = steps::standing(store, wallet).await;
            assert_eq!(standing.block.is_none(), told.wallets.contains(wallet), "{wallet:?}");
            assert!(told.wallets.is_empty() || standing.groups == told.groups, "{wallet:?}");
        }
    };
    agrees(&[&first, &second, &third]).await;
    steps::block(store, fixtures::block_wallet(&second)).await;
    agrees(&[&first, &third]).await;
    steps::block(store, fixtures::block_user(user)).await;
    agrees(&[]).await;
    assert_eq!(store.standing_of_user(fixtures::user_id()).await.unwrap(), UserStanding::default());
}

/// In one commit, and none if one of them cannot be. What was signed for all of them is recorded if one changes.
pub async fn several_members_change_together_or_not_at_all(store: Arc<dyn Storage>) {
    let new_event = || Some(Box::new(fixtures::event()));
    let group = steps::group(&*store).await;
    let (user, unknown) = (steps::sign_in(&*store).await.new_user, fixtures::user_id());
    let unseen = wallet(&fixtures::wallet_account());
    let change = |group: &GroupName, member: &Subject| ChangeMember {
        event: new_event(),
        ..fixtures::add_member(group, member)
    };
    let change_all = async |way, group: &GroupName, members: &[&Subject]| {
        let changes = members.iter().map(|member| change(group, member)).collect();
        let text = new_event();
        let id = text.as_ref().unwrap().id;
        let before = steps::events(&*store).await.len();
        let outcome = store.change_members(ChangeMembers { way, changes, event: text }).await.unwrap();
        let is_recorded = store.find_event(id).await.unwrap().is_some();
        let recorded = steps::events(&*store).await.len() - before;
        let changed = match &outcome {
            MembersChanged::Changed(changed) => changed.iter().filter(|changed| **changed).count(),
            MembersChanged::GroupUnknown(_) | MembersChanged::UserUnknown(_) => 0,
        };
        assert_eq!(recorded, changed + usize::from(is_recorded), "{outcome:?}");
        (outcome, is_recorded)
    };
    let (own, stranger) = (Subject::User(user), Subject::User(unknown));
    let before = steps::events(&*store).await;
    let outcome = change_all(MembersGo::In, &group, &[&unseen, &own, &stranger]).await;
    assert_eq!(outcome, (MembersChanged::UserUnknown(unknown), false));
    let nowhere = fixtures::group_name();
    let outcome = change_all(MembersGo::In, &nowhere, &[&unseen]).await;
    assert_eq!(outcome, (MembersChanged::GroupUnknown(nowhere.clone()), false));
    let event = new_event();
    let creation = CreateGroup {
        members: vec![change(&nowhere, &own), change(&nowhere, &stranger)],
        event,
        text: new_event(),
        ..fixtures::create_group(&nowhere)
    };
    let outcome = store.create_group(creation.clone()).await.unwrap();
    assert_eq!(outcome, GroupCreated::UserUnknown(unknown));
    assert_eq!(counted(&*store, &nowhere).await, None);
    assert_eq!(members_of(&*store, &group).await, []);
    assert_eq!(steps::events(&*store).await, before);

    let changed = |each: &[bool]| MembersChanged::Changed(each.to_vec());
    let outcome = change_all(MembersGo::In, &group, &[&unseen]).await;
    assert_eq!(outcome, (changed(&[true]), true));
    let outcome = change_all(MembersGo::In, &group, &[&unseen, &own]).await;
    assert_eq!(outcome, (changed(&[false, true]), true), "in the order of the command");
    let outcome = change_all(MembersGo::In, &group, &[&own, &unseen]).await;
    assert_eq!(outcome, (changed(&[false, false]), false), "a repeat");
    assert_eq!(members_of(&*store, &group).await, [own.clone(), unseen.clone()]);
    let outcome = change_all(MembersGo::Out, &group, &[&stranger, &own, &unseen]).await;
    assert_eq!(outcome, (changed(&[false, true, true]), true));
    assert_eq!(members_of(&*store, &group).await, []);
    let outcome = change_all(MembersGo::Out, &group, &[&own]).await;
    assert_eq!(outcome, (changed(&[false]), false));

    let creation =
        CreateGroup { members: vec![change(&nowhere, &unseen), change(&nowhere, &own)], ..creation };
    for _ in 0..2 {
        assert_eq!(store.create_group(creation.clone()).await.unwrap(), GroupCreated::Stored);
        assert_eq!(members_of(&*store, &nowhere).await, [own.clone(), unseen.clone()]);
    }
    for event in [&creation.event, &creation.text, &creation.members[0].event, &creation.members[1].event] {
        let id = event.as_ref().unwrap().id;
        assert!(store.find_event(id).await.unwrap().is_some());
    }
}
