//! How far events were pushed is noted by one replica at a time.

use std::sync::Arc;

use countersign_domain::event_push::{DelayedEvent, ReceiverId};
use countersign_ports::{AdvancePush, BeginPush, EventPush, Storage};
use time::Duration;

use crate::fixtures::{self, NOW};

/// A receiver that no other test has.
fn receiver() -> ReceiverId {
    ReceiverId::of(&format!("https://siem.example/{}", fixtures::event_id()))
}

fn delayed(position: u64) -> DelayedEvent {
    let since = NOW + Duration::seconds(7);
    DelayedEvent { position, since, next_at: since + Duration::milliseconds(1_500), tries: 3 }
}

async fn begun(store: &dyn Storage) -> ReceiverId {
    let receiver = receiver();
    assert!(store.begin_push(BeginPush { receiver, position: 4 }).await.unwrap());
    receiver
}

/// The first beginning stays, however often others begin.
pub async fn a_push_begins_once(store: Arc<dyn Storage>) {
    let other = begun(&*store).await;
    let receiver = receiver();
    assert_eq!(store.find_push(receiver).await.unwrap(), None);
    assert!(store.begin_push(BeginPush { receiver, position: 9 }).await.unwrap());
    assert!(!store.begin_push(BeginPush { receiver, position: 11 }).await.unwrap());
    let expected = EventPush { position: 9, round: 0, delayed: Vec::new() };
    assert_eq!(store.find_push(receiver).await.unwrap(), Some(expected));
    assert_eq!(store.find_push(other).await.unwrap().unwrap().position, 4);
}

/// Position and delayed events are replaced as a whole, and come back in the order of their positions.
pub async fn a_push_is_as_it_was_noted_last(store: Arc<dyn Storage>) {
    let (receiver, other) = (begun(&*store).await, begun(&*store).await);
    let notes = [vec![], vec![delayed(8), delayed(5)], vec![delayed(8), delayed(17)], vec![]];
    for (round, waiting) in (0..).zip(notes) {
        let position = 20 + round;
        let command = AdvancePush { receiver, round, position, delayed: waiting.clone() };
        assert!(store.advance_push(command).await.unwrap());
        let mut expected = EventPush { position, round: round + 1, delayed: waiting };
        expected.delayed.sort_by_key(|delayed| delayed.position);
        assert_eq!(store.find_push(receiver).await.unwrap(), Some(expected));
    }
    assert_eq!(store.find_push(other).await.unwrap().unwrap().round, 0, "of another receiver");
}

/// Another round than the stored one, a repeat, and a receiver that nobody began with.
pub async fn what_is_noted_in_another_round_changes_nothing(store: Arc<dyn Storage>) {
    let receiver = begun(&*store).await;
    let command = AdvancePush { receiver, round: 0, position: 6, delayed: vec![delayed(5)] };
    assert!(store.advance_push(command.clone()).await.unwrap());
    let noted = store.find_push(receiver).await.unwrap();
    for round in [0, 2, 3] {
        let stale = AdvancePush { round, position: 9, delayed: Vec::new(), ..command.clone() };
        assert!(!store.advance_push(stale).await.unwrap(), "{round}");
    }
    assert!(!store.advance_push(command.clone()).await.unwrap(), "a repeat");
    assert_eq!(store.find_push(receiver).await.unwrap(), noted);
    let unknown = AdvancePush { receiver: self::receiver(), ..command };
    let id = unknown.receiver;
    assert!(!store.advance_push(unknown).await.unwrap());
    assert_eq!(store.find_push(id).await.unwrap(), None);
}

/// Of many at once one is noted, wholly.
pub async fn of_many_who_push_at_once_one_is_heard(store: Arc<dyn Storage>) {
    for _ in 0..10 {
        let receiver = begun(&*store).await;
        let racers: Vec<_> = (0..8)
            .map(|number| {
                let store = Arc::clone(&store);
                let delayed = vec![delayed(100 + number)];
                let command = AdvancePush { receiver, round: 0, position: 200 + number, delayed };
                tokio::spawn(async move { store.advance_push(command).await.unwrap() })
            })
            .collect();
        let mut heard = Vec::new();
        for (number, racer) in (0..).zip(racers) {
            heard.extend(racer.await.unwrap().then_some(number));
        }
        let [winner] = heard[..] else { panic!("{heard:?}") };
        let expected = EventPush { position: 200 + winner, round: 1, delayed: vec![delayed(100 + winner)] };
        assert_eq!(store.find_push(receiver).await.unwrap(), Some(expected));
    }
}
