//! Operators decide who may come in while people sign in, link and unlink as fast as they can.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use countersign_domain::admission::{Block, Release, Standing};
use countersign_domain::client::{Client, ClientMetadata};
use countersign_domain::group::{Group, GroupName, GroupTitle};
use countersign_domain::id::{ClientId, GrantId, SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    BlockPut, ChangeAccess, DeleteGroup, ForgetUnused, GroupCreated, LinkWallet, PurgeExpired, PutBlock,
    RegisterClient, RemoveBlock, SessionContinued, Storage, UnlinkWallet, UpdateClient, WalletLinked,
    WalletUnlinked,
};
use time::{Duration, OffsetDateTime};
use tokio::task::yield_now;

use super::races::{Pinned, at_once, count};
use super::{clients, steps};
use crate::fixtures;
use crate::one_member::{MemberAdded, OneMember as _};

const TASKS: usize = 32;
const ROUNDS: usize = 4;

/// What somebody stored while access was being ended.
struct Given {
    grant: Option<GrantId>,
    session: Option<SessionId>,
    /// Was it answered before the end of the access was asked for?
    is_early: bool,
}

/// Somebody who is blocked, and what they hold.
struct Target {
    who: Subject,
    account: WalletAccount,
    user: UserId,
    client: ClientId,
    session: LoginSession,
}

/// A user with two wallets of which one signed. Every other one is blocked by that wallet.
async fn target(store: &dyn Storage, place: usize) -> Target {
    let (user, [_, account]) = steps::user_with_two_wallets(store).await;
    let login = fixtures::remembered_login_of(account.clone());
    let session = steps::remember_by(store, &login).await;
    let who = if place.is_multiple_of(2) { Subject::User(user) } else { Subject::Wallet(account.clone()) };
    Target { who, account, user, client: login.client, session }
}

/// Signs in, opens sessions and continues one until some time after the access ended. Returns everything that
/// was stored.
async fn come_in(
    store: Arc<dyn Storage>,
    target: Arc<Target>,
    way: usize,
    asked: Arc<AtomicBool>,
) -> Vec<Given> {
    let mut given = Vec::new();
    let mut left = 4;
    while left > 0 {
        if asked.load(Ordering::SeqCst) {
            left -= 1;
        }
        let (grant, session) = match way {
            0 => {
                let login = fixtures::remembered_login_of(target.account.clone());
                assert_eq!(steps::user_of(&*store, &login).await, target.user);
                (Some(login.id), login.session.map(|session| session.id))
            }
            1 => {
                let opening = fixtures::open_session_of(target.account.clone());
                assert_eq!(steps::open(&*store, &opening).await, target.user);
                (None, Some(opening.session.id))
            }
            _ => {
                let request = fixtures::continue_session(&target.session, target.client);
                let refusal = SessionContinued::SessionEnded;
                (steps::proceed_unless(&*store, &request, refusal).await, None)
            }
        };
        given.push(Given { grant, session, is_early: !asked.load(Ordering::SeqCst) });
        // A store that never waits must still give the others their turn.
        yield_now().await;
    }
    given
}

/// Blocks users and wallets, ends what they were given, and returns it.
async fn block_all(store: &Arc<dyn Storage>) -> Vec<(Arc<Target>, Vec<Given>)> {
    let mut targets = Vec::new();
    for place in 0..TASKS / 4 {
        let target = Arc::new(target(&**store, place).await);
        targets.push((target, Arc::new(AtomicBool::new(false))));
    }
    let tasks = targets.iter().enumerate().flat_map(|(place, (target, asked))| {
        let coming = (0..3).map(|way| {
            let task = come_in(Arc::clone(store), Arc::clone(target), way, Arc::clone(asked));
            let task: Pinned<(usize, Vec<Given>)> = Box::pin(async move { (place, task.await) });
            task
        });
        let blocking: Pinned<(usize, Vec<Given>)> = {
            let (store, target, asked) = (Arc::clone(store), Arc::clone(target), Arc::clone(asked));
            Box::pin(async move {
                // Spreads the order: among the others, early and late.
                for _ in 0..place {
                    steps::standing(&*store, &target.account).await;
                }
                let block = Block { at: fixtures::NOW, reason: None };
                steps::block(&*store, PutBlock { who: target.who.clone(), block, event: None }).await;
                assert!(steps::standing(&*store, &target.account).await.block.is_some());
                asked.store(true, Ordering::SeqCst);
                store.end_access(fixtures::end_access(&target.who)).await.unwrap();
                (place, Vec::new())
            })
        };
        coming.chain([blocking]).collect::<Vec<_>>()
    });
    let mut done: Vec<(Arc<Target>, Vec<Given>)> =
        targets.iter().map(|(target, _)| (Arc::clone(target), Vec::new())).collect();
    for (place, given) in at_once(tasks.collect::<Vec<_>>()).await {
        done[place].1.extend(given);
    }
    done
}

async fn is_live(store: &dyn Storage, grant: GrantId) -> bool {
    !store.find_grant(grant).await.unwrap().unwrap().revoked
}

async fn lasts(store: &dyn Storage, session: SessionId) -> bool {
    store.find_session(session).await.unwrap().is_some()
}

/// Whatever was answered before the end of the access was asked for is ended by it. What comes later looks for
/// the block, which was answered before that.
pub async fn a_088_nothing_that_was_given_before_outlives_a_block(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        for (target, given) in block_all(&store).await {
            assert!(!lasts(&*store, target.session.id).await);
            assert!(steps::standing(&*store, &target.account).await.block.is_some());
            for Given { grant, session, .. } in given.into_iter().filter(|given| given.is_early) {
                if let Some(grant) = grant {
                    assert!(!is_live(&*store, grant).await, "a grant from before the end");
                }
                if let Some(session) = session {
                    assert!(!lasts(&*store, session).await, "a session from before the end");
                }
            }
        }
    }
}

/// A sign-in is ended with its grant and its session, or keeps both. A continuation either comes first and is
/// revoked with its session, or finds the session ended.
pub async fn an_end_of_access_and_a_sign_in_do_not_mix(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        for (_, given) in block_all(&store).await {
            for Given { grant, session, .. } in given {
                match (grant, session) {
                    (Some(grant), Some(session)) => {
                        assert_eq!(is_live(&*store, grant).await, lasts(&*store, session).await);
                    }
                    (Some(continued), None) => {
                        assert!(!is_live(&*store, continued).await, "it outlives the session that it is of");
                    }
                    (None, _) => {}
                }
            }
        }
    }
}

/// Sessions and grants are counted by one of many, and their clients are told to one.
pub async fn access_is_ended_by_one_of_many(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS {
        let target = target(&*store, round).await;
        let ended = at_once((0..TASKS).map(|_| {
            let (store, command) = (Arc::clone(&store), fixtures::end_access(&target.who));
            async move { store.end_access(command).await.unwrap() }
        }))
        .await;
        assert_eq!(ended.iter().map(|ended| ended.sessions).sum::<u64>(), 1);
        let grants = if matches!(target.who, Subject::User(_)) { 2 } else { 1 };
        assert_eq!(ended.iter().map(|ended| ended.grants).sum::<u64>(), grants);
        assert_eq!(ended.iter().flat_map(|ended| &ended.clients).count(), 1);
    }
}

/// Links and unlinks wallets until that is refused, while the user or the signer is blocked. Once the block was
/// answered, the user keeps exactly the wallets that they had then.
async fn wallets_stay_once_blocked(store: Arc<dyn Storage>, by_user: bool) {
    for round in 0..ROUNDS * 2 {
        let mut users = Vec::new();
        for _ in 0..TASKS / 4 {
            let (user, [signer, goes]) = steps::user_with_two_wallets(&*store).await;
            let mut wallets = vec![goes];
            for _ in 0..2 {
                let wallet = fixtures::wallet_account();
                steps::link(&*store, &signer, &wallet).await;
                wallets.push(wallet);
            }
            users.push((user, signer, wallets));
        }
        let tasks = users.iter().flat_map(|(user, signer, wallets)| {
            let user = *user;
            let who = if by_user { Subject::User(user) } else { Subject::Wallet(signer.clone()) };
            let blocking: Pinned<Option<(UserId, Vec<WalletAccount>)>> = {
                let store = Arc::clone(&store);
                Box::pin(async move {
                    // Spreads the order: before, among and after the others.
                    for _ in 0..round {
                        store.wallets_of(user).await.unwrap();
                    }
                    let block = Block { at: fixtures::NOW, reason: None };
                    steps::block(&*store, PutBlock { who, block, event: None }).await;
                    Some((user, steps::accounts_of(&*store, user).await))
                })
            };
            let changing = wallets.iter().map(|goes| {
                let begun_at = fixtures::NOW + Duration::hours(1);
                let unlink = UnlinkWallet { begun_at, ..fixtures::unlink_wallet(signer, goes) };
                let link =
                    LinkWallet { begun_at, ..fixtures::link_wallet(signer, &fixtures::wallet_account()) };
                let store = Arc::clone(&store);
                let task: Pinned<Option<(UserId, Vec<WalletAccount>)>> = Box::pin(async move {
                    let unlinked = store.unlink_wallet(unlink).await.unwrap();
                    assert!(matches!(unlinked, WalletUnlinked::Unlinked { .. } | WalletUnlinked::Blocked));
                    let linked = store.link_wallet(link).await.unwrap();
                    assert!(matches!(linked, WalletLinked::Linked { .. } | WalletLinked::Blocked));
                    let was_refused = unlinked == WalletUnlinked::Blocked;
                    assert!(!was_refused || linked == WalletLinked::Blocked, "a block does not come and go");
                    None
                });
                task
            });
            changing.chain([blocking]).collect::<Vec<_>>()
        });
        for (user, then) in at_once(tasks.collect::<Vec<_>>()).await.into_iter().flatten() {
            assert_eq!(
                steps::accounts_of(&*store, user).await,
                then,
                "what changed after the block's answer"
            );
        }
    }
}

/// An unlinking or a link happens before the block, or is refused: nobody frees a wallet from under it.
pub async fn no_wallet_changes_hands_after_its_user_was_blocked(store: Arc<dyn Storage>) {
    wallets_stay_once_blocked(store, true).await;
}

/// What a blocked wallet signed happens before the block, or is refused.
pub async fn no_wallet_changes_hands_by_a_signer_who_was_blocked(store: Arc<dyn Storage>) {
    wallets_stay_once_blocked(store, false).await;
}

/// A block that was answered is on the user, or on all wallets of the deleted user. One that came too late is
/// refused, and nobody is blocked.
pub async fn a_block_survives_the_deletion_of_its_user(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS * 2 {
        let mut users = Vec::new();
        for _ in 0..TASKS / 2 {
            users.push(steps::user_with_two_wallets(&*store).await);
        }
        let tasks = users.iter().enumerate().flat_map(|(place, (user, wallets))| {
            let (user, wallets) = (*user, wallets.clone());
            let [here, there] = [Arc::clone(&store), Arc::clone(&store)];
            let blocking: Pinned<Option<([WalletAccount; 2], BlockPut)>> = Box::pin(async move {
                for _ in 0..round % 4 {
                    here.wallets_of(user).await.unwrap();
                }
                Some((wallets, here.put_block(fixtures::block_user(user)).await.unwrap()))
            });
            let deleting: Pinned<Option<([WalletAccount; 2], BlockPut)>> = Box::pin(async move {
                for _ in 0..place % 4 {
                    there.wallets_of(user).await.unwrap();
                }
                assert!(there.delete_account(fixtures::delete_account(user)).await.unwrap());
                None
            });
            [blocking, deleting]
        });
        for (wallets, put) in at_once(tasks.collect::<Vec<_>>()).await.into_iter().flatten() {
            assert_ne!(put, BlockPut::AlreadyThere);
            for account in wallets {
                let standing = steps::standing(&*store, &account).await;
                assert_eq!(standing.user, None);
                assert_eq!(standing.block.is_some(), put == BlockPut::Stored, "{put:?}");
            }
        }
        for (user, _) in users {
            assert_eq!(store.block_of_user(user).await.unwrap(), None);
        }
    }
}

/// Only one is the first, and one removes it.
pub async fn a_block_is_put_and_removed_by_one_of_many(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    for command in [fixtures::block_user(login.new_user), fixtures::block_wallet(&login.account)] {
        let outcomes = at_once((0..TASKS).map(|_| {
            let (store, command) = (Arc::clone(&store), command.clone());
            async move { store.put_block(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &BlockPut::Stored), 1);
        assert_eq!(count(&outcomes, &BlockPut::AlreadyThere), TASKS - 1);
        let removed = at_once((0..TASKS).map(|_| {
            let (store, who) = (Arc::clone(&store), command.who.clone());
            async move { store.remove_block(RemoveBlock { who: who.clone(), event: None }).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&removed, &true), 1);
    }
    assert!(!store.anything_blocked().await.unwrap());
}

/// Puts members into groups, one after the other, until one of them is refused. Counts those who were added.
async fn join(
    store: Arc<dyn Storage>,
    ways: Vec<(GroupName, Subject)>,
    added: Arc<AtomicUsize>,
) -> MemberAdded {
    for (group, member) in ways {
        let outcome = store.add_member(fixtures::add_member(&group, &member)).await.unwrap();
        if outcome != MemberAdded::Added {
            return outcome;
        }
        added.fetch_add(1, Ordering::SeqCst);
        // A store that never waits must still give the others their turn.
        yield_now().await;
    }
    MemberAdded::Added
}

/// Puts everybody in, by several tasks, and does something else once so many were added.
async fn join_until(
    store: &Arc<dyn Storage>,
    ways: Vec<(GroupName, Subject)>,
    enough: usize,
    then: Pinned<()>,
) -> Vec<MemberAdded> {
    let added = Arc::new(AtomicUsize::new(0));
    let joining = ways.chunks(ways.len().div_ceil(4)).map(|ways| {
        let task: Pinned<MemberAdded> = Box::pin(join(Arc::clone(store), ways.to_vec(), Arc::clone(&added)));
        task
    });
    let waiting = Arc::clone(&added);
    let acting: Pinned<MemberAdded> = Box::pin(async move {
        while waiting.load(Ordering::SeqCst) < enough {
            yield_now().await;
        }
        then.await;
        MemberAdded::Added
    });
    at_once(joining.chain([acting]).collect::<Vec<_>>()).await
}

/// Those who were added before go with the group; those who come later are refused.
pub async fn no_member_outlives_its_group(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS * 2 {
        let group = steps::group(&*store).await;
        let mut ways = Vec::new();
        for place in 0..TASKS * 2 {
            let member = if place % 2 == 0 {
                Subject::User(steps::sign_in(&*store).await.new_user)
            } else {
                Subject::Wallet(fixtures::wallet_account())
            };
            ways.push((group.clone(), member));
        }
        let deleting: Pinned<()> = {
            let (store, group) = (Arc::clone(&store), group.clone());
            Box::pin(async move {
                assert!(store.delete_group(DeleteGroup { name: group.clone(), event: None }).await.unwrap())
            })
        };
        for outcome in join_until(&store, ways.clone(), round, deleting).await {
            assert!(matches!(outcome, MemberAdded::Added | MemberAdded::GroupUnknown), "{outcome:?}");
        }
        assert_eq!(store.find_group(&group).await.unwrap(), None);
        steps::create_group(&*store, &group).await;
        assert_eq!(store.list_members(&group, None, u32::MAX).await.unwrap(), []);
        for (_, member) in ways {
            match member {
                Subject::User(user) => assert_eq!(store.groups_of(user).await.unwrap(), []),
                Subject::Wallet(wallet) => {
                    assert_eq!(steps::standing(&*store, &wallet).await, Standing::default());
                }
            }
        }
    }
}

/// A user is put into many groups while they are deleted: each comes first, or finds nobody.
pub async fn no_membership_outlives_its_user(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS * 2 {
        let user = steps::sign_in(&*store).await.new_user;
        let mut ways = Vec::new();
        for _ in 0..TASKS * 2 {
            ways.push((steps::group(&*store).await, Subject::User(user)));
        }
        let deleting: Pinned<()> = {
            let (store, command) = (Arc::clone(&store), fixtures::delete_account(user));
            Box::pin(async move { assert!(store.delete_account(command).await.unwrap()) })
        };
        for outcome in join_until(&store, ways.clone(), round, deleting).await {
            assert!(matches!(outcome, MemberAdded::Added | MemberAdded::UserUnknown), "{outcome:?}");
        }
        assert_eq!(store.groups_of(user).await.unwrap(), []);
        for (group, _) in ways {
            assert_eq!(store.find_group(&group).await.unwrap().unwrap().users, 0);
        }
    }
}

/// One of many creates a group, and one of many puts a member into it.
pub async fn a_group_and_a_member_are_made_by_one_of_many(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    for member in [Subject::User(login.new_user), Subject::Wallet(login.account)] {
        let name = fixtures::group_name();
        let groups: Vec<_> = (0_u32..)
            .take(TASKS)
            .map(|place| Group {
                title: Some(GroupTitle::parse(&format!("By {place}")).unwrap()),
                created_at: fixtures::NOW + Duration::seconds(1) * place,
                ..fixtures::group(&name)
            })
            .collect();
        let outcomes = at_once(groups.iter().map(|group| {
            let (store, command) = (Arc::clone(&store), fixtures::new_group(group.clone()));
            async move { (command.group.clone(), store.create_group(command).await.unwrap()) }
        }))
        .await;
        let stored: Vec<_> =
            outcomes.iter().filter(|(_, outcome)| *outcome == GroupCreated::Stored).collect();
        assert_eq!(stored.len(), 1);
        assert_eq!(store.find_group(&name).await.unwrap().unwrap().group, stored[0].0);
        let outcomes = at_once((0..TASKS).map(|_| {
            let (store, command) = (Arc::clone(&store), fixtures::add_member(&name, &member));
            async move { store.add_member(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &MemberAdded::Added), 1);
        assert_eq!(count(&outcomes, &MemberAdded::AlreadyThere), TASKS - 1);
        let removed = at_once((0..TASKS).map(|_| {
            let (store, command) = (Arc::clone(&store), fixtures::remove_member(&name, &member));
            async move { store.remove_member(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&removed, &true), 1);
    }
}

/// A user whom an operator named is not forgotten; one who was forgotten first is nobody.
pub async fn whoever_was_named_in_time_is_not_forgotten(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let mut logins = Vec::new();
    for _ in 0..TASKS {
        logins.push(steps::sign_in(&*store).await);
    }
    let before = logins[0].forget_after + Duration::seconds(1);
    let purge = PurgeExpired::oldest(fixtures::past(before), 1_000);
    while store.purge_expired(purge).await.unwrap().more {}
    let tasks = logins.iter().enumerate().map(|(place, login)| {
        let (store, group, user) = (Arc::clone(&store), group.clone(), login.new_user);
        async move {
            if place % 4 == 3 {
                let command = ForgetUnused {
                    before: fixtures::past(before),
                    since: OffsetDateTime::UNIX_EPOCH,
                    now: before,
                    limit: 6,
                };
                store.forget_unused(command).await.unwrap();
            }
            if place % 2 == 0 {
                let command = fixtures::add_member(&group, &Subject::User(user));
                let outcome = store.add_member(command).await.unwrap();
                assert!(matches!(outcome, MemberAdded::Added | MemberAdded::UserUnknown));
                (user, outcome == MemberAdded::Added)
            } else {
                let outcome = store.put_block(fixtures::block_user(user)).await.unwrap();
                assert!(matches!(outcome, BlockPut::Stored | BlockPut::UserUnknown));
                (user, outcome == BlockPut::Stored)
            }
        }
    });
    let named = at_once(tasks.collect::<Vec<_>>()).await;
    let after = before + Duration::days(7);
    for _ in 0..TASKS {
        store
            .forget_unused(ForgetUnused {
                before: fixtures::past(after),
                since: OffsetDateTime::UNIX_EPOCH,
                now: after,
                limit: 10,
            })
            .await
            .unwrap();
    }
    for (user, is_named) in named {
        assert_eq!(store.find_account(user).await.unwrap().is_some(), is_named);
    }
}

/// A wallet moves from one user to another and back while its standing is asked for. Each answer is of one
/// moment: the owner, with the owner's groups and the wallet's, or nobody with the wallet's alone.
pub async fn the_groups_of_a_wallet_move_at_one_moment(store: Arc<dyn Storage>) {
    let wallet = fixtures::wallet_account();
    let brought = steps::group(&*store).await;
    steps::add(&*store, &brought, &Subject::Wallet(wallet.clone())).await;
    let mut owners = Vec::new();
    for _ in 0..2 {
        let login = steps::sign_in(&*store).await;
        let group = steps::group(&*store).await;
        steps::add(&*store, &group, &Subject::User(login.new_user)).await;
        owners.push((login, group));
    }
    let has_moved = Arc::new(AtomicBool::new(false));
    let moving: Pinned<Vec<Standing>> = {
        let (store, wallet, has_moved) = (Arc::clone(&store), wallet.clone(), Arc::clone(&has_moved));
        let signers: Vec<_> = owners.iter().map(|(login, _)| login.account.clone()).collect();
        Box::pin(async move {
            for signer in signers.iter().cycle().take(TASKS) {
                let user = steps::link(&*store, signer, &wallet).await;
                assert!(store.groups_of(user).await.unwrap().len() == 2, "from the answer on");
                yield_now().await;
                steps::unlink(&*store, signer, &wallet).await;
                assert!(store.groups_of(user).await.unwrap().len() == 1, "from the answer on");
                yield_now().await;
            }
            has_moved.store(true, Ordering::SeqCst);
            Vec::new()
        })
    };
    let asking = (0..4).map(|_| {
        let (store, wallet, has_moved) = (Arc::clone(&store), wallet.clone(), Arc::clone(&has_moved));
        let task: Pinned<Vec<Standing>> = Box::pin(async move {
            let mut told = Vec::new();
            while !has_moved.load(Ordering::SeqCst) {
                told.push(steps::standing(&*store, &wallet).await);
                yield_now().await;
            }
            told
        });
        task
    });
    let told = at_once(asking.chain([moving]).collect::<Vec<_>>()).await;
    let nobodys = Standing { groups: vec![brought.clone()], ..Standing::default() };
    let mut expected = vec![nobodys];
    for (login, group) in owners {
        let mut groups = vec![brought.clone(), group];
        groups.sort();
        expected.push(Standing { user: Some(login.new_user), groups, ..Standing::default() });
    }
    for standing in told.into_iter().flatten() {
        assert!(expected.contains(&standing), "{standing:?} is none of {expected:?}");
    }
}

/// What a client may be told, by which rule; each decision names one number in both.
fn decision(client: &Client, number: usize) -> ChangeAccess {
    ChangeAccess {
        client: client.id,
        rule: Some(fixtures::rule(&format!("groups:a{number}"))),
        release: Some(Release::parse(&format!("a{number}")).unwrap()),
        event: None,
    }
}

/// The last one stands, with both of its parts.
pub async fn decisions_about_access_at_once_do_not_mix(store: Arc<dyn Storage>) {
    let client = fixtures::client();
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    for _ in 0..ROUNDS {
        at_once((0..TASKS).map(|number| {
            let (store, command) = (Arc::clone(&store), decision(&client, number));
            async move { assert!(store.change_access(command).await.unwrap()) }
        }))
        .await;
        let access = store.find_client(client.id).await.unwrap().unwrap().access;
        let released = access.release.to_string();
        assert_eq!(access.rule.map(|rule| rule.to_string()), Some(format!("groups:{released}")));
    }
}

/// Some decide about the rule alone, and one about what is told: whichever comes last, the release stays.
pub async fn a_release_is_not_lost_to_rules_that_are_decided_at_once(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let client = fixtures::client();
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
        at_once((0..TASKS).map(|number| {
            let store = Arc::clone(&store);
            let release = (number == TASKS / 2).then_some(Release::All);
            let command = ChangeAccess { release, ..decision(&client, number) };
            async move { assert!(store.change_access(command).await.unwrap()) }
        }))
        .await;
        let access = store.find_client(client.id).await.unwrap().unwrap().access;
        assert_eq!(access.release, Release::All);
        assert!(access.rule.is_some());
    }
}

/// A client updates itself while the operator decides about it and opens resources: neither loses the other.
pub async fn a_decision_and_an_update_at_once_both_stay(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS * 2 {
        let client = fixtures::client();
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
        let metadata = ClientMetadata { name: format!("Name {round}"), ..client.metadata.clone() };
        let updated = Client { metadata, ..client.clone() };
        at_once((0..TASKS).map(|place| {
            let (store, updated, command) = (Arc::clone(&store), updated.clone(), decision(&client, round));
            async move {
                let is_there = match place % 3 {
                    0 => store.change_access(command).await.unwrap(),
                    1 => store.update_client(UpdateClient { client: updated, event: None }).await.unwrap(),
                    _ => store.change_resources(clients::open(updated.id, &["urn:a"])).await.unwrap(),
                };
                assert!(is_there);
            }
        }))
        .await;
        let stored = store.find_client(client.id).await.unwrap().unwrap();
        let ChangeAccess { rule, release, .. } = decision(&client, round);
        assert_eq!(stored.metadata, updated.metadata);
        assert_eq!((stored.access.rule, Some(stored.access.release)), (rule, release));
        assert_eq!(stored.resources, ["urn:a"]);
    }
}
