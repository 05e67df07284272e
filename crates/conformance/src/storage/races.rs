//! Concurrent operations: each clause starts its tasks together and counts their answers.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use countersign_domain::client::Client;
use countersign_domain::id::TokenId;
use countersign_domain::signing_key::SealedKey;
use countersign_ports::{
    AddSigningKey, CompleteLogin, KeyAdded, LoginCompleted, Redeemed, RegisterClient, Registered, Revoked,
    Rotated, Storage, WithdrawSigningKey,
};
use time::Duration;
use tokio::sync::Barrier;
use tokio::task::{JoinSet, yield_now};

use super::steps;
use crate::fixtures;

const TASKS: usize = 64;
const ROUNDS: usize = 4;

/// A task of any type, so that different ones can run at the same time.
pub(crate) type Pinned<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Runs all tasks at the same time and returns their answers.
pub(crate) async fn at_once<F>(tasks: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let tasks: Vec<_> = tasks.into_iter().collect();
    let start = Arc::new(Barrier::new(tasks.len()));
    let mut running = JoinSet::new();
    for task in tasks {
        let start = Arc::clone(&start);
        running.spawn(async move {
            start.wait().await;
            task.await
        });
    }
    running.join_all().await
}

/// How often this was the answer.
pub(crate) fn count<T: PartialEq>(outcomes: &[T], outcome: &T) -> usize {
    outcomes.iter().filter(|other| *other == outcome).count()
}

/// Exactly one is stored, all others are replays, and the stored one is the newest of the family.
pub async fn d_05_one_code_is_redeemed_by_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let login = steps::sign_in(&*store).await;
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let command = fixtures::redeem_code(login.id);
            async move { (command.token.id, store.redeem_code(command).await.unwrap()) }
        }))
        .await;
        let answers: Vec<_> = outcomes.iter().map(|(_, outcome)| *outcome).collect();
        assert_eq!(count(&answers, &Redeemed::Stored), 1);
        assert_eq!(count(&answers, &Redeemed::Replayed), TASKS - 1);
        for (token, outcome) in outcomes {
            let is_there = store.find_access(token).await.unwrap().is_some();
            assert_eq!(is_there, outcome == Redeemed::Stored);
        }
    }
}

/// Exactly one is stored, all others are reuse, and the stored one is the newest of the family.
pub async fn d_06_one_refresh_token_is_rotated_by_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let first = steps::redeem(&*store).await;
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let command = fixtures::rotate_refresh(&first);
            async move { (command.token.id, store.rotate_refresh(command).await.unwrap()) }
        }))
        .await;
        let answers: Vec<_> = outcomes.iter().map(|(_, outcome)| *outcome).collect();
        assert_eq!(count(&answers, &Rotated::Stored), 1);
        assert_eq!(count(&answers, &Rotated::Reused), TASKS - 1);
        let newest = steps::newest(&*store, &first).await;
        for (token, outcome) in outcomes {
            assert_eq!(token == newest, outcome == Rotated::Stored);
            assert_eq!(store.find_access(token).await.unwrap().is_some(), outcome == Rotated::Stored);
        }
    }
}

/// Families are refreshed as fast as possible while they are revoked.
pub async fn d_07_no_rotation_is_stored_after_a_revocation_was_answered(store: Arc<dyn Storage>) {
    let mut families = Vec::new();
    for _ in 0..TASKS / 2 {
        families.push((steps::redeem(&*store).await, Arc::new(AtomicBool::new(false))));
    }
    let tasks = families.into_iter().enumerate().flat_map(|(place, (first, is_answered))| {
        let refresh = {
            let (store, is_answered) = (Arc::clone(&store), Arc::clone(&is_answered));
            let mut newest = first.clone();
            async move {
                loop {
                    let revoked_before = is_answered.load(Ordering::SeqCst);
                    let command = fixtures::rotate_refresh(&newest);
                    match store.rotate_refresh(command.clone()).await.unwrap() {
                        Rotated::Stored => {
                            assert!(!revoked_before, "stored after the revocation was answered")
                        }
                        Rotated::Revoked => break,
                        other @ (Rotated::Reused | Rotated::Unknown) => panic!("{other:?}"),
                    }
                    newest = command.token;
                    // A store that never waits must still give the revocations their turn.
                    yield_now().await;
                }
                assert!(!steps::is_live(&*store, &newest).await);
                assert_eq!(steps::newest(&*store, &newest).await, newest.id);
            }
        };
        let revoke = {
            let store = Arc::clone(&store);
            async move {
                for _ in 0..place % 8 {
                    steps::access(&*store, &first).await;
                }
                let command = fixtures::revoke_grant(first.grant);
                assert_eq!(store.revoke_grant(command).await.unwrap(), Revoked::Revoked);
                is_answered.store(true, Ordering::SeqCst);
            }
        };
        [Box::pin(refresh) as Pinned<()>, Box::pin(revoke)]
    });
    at_once(tasks).await;
}

/// Access tokens are read as fast as possible while they, or their grants, are revoked.
pub async fn d_07_no_access_token_lives_after_a_revocation_was_answered(store: Arc<dyn Storage>) {
    let mut tokens = Vec::new();
    for _ in 0..TASKS / 2 {
        tokens.push((steps::redeem(&*store).await, Arc::new(AtomicBool::new(false))));
    }
    let tasks = tokens.into_iter().enumerate().flat_map(|(place, (token, is_answered))| {
        let read = {
            let (store, is_answered, token) = (Arc::clone(&store), Arc::clone(&is_answered), token.clone());
            async move {
                loop {
                    let revoked_before = is_answered.load(Ordering::SeqCst);
                    let is_live = steps::is_live(&*store, &token).await;
                    assert!(!(is_live && revoked_before), "alive after the revocation was answered");
                    if revoked_before {
                        break;
                    }
                    yield_now().await;
                }
            }
        };
        let revoke = {
            let store = Arc::clone(&store);
            async move {
                let outcome = if place % 2 == 0 {
                    store.revoke_token(fixtures::revoke_token(&token)).await
                } else {
                    store.revoke_grant(fixtures::revoke_grant(token.grant)).await
                };
                assert_eq!(outcome.unwrap(), Revoked::Revoked);
                is_answered.store(true, Ordering::SeqCst);
            }
        };
        [Box::pin(read) as Pinned<()>, Box::pin(revoke)]
    });
    at_once(tasks).await;
}

/// Exactly one gets a code, and the grant is that one's.
pub async fn d_08_one_challenge_gives_a_code_to_one_of_many(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS {
        let id = fixtures::grant_id();
        let account = fixtures::wallet_account();
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            // One wallet that answers many times, and many wallets that answer once.
            let account = if round % 2 == 0 { account.clone() } else { fixtures::wallet_account() };
            let login = CompleteLogin { id, ..fixtures::complete_login_of(account) };
            async move { (login.code_hash, store.complete_login(login).await.unwrap()) }
        }))
        .await;
        let winners: Vec<_> =
            outcomes.iter().filter(|(_, outcome)| *outcome != LoginCompleted::ChallengeSpent).collect();
        assert_eq!(winners.len(), 1);
        let grant = store.find_grant(id).await.unwrap().unwrap();
        let (user, _) = steps::person(&grant.holder);
        assert_eq!(*winners[0], (grant.code_hash, LoginCompleted::CodeIssued { user }));
    }
}

/// All logins succeed, with one user whom one of them proposed.
pub async fn one_wallet_that_signs_in_many_times_at_once_is_one_user(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let account = fixtures::wallet_account();
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let login = fixtures::complete_login_of(account.clone());
            async move { (login.new_user, login.id, steps::user_of(&*store, &login).await) }
        }))
        .await;
        let user = outcomes[0].2;
        assert!(outcomes.iter().any(|(proposed, ..)| *proposed == user));
        for (_, grant, answered) in outcomes {
            assert_eq!(answered, user);
            let stored = store.find_grant(grant).await.unwrap().unwrap();
            assert_eq!(stored.holder.user(), Some(user));
        }
    }
}

/// Rule 3 while the first one is still on its way.
pub async fn many_copies_of_one_redemption_are_all_answered_alike(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let command = fixtures::redeem_code(login.id);
    let outcomes = at_once((0..TASKS).map(|_| {
        let (store, command) = (Arc::clone(&store), command.clone());
        async move { store.redeem_code(command).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &Redeemed::Stored), TASKS);
    assert!(steps::is_live(&*store, &command.token).await);
    let rotation = fixtures::rotate_refresh(&command.token);
    let outcomes = at_once((0..TASKS).map(|_| {
        let (store, rotation) = (Arc::clone(&store), rotation.clone());
        async move { store.rotate_refresh(rotation).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &Rotated::Stored), TASKS);
}

/// Rule 3 while the first one is still on its way.
pub async fn many_copies_of_one_login_are_all_answered_alike(store: Arc<dyn Storage>) {
    let login = fixtures::complete_login();
    let users = at_once((0..TASKS).map(|_| {
        let (store, login) = (Arc::clone(&store), login.clone());
        async move { steps::user_of(&*store, &login).await }
    }))
    .await;
    assert_eq!(count(&users, &login.new_user), TASKS);
}

/// Different clients want the same id.
pub async fn one_client_id_is_taken_by_one_of_many(store: Arc<dyn Storage>) {
    let id = fixtures::client_id();
    let outcomes = at_once((0..TASKS).map(|_| {
        let store = Arc::clone(&store);
        let client = Client { id, ..fixtures::client() };
        async move { store.register_client(RegisterClient { client, event: None }).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &Registered::Stored), 1);
    assert_eq!(count(&outcomes, &Registered::IdTaken), TASKS - 1);
}

/// Many replicas start on an empty database.
pub async fn one_algorithm_gets_one_key_of_many(store: Arc<dyn Storage>) {
    let first = fixtures::add_signing_key().key;
    let outcomes = at_once((0..TASKS).map(|_| {
        let store = Arc::clone(&store);
        let command = fixtures::add_signing_key_beside(&first);
        async move { (command.key.kid.clone(), store.add_signing_key(command).await.unwrap()) }
    }))
    .await;
    let keys = store.signing_keys().await.unwrap();
    assert_eq!(keys.len(), 1);
    for (kid, outcome) in outcomes {
        assert_eq!(outcome == KeyAdded::Stored, kid == keys[0].kid);
    }
}

/// The active key is old enough to be rotated, and all replicas notice.
pub async fn one_next_key_is_added_of_many(store: Arc<dyn Storage>) {
    let first = fixtures::add_signing_key();
    assert_eq!(store.add_signing_key(first.clone()).await.unwrap(), KeyAdded::Stored);
    let outcomes =
        at_once(
            (1..=TASKS).map(|number| {
                let store = Arc::clone(&store);
                let unless_after = first.key.active_from;
                let later = Duration::days(1) + Duration::milliseconds(i64::try_from(number).unwrap());
                let key = fixtures::add_signing_key_beside(&first.key).key;
                let key = SealedKey { active_from: unless_after + later, ..key };
                async move {
                    store.add_signing_key(AddSigningKey { key, unless_after, event: None }).await.unwrap()
                }
            }),
        )
        .await;
    assert_eq!(count(&outcomes, &KeyAdded::Stored), 1);
    assert_eq!(store.signing_keys().await.unwrap().len(), 2);
}

/// One of many withdraws it; all others learn that it was already withdrawn.
pub async fn a_key_is_withdrawn_by_one_of_many(store: Arc<dyn Storage>) {
    let command = fixtures::add_signing_key();
    let kid = command.key.kid.clone();
    store.add_signing_key(command).await.unwrap();
    let outcomes = at_once((0..TASKS).map(|_| {
        let (store, kid) = (Arc::clone(&store), kid.clone());
        async move {
            store
                .withdraw_signing_key(WithdrawSigningKey {
                    kid: kid.clone(),
                    now: fixtures::NOW,
                    event: None,
                })
                .await
                .unwrap()
        }
    }))
    .await;
    assert_eq!(count(&outcomes, &true), 1);
}

/// One of many revokes it; all others learn that it was already revoked.
pub async fn a_grant_is_revoked_by_one_of_many(store: Arc<dyn Storage>) {
    let token = steps::redeem(&*store).await;
    let outcomes = at_once((0..TASKS).map(|_| {
        let store = Arc::clone(&store);
        async move { store.revoke_grant(fixtures::revoke_grant(token.grant)).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &Revoked::Revoked), 1);
    assert_eq!(count(&outcomes, &Revoked::AlreadyRevoked), TASKS - 1);
}

/// Rule 2: refusing some rolls back none of the others, even if they are committed together.
pub async fn many_families_at_once_do_not_disturb_each_other(store: Arc<dyn Storage>) {
    let ends: Vec<TokenId> = at_once((0..TASKS).map(|_| {
        let store = Arc::clone(&store);
        async move {
            let first = steps::redeem(&*store).await;
            let replay = fixtures::redeem_code(first.grant);
            assert_eq!(store.redeem_code(replay).await.unwrap(), Redeemed::Replayed);
            let second = steps::rotate(&*store, &first).await;
            let reuse = fixtures::rotate_refresh(&first);
            assert_eq!(store.rotate_refresh(reuse).await.unwrap(), Rotated::Reused);
            let nowhere = fixtures::redeem_code(fixtures::grant_id());
            assert_eq!(store.redeem_code(nowhere).await.unwrap(), Redeemed::Unknown);
            steps::rotate(&*store, &second).await.id
        }
    }))
    .await;
    for token in ends {
        assert_eq!(store.find_refresh(token).await.unwrap().unwrap().newest.id, token);
    }
}

/// Rules 4 and 3: a caller hangs up in the middle, comes back and repeats the command.
pub async fn an_operation_that_nobody_waits_for_happens_wholly_or_not_at_all(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let login = fixtures::complete_login();
        poll_once(store.complete_login(login.clone()));
        assert_eq!(steps::user_of(&*store, &login).await, login.new_user);
        let redemption = fixtures::redeem_code(login.id);
        poll_once(store.redeem_code(redemption.clone()));
        assert_eq!(store.redeem_code(redemption.clone()).await.unwrap(), Redeemed::Stored);
        let rotation = fixtures::rotate_refresh(&redemption.token);
        poll_once(store.rotate_refresh(rotation.clone()));
        assert_eq!(store.rotate_refresh(rotation.clone()).await.unwrap(), Rotated::Stored);
        assert_eq!(steps::newest(&*store, &redemption.token).await, rotation.token.id);
        assert!(steps::is_live(&*store, &rotation.token).await);
    }
}

/// Starts an operation, and drops it.
pub(crate) fn poll_once(operation: impl Future) {
    let mut operation = pin!(operation);
    // It does not matter whether it is ready: nobody uses the answer.
    let _ = operation.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}
