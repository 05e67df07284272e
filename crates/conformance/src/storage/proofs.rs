//! Proofs from others that work once (A-110, A-111, E-23).

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_ports::{PurgeExpired, Purged, SpendProof, Storage};
use time::Duration;

use super::races::{at_once, count};
use crate::fixtures;

const TASKS: usize = 64;
const ROUNDS: usize = 4;
const SECOND: Duration = Duration::seconds(1);

async fn spend(store: &dyn Storage, command: SpendProof) -> bool {
    store.spend_proof(command).await.unwrap()
}

/// The same proof in another request.
fn again(command: SpendProof) -> SpendProof {
    SpendProof { attempt: fixtures::spend_proof().attempt, ..command }
}

/// It is new only the first time.
pub async fn e_23_a_proof_is_new_once(store: Arc<dyn Storage>) {
    let command = fixtures::spend_proof();
    assert!(spend(&*store, command).await);
    for seconds in 0..3 {
        assert!(
            !spend(&*store, SpendProof { before: command.before + SECOND * seconds, ..again(command) }).await
        );
    }
    assert!(spend(&*store, fixtures::spend_proof()).await);
}

/// Rule 3: the answer was lost, and the same request asks again.
pub async fn the_same_request_again_gets_the_same_answer(store: Arc<dyn Storage>) {
    let first = fixtures::spend_proof();
    let second = again(first);
    for _ in 0..3 {
        assert!(spend(&*store, first).await);
        assert!(!spend(&*store, second).await);
    }
}

/// A digest that differs in one bit is another proof.
pub async fn proofs_are_told_apart_by_every_bit(store: Arc<dyn Storage>) {
    let command = fixtures::spend_proof();
    assert!(spend(&*store, command).await);
    for bit in [0, 7, 100, 255] {
        let mut digest = command.digest;
        digest[bit / 8] ^= 1 << (bit % 8);
        assert!(spend(&*store, SpendProof { digest, ..again(command) }).await);
    }
}

/// Whether upkeep has run or not.
pub async fn a_proof_is_forgotten_after_its_time_and_not_at_it(store: Arc<dyn Storage>) {
    let first = fixtures::spend_proof();
    assert!(spend(&*store, first).await);
    let at = SpendProof { before: first.forget_after, ..again(first) };
    assert!(!spend(&*store, at).await);
    let after =
        SpendProof { before: at.before + SECOND, forget_after: at.before + SECOND * 9, ..again(first) };
    assert!(spend(&*store, after).await);
    assert!(
        !spend(&*store, SpendProof { before: after.before, ..first }).await,
        "the first one is no longer known"
    );
    assert!(spend(&*store, after).await);
}

/// They have a limit of their own, besides those of the other kinds.
pub async fn spent_proofs_are_purged_oldest_first_up_to_the_limit(store: Arc<dyn Storage>) {
    let mut proofs = Vec::new();
    for seconds in [3, 1, 5, 2, 4] {
        let forget_after = fixtures::NOW + SECOND * seconds;
        let proof = SpendProof { forget_after, ..fixtures::spend_proof() };
        assert!(spend(&*store, proof).await);
        proofs.push(proof);
    }
    proofs.sort_by_key(|proof| proof.forget_after);
    let purge = |before, limit| {
        let store = Arc::clone(&store);
        async move { store.purge_expired(PurgeExpired::oldest(fixtures::past(before), limit)).await.unwrap() }
    };
    assert_eq!(purge(fixtures::NOW + SECOND, 9).await, Purged { rows: 0, more: false });
    let later = fixtures::NOW + SECOND * 10;
    assert_eq!(purge(later, 2).await, Purged { rows: 2, more: true });
    for (place, proof) in proofs.iter().enumerate() {
        assert_eq!(spend(&*store, again(*proof)).await, place < 2);
    }
    assert_eq!(purge(later, 9).await, Purged { rows: 5, more: false });
}

/// It is new for exactly one.
pub async fn e_23_one_proof_is_new_for_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let command = fixtures::spend_proof();
        let outcomes = at_once((0..TASKS).map(|_| {
            let (store, command) = (Arc::clone(&store), again(command));
            async move { spend(&*store, command).await }
        }))
        .await;
        assert_eq!(count(&outcomes, &true), 1);
    }
}

/// Rule 3 while the first one is still on its way.
pub async fn many_copies_of_one_spending_are_all_answered_alike(store: Arc<dyn Storage>) {
    let command = fixtures::spend_proof();
    let outcomes = at_once((0..TASKS).map(|_| {
        let store = Arc::clone(&store);
        async move { spend(&*store, command).await }
    }))
    .await;
    assert_eq!(count(&outcomes, &true), TASKS);
}

/// The store is closed and opened again.
pub async fn a_spent_proof_stays_spent(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let command = fixtures::spend_proof();
    assert!(spend(&*open().await, command).await);
    assert!(!spend(&*open().await, again(command)).await);
    assert!(spend(&*open().await, command).await);
}

/// Half of the requests go to the other replica.
pub async fn e_23_one_proof_is_new_once_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = [open().await, open().await];
    for _ in 0..ROUNDS {
        let command = fixtures::spend_proof();
        let outcomes = at_once((0..TASKS).map(|place| {
            let (store, command) = (Arc::clone(&replicas[place % 2]), again(command));
            async move { spend(&*store, command).await }
        }))
        .await;
        assert_eq!(count(&outcomes, &true), 1);
    }
}
