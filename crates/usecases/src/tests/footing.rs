//! A server that stood still looks before it answers, and one that did not asks nothing.

use std::sync::Arc;

use countersign_conformance::fakes::ManualClock;
use countersign_conformance::fixtures;
use countersign_conformance::memory::MemoryStorage;
use countersign_ports::EpochStore;

use crate::context::footing::{Footing, NoFooting, SURE_FOR};

fn footing(
    storage: &Arc<MemoryStorage>,
    clock: &Arc<ManualClock>,
    at_start: countersign_domain::epoch::Lineage,
) -> Footing {
    Footing::new(Arc::<MemoryStorage>::clone(storage), Arc::<ManualClock>::clone(clock), at_start)
}

#[tokio::test]
async fn a_look_is_believed_for_a_while_and_another_epoch_is_noticed_by_its_id() {
    let (storage, clock) = (Arc::new(MemoryStorage::default()), Arc::new(ManualClock::default()));
    let at_start = storage.lineage().await.unwrap();
    let footing = footing(&storage, &clock, at_start);
    assert!(footing.is_sure());
    let second = time::Duration::SECOND;
    clock.advance(SURE_FOR.try_into().map(|sure: time::Duration| sure - second).unwrap());
    assert!(footing.is_sure());
    clock.advance(second);
    assert!(!footing.is_sure(), "it stood still");
    footing.look().await.unwrap();
    assert!(footing.is_sure());
    storage.raise_epoch(fixtures::raise_epoch()).await.unwrap();
    assert!(matches!(footing.look().await, Err(NoFooting::Lost)));
    assert!(!footing.is_sure(), "for good");
    assert!(matches!(footing.look().await, Err(NoFooting::Lost)));
}
