//! A store that makes one mistake about events, and none elsewhere.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use countersign_conformance::fixtures;
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::checkpoint::{Checkpoint, SealedEvent};
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::event::EventPerson;
use countersign_domain::subject::Subject;
use countersign_ports::signatures::*;
use countersign_ports::storage_operations;
use time::Duration;
use tokio::task::yield_now;

/// What the store does wrong.
#[derive(Clone, Copy)]
pub(super) enum Mistake {
    /// An epoch is raised like this.
    Raises(fn(&mut RaiseEpoch)),
    /// No epoch is found.
    ForgetsEpochs,
    /// The operation stores no event.
    Forgets(&'static str),
    /// The operation stores its event also if it is refused or repeated.
    RecordsRefusals(&'static str),
    /// The operation stores another event beside its own.
    RecordsTwice(&'static str),
    /// An act without an event gets one.
    Invents,
    /// An act whose event is stored already is carried out, and leaves none.
    ActsUnrecorded,
    /// A repeat is noticed only while the event is fresh.
    KnowsOnlyFresh,
    /// The event of every act is stored like this.
    Stores(fn(&mut Event)),
    /// An event that is recorded again is stored and answered like this.
    AnswersEveryRecord,
    /// Looking for the id and storing are two steps.
    RecordsInTwoSteps,
    /// Another question is answered.
    Lists(fn(&mut EventFilter, &mut EventPage)),
    /// Sealed events are not listed (`true`), or fresh ones (`false`).
    LeavesOut(bool),
    /// Events about a wallet are listed though they name a user.
    ListsUsersByWallet,
    /// An event is found like this.
    Finds(fn(FoundEvent) -> Option<FoundEvent>),
    /// Fresh events are read like this.
    ReadsFresh(fn(&mut Vec<Event>)),
    /// What does not follow is mended instead of refused. The arguments are the next number and position.
    Mends(fn(&mut SealEvents, u64, u64)),
    /// An event is sealed as it is now, not as it was read.
    SealsWhatChanged,
    /// Events that are not fresh are left out.
    SealsWhatIsLeft,
    /// A repeat of the last seal is refused.
    RefusesRepeats,
    /// Whoever seals under a number that is taken is told that it worked.
    TakesOthersForRepeats,
    /// A checkpoint must have events.
    RefusesEmpty,
    /// Looking for the last checkpoint and sealing are two steps.
    SealsInTwoSteps,
    /// The first checkpoint is taken for the last.
    ReadsFirstCheckpoint,
    /// Checkpoints are read from the one that was read last.
    ReadsCheckpointsFromAfter,
    /// Checkpoints go with their events.
    ForgetsCheckpoints,
    /// Sealed events are read from the one that was read last.
    ReadsSealedFromAfter,
    /// So many sealed events are read, whatever the limit.
    ReadsSealedWithoutLimit,
    /// The events of a pseudonym are counted with that of the deletion.
    CountsTheDeletion,
    /// Only sealed events of a pseudonym are counted.
    CountsSealed,
    /// Other events are forgotten.
    ForgetsOthers(fn(&mut ForgetEvents)),
    /// Forgetting always tells that something is left.
    ForgetsForever,
    /// A lease is taken like this. The last argument counts the commands.
    Leases(fn(&mut TakeLease, u8)),
    /// A lease is given to whoever asks.
    GivesLeases,
    /// An event about a deleted account keeps something of what it was.
    Keeps(fn(&mut Event, &Event)),
    /// As `Keeps`, but only the sealed events (`true`), or the fresh ones (`false`).
    KeepsSome(bool),
    /// As `Keeps`, of the event of the deletion.
    KeepsDeletion,
    /// As `Keeps`, if the deletion has no event.
    KeepsWithoutEvent,
    /// A step through the events of a deleted account is taken like this, if one is left to forget.
    Steps(fn(&mut ForgetEventsOf, LeftToForget)),
    /// The first step through the events of a deleted account is the last.
    StepsOnce,
    /// No user is left to forget.
    LeavesNone,
    /// A repeated deletion changes more of the events.
    ChangesMore,
    /// The salt of a deleted account's events stays.
    KeepsSalt,
    /// A deleted account's events commit to something else.
    CommitsAnew,
    /// Each event of a deleted account gets a pseudonym of its own.
    ManyPseudonyms,
    /// Everybody's events get the pseudonym.
    TakesOthersAlong,
    /// The event of a deletion is stored with another count.
    Miscounts,
    /// What is noted of a push is altered.
    Pushes(fn(&mut AdvancePush)),
    /// What is noted of a push is noted in whichever round it is.
    PushesInAnyRound,
    /// Looking for the round of a push and noting are two steps.
    PushesInTwoSteps,
    /// Delayed events are added to those that wait already.
    AddsDelayed,
    /// Every beginning of a push is answered as the first.
    BeginsAgain,
    /// There is one push for all receivers.
    OnePushForAll,
    /// Whoever puts a proposal under an id that is taken is told that it worked.
    AnswersEveryPut,
    /// Whoever puts a proposal again is refused.
    RefusesRepeatedPuts,
    /// A proposal is stored like this.
    Puts(fn(&mut Proposal)),
    /// Other proposals are listed.
    ListsProposals(fn(&mut ProposalPage)),
    /// Proposals are listed in the order of their ids.
    ListsOldestProposalsFirst,
    /// A proposal is taken like this.
    Takes(fn(&mut TakeProposal)),
    /// Whoever takes a proposal that is taken is told that it worked.
    TakesTwice,
    /// Whoever proposed may take it.
    TakesOwn,
    /// Looking whether a proposal waits and taking it are two steps.
    TakesInTwoSteps,
    /// A repeat of a taking is refused.
    RefusesRepeatedTakings,
    /// A repeat of a taking gives true after its end.
    TakesAfterTheEnd,
    /// A proposal is ended from whatever state it is in.
    EndsFromAnyState,
    /// A repeat of an end is refused.
    RefusesRepeatedEnds,
    /// Other proposals are forgotten.
    ForgetsProposals(fn(&mut OffsetDateTime, &mut u32)),
    /// Deleting an account leaves its proposals.
    KeepsProposals,
    /// What is counted in a seal is altered.
    Counts(fn(&mut Vec<DayCount>)),
    /// A repeated seal counts again.
    CountsRepeats,
    /// A stale seal counts.
    CountsStale,
    /// Counts go with the events.
    ForgetsCounts,
    /// Counts are read like this.
    ReadsCounts(fn(&mut Vec<DayCount>)),
    /// The counts of other days are read.
    CountsSince(fn(&mut Date)),
    /// Only fresh events of a request are found (`true`), or only sealed ones.
    FindsSomeOfRequest(bool),
    /// The events of a request are found without a limit.
    FindsAllOfRequest,
    /// Sessions are counted like this.
    CountsSessions(fn(&mut OffsetDateTime, &mut u32)),
    /// Counts who has access at another time, or up to another limit.
    CountsAccess(fn(&mut OffsetDateTime, &mut u32)),
    /// A replica is noted like this.
    NotesReplica(fn(&mut Replica, &mut OffsetDateTime)),
    /// The replica with this id is forgotten in the place of another.
    ForgetsReplica(fn(&mut [u8; 16])),
    /// Replicas are read like this.
    ReadsReplicas(fn(&mut Vec<Replica>)),
    /// The replicas that were seen since another time are read.
    SeenSince(fn(&mut OffsetDateTime)),
    /// Counts of hours are added like this.
    AddsHourCounts(fn(&mut AddHourCounts)),
    /// Every replica that adds counts of hours counts as noted.
    KnowsEveryReplica,
    /// The hours before another time are forgotten.
    ForgetsHours(fn(&mut OffsetDateTime)),
    /// All hours are forgotten in one step.
    ForgetsHoursAtOnce,
    /// Counts of hours are read like this.
    ReadsHours(fn(&mut Vec<HourCount>)),
    /// The counts since another hour are read.
    HoursSince(fn(&mut Hour)),
}

/// The reference store, with a mistake.
pub(super) struct WrongStore {
    inner: MemoryStorage,
    mistake: Mistake,
    leases: AtomicU8,
    /// The events of deleted accounts as they were, and whether they were sealed.
    old: Mutex<Vec<(Event, bool)>>,
    /// What was sealed about deleted accounts.
    old_sealed: Mutex<Vec<SealedEvent>>,
    /// The pseudonyms of deleted accounts.
    pseudonyms: Mutex<Vec<Pseudonym>>,
    /// What is counted beside what the reference store counts.
    counts: Mutex<Vec<DayCount>>,
    /// The proposals of deleted accounts.
    proposals: Mutex<Vec<Proposal>>,
    /// Were events forgotten?
    has_forgotten: AtomicBool,
}

impl WrongStore {
    pub(super) fn with(mistake: Mistake) -> Arc<dyn Storage> {
        Arc::new(Self {
            inner: MemoryStorage::default(),
            mistake,
            leases: AtomicU8::new(0),
            old: Mutex::default(),
            old_sealed: Mutex::default(),
            pseudonyms: Mutex::default(),
            counts: Mutex::default(),
            proposals: Mutex::default(),
            has_forgotten: AtomicBool::new(false),
        })
    }

    /// Changes the event of an act before the act.
    async fn before(&self, operation: &'static str, event: &mut Option<Box<Event>>) -> Vec<Event> {
        let mut after = Vec::new();
        let Some(given) = event.as_deref_mut() else {
            if matches!(self.mistake, Mistake::Invents) {
                after.push(fixtures::event());
            }
            return after;
        };
        match self.mistake {
            Mistake::Forgets(name) if name == operation => *event = None,
            Mistake::RecordsRefusals(name) if name == operation => after.push(given.clone()),
            Mistake::RecordsTwice(name) if name == operation => after.push(fixtures::event()),
            Mistake::ActsUnrecorded => {
                let known = self.inner.find_event(given.id).await.unwrap();
                if known.is_some() {
                    *event = None;
                }
            }
            Mistake::KnowsOnlyFresh => {
                let known = self.inner.find_event(given.id).await.unwrap();
                if known.is_some_and(|found| found.position.is_some()) {
                    after.push(fixtures::event());
                }
            }
            Mistake::Stores(alter) => alter(given),
            _ => {}
        }
        after
    }

    async fn after(&self, events: Vec<Event>) {
        for event in events {
            self.inner.record_event(event).await.unwrap();
        }
    }

    /// An event as this store shows it.
    fn shown(&self, mut event: Event) -> Event {
        let pseudonyms = self.pseudonyms.lock().unwrap();
        let old = self.old.lock().unwrap();
        let old = old.iter().find(|(old, _)| old.id == event.id);
        match (self.mistake, old) {
            (Mistake::Keeps(keep), Some((old, _))) => keep(&mut event, old),
            (Mistake::KeepsSome(sealed), Some((old, was_sealed))) if sealed == *was_sealed => {
                event = old.clone()
            }
            (Mistake::KeepsDeletion | Mistake::KeepsWithoutEvent, Some((old, _))) => {
                (event.wallet, event.person) = (old.wallet.clone(), old.person);
            }
            (Mistake::ManyPseudonyms, _) if matches!(event.person, Some(EventPerson::Deleted(_))) => {
                event.person = Some(EventPerson::Deleted(Pseudonym::new(*event.id.as_uuid().as_bytes())));
            }
            (Mistake::TakesOthersAlong, _) => {
                let named = matches!(event.person, Some(EventPerson::User(_)));
                if let Some(pseudonym) = pseudonyms.first().filter(|_| named) {
                    event = event.forgetting(*pseudonym);
                }
            }
            (Mistake::Miscounts, Some((old, _))) if old.details != event.details => {
                event.details = old.details.clone().number("events", 77);
            }
            _ => {}
        }
        event
    }

    fn shown_sealed(&self, mut sealed: SealedEvent) -> SealedEvent {
        let old = self.old_sealed.lock().unwrap();
        if let Some(old) = old.iter().find(|old| old.position == sealed.position) {
            match self.mistake {
                Mistake::KeepsSalt => sealed.salt = old.salt,
                Mistake::CommitsAnew => {
                    sealed.commitment =
                        SealedEvent::seal(1, sealed.event.clone(), old.salt.unwrap()).commitment;
                }
                _ => {}
            }
        }
        sealed.event = self.shown(sealed.event);
        sealed
    }

    async fn all(&self) -> Vec<Event> {
        let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: u32::MAX };
        self.inner.list_events(&EventFilter::default(), page).await.unwrap()
    }

    async fn is_sealed(&self, id: EventId) -> bool {
        self.inner.find_event(id).await.unwrap().is_some_and(|found| found.position.is_some())
    }

    /// Keeps what a deletion takes away.
    async fn remember(&self, command: &DeleteAccount) {
        self.pseudonyms.lock().unwrap().push(command.pseudonym);
        let page = ProposalPage { after: None, limit: u32::MAX };
        let listed = self.inner.list_proposals(page).await.unwrap();
        let mut proposals: Vec<Proposal> = listed.into_iter().filter_map(ProposalAt::readable).collect();
        proposals.retain(|proposal| proposal.user == command.user);
        self.proposals.lock().unwrap().extend(proposals);
        let person = Some(EventPerson::User(command.user));
        let mut old = Vec::new();
        if !matches!(self.mistake, Mistake::KeepsDeletion) {
            for event in self.all().await.into_iter().filter(|event| event.person == person) {
                let sealed = self.is_sealed(event.id).await;
                old.push((event, sealed));
            }
        }
        match (&command.event, self.mistake) {
            (Some(_), Mistake::KeepsWithoutEvent) => old.clear(),
            (Some(event), Mistake::KeepsDeletion | Mistake::Miscounts) => {
                old.push(((**event).clone(), false))
            }
            _ => {}
        }
        self.old.lock().unwrap().extend(old);
        for row in self.inner.sealed_events(0, u32::MAX).await.unwrap() {
            if let EventAt::Event(sealed) = row
                && sealed.event.person == person
            {
                self.old_sealed.lock().unwrap().push(*sealed);
            }
        }
    }
}

/// Makes a trait of all operations, each as the reference store does it, and the ports of it.
macro_rules! mistaken {
    ($(
        $(#[$on_port:meta])*
        $port:ident {
            $(writes { $(
                $(#[$on_write:meta])*
                $write:ident($($write_way:ident $write_argument:ident: $write_type:ty),* $(,)?)
                    -> $outcome:ty $([$($write_mark:ident),*])?;
            )* })?
            $(reads { $(
                $(#[$on_read:meta])*
                $read:ident($($read_way:ident $read_argument:ident: $read_type:ty),* $(,)?)
                    -> $found:ty $([$($read_mark:ident),*])?;
            )* })?
        }
    )*) => {
        /// Every operation. What this store does wrong is written again below.
        #[async_trait]
        trait Mistaken {
            fn store(&self) -> &WrongStore;

            $($($(async fn $write(&self, $($write_argument: $write_type),*) -> Result<$outcome, StoreError> {
                act!($([$($write_mark),*])? self, $write($($write_argument),*))
            })*)?)*
            $($($(async fn $read(&self, $($read_argument: $read_type),*) -> Result<$found, StoreError> {
                self.store().inner.$read($($read_argument),*).await
            })*)?)*
        }

        $(#[async_trait]
        impl $port for WrongStore {
            $($(async fn $write(&self, $($write_argument: $write_type),*) -> Result<$outcome, StoreError> {
                Mistaken::$write(self, $($write_argument),*).await
            })*)?
            $($(async fn $read(&self, $($read_argument: $read_type),*) -> Result<$found, StoreError> {
                Mistaken::$read(self, $($read_argument),*).await
            })*)?
        })*
    };
}

/// What writes, with its event if it has one.
macro_rules! act {
    ([batched, recorded] $store:ident, $name:ident($command:ident)) => {
        act!([recorded] $store, $name($command))
    };
    ([recorded] $store:ident, continue_session($command:ident)) => {
        act!($store, continue_session($command), login.event)
    };
    ([recorded] $store:ident, $name:ident($command:ident)) => {
        act!($store, $name($command), event)
    };
    ($store:ident, $name:ident($command:ident), $($event:ident).+) => {{
        let mut command = $command;
        let after = $store.store().before(stringify!($name), &mut command.$($event).+).await;
        let answer = $store.store().inner.$name(command).await;
        $store.store().after(after).await;
        answer
    }};
    ($([batched])? $store:ident, $name:ident($($argument:ident),*)) => {
        $store.store().inner.$name($($argument),*).await
    };
}

storage_operations!(mistaken);

/// The next number and position.
fn next(last: Option<&SignedCheckpoint>) -> (u64, u64) {
    last.map_or((1, 1), |last| (last.checkpoint.number + 1, Checkpoint::next(&last.checkpoint)))
}

/// Gives the events and their checkpoint the places that are next.
fn rebase(command: &mut SealEvents, number: u64, first: u64) {
    (command.checkpoint.checkpoint.number, command.checkpoint.checkpoint.first) = (number, first);
    command.checkpoint.checkpoint.events = u32::try_from(command.events.len()).unwrap();
    for (sealed, position) in command.events.iter_mut().zip(first..) {
        sealed.position = position;
    }
}

#[async_trait]
impl Mistaken for WrongStore {
    fn store(&self) -> &WrongStore {
        self
    }

    async fn delete_account(&self, mut command: DeleteAccount) -> Result<bool, StoreError> {
        let left = self.inner.left_to_forget(1).await?;
        if let (Mistake::ChangesMore, Some(left)) = (self.mistake, left.first()) {
            let (user, pseudonym, hiding) = (left.user, left.pseudonym, command.hiding.clone());
            self.inner.forget_events_of(ForgetEventsOf { user, pseudonym, hiding }).await?;
        }
        self.remember(&command).await;
        let after = self.before("delete_account", &mut command.event).await;
        let answer = self.inner.delete_account(command).await;
        self.after(after).await;
        answer
    }

    async fn forget_events_of(&self, mut command: ForgetEventsOf) -> Result<bool, StoreError> {
        let left = self.inner.left_to_forget(1).await?;
        if let (Mistake::Steps(mistake), Some(left)) = (self.mistake, left.first()) {
            mistake(&mut command, *left);
        }
        let is_done = self.inner.forget_events_of(command).await?;
        Ok(is_done || matches!(self.mistake, Mistake::StepsOnce))
    }

    async fn left_to_forget(&self, limit: u32) -> Result<Vec<LeftToForget>, StoreError> {
        if matches!(self.mistake, Mistake::LeavesNone) {
            Ok(Vec::new())
        } else {
            self.inner.left_to_forget(limit).await
        }
    }

    async fn begin_push(&self, command: BeginPush) -> Result<bool, StoreError> {
        match self.mistake {
            Mistake::BeginsAgain => {
                self.inner.begin_push(command).await?;
                Ok(true)
            }
            Mistake::OnePushForAll => {
                let receiver = ReceiverId::of("one");
                self.inner.begin_push(BeginPush { receiver, ..command }).await
            }
            _ => self.inner.begin_push(command).await,
        }
    }

    async fn find_push(&self, receiver: ReceiverId) -> Result<Option<EventPush>, StoreError> {
        let is_one = matches!(self.mistake, Mistake::OnePushForAll);
        self.inner.find_push(if is_one { ReceiverId::of("one") } else { receiver }).await
    }

    async fn advance_push(&self, mut command: AdvancePush) -> Result<bool, StoreError> {
        match self.mistake {
            Mistake::Pushes(alter) => alter(&mut command),
            Mistake::PushesInAnyRound => {
                if let Some(push) = self.inner.find_push(command.receiver).await? {
                    command.round = push.round;
                }
            }
            Mistake::PushesInTwoSteps => {
                let push = self.inner.find_push(command.receiver).await?;
                yield_now().await;
                if push.is_some_and(|push| push.round == command.round)
                    && let Some(now) = self.inner.find_push(command.receiver).await?
                {
                    command.round = now.round;
                }
            }
            Mistake::AddsDelayed => {
                if let Some(push) = self.inner.find_push(command.receiver).await? {
                    command.delayed.extend(push.delayed);
                }
            }
            Mistake::OnePushForAll => command.receiver = ReceiverId::of("one"),
            _ => {}
        }
        self.inner.advance_push(command).await
    }

    async fn epoch(&self) -> Result<Option<Epoch>, StoreError> {
        let epoch = self.inner.epoch().await?;
        Ok(if matches!(self.mistake, Mistake::ForgetsEpochs) { None } else { epoch })
    }

    async fn raise_epoch(&self, mut command: RaiseEpoch) -> Result<Epoch, StoreError> {
        let after = self.before("raise_epoch", &mut command.event).await;
        if let Mistake::Raises(alter) = self.mistake {
            alter(&mut command);
        }
        let answer = self.inner.raise_epoch(command).await?;
        self.after(after).await;
        Ok(answer)
    }

    async fn put_proposal(&self, mut command: PutProposal) -> Result<bool, StoreError> {
        let after = self.before("put_proposal", &mut command.event).await;
        if let Mistake::Puts(alter) = self.mistake {
            alter(&mut command.proposal);
        }
        let is_known = self.inner.find_proposal(command.proposal.id).await?.is_some();
        let answer = self.inner.put_proposal(command).await?;
        self.after(after).await;
        Ok(match self.mistake {
            Mistake::AnswersEveryPut => true,
            Mistake::RefusesRepeatedPuts => !is_known,
            _ => answer,
        })
    }

    async fn list_proposals(&self, mut page: ProposalPage) -> Result<Vec<ProposalAt>, StoreError> {
        if let Mistake::ListsProposals(alter) = self.mistake {
            alter(&mut page);
        }
        let mut listed = self.inner.list_proposals(page).await?;
        match self.mistake {
            Mistake::ListsOldestProposalsFirst => listed.reverse(),
            Mistake::KeepsProposals => {
                let kept = self.proposals.lock().unwrap().clone();
                listed.extend(kept.into_iter().map(Box::new).map(ProposalAt::Proposal));
            }
            _ => {}
        }
        Ok(listed)
    }

    async fn take_proposal(&self, mut command: TakeProposal) -> Result<bool, StoreError> {
        let before = self.inner.find_proposal(command.id).await?;
        let was = before.as_ref().map(|proposal| proposal.state);
        match self.mistake {
            Mistake::Takes(alter) => alter(&mut command),
            Mistake::TakesInTwoSteps => {
                let waits = before.as_ref().is_some_and(|proposal| proposal.waits(command.now));
                yield_now().await;
                return Ok(self.inner.take_proposal(command).await? || waits);
            }
            Mistake::TakesTwice if was == Some(ProposalState::Taken) => return Ok(true),
            Mistake::RefusesRepeatedTakings if was == Some(ProposalState::Taken) => return Ok(false),
            Mistake::TakesAfterTheEnd => {
                let second = before.and_then(|proposal| proposal.second);
                if second
                    .as_ref()
                    .is_some_and(|(user, signed)| *user == command.user && *signed == command.signed)
                {
                    return Ok(true);
                }
            }
            Mistake::TakesOwn if before.as_ref().is_some_and(|proposal| proposal.user == command.user) => {
                command.user = fixtures::user_id();
            }
            _ => {}
        }
        self.inner.take_proposal(command).await
    }

    async fn end_proposal(&self, mut command: EndProposal) -> Result<bool, StoreError> {
        let after = self.before("end_proposal", &mut command.event).await;
        let was = self.inner.find_proposal(command.id).await?.map(|proposal| proposal.state);
        let is_repeated = was == Some(command.to);
        if let (Mistake::EndsFromAnyState, Some(was)) = (self.mistake, was) {
            command.from = was;
        }
        let answer = self.inner.end_proposal(command).await?;
        self.after(after).await;
        Ok(answer && !(is_repeated && matches!(self.mistake, Mistake::RefusesRepeatedEnds)))
    }

    async fn forget_proposals(&self, before: Past, limit: u32) -> Result<u64, StoreError> {
        let (mut before, mut limit) = (before.time(), limit);
        if let Mistake::ForgetsProposals(alter) = self.mistake {
            alter(&mut before, &mut limit);
        }
        self.inner.forget_proposals(fixtures::past(before), limit).await
    }

    async fn events_of_request(
        &self,
        request: &str,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let limit = if matches!(self.mistake, Mistake::FindsAllOfRequest) { u32::MAX } else { limit };
        let mut found = Vec::new();
        for event in self.inner.events_of_request(request, after, limit).await? {
            let is_left_out = match self.mistake {
                Mistake::FindsSomeOfRequest(fresh) => fresh == self.is_sealed(event.id).await,
                _ => false,
            };
            found.extend((!is_left_out).then_some(event));
        }
        Ok(found)
    }

    async fn day_counts(&self, mut since: Date) -> Result<Vec<DayCount>, StoreError> {
        if let Mistake::CountsSince(alter) = self.mistake {
            alter(&mut since);
        }
        let mut counts = self.inner.day_counts(since).await?;
        match self.mistake {
            Mistake::ReadsCounts(alter) => alter(&mut counts),
            Mistake::ForgetsCounts if self.has_forgotten.load(Ordering::SeqCst) => counts.clear(),
            Mistake::CountsRepeats | Mistake::CountsStale => {
                for counted in &mut counts {
                    let key = |count: &DayCount| (count.day, count.kind, count.family.clone());
                    let extra = self.counts.lock().unwrap();
                    let extra = extra.iter().filter(|extra| key(extra) == key(counted));
                    counted.count += extra.map(|extra| extra.count).sum::<u64>();
                }
            }
            _ => {}
        }
        Ok(counts)
    }

    async fn count_sessions(&self, now: OffsetDateTime, at_most: u32) -> Result<u32, StoreError> {
        let (mut now, mut at_most) = (now, at_most);
        if let Mistake::CountsSessions(alter) = self.mistake {
            alter(&mut now, &mut at_most);
        }
        self.inner.count_sessions(now, at_most).await
    }

    async fn count_access(
        &self,
        client: ClientId,
        now: OffsetDateTime,
        at_most: u32,
    ) -> Result<AccessCount, StoreError> {
        let (mut now, mut at_most) = (now, at_most);
        if let Mistake::CountsAccess(alter) = self.mistake {
            alter(&mut now, &mut at_most);
        }
        self.inner.count_access(client, now, at_most).await
    }

    async fn note_replica(&self, replica: Replica, forget_before: Past) -> Result<(), StoreError> {
        let (mut replica, mut forget_before) = (replica, forget_before.time());
        if let Mistake::NotesReplica(alter) = self.mistake {
            alter(&mut replica, &mut forget_before);
        }
        self.inner.note_replica(replica, fixtures::past(forget_before)).await
    }

    async fn forget_replica(&self, mut id: [u8; 16]) -> Result<(), StoreError> {
        if let Mistake::ForgetsReplica(alter) = self.mistake {
            alter(&mut id);
        }
        self.inner.forget_replica(id).await
    }

    async fn add_hour_counts(&self, mut command: AddHourCounts) -> Result<bool, StoreError> {
        if let Mistake::AddsHourCounts(alter) = self.mistake {
            alter(&mut command);
        }
        let is_noted = self.inner.add_hour_counts(command).await?;
        Ok(is_noted || matches!(self.mistake, Mistake::KnowsEveryReplica))
    }

    async fn forget_hour_counts(&self, before: Past) -> Result<u64, StoreError> {
        let mut before = before.time();
        if let Mistake::ForgetsHours(alter) = self.mistake {
            alter(&mut before);
        }
        let mut forgotten = self.inner.forget_hour_counts(fixtures::past(before)).await?;
        if matches!(self.mistake, Mistake::ForgetsHoursAtOnce) {
            forgotten += self.inner.forget_hour_counts(fixtures::past(before)).await?;
        }
        Ok(forgotten)
    }

    async fn hour_counts(&self, mut since: Hour) -> Result<Vec<HourCount>, StoreError> {
        if let Mistake::HoursSince(alter) = self.mistake {
            alter(&mut since);
        }
        let mut counts = self.inner.hour_counts(since).await?;
        if let Mistake::ReadsHours(alter) = self.mistake {
            alter(&mut counts);
        }
        Ok(counts)
    }

    async fn replicas(&self, mut since: OffsetDateTime) -> Result<Vec<Replica>, StoreError> {
        if let Mistake::SeenSince(alter) = self.mistake {
            alter(&mut since);
        }
        let mut seen = self.inner.replicas(since).await?;
        if let Mistake::ReadsReplicas(alter) = self.mistake {
            alter(&mut seen);
        }
        Ok(seen)
    }

    async fn record_event(&self, event: Event) -> Result<bool, StoreError> {
        match self.mistake {
            Mistake::AnswersEveryRecord => {
                self.inner.record_event(event).await?;
                Ok(true)
            }
            Mistake::RecordsInTwoSteps => {
                let is_known = self.inner.find_event(event.id).await?.is_some();
                yield_now().await;
                self.inner.record_event(event).await?;
                Ok(!is_known)
            }
            _ => self.inner.record_event(event).await,
        }
    }

    async fn list_events(&self, filter: &EventFilter, page: EventPage) -> Result<Vec<Event>, StoreError> {
        let (mut filter, mut page) = (filter.clone(), page);
        if let Mistake::Lists(alter) = self.mistake {
            alter(&mut filter, &mut page);
        }
        let by_wallet = match (self.mistake, &filter.who) {
            (Mistake::ListsUsersByWallet, Some(Subject::Wallet(wallet))) => Some(wallet.clone()),
            _ => None,
        };
        if by_wallet.is_some() {
            filter.who = None;
        }
        let mut listed = Vec::new();
        for event in self.inner.list_events(&filter, page).await? {
            let is_left_out = match self.mistake {
                Mistake::LeavesOut(sealed) => sealed == self.is_sealed(event.id).await,
                _ => false,
            };
            let is_its = |wallet: &WalletAccount| {
                let key = |wallet: &WalletAccount| (wallet.family.clone(), wallet.address.clone());
                event.wallet.as_ref().map(key) == Some(key(wallet))
            };
            if !is_left_out && by_wallet.as_ref().is_none_or(is_its) {
                listed.push(self.shown(event));
            }
        }
        Ok(listed)
    }

    async fn find_event(&self, id: EventId) -> Result<Option<FoundEvent>, StoreError> {
        let found = self.inner.find_event(id).await?;
        let found = found.map(|found| FoundEvent { event: self.shown(found.event), ..found });
        Ok(match self.mistake {
            Mistake::Finds(alter) => found.and_then(alter),
            _ => found,
        })
    }

    async fn fresh_events(&self, limit: u32) -> Result<Vec<Event>, StoreError> {
        let limit = if matches!(self.mistake, Mistake::ReadsFresh(_)) { u32::MAX } else { limit };
        let read = self.inner.fresh_events(limit).await?;
        let mut read: Vec<_> = read.into_iter().map(|event| self.shown(event)).collect();
        if let Mistake::ReadsFresh(alter) = self.mistake {
            alter(&mut read);
        }
        Ok(read)
    }

    async fn seal_events(&self, mut command: SealEvents) -> Result<Sealed, StoreError> {
        let last = self.inner.last_checkpoint().await?;
        let (number, first) = next(last.as_ref());
        let is_repeat = last.as_ref() == Some(&command.checkpoint);
        let is_taken = command.checkpoint.checkpoint.number + 1 == number;
        match self.mistake {
            Mistake::Mends(mend) if !is_repeat => mend(&mut command, number, first),
            Mistake::SealsWhatChanged if !is_repeat => {
                for sealed in &mut command.events {
                    if let Some(found) = self.inner.find_event(sealed.event.id).await? {
                        sealed.event = found.event;
                    }
                }
            }
            Mistake::SealsWhatIsLeft if !is_repeat => {
                let fresh = self.inner.fresh_events(u32::MAX).await?;
                command.events.retain(|sealed| fresh.contains(&sealed.event));
                rebase(&mut command, number, first);
            }
            Mistake::RefusesRepeats if is_repeat => return Ok(Sealed::Stale),
            Mistake::TakesOthersForRepeats if is_taken => return Ok(Sealed::Sealed),
            Mistake::RefusesEmpty if command.events.is_empty() => return Ok(Sealed::Stale),
            Mistake::Counts(alter) => alter(&mut command.counts),
            Mistake::CountsRepeats if is_repeat => {
                self.counts.lock().unwrap().extend(command.counts.clone());
            }
            Mistake::CountsStale => {
                let counts = command.counts.clone();
                let outcome = self.inner.seal_events(command).await?;
                if outcome == Sealed::Stale {
                    self.counts.lock().unwrap().extend(counts);
                }
                return Ok(outcome);
            }
            Mistake::SealsInTwoSteps => {
                yield_now().await;
                if self.inner.seal_events(command.clone()).await? == Sealed::Stale {
                    let (number, first) = next(self.inner.last_checkpoint().await?.as_ref());
                    if command.checkpoint.checkpoint.number + 1 == number {
                        let fresh = self.inner.fresh_events(u32::MAX).await?;
                        command.events.retain(|sealed| fresh.contains(&sealed.event));
                        rebase(&mut command, number, first);
                    }
                }
            }
            _ => {}
        }
        self.inner.seal_events(command).await
    }

    async fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        if matches!(self.mistake, Mistake::ReadsFirstCheckpoint) {
            let first = self.inner.checkpoints(0, 1).await?.pop();
            return Ok(first.and_then(|row| match row {
                CheckpointAt::Checkpoint(signed) => Some(*signed),
                CheckpointAt::Unreadable { .. } => None,
            }));
        }
        self.inner.last_checkpoint().await
    }

    async fn checkpoints(&self, after: u64, limit: u32) -> Result<Vec<CheckpointAt>, StoreError> {
        let is_wrong = matches!(self.mistake, Mistake::ReadsCheckpointsFromAfter);
        let after = if is_wrong { after.saturating_sub(1) } else { after };
        let mut rows = self.inner.checkpoints(after, limit).await?;
        if matches!(self.mistake, Mistake::ForgetsCheckpoints) {
            let left = self.inner.sealed_events(0, u32::MAX).await?;
            rows.retain(|row| match row {
                CheckpointAt::Checkpoint(signed) => {
                    let its = signed.checkpoint.first..signed.checkpoint.next();
                    its.is_empty() || left.iter().any(|event| its.contains(&event.position()))
                }
                CheckpointAt::Unreadable { .. } => true,
            });
        }
        Ok(rows)
    }

    async fn sealed_events(&self, after: u64, limit: u32) -> Result<Vec<EventAt>, StoreError> {
        let (after, limit) = match self.mistake {
            Mistake::ReadsSealedFromAfter => (after.saturating_sub(1), limit),
            Mistake::ReadsSealedWithoutLimit => (after, u32::MAX),
            _ => (after, limit),
        };
        let rows = self.inner.sealed_events(after, limit).await?;
        let shown = |row| match row {
            EventAt::Event(sealed) => EventAt::Event(Box::new(self.shown_sealed(*sealed))),
            EventAt::Unreadable { position, problem } => EventAt::Unreadable { position, problem },
        };
        Ok(rows.into_iter().map(shown).collect())
    }

    async fn count_events_of(&self, pseudonym: Pseudonym) -> Result<u64, StoreError> {
        let count = self.inner.count_events_of(pseudonym).await?;
        match self.mistake {
            Mistake::CountsTheDeletion => Ok(count + 1),
            Mistake::CountsSealed => {
                let fresh = self.inner.fresh_events(u32::MAX).await?;
                let theirs = |event: &&Event| event.person == Some(EventPerson::Deleted(pseudonym));
                let fresh = fresh.iter().filter(theirs).count();
                Ok(count.saturating_sub(u64::try_from(fresh).unwrap()))
            }
            _ => Ok(count),
        }
    }

    async fn forget_events(&self, mut command: ForgetEvents) -> Result<u64, StoreError> {
        if let Mistake::ForgetsOthers(alter) = self.mistake {
            alter(&mut command);
        }
        let forgotten = self.inner.forget_events(command).await?;
        self.has_forgotten.store(true, Ordering::SeqCst);
        Ok(if matches!(self.mistake, Mistake::ForgetsForever) { forgotten.max(1) } else { forgotten })
    }

    async fn take_lease(&self, mut command: TakeLease) -> Result<bool, StoreError> {
        if let Mistake::Leases(alter) = self.mistake {
            alter(&mut command, self.leases.fetch_add(1, Ordering::SeqCst));
        }
        let is_given = self.inner.take_lease(command).await?;
        Ok(is_given || matches!(self.mistake, Mistake::GivesLeases))
    }
}

/// A second earlier or later.
pub(super) fn moved(at: &mut OffsetDateTime, seconds: i64) {
    *at += Duration::seconds(seconds);
}
