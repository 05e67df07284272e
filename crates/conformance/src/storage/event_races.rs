//! Acts, sealers and deletions of accounts at the same time, in one process and in two.

use std::collections::BTreeSet;
use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::event::{Event, EventKind, EventPerson};
use countersign_domain::id::{EventId, UserId};
use countersign_domain::subject::Subject;
use countersign_ports::{
    DeleteAccount, EventFilter, EventOrder, EventPage, LoginCompleted, RevokeGrant, Sealed, Storage,
    TakeLease,
};
use time::Duration;
use tokio::task::yield_now;

use super::races::{Pinned, at_once, count};
use super::steps;
use crate::fixtures;

const TASKS: usize = 32;
const ROUNDS: usize = 4;

/// The same store twice, for the clauses of one process.
fn twice(store: &Arc<dyn Storage>) -> [Arc<dyn Storage>; 2] {
    [Arc::clone(store), Arc::clone(store)]
}

/// Seals until nothing is fresh.
async fn seal_all(store: &dyn Storage) {
    while !store.fresh_events(1).await.unwrap().is_empty() {
        assert_eq!(steps::try_to_seal(store, 50).await, Sealed::Sealed, "nobody else seals");
    }
}

/// Seals a few times. How often that was refused depends on the others.
async fn seal_sometimes(store: Arc<dyn Storage>) {
    for _ in 0..12 {
        steps::try_to_seal(&*store, 5).await;
        yield_now().await;
    }
}

/// None is lost, none is sealed twice, and the checkpoints hold.
pub async fn each_of_many_logins_is_sealed_once(store: Arc<dyn Storage>) {
    logins_against_sealing(&twice(&store)).await;
}

/// Acts on both replicas, and sealers on both.
pub async fn each_of_many_logins_on_two_replicas_is_sealed_once(open: impl AsyncFn() -> Arc<dyn Storage>) {
    logins_against_sealing(&[open().await, open().await]).await;
}

async fn logins_against_sealing(stores: &[Arc<dyn Storage>; 2]) {
    let mut expected = BTreeSet::new();
    for _ in 0..ROUNDS {
        let done = at_once((0..TASKS).map(|place| {
            let store = Arc::clone(&stores[place % 2]);
            let task: Pinned<Vec<EventId>> = match place % 8 {
                0 | 5 => Box::pin(async move {
                    seal_sometimes(store).await;
                    Vec::new()
                }),
                1 => Box::pin(async move {
                    let event = fixtures::event();
                    steps::record(&*store, &event).await;
                    vec![event.id]
                }),
                _ => Box::pin(async move {
                    let mut ids = Vec::new();
                    for _ in 0..4 {
                        let mut login = fixtures::complete_login();
                        let event = fixtures::event();
                        ids.push(event.id);
                        login.event = Some(Box::new(event));
                        store.complete_login(login).await.unwrap();
                    }
                    ids
                }),
            };
            task
        }))
        .await;
        expected.extend(done.into_iter().flatten());
    }
    for store in stores {
        let events = steps::events(&**store).await;
        assert_eq!(events.into_iter().map(|event| event.id).collect::<BTreeSet<_>>(), expected);
    }
    seal_all(&*stores[0]).await;
    let sealed = steps::sealed_events(&*stores[1]).await;
    assert_eq!(sealed.len(), expected.len());
    assert_eq!(sealed.into_iter().map(|sealed| sealed.event.id).collect::<BTreeSet<_>>(), expected);
    steps::verify_seals(&*stores[1]).await;
}

/// All others are stale: it is its checkpoint that stands, with its events.
pub async fn one_of_many_sealers_seals(store: Arc<dyn Storage>) {
    one_sealer_of_many(&twice(&store)).await;
}

/// As in one process.
pub async fn one_of_many_sealers_on_two_replicas_seals(open: impl AsyncFn() -> Arc<dyn Storage>) {
    one_sealer_of_many(&[open().await, open().await]).await;
}

async fn one_sealer_of_many(stores: &[Arc<dyn Storage>; 2]) {
    for round in 0..ROUNDS {
        // An empty checkpoint, too: nothing but its number tells the sealers apart.
        for _ in 0..round * 2 {
            steps::record(&*stores[0], &fixtures::event()).await;
        }
        let last = stores[0].last_checkpoint().await.unwrap();
        let read = stores[0].fresh_events(u32::MAX).await.unwrap();
        let outcomes = at_once((0..TASKS).map(|place| {
            let store = Arc::clone(&stores[place % 2]);
            let read = read[..read.len() - read.len().min(place % 3)].to_vec();
            let command = fixtures::seal_events(last.as_ref(), read);
            async move { (command.clone(), store.seal_events(command).await.unwrap()) }
        }))
        .await;
        let answers: Vec<_> = outcomes.iter().map(|(_, outcome)| *outcome).collect();
        assert_eq!(count(&answers, &Sealed::Sealed), 1);
        let winner = outcomes.into_iter().find(|(_, outcome)| *outcome == Sealed::Sealed).unwrap().0;
        for store in stores {
            assert_eq!(store.last_checkpoint().await.unwrap().as_ref(), Some(&winner.checkpoint));
            let after = winner.checkpoint.checkpoint.first - 1;
            assert_eq!(
                steps::sealed_events(&**store).await[usize::try_from(after).unwrap()..],
                winner.events
            );
        }
        steps::verify_seals(&*stores[1]).await;
    }
}

/// Rule 3, for whoever repeats because an answer is late.
pub async fn many_copies_of_one_seal_are_all_answered_alike(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        for _ in 0..3 {
            steps::record(&*store, &fixtures::event()).await;
        }
        let last = store.last_checkpoint().await.unwrap();
        let read = store.fresh_events(u32::MAX).await.unwrap();
        let command = fixtures::seal_events(last.as_ref(), read);
        let outcomes = at_once((0..TASKS).map(|_| {
            let (store, command) = (Arc::clone(&store), command.clone());
            async move { store.seal_events(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &Sealed::Sealed), TASKS);
        assert_eq!(store.last_checkpoint().await.unwrap(), Some(command.checkpoint));
        steps::verify_seals(&*store).await;
    }
}

/// Exactly one stores it, and the others are told that it is known.
pub async fn an_event_is_recorded_by_one_of_many(store: Arc<dyn Storage>) {
    one_recorder_of_many(&twice(&store)).await;
}

/// As in one process.
pub async fn an_event_is_recorded_once_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    one_recorder_of_many(&[open().await, open().await]).await;
}

async fn one_recorder_of_many(stores: &[Arc<dyn Storage>; 2]) {
    for round in 0..ROUNDS {
        let id = fixtures::event_id();
        let outcomes = at_once((0..TASKS).map(|place| {
            let store = Arc::clone(&stores[place % 2]);
            let event = Event { id, ..fixtures::event() };
            let task: Pinned<Option<(Event, bool)>> = if place % 8 == 0 {
                Box::pin(async move {
                    seal_sometimes(store).await;
                    None
                })
            } else {
                Box::pin(async move {
                    let is_stored = store.record_event(event.clone()).await.unwrap();
                    Some((event, is_stored))
                })
            };
            task
        }))
        .await;
        let stored: Vec<_> = outcomes.into_iter().flatten().filter(|(_, is_stored)| *is_stored).collect();
        assert_eq!(stored.len(), 1, "round {round}");
        assert_eq!(
            stores[1].find_event(id).await.unwrap().map(|found| found.event),
            Some(stored[0].0.clone())
        );
        seal_all(&*stores[0]).await;
        steps::verify_seals(&*stores[0]).await;
    }
}

/// One of many acts changes something, and its event alone is stored.
pub async fn one_of_many_who_revoke_a_grant_leaves_an_event(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let grant = steps::sign_in(&*store).await.id;
        let before = steps::events(&*store).await.len();
        at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let event = Some(Box::new(fixtures::event()));
            let command = RevokeGrant { event, ..fixtures::revoke_grant(grant) };
            async move { store.revoke_grant(command).await.unwrap() }
        }))
        .await;
        assert_eq!(steps::events(&*store).await.len(), before + 1);
    }
}

/// Storage may carry out many logins in one commit. Each has its own event.
pub async fn many_logins_with_and_without_events_do_not_mix_them_up(store: Arc<dyn Storage>) {
    let account = fixtures::wallet_account();
    let done = at_once((0..TASKS * 2).map(|place| {
        let store = Arc::clone(&store);
        let mut login = match place % 4 {
            0 => fixtures::complete_login_of(account.clone()),
            _ => fixtures::complete_login(),
        };
        login.event = (place % 3 > 0).then(|| Box::new(fixtures::event()));
        let event = login.event.clone();
        async move {
            let user = match store.complete_login(login).await.unwrap() {
                LoginCompleted::CodeIssued { user } => user,
                LoginCompleted::ChallengeSpent => panic!("nobody used it"),
            };
            event.map(|event| event.about(user))
        }
    }))
    .await;
    let mut expected: Vec<_> = done.into_iter().flatten().collect();
    expected.sort_by_key(|event| event.id);
    assert_eq!(steps::events(&*store).await, expected);
}

/// One of many gets it, and all others are told so.
pub async fn a_lease_is_taken_by_one_of_many(store: Arc<dyn Storage>) {
    one_holder_of_many(&twice(&store)).await;
}

/// As in one process.
pub async fn a_lease_is_taken_once_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    one_holder_of_many(&[open().await, open().await]).await;
}

async fn one_holder_of_many(stores: &[Arc<dyn Storage>; 2]) {
    for round in 0..ROUNDS {
        let now = fixtures::NOW + Duration::minutes(i64::try_from(round).unwrap());
        let outcomes = at_once((0..TASKS).map(|place| {
            let store = Arc::clone(&stores[place % 2]);
            let holder = [u8::try_from(place).unwrap(); 16];
            let command = TakeLease { name: "events", holder, now, until: now + Duration::seconds(30) };
            async move { store.take_lease(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &true), 1, "round {round}");
    }
}

/// Each is entirely before the deletion, or stale, or about nobody any more.
pub async fn no_event_names_a_deleted_account(store: Arc<dyn Storage>) {
    deletion_against_sealing(&twice(&store)).await;
}

/// As in one process.
pub async fn no_event_names_a_deleted_account_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    deletion_against_sealing(&[open().await, open().await]).await;
}

/// All events about somebody.
async fn events_about(store: &dyn Storage, who: Subject<EventPerson>) -> Vec<Event> {
    let filter = EventFilter { who: Some(who), ..EventFilter::default() };
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: u32::MAX };
    store.list_events(&filter, page).await.unwrap()
}

/// Accounts are deleted while others seal, and while their wallets sign in.
async fn deletion_against_sealing(stores: &[Arc<dyn Storage>; 2]) {
    for round in 0..ROUNDS * 4 {
        let login = steps::sign_in(&*stores[0]).await;
        let user = login.new_user;
        for _ in 0..12 {
            let event = Event { wallet: Some(login.account.clone()), ..fixtures::event() };
            steps::record(&*stores[0], &event.about(user)).await;
        }
        let event = Event { kind: EventKind::AccountDeleted, ..fixtures::event() };
        let event = Some(Box::new(event));
        let deletion = DeleteAccount { event, ..fixtures::delete_account(user) };
        let pseudonym = deletion.pseudonym;
        let told = deletion.event.as_ref().unwrap().id;
        let done = at_once((0..TASKS / 2).map(|place| {
            let store = Arc::clone(&stores[(place + round) % 2]);
            let mut again = fixtures::complete_login_of(login.account.clone());
            let event = Event { wallet: Some(login.account.clone()), ..fixtures::event() };
            let id = event.id;
            again.event = Some(Box::new(event));
            let deletion = deletion.clone();
            let task: Pinned<Option<(EventId, UserId)>> = match place % 8 {
                _ if place == 0 => Box::pin(async move {
                    // Spreads the order: before, among and after the others.
                    for _ in 0..round {
                        store.find_account(user).await.unwrap();
                    }
                    assert!(store.delete_account(deletion).await.unwrap());
                    None
                }),
                1..4 => Box::pin(async move {
                    seal_sometimes(store).await;
                    None
                }),
                _ => Box::pin(async move { Some((id, steps::user_of(&*store, &again).await)) }),
            };
            task
        }))
        .await;
        let logins: Vec<_> = done.into_iter().flatten().collect();
        let before = logins.iter().filter(|(_, signed_as)| *signed_as == user).count();
        for sealed in [false, true] {
            for store in stores {
                let left = events_about(&**store, Subject::User(EventPerson::User(user))).await;
                assert_eq!(left, [], "sealed: {sealed}");
                let number = store.count_events_of(pseudonym).await.unwrap();
                assert_eq!(number, u64::try_from(12 + before).unwrap());
                let theirs = events_about(&**store, Subject::User(EventPerson::Deleted(pseudonym))).await;
                assert_eq!(theirs.len(), 12 + before + 1);
                assert!(theirs.iter().all(|event| event.wallet.is_none() && event.address.is_none()));
                let told = store.find_event(told).await.unwrap().unwrap().event;
                assert!(told.details.as_str().ends_with(&format!("\"events\":{number}}}")), "{told:?}");
                for (id, signed_as) in &logins {
                    let person = store.find_event(*id).await.unwrap().unwrap().event.person;
                    let is_deleted = *signed_as == user;
                    let expected = if is_deleted {
                        EventPerson::Deleted(pseudonym)
                    } else {
                        EventPerson::User(*signed_as)
                    };
                    assert_eq!(person, Some(expected));
                }
                steps::verify_seals(&**store).await;
            }
            seal_all(&*stores[0]).await;
        }
    }
}
