//! What a replica counted is added to the hour once, whatever storage answers.

use std::sync::Mutex;

use countersign_conformance::fixtures;
use countersign_domain::figure::Figure;
use countersign_domain::hour::Hour;
use countersign_ports::{FigureTotal, Figures, HourCount, Replica};
use time::Duration;

use super::breakable::{break_after, world};
use super::world::World;
use crate::upkeep::hour_counts::{HourCounter, KEPT, forget_hour_counts};
use crate::upkeep::note_replica::note_replica;

/// Counters of two labels.
#[derive(Default)]
struct Counted(Mutex<[u64; 2]>);

impl Counted {
    fn count(&self, codes: u64, scopes: u64) {
        let [code, scope] = &mut *self.0.lock().unwrap();
        *code += codes;
        *scope += scopes;
    }
}

impl Figures for Counted {
    fn totals(&self) -> Vec<FigureTotal> {
        let totals = ["code", "scope"].into_iter().zip(*self.0.lock().unwrap());
        totals.map(|(label, total)| FigureTotal { figure: Figure::Refusals, label, total }).collect()
    }
}

async fn noted(world: &World) -> [u8; 16] {
    let now = world.context.clock.now();
    let replica = Replica { seen_at: now, ..fixtures::replica() };
    note_replica(&world.context, fixtures::past(now), replica.clone()).await.unwrap();
    replica.id
}

async fn stored(world: &World) -> Vec<(Hour, String, u64)> {
    let counts = world.storage.hour_counts(Hour::from_number(0)).await.unwrap();
    counts.into_iter().map(|HourCount { hour, label, count, .. }| (hour, label, count)).collect()
}

fn unwritten(counter: &HourCounter, counted: &Counted) -> Vec<u64> {
    counter.unwritten(counted).into_iter().map(|label| label.total).collect()
}

#[tokio::test]
async fn each_write_adds_what_was_counted_since_the_last_one_to_the_present_hour() {
    let world = World::new();
    let (counter, counted, replica) = (HourCounter::default(), Counted::default(), noted(&world).await);
    let first = Hour::of(world.context.clock.now());
    counter.write(&world.context, &counted, replica).await.unwrap();
    assert_eq!(stored(&world).await, []);
    counted.count(3, 0);
    assert_eq!(unwritten(&counter, &counted), [3, 0]);
    counter.write(&world.context, &counted, replica).await.unwrap();
    counter.write(&world.context, &counted, replica).await.unwrap();
    assert_eq!(unwritten(&counter, &counted), [0, 0]);
    assert_eq!(stored(&world).await, [(first, "code".to_owned(), 3)]);
    counted.count(1, 5);
    counter.write(&world.context, &counted, replica).await.unwrap();
    world.advance(Duration::HOUR);
    counted.count(10, 0);
    counter.write(&world.context, &counted, replica).await.unwrap();
    let second = Hour::of(world.context.clock.now());
    let expected = [(first, "code", 4), (first, "scope", 5), (second, "code", 10)];
    assert_eq!(stored(&world).await, expected.map(|(hour, label, count)| (hour, label.to_owned(), count)));
}

#[tokio::test]
async fn what_could_not_be_written_is_written_later_and_once() {
    let (world, storage) = world();
    let (counter, counted, replica) = (HourCounter::default(), Counted::default(), noted(&world).await);
    let sum = async || stored(&world).await.into_iter().map(|(_, _, count)| count).sum::<u64>();
    counted.count(1, 2);
    // The command arrives, and its answer does not.
    storage.after_first(["add_hour_counts"; 2], Box::pin(std::future::pending()));
    let writing = counter.write(&world.context, &counted, replica);
    tokio::time::timeout(std::time::Duration::from_millis(10), writing).await.unwrap_err();
    assert_eq!((sum().await, unwritten(&counter, &counted)), (3, vec![1, 2]));
    counted.count(10, 0);
    counter.write(&world.context, &counted, replica).await.unwrap();
    assert_eq!((sum().await, unwritten(&counter, &counted)), (13, vec![0, 0]));
    // The command does not arrive.
    counted.count(100, 0);
    break_after(&world, &storage, 0).await;
    counter.write(&world.context, &counted, replica).await.unwrap_err();
    assert_eq!((sum().await, unwritten(&counter, &counted)), (13, vec![100, 0]));
    counter.write(&world.context, &counted, replica).await.unwrap();
    assert_eq!((sum().await, unwritten(&counter, &counted)), (113, vec![0, 0]));
}

#[tokio::test]
async fn nothing_is_written_or_lost_before_the_replica_is_noted() {
    let world = World::new();
    let (counter, counted, replica) = (HourCounter::default(), Counted::default(), fixtures::replica());
    counted.count(1, 0);
    counter.write(&world.context, &counted, replica.id).await.unwrap();
    counted.count(0, 1);
    assert_eq!((stored(&world).await, unwritten(&counter, &counted)), (vec![], vec![1, 1]));
    let past = fixtures::past(replica.seen_at);
    note_replica(&world.context, past, replica.clone()).await.unwrap();
    counter.write(&world.context, &counted, replica.id).await.unwrap();
    assert_eq!((stored(&world).await.len(), unwritten(&counter, &counted)), (2, vec![0, 0]));
}

#[tokio::test]
async fn an_hour_is_forgotten_thirty_days_after_its_end() {
    let world = World::new();
    let (counter, counted, replica) = (HourCounter::default(), Counted::default(), noted(&world).await);
    counted.count(1, 1);
    counter.write(&world.context, &counted, replica).await.unwrap();
    let hour = Hour::of(world.context.clock.now());
    let ends = time::OffsetDateTime::from_unix_timestamp((hour.number() + 1) * 3_600).unwrap();
    let forget = async |past| forget_hour_counts(&world.context, fixtures::past(past)).await.unwrap();
    assert_eq!(forget(ends + KEPT - Duration::MICROSECOND).await, 0);
    assert_eq!(forget(ends + KEPT).await, 2);
    assert_eq!(stored(&world).await, []);
}
