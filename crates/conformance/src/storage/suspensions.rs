//! Operators who are suspended.

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::desk::operators::Suspension;
use countersign_domain::desk::proposal::{Proposal, ProposalState};
use countersign_domain::event::{ChangeSignature, Event, EventKind, Signed};
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    ChangeMember, CreateGroup, DeleteAccount, GroupCreated, LinkWallet, OperatorSuspended, PutProposal,
    RegisterClient, Registered, RestoreOperator, Storage, StoreError, SuspendOperator, SuspendedWallet,
    TakeProposal, WalletLinked,
};
use time::Duration;

use super::races::{Pinned, at_once, count};
use super::steps;
use crate::fixtures::{self, NOW};
use crate::one_member::OneMember as _;

const ROUNDS: usize = 8;
const TASKS: usize = 16;

/// How often a suspension meets three acts on two replicas: a thousand acts together.
const MEETINGS: usize = 334;

/// So many proposals ended.
const fn ended(proposals: u64) -> OperatorSuspended {
    OperatorSuspended::Suspended { proposals }
}

async fn suspend(store: &dyn Storage, who: &Subject) -> OperatorSuspended {
    store.suspend_operator(fixtures::suspend_operator(who)).await.unwrap()
}

async fn restore(store: &dyn Storage, who: &Subject) -> bool {
    store.restore_operator(RestoreOperator { who: who.clone(), event: None }).await.unwrap()
}

/// Is the user or wallet suspended? Whatever says it must say the same.
async fn is_suspended(store: &dyn Storage, who: &Subject) -> bool {
    let found = store.suspensions_of(vec![who.clone()]).await.unwrap().remove(0).is_some();
    let user = match who {
        Subject::User(user) => Some(*user),
        Subject::Wallet(wallet) => {
            let acts = store.create_group(signed_by(wallet, &fixtures::group_name())).await;
            assert_eq!(matches!(acts, Err(StoreError::SignerSuspended)), found, "{acts:?}");
            store.find_owner(wallet.clone()).await.unwrap()
        }
    };
    if let Some(user) = user
        && !store.wallets_of(user).await.unwrap().is_empty()
    {
        assert_eq!(store.standing_of_user(user).await.unwrap().is_suspended, found);
    }
    found
}

async fn are_suspended(store: &dyn Storage, wallets: &[WalletAccount]) -> Vec<bool> {
    let mut are = Vec::new();
    for wallet in wallets {
        are.push(is_suspended(store, &Subject::Wallet(wallet.clone())).await);
    }
    are
}

fn of_wallet(wallet: &WalletAccount) -> Subject {
    Subject::Wallet(wallet.clone())
}

/// The event of an act that this wallet signed.
fn event_by(wallet: &WalletAccount) -> Option<Box<Event>> {
    let signature = ChangeSignature { account: wallet.clone(), ..fixtures::change_signature() };
    let signed = Signed::of(fixtures::grant_id(), &[signature]);
    Some(Box::new(Event { signed: Some(signed), ..fixtures::event() }))
}

/// An act that this wallet signed.
fn signed_by(wallet: &WalletAccount, name: &GroupName) -> CreateGroup {
    CreateGroup { event: event_by(wallet), ..fixtures::create_group(name) }
}

async fn is_there(store: &dyn Storage, group: &GroupName) -> bool {
    store.find_group(group).await.unwrap().is_some()
}

/// A proposal that this user signed first, with this wallet.
async fn proposed(store: &dyn Storage, user: UserId, wallet: &WalletAccount) -> Proposal {
    let first = ChangeSignature { account: wallet.clone(), ..fixtures::change_signature() };
    let proposal = Proposal { user, wallets: vec![wallet.clone()], first, ..fixtures::proposal() };
    assert!(store.put_proposal(fixtures::put_proposal(&proposal)).await.unwrap());
    proposal
}

async fn state(store: &dyn Storage, proposal: &Proposal) -> ProposalState {
    store.find_proposal(proposal.id).await.unwrap().unwrap().state
}

/// All of their wallets at that moment, and no one else's. A repeat changes nothing.
pub async fn a_suspended_operator_is_so_with_every_wallet_until_restored(store: Arc<dyn Storage>) {
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    let other = steps::sign_in(&*store).await;
    for who in [Subject::User(user), of_wallet(&wallets[0]), of_wallet(&wallets[1])] {
        assert_eq!(are_suspended(&*store, &wallets).await, [false; 2]);
        assert!(!restore(&*store, &who).await);
        assert_eq!(suspend(&*store, &who).await, ended(0));
        assert_eq!(suspend(&*store, &who).await, OperatorSuspended::AlreadySo);
        assert_eq!(are_suspended(&*store, &wallets).await, [true; 2]);
        assert!(is_suspended(&*store, &Subject::User(user)).await);
        assert!(!is_suspended(&*store, &Subject::User(other.new_user)).await);
        assert!(!is_suspended(&*store, &of_wallet(&other.account)).await);
        assert!(restore(&*store, &of_wallet(&wallets[1])).await);
    }
    assert_eq!(suspend(&*store, &Subject::User(fixtures::user_id())).await, OperatorSuspended::UserUnknown);
}

/// A wallet that the settings name, perhaps. Its first sign-in makes a suspended user.
pub async fn a_wallet_is_suspended_before_anyone_signs_in_with_it(store: Arc<dyn Storage>) {
    let login = fixtures::complete_login();
    let who = of_wallet(&login.account);
    assert_eq!(suspend(&*store, &who).await, ended(0));
    assert!(is_suspended(&*store, &who).await);
    let user = steps::user_of(&*store, &login).await;
    assert!(is_suspended(&*store, &Subject::User(user)).await);
    assert!(restore(&*store, &Subject::User(user)).await);
    assert!(!is_suspended(&*store, &who).await);
}

/// What is suspended together is restored together, whomever the wallets belong to by then.
pub async fn other_wallets_of_the_person_are_suspended_and_restored_with_them(store: Arc<dyn Storage>) {
    let [one, other] = [steps::sign_in(&*store).await, steps::sign_in(&*store).await];
    let unseen = fixtures::wallet_account();
    let proposal = proposed(&*store, other.new_user, &other.account).await;
    let all = [one.account.clone(), other.account.clone(), unseen.clone()];
    let command = SuspendOperator {
        others: vec![other.account.clone(), unseen.clone(), one.account.clone()],
        ..fixtures::suspend_operator(&Subject::User(one.new_user))
    };
    assert_eq!(store.suspend_operator(command).await.unwrap(), ended(1));
    assert_eq!(are_suspended(&*store, &all).await, [true; 3]);
    assert_eq!(state(&*store, &proposal).await, ProposalState::Suspended);
    assert!(restore(&*store, &of_wallet(&unseen)).await);
    assert_eq!(are_suspended(&*store, &all).await, [false; 3]);
}

/// What is unlinked stays suspended, and what is linked becomes so: by a suspended user, or by a user who links a suspended
/// wallet.
pub async fn linking_and_unlinking_end_no_suspension(store: Arc<dyn Storage>) {
    let (user, [kept, unlinked]) = steps::user_with_two_wallets(&*store).await;
    suspend(&*store, &Subject::User(user)).await;
    steps::unlink(&*store, &kept, &unlinked).await;
    let new = fixtures::wallet_account();
    steps::link(&*store, &kept, &new).await;
    steps::unlink(&*store, &new, &kept).await;
    let other = steps::sign_in(&*store).await;
    steps::link(&*store, &other.account, &unlinked).await;
    steps::unlink(&*store, &other.account, &unlinked).await;
    let all = [kept.clone(), unlinked.clone(), new.clone(), other.account.clone()];
    assert_eq!(are_suspended(&*store, &all).await, [true; 4]);
    for who in [Subject::User(user), Subject::User(other.new_user)] {
        assert!(is_suspended(&*store, &who).await);
    }
    assert!(restore(&*store, &of_wallet(&kept)).await);
    assert_eq!(are_suspended(&*store, &all).await, [false; 4]);
}

/// The wallets stay suspended, and their next user is.
pub async fn deleting_the_account_ends_no_suspension(store: Arc<dyn Storage>) {
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    suspend(&*store, &Subject::User(user)).await;
    assert!(store.delete_account(fixtures::delete_account(user)).await.unwrap());
    assert_eq!(are_suspended(&*store, &wallets).await, [true; 2]);
    assert!(!is_suspended(&*store, &Subject::User(user)).await, "there is no such user");
    let login =
        countersign_ports::CompleteLogin { account: wallets[0].clone(), ..fixtures::complete_login() };
    let again = steps::user_of(&*store, &login).await;
    assert!(is_suspended(&*store, &Subject::User(again)).await);
}

/// Of users and wallets, in the order of the question, with the earliest time.
pub async fn every_value_of_a_suspension_survives(store: Arc<dyn Storage>) {
    assert_eq!(store.suspensions_of(Vec::new()).await.unwrap(), []);
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    let unseen = fixtures::wallet_account();
    let early = NOW - Duration::microseconds(1);
    for (wallet, at, reason) in
        [(&unseen, NOW, Some("é \u{1f511} 'quoted'".to_owned())), (&wallets[0], early, None)]
    {
        let suspension = Suspension { at, reason };
        let command = SuspendOperator { suspension, ..fixtures::suspend_operator(&of_wallet(wallet)) };
        assert_eq!(store.suspend_operator(command).await.unwrap(), ended(0));
    }
    let later = SuspendOperator {
        others: vec![fixtures::wallet_account()],
        ..fixtures::suspend_operator(&Subject::User(user))
    };
    assert_eq!(store.suspend_operator(later).await.unwrap(), ended(0));
    let stranger = steps::sign_in(&*store).await;
    let who = vec![
        of_wallet(&unseen),
        Subject::User(user),
        Subject::User(stranger.new_user),
        of_wallet(&wallets[1]),
        of_wallet(&stranger.account),
        Subject::User(fixtures::user_id()),
        of_wallet(&unseen),
    ];
    let of_unseen = Some(Suspension { at: NOW, reason: Some("é \u{1f511} 'quoted'".to_owned()) });
    let of_user = Some(Suspension { at: early, reason: None });
    let expected = [of_unseen.clone(), of_user.clone(), None, of_user, None, None, of_unseen];
    assert_eq!(store.suspensions_of(who).await.unwrap(), expected);
}

/// By family and address.
pub async fn suspended_wallets_are_listed_in_pages(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let mut all: Vec<WalletAccount> = (0..4).map(|_| fixtures::wallet_account()).collect();
    all.push(login.account.clone());
    all.sort_by(|one, other| (&one.family, &one.address).cmp(&(&other.family, &other.address)));
    for wallet in &all {
        suspend(&*store, &of_wallet(wallet)).await;
    }
    let listed = |wallet: &WalletAccount| SuspendedWallet {
        account: wallet.clone(),
        suspension: fixtures::suspend_operator(&of_wallet(wallet)).suspension,
        user: (*wallet == login.account).then_some(login.new_user),
    };
    let expected: Vec<_> = all.iter().map(listed).collect();
    assert_eq!(store.suspended_wallets(None, 9).await.unwrap(), expected);
    for (place, after) in all.iter().enumerate() {
        let page = store.suspended_wallets(Some(after), 2).await.unwrap();
        assert_eq!(page, expected[place + 1..][..2.min(4 - place)]);
    }
}

/// Each with its event, which names the event of the suspension; those that are over stay as they were, and so do those of
/// others. Nothing makes them wait again.
pub async fn the_proposals_of_a_suspended_operator_end(store: Arc<dyn Storage>) {
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    let [waits, taken, withdrawn] = [
        proposed(&*store, user, &wallets[0]).await,
        proposed(&*store, user, &wallets[1]).await,
        proposed(&*store, user, &wallets[0]).await,
    ];
    let of_others = proposed(&*store, fixtures::user_id(), &fixtures::wallet_account()).await;
    let second = fixtures::take_proposal(&taken, fixtures::user_id());
    assert!(store.take_proposal(second.clone()).await.unwrap());
    let end = fixtures::end_proposal(&withdrawn, ProposalState::Waiting, ProposalState::Withdrawn);
    assert!(store.end_proposal(end).await.unwrap());
    let before = steps::events(&*store).await.len();
    let event =
        Event { kind: EventKind::OperatorSuspended, ..*event_by(&fixtures::wallet_account()).unwrap() };
    let command = SuspendOperator {
        event: Some(Box::new(event.clone())),
        ..fixtures::suspend_operator(&of_wallet(&wallets[0]))
    };
    assert_eq!(store.suspend_operator(command.clone()).await.unwrap(), ended(2));
    for (proposal, expected) in [
        (&waits, ProposalState::Suspended),
        (&taken, ProposalState::Suspended),
        (&withdrawn, ProposalState::Withdrawn),
        (&of_others, ProposalState::Waiting),
    ] {
        assert_eq!(state(&*store, proposal).await, expected);
    }
    let events = steps::events(&*store).await;
    assert_eq!(events.len(), before + 3);
    for proposal in [&waits, &taken] {
        assert!(events.contains(&event.of_proposal_ended(proposal.id)));
    }
    assert_eq!(store.suspend_operator(command).await.unwrap(), OperatorSuspended::AlreadySo);
    assert_eq!(steps::events(&*store).await.len(), before + 3);

    assert!(restore(&*store, &Subject::User(user)).await);
    let group = fixtures::group_name();
    let signed = Signed::of(taken.id, &[taken.first.clone(), second.signed.clone()]);
    let event = Some(Box::new(Event { signed: Some(signed), ..fixtures::event() }));
    let late = CreateGroup { event, ..fixtures::create_group(&group) };
    assert!(store.create_group(late).await.is_err());
    assert!(!is_there(&*store, &group).await);
    assert!(!store.take_proposal(fixtures::take_proposal(&waits, fixtures::user_id())).await.unwrap());
}

/// As the only one who signed, the first or the second of two. Nothing of the act happens.
pub async fn nothing_that_a_suspended_operator_signed_happens(store: Arc<dyn Storage>) {
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    let proposal = proposed(&*store, fixtures::user_id(), &fixtures::wallet_account()).await;
    let by =
        |wallet: &WalletAccount| ChangeSignature { account: wallet.clone(), ..fixtures::change_signature() };
    let second = TakeProposal { user, signed: by(&wallets[0]), ..fixtures::take_proposal(&proposal, user) };
    assert!(store.take_proposal(second.clone()).await.unwrap());
    suspend(&*store, &Subject::User(user)).await;
    let is_refused = |error: StoreError| assert!(matches!(error, StoreError::SignerSuspended), "{error:?}");

    let group = fixtures::group_name();
    let pair = |first: &ChangeSignature, second: &ChangeSignature| {
        let signed = Signed::of(proposal.id, &[first.clone(), second.clone()]);
        Some(Box::new(Event { signed: Some(signed), ..fixtures::event() }))
    };
    for event in [
        event_by(&wallets[1]),
        pair(&proposal.first, &second.signed),
        pair(&second.signed, &fixtures::change_signature()),
    ] {
        let command = CreateGroup { event, ..fixtures::create_group(&group) };
        is_refused(store.create_group(command).await.unwrap_err());
        assert!(!is_there(&*store, &group).await);
    }
    is_refused(store.take_proposal(second).await.unwrap_err());
    assert_eq!(state(&*store, &proposal).await, ProposalState::Taken);
    let new = fixtures::proposal();
    let put = PutProposal { event: event_by(&wallets[0]), ..fixtures::put_proposal(&new) };
    is_refused(store.put_proposal(put).await.unwrap_err());
    assert_eq!(store.find_proposal(new.id).await.unwrap(), None);
    let client = fixtures::client();
    let register = RegisterClient { client: client.clone(), event: event_by(&wallets[0]) };
    is_refused(store.register_client(register).await.unwrap_err());
    assert_eq!(store.find_client(client.id).await.unwrap(), None);
    let there = steps::group(&*store).await;
    let change = fixtures::add_member(&there, &Subject::User(user));
    let add = ChangeMember { event: event_by(&wallets[0]), ..change };
    is_refused(store.add_member(add).await.unwrap_err());
    assert_eq!(store.list_members(&there, None, 9).await.unwrap(), []);
    let doomed = steps::sign_in(&*store).await.new_user;
    let delete = DeleteAccount { event: event_by(&wallets[0]), ..fixtures::delete_account(doomed) };
    is_refused(store.delete_account(delete).await.unwrap_err());
    assert!(store.find_account(doomed).await.unwrap().is_some());
    let other = of_wallet(&fixtures::wallet_account());
    let counter = SuspendOperator { event: event_by(&wallets[0]), ..fixtures::suspend_operator(&other) };
    is_refused(store.suspend_operator(counter).await.unwrap_err());
    assert!(!is_suspended(&*store, &other).await);
    let own = RestoreOperator { who: Subject::User(user), event: event_by(&wallets[0]) };
    is_refused(store.restore_operator(own).await.unwrap_err());

    assert!(restore(&*store, &Subject::User(user)).await);
    let again = signed_by(&wallets[0], &group);
    assert_eq!(store.create_group(again).await.unwrap(), GroupCreated::Stored);
    let register = RegisterClient { client, event: event_by(&wallets[0]) };
    assert_eq!(store.register_client(register).await.unwrap(), Registered::Stored);
}

/// A suspension and acts of the operator at once. What is there at the end was there when the suspension was answered.
async fn meet(store: &Arc<dyn Storage>, elsewhere: &Arc<dyn Storage>) -> usize {
    let login = steps::sign_in(&**store).await;
    let groups = [fixtures::group_name(), fixtures::group_name()];
    let new = Proposal { user: login.new_user, ..fixtures::proposal() };
    let put = PutProposal { event: event_by(&login.account), ..fixtures::put_proposal(&new) };
    let waits = proposed(&**store, login.new_user, &login.account).await;
    let acts = groups.clone().into_iter().enumerate().map(|(place, group)| {
        let store = Arc::clone(if place == 0 { store } else { elsewhere });
        let command = signed_by(&login.account, &group);
        let task: Pinned<Vec<bool>> = Box::pin(async move {
            let made = store.create_group(command).await;
            assert!(matches!(made, Ok(GroupCreated::Stored) | Err(StoreError::SignerSuspended)), "{made:?}");
            vec![made.is_ok()]
        });
        task
    });
    let proposing: Pinned<Vec<bool>> = {
        let store = Arc::clone(store);
        Box::pin(async move {
            let put = store.put_proposal(put).await;
            assert!(matches!(put, Ok(true) | Err(StoreError::SignerSuspended)), "{put:?}");
            vec![put.is_ok()]
        })
    };
    let suspending: Pinned<Vec<bool>> = {
        let (store, who, groups) = (Arc::clone(elsewhere), Subject::User(login.new_user), groups.clone());
        let new = new.id;
        Box::pin(async move {
            suspend(&*store, &who).await;
            let mut found = Vec::new();
            for group in &groups {
                found.push(is_there(&*store, group).await);
            }
            let proposal = store.find_proposal(new).await.unwrap();
            assert!(proposal.as_ref().is_none_or(|found| found.state == ProposalState::Suspended));
            found.push(proposal.is_some());
            found
        })
    };
    let mut answers = at_once(acts.chain([proposing, suspending])).await;
    // The answers come in the order in which they were ready.
    let place = answers.iter().position(|answer| answer.len() > 1).unwrap();
    let found = answers.remove(place);
    let made = answers.iter().flatten().filter(|made| **made).count();
    for (place, group) in groups.iter().enumerate() {
        assert_eq!(is_there(&**store, group).await, found[place], "no act counts after the answer");
    }
    assert_eq!(store.find_proposal(new.id).await.unwrap().is_some(), found[2]);
    assert_eq!(count(&found, &true), made, "what was answered is there");
    assert_eq!(state(&**store, &waits).await, ProposalState::Suspended);
    let late = elsewhere.create_group(signed_by(&login.account, &fixtures::group_name())).await;
    assert!(matches!(late, Err(StoreError::SignerSuspended)), "{late:?}");
    made
}

/// Neither a change nor a proposal; and what came before is there.
pub async fn no_act_of_an_operator_counts_after_their_suspension_was_answered(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS * 4 {
        meet(&store, &store).await;
    }
}

/// Of two operators who suspend each other at the same moment, one is left.
pub async fn two_operators_who_suspend_each_other_do_not_both_succeed(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let [one, other] = [steps::sign_in(&*store).await, steps::sign_in(&*store).await];
        let pairs = [(&one, &other), (&other, &one)].map(|(by, who)| SuspendOperator {
            event: event_by(&by.account),
            ..fixtures::suspend_operator(&Subject::User(who.new_user))
        });
        let outcomes = at_once(pairs.map(|command| {
            let store = Arc::clone(&store);
            async move { store.suspend_operator(command).await.is_ok() }
        }))
        .await;
        assert_eq!(count(&outcomes, &true), 1);
        let are = are_suspended(&*store, &[one.account, other.account]).await;
        assert_eq!(count(&are, &true), 1);
    }
}

/// The wallet is linked entirely before, and its user is suspended, or entirely after, and makes its user so.
pub async fn no_link_at_the_same_moment_escapes_a_suspension(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS {
        let login = steps::sign_in(&*store).await;
        let wallet = fixtures::wallet_account();
        // Either the wallet is suspended that is about to be linked, or the user who links it.
        let who = if round % 2 == 0 { of_wallet(&wallet) } else { Subject::User(login.new_user) };
        let link = LinkWallet { begun_at: NOW, ..fixtures::link_wallet(&login.account, &wallet) };
        let tasks: [Pinned<bool>; 2] = {
            let (here, there) = (Arc::clone(&store), Arc::clone(&store));
            let who = who.clone();
            [
                Box::pin(async move {
                    matches!(suspend(&*here, &who).await, OperatorSuspended::Suspended { .. })
                }),
                Box::pin(async move {
                    matches!(there.link_wallet(link).await.unwrap(), WalletLinked::Linked { .. })
                }),
            ]
        };
        assert_eq!(at_once(tasks).await, [true, true]);
        assert_eq!(are_suspended(&*store, &[login.account, wallet]).await, [true; 2]);
    }
}

/// The others find it so.
pub async fn an_operator_is_suspended_and_restored_by_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let who = Subject::User(steps::sign_in(&*store).await.new_user);
        let suspended = at_once((0..TASKS).map(|_| {
            let (store, who) = (Arc::clone(&store), who.clone());
            async move { suspend(&*store, &who).await }
        }))
        .await;
        assert_eq!(count(&suspended, &ended(0)), 1);
        assert_eq!(count(&suspended, &OperatorSuspended::AlreadySo), TASKS - 1);
        let restored = at_once((0..TASKS).map(|_| {
            let (store, who) = (Arc::clone(&store), who.clone());
            async move { restore(&*store, &who).await }
        }))
        .await;
        assert_eq!(count(&restored, &true), 1);
    }
}

/// Two servers, and a thousand acts.
pub async fn no_act_counts_after_a_suspension_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = [open().await, open().await];
    let mut made = 0;
    for _ in 0..MEETINGS {
        made += meet(&here, &there).await;
    }
    assert!(made > 0 && made < MEETINGS * 3, "{made}: they never met");
}

/// From the answer on.
pub async fn a_suspension_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = [open().await, open().await];
    let login = steps::sign_in(&*here).await;
    let who = Subject::User(login.new_user);
    for _ in 0..3 {
        suspend(&*here, &who).await;
        assert!(is_suspended(&*there, &who).await && is_suspended(&*there, &of_wallet(&login.account)).await);
        assert!(restore(&*there, &who).await);
        assert!(!is_suspended(&*here, &who).await && !is_suspended(&*here, &of_wallet(&login.account)).await);
    }
}

/// And so does its end.
pub async fn a_suspension_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let [kept, restored] = [fixtures::wallet_account(), fixtures::wallet_account()];
    for wallet in [&kept, &restored] {
        suspend(&*store, &of_wallet(wallet)).await;
    }
    assert!(restore(&*store, &of_wallet(&restored)).await);
    drop(store);
    assert_eq!(are_suspended(&*open().await, &[kept, restored]).await, [true, false]);
}
