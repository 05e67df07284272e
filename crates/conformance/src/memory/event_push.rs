//! How far events were pushed.

use async_trait::async_trait;
use countersign_domain::event_push::ReceiverId;
use countersign_ports::{AdvancePush, BeginPush, EventPush, EventPushStore, StoreError};

use super::MemoryStorage;

#[async_trait]
impl EventPushStore for MemoryStorage {
    async fn begin_push(&self, command: BeginPush) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let BeginPush { receiver, position } = command;
        let is_new = !tables.event_pushes.contains_key(&receiver);
        let begun = EventPush { position, round: 0, delayed: Vec::new() };
        tables.event_pushes.entry(receiver).or_insert(begun);
        Ok(is_new)
    }

    async fn find_push(&self, receiver: ReceiverId) -> Result<Option<EventPush>, StoreError> {
        Ok(self.tables().event_pushes.get(&receiver).cloned())
    }

    async fn advance_push(&self, command: AdvancePush) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let AdvancePush { receiver, round, position, mut delayed } = command;
        let Some(push) = tables.event_pushes.get_mut(&receiver).filter(|push| push.round == round) else {
            return Ok(false);
        };
        delayed.sort_by_key(|delayed| delayed.position);
        *push = EventPush { position, round: round + 1, delayed };
        Ok(true)
    }
}
