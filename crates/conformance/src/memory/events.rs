//! Events, and the checkpoints that seal them.

use std::collections::BTreeSet;

use async_trait::async_trait;
use countersign_domain::checkpoint::{HidingKey, SignedCheckpoint};
use countersign_domain::event::{Event, EventKind, EventPerson, Pseudonym};
use countersign_domain::id::{EventId, UserId};
use countersign_domain::subject::Subject;
use countersign_ports::{
    CheckpointAt, EVENTS_A_STEP, EventAt, EventFilter, EventOrder, EventPage, EventStore, ForgetEvents,
    FoundEvent, LeftToForget, Recent, SealEvents, Sealed, StoreError, TakeLease, UnsealableEvent,
};

use super::wallets::{WalletKey, key_of};
use super::{MemoryStorage, Tables, count, count_of};

#[async_trait]
impl EventStore for MemoryStorage {
    async fn record_event(&self, event: Event) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let is_new = !tables.has_event(event.id);
        if is_new {
            tables.record(Some(Box::new(event)))?;
        }
        Ok(is_new)
    }

    async fn list_events(&self, filter: &EventFilter, page: EventPage) -> Result<Vec<Event>, StoreError> {
        let tables = self.tables();
        let mut events: Vec<_> = tables.all_events().filter(|event| matches(filter, event)).collect();
        events.sort_by_key(|event| event.id);
        if page.order == EventOrder::NewestFirst {
            events.reverse();
        }
        let is_later = |event: &&Event| match (page.after, page.order) {
            (None, _) => true,
            (Some(after), EventOrder::NewestFirst) => event.id < after,
            (Some(after), EventOrder::OldestFirst) => event.id > after,
        };
        Ok(events.into_iter().filter(is_later).take(count(page.limit)).cloned().collect())
    }

    async fn find_event(&self, id: EventId) -> Result<Option<FoundEvent>, StoreError> {
        let tables = self.tables();
        if let Some(event) = tables.fresh_events.get(&id) {
            return Ok(Some(FoundEvent { event: event.clone(), position: None }));
        }
        let sealed = tables.events.values().find(|sealed| sealed.event.id == id);
        Ok(sealed.map(|sealed| FoundEvent { event: sealed.event.clone(), position: Some(sealed.position) }))
    }

    async fn fresh_events(&self, limit: u32) -> Result<Vec<Event>, StoreError> {
        Ok(self.tables().fresh_events.values().take(count(limit)).cloned().collect())
    }

    /// None: every row here is an event, and none is there twice.
    async fn unsealable_events(&self, _: u32, _: Option<Recent>) -> Result<Vec<UnsealableEvent>, StoreError> {
        Ok(Vec::new())
    }

    async fn seal_events(&self, command: SealEvents) -> Result<Sealed, StoreError> {
        let mut tables = self.tables();
        let SealEvents { checkpoint: signed, events, counts } = command;
        let number = signed.checkpoint.number;
        if tables.checkpoints.get(&number) == Some(&signed) {
            return Ok(Sealed::Sealed);
        }
        let (last, next) = tables
            .checkpoints
            .last_key_value()
            .map_or((0, 1), |(number, last)| (*number, last.checkpoint.next()));
        let follows = number == last + 1
            && signed.checkpoint.first == next
            && u64::from(signed.checkpoint.events) == count_of(events.len());
        let is_fresh = events.iter().zip(next..).all(|(sealed, position)| {
            sealed.position == position && tables.fresh_events.get(&sealed.event.id) == Some(&sealed.event)
        });
        let ids: BTreeSet<EventId> = events.iter().map(|sealed| sealed.event.id).collect();
        if !follows || !is_fresh || ids.len() < events.len() {
            return Ok(Sealed::Stale);
        }
        for sealed in events {
            tables.fresh_events.remove(&sealed.event.id);
            tables.events.insert(sealed.position, sealed);
        }
        tables.checkpoints.insert(number, signed);
        tables.add_day_counts(counts);
        Ok(Sealed::Sealed)
    }

    async fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        Ok(self.tables().checkpoints.last_key_value().map(|(_, signed)| signed.clone()))
    }

    async fn checkpoints(&self, after: u64, limit: u32) -> Result<Vec<CheckpointAt>, StoreError> {
        let tables = self.tables();
        let later = tables.checkpoints.range(after.saturating_add(1)..).map(|(_, signed)| signed.clone());
        Ok(later.take(count(limit)).map(|signed| CheckpointAt::Checkpoint(Box::new(signed))).collect())
    }

    async fn sealed_events(&self, after: u64, limit: u32) -> Result<Vec<EventAt>, StoreError> {
        let tables = self.tables();
        let later = tables.events.range(after.saturating_add(1)..).map(|(_, sealed)| sealed.clone());
        Ok(later.take(count(limit)).map(|sealed| EventAt::Event(Box::new(sealed))).collect())
    }

    async fn count_events_of(&self, pseudonym: Pseudonym) -> Result<u64, StoreError> {
        let tables = self.tables();
        let person = Some(EventPerson::Deleted(pseudonym));
        let theirs = tables.all_events().filter(|event| event.person == person);
        Ok(count_of(theirs.filter(|event| event.kind != EventKind::AccountDeleted).count()))
    }

    async fn forget_events(&self, command: ForgetEvents) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let Tables { checkpoints, events, .. } = &mut *tables;
        let before = events.len();
        let mut emptied = 0;
        for signed in checkpoints.values() {
            let (first, next) = (signed.checkpoint.first, signed.checkpoint.next());
            let has_some = events.range(first..next).next().is_some();
            if next > command.before || emptied == command.checkpoints {
                break;
            }
            if has_some {
                events.retain(|position, _| !(first..next).contains(position));
                emptied += 1;
            }
        }
        Ok(count_of(before - events.len()))
    }

    async fn take_lease(&self, command: TakeLease) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let held = tables.leases.entry(command.name).or_insert((command.holder, command.until));
        let is_free = held.0 == command.holder || held.1 <= command.now;
        if is_free {
            *held = (command.holder, command.until);
        }
        Ok(is_free)
    }
}

impl Tables {
    /// Stores the event of an act that changes something. Fails if one has its id: callers do this first, so that
    /// nothing is changed then.
    pub(super) fn record(&mut self, event: Option<Box<Event>>) -> Result<(), StoreError> {
        let Some(event) = event else { return Ok(()) };
        if self.has_event(event.id) {
            return Err(StoreError::Failed("event of this act is stored already".into()));
        }
        self.fulfil(event.signed.as_ref());
        self.fresh_events.insert(event.id, *event);
        Ok(())
    }

    /// Is this the repeat of a command that was carried out? Without an event nobody knows.
    pub(super) fn is_recorded(&self, event: Option<&Event>) -> Option<bool> {
        event.map(|event| self.has_event(event.id))
    }

    fn has_event(&self, id: EventId) -> bool {
        self.fresh_events.contains_key(&id) || self.events.values().any(|sealed| sealed.event.id == id)
    }

    /// Stores an event about this user, unless it is about somebody already.
    pub(super) fn record_about(&mut self, event: Option<Box<Event>>, user: UserId) -> Result<(), StoreError> {
        self.record(event.map(|event| Box::new(event.about(user))))
    }

    /// Takes a user away from the events about them, from sealed ones in steps. Returns how many there were.
    pub(super) fn forget_person(
        &mut self,
        user: UserId,
        wallets: &[WalletKey],
        pseudonym: Pseudonym,
        key: &HidingKey,
    ) -> u64 {
        let mut events = self.forget_texts(user, wallets, pseudonym, key);
        events += self.forget_where(|event| is_of_one(event, wallets), pseudonym, key);
        let person = Some(EventPerson::User(user));
        events += self.forget_fresh(|event| event.person == person, pseudonym);
        events += self.events.values().filter(|sealed| sealed.event.person == person).count() as u64;
        if !self.forget_some(user, pseudonym, key) {
            let left = LeftToForget { user, pseudonym, proof: key.proof_of_user(user) };
            self.left_to_forget.insert(user, left);
        }
        events
    }

    /// Takes away the texts that were signed for this user and others.
    fn forget_texts(
        &mut self,
        user: UserId,
        wallets: &[WalletKey],
        pseudonym: Pseudonym,
        key: &HidingKey,
    ) -> u64 {
        let person = Some(EventPerson::User(user));
        let theirs = self.all_events().filter(|event| {
            EventKind::OF_MEMBERS.contains(&event.kind)
                && (event.person == person || is_of_one(event, wallets))
        });
        let texts: BTreeSet<EventId> = theirs.filter_map(|event| event.details.signed_in()).collect();
        let is_one = |event: &Event| {
            texts.contains(&event.id) && event.kind == EventKind::ChangeSigned && event.person.is_none()
        };
        self.forget_where(is_one, pseudonym, key)
    }

    /// Takes the person out of these events. Returns how many there were.
    fn forget_where(
        &mut self,
        is_theirs: impl Fn(&Event) -> bool,
        pseudonym: Pseudonym,
        key: &HidingKey,
    ) -> u64 {
        let mut events = self.forget_fresh(&is_theirs, pseudonym);
        for sealed in self.events.values_mut().filter(|sealed| is_theirs(&sealed.event)) {
            *sealed = sealed.clone().forgetting(pseudonym, key);
            events += 1;
        }
        events
    }

    fn forget_fresh(&mut self, is_theirs: impl Fn(&Event) -> bool, pseudonym: Pseudonym) -> u64 {
        let mut events = 0;
        for event in self.fresh_events.values_mut().filter(|event| is_theirs(event)) {
            *event = Event { request: None, ..event.clone().forgetting(pseudonym) };
            events += 1;
        }
        events
    }

    /// One step. Says whether no event is left.
    pub(super) fn forget_some(&mut self, user: UserId, pseudonym: Pseudonym, key: &HidingKey) -> bool {
        let step = EVENTS_A_STEP as usize;
        let person = Some(EventPerson::User(user));
        let theirs = self.events.values_mut().filter(|sealed| sealed.event.person == person);
        let forgotten = theirs.take(step).map(|sealed| *sealed = sealed.clone().forgetting(pseudonym, key));
        forgotten.count() < step
    }

    pub(super) fn all_events(&self) -> impl Iterator<Item = &Event> {
        self.fresh_events.values().chain(self.events.values().map(|sealed| &sealed.event))
    }
}

/// Is the event about one of these wallets and no user?
fn is_of_one(event: &Event, wallets: &[WalletKey]) -> bool {
    event.person.is_none() && event.wallet.as_ref().is_some_and(|wallet| wallets.contains(&key_of(wallet)))
}

fn matches(filter: &EventFilter, event: &Event) -> bool {
    let at = event.id.at_time();
    let is_theirs = match &filter.who {
        None => true,
        Some(Subject::User(EventPerson::User(user))) => event.person == Some(EventPerson::User(*user)),
        Some(Subject::User(EventPerson::Deleted(pseudonym))) => {
            event.person == Some(EventPerson::Deleted(*pseudonym))
        }
        Some(Subject::Wallet(wallet)) => {
            event.person.is_none() && event.wallet.as_ref().map(key_of) == Some(key_of(wallet))
        }
    };
    is_theirs
        && filter.since.is_none_or(|since| at >= since)
        && filter.until.is_none_or(|until| at < until)
        && (filter.kinds.is_empty() || filter.kinds.contains(&event.kind))
        && filter.client.is_none_or(|client| event.client == Some(client))
}
