//! What replicas count by the hour.

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::figure::Figure;
use countersign_domain::hour::Hour;
use countersign_ports::{AddHourCounts, HourCount, Replica, Storage};
use time::Duration;

use super::races::at_once;
use crate::fixtures::{self, NOW};

const TASKS: usize = 16;

/// Notes a replica, and returns its id.
async fn noted(store: &dyn Storage) -> [u8; 16] {
    let replica = fixtures::replica();
    store.note_replica(replica.clone(), fixtures::past(NOW)).await.unwrap();
    replica.id
}

async fn add(store: &dyn Storage, replica: [u8; 16], batch: u64, counts: &[HourCount]) -> bool {
    store.add_hour_counts(AddHourCounts { replica, batch, counts: counts.to_vec() }).await.unwrap()
}

async fn counted(store: &dyn Storage, since: Hour) -> Vec<HourCount> {
    store.hour_counts(since).await.unwrap()
}

/// So many refusals for a reason, in the hour of the fixtures.
fn refused(label: &str, count: u64) -> HourCount {
    fixtures::hour_count(Hour::of(NOW), Figure::Refusals, label, count)
}

/// In the order of their keys, whatever the order in which they were added.
pub async fn counts_add_up_by_hour_figure_and_label(store: Arc<dyn Storage>) {
    let hour = Hour::of(NOW);
    let before = hour.back(1);
    let of = fixtures::hour_count;
    let replica = noted(&*store).await;
    assert_eq!(counted(&*store, hour.back(1_000)).await, []);
    let batches = [
        vec![of(hour, Figure::Tokens, "b", 3), of(before, Figure::Tokens, "b", 1)],
        vec![of(hour, Figure::Refusals, "b", 2), of(hour, Figure::Refusals, "B", 10)],
        Vec::new(),
        vec![of(hour, Figure::Tokens, "b", 100), of(hour, Figure::Latency, "< 1 ms", 7)],
        vec![of(hour, Figure::Refusals, "b", 1_000), of(hour, Figure::Refusals, "b", 1)],
    ];
    for (batch, counts) in (1..).zip(batches) {
        assert!(add(&*store, replica, batch, &counts).await);
    }
    let expected = [
        of(before, Figure::Tokens, "b", 1),
        of(hour, Figure::Latency, "< 1 ms", 7),
        of(hour, Figure::Refusals, "B", 10),
        of(hour, Figure::Refusals, "b", 1_003),
        of(hour, Figure::Tokens, "b", 103),
    ];
    assert_eq!(counted(&*store, before).await, expected);
    assert_eq!(counted(&*store, hour).await, expected[1..]);
    assert_eq!(counted(&*store, Hour::from_number(hour.number() + 1)).await, []);
}

/// Each replica has batches of its own. One that was forgotten begins again when it is noted again.
pub async fn a_batch_of_counts_is_added_once(store: Arc<dyn Storage>) {
    let (one, other) = (fixtures::replica(), noted(&*store).await);
    assert!(!add(&*store, one.id, 1, &[refused("code", 1)]).await, "the replica is not noted");
    assert_eq!(counted(&*store, Hour::of(NOW)).await, []);
    let note = async |later| {
        let replica = Replica { seen_at: NOW + later, ..one.clone() };
        store.note_replica(replica, fixtures::past(NOW)).await.unwrap();
    };
    note(Duration::ZERO).await;
    for (batch, total) in [(1, 1), (1, 1), (7, 2), (6, 2), (7, 2), (1, 2), (8, 3)] {
        assert!(add(&*store, one.id, batch, &[refused("code", 1)]).await);
        note(Duration::seconds(batch.try_into().unwrap())).await;
        assert_eq!(counted(&*store, Hour::of(NOW)).await, [refused("code", total)], "after batch {batch}");
    }
    assert!(add(&*store, other, 1, &[refused("code", 10)]).await);
    assert_eq!(counted(&*store, Hour::of(NOW)).await, [refused("code", 13)]);
    store.forget_replica(one.id).await.unwrap();
    assert!(!add(&*store, one.id, 9, &[refused("code", 100)]).await);
    note(Duration::MINUTE).await;
    assert!(add(&*store, one.id, 1, &[refused("code", 1_000)]).await);
    assert_eq!(counted(&*store, Hour::of(NOW)).await, [refused("code", 1_013)]);
}

/// However much is counted.
pub async fn a_hundred_thousand_counts_take_a_row_for_each_label_of_each_hour(store: Arc<dyn Storage>) {
    const LABELS: [&str; 5] = ["a", "b", "c", "d", "e"];
    let replica = noted(&*store).await;
    for batch in 1..=50 {
        let hour = Hour::of(NOW).back(u16::try_from(batch % 3).unwrap());
        let counts = LABELS.map(|label| fixtures::hour_count(hour, Figure::Refusals, label, 400));
        assert!(add(&*store, replica, batch, &counts).await);
    }
    let rows = counted(&*store, Hour::of(NOW).back(3)).await;
    assert_eq!((rows.len(), rows.iter().map(|row| row.count).sum::<u64>()), (LABELS.len() * 3, 100_000));
}

/// The oldest hour first, and none before it has ended.
pub async fn counts_are_forgotten_hour_by_hour(store: Arc<dyn Storage>) {
    let of = fixtures::hour_count;
    let hour = Hour::of(NOW);
    let replica = noted(&*store).await;
    let counts = [
        of(hour.back(9), Figure::Tokens, "a", 1),
        of(hour.back(2), Figure::Refusals, "a", 2),
        of(hour.back(2), Figure::Tokens, "a", 3),
        of(hour, Figure::Tokens, "a", 4),
    ];
    assert!(add(&*store, replica, 1, &counts).await);
    let begins = |hour: Hour| {
        fixtures::past(time::OffsetDateTime::from_unix_timestamp(hour.number() * 3_600).unwrap())
    };
    let forget = async |before| store.forget_hour_counts(before).await.unwrap();
    assert_eq!(forget(begins(hour.back(9))).await, 0);
    assert_eq!(counted(&*store, hour.back(9)).await, counts);
    assert_eq!(forget(begins(hour)).await, 1);
    assert_eq!(counted(&*store, hour.back(9)).await, counts[1..]);
    assert_eq!(forget(begins(hour)).await, 2);
    assert_eq!(forget(begins(hour)).await, 0);
    assert_eq!(counted(&*store, hour.back(9)).await, counts[3..]);
}

/// Of copies of one batch one counts, and replicas that name the same labels in other orders do not block each other.
pub async fn counts_that_are_added_at_once_are_all_there(store: Arc<dyn Storage>) {
    let labels: Vec<String> = (0..20).map(|label| format!("label {label:02}")).collect();
    for round in 1..=4 {
        let mut tasks = Vec::new();
        for task in 0..TASKS {
            let replica = noted(&*store).await;
            let mut counts: Vec<_> = labels.iter().map(|label| refused(label, 1)).collect();
            counts.rotate_left(task);
            let command = AddHourCounts { replica, batch: round, counts };
            for _ in 0..2 {
                let (store, command) = (Arc::clone(&store), command.clone());
                tasks.push(async move { store.add_hour_counts(command).await.unwrap() });
            }
        }
        assert!(at_once(tasks).await.into_iter().all(|is_noted| is_noted));
        let count = round * u64::try_from(TASKS).unwrap();
        let expected: Vec<_> = labels.iter().map(|label| refused(label, count)).collect();
        assert_eq!(counted(&*store, Hour::of(NOW)).await, expected);
    }
}

/// And a batch that comes again after a restart of the store is still recognized.
pub async fn counts_outlive_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let replica = noted(&*store).await;
    assert!(add(&*store, replica, 1, &[refused("code", 5)]).await);
    drop(store);
    let store = open().await;
    assert!(add(&*store, replica, 1, &[refused("code", 5)]).await, "repeated");
    assert_eq!(counted(&*store, Hour::of(NOW)).await, [refused("code", 5)]);
}

/// From the answer on.
pub async fn the_counts_of_two_replicas_add_up(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let (here, there) = (open().await, open().await);
    let (one, other) = (noted(&*here).await, noted(&*there).await);
    for batch in 1..=8 {
        assert!(add(&*here, one, batch, &[refused("code", 1)]).await);
        assert!(add(&*there, other, batch, &[refused("code", 10)]).await);
        assert_eq!(counted(&*here, Hour::of(NOW)).await, [refused("code", 11 * batch)]);
    }
}
