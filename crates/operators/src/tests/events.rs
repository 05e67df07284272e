//! Events are sealed, verified and forgotten.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use countersign_conformance::fakes::FakeSigner;
use countersign_conformance::fixtures::{self, RECORD_KEY};
use countersign_domain::checkpoint::{
    Checkpoint, CheckpointClaims, Digest256, MAX_EVENTS, RecordKey, SealedEvent, SignedCheckpoint,
};
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Pseudonym};
use countersign_domain::id::{EventId, UserId};
use countersign_domain::subject::Subject;
use countersign_ports::{
    CheckpointAt, Clock, DeleteAccount, EVENTS_A_STEP, EntropyExt, EventAt, EventFilter, EventOrder,
    EventPage, EventStore, ForgetEvents, FoundEvent, Recent, SealEvents, Sealed, StoreError, TakeLease,
    TokenSigner, UnsealableEvent,
};
use countersign_usecases::Context;
use countersign_usecases::events::retire_events::{Retired, retire_events};
use countersign_usecases::events::seal_events::{SealedRound, seal_events};
use countersign_usecases::events::waiting_events::{SealWatch, Unsealed, look_at_waiting};
use countersign_usecases::upkeep::forget_left::forget_left;
use proptest::prelude::*;
use time::Duration;

use crate::events::verify_events::{Broken, Finding, Signatures, Verified, VerifyError, verify_events};
use crate::tests::breakable::{break_after, world as breakable_world};
use crate::tests::world::{ToyWallets, World, toy};

/// Toy wallets sign for the server of these tests.
const SIGNATURES: Signatures<'static> = Signatures { wallets: &ToyWallets, authority: "auth.example.com" };

const RETENTION: Duration = Duration::days(90);

fn somebody(number: u8) -> UserId {
    UserId::random([number; 16])
}

fn event(context: &Context, person: UserId) -> Event {
    Event {
        id: EventId::at(context.clock.now(), context.entropy.bytes()),
        kind: EventKind::SignIn,
        actor: Actor::Person,
        person: Some(EventPerson::User(person)),
        wallet: Some(toy("toy-anna")),
        client: None,
        address: None,
        request: None,
        details: Details::default(),
        signed: None,
    }
}

async fn happen(world: &World, events: u32) {
    for _ in 0..events {
        world.storage.record_event(event(&world.context, somebody(1))).await.unwrap();
    }
}

/// So many events happen, and are sealed in one checkpoint.
async fn seal(world: &World, events: u32) {
    happen(world, events).await;
    assert_eq!(seal_events(&world.context).await.unwrap().events, events);
}

/// Signs with the secret.
async fn sign(checkpoint: &Checkpoint) -> String {
    let claims = CheckpointClaims::of(checkpoint.clone());
    FakeSigner.sign_checkpoint(&claims, None, &RECORD_KEY).await.unwrap()
}

async fn verify(store: &(impl EventStore + ?Sized)) -> Result<Verified, Broken> {
    match verify_events(store, &mut FakeSigner, SIGNATURES, &BTreeMap::new(), |_| {}).await {
        Ok(verified) => Ok(verified),
        Err(VerifyError::Broken(broken)) => Err(broken),
        Err(VerifyError::Store(error)) => panic!("{error}"),
    }
}

#[tokio::test]
async fn without_events_nothing_is_sealed_and_nothing_is_wrong() {
    let world = World::new();
    assert_eq!(seal_events(&world.context).await.unwrap(), SealedRound::default());
    assert_eq!(retire_events(&world.context, world.past()).await.unwrap(), Retired::default());
    assert_eq!(verify(&*world.storage).await.unwrap(), Verified::default());
}

#[tokio::test]
async fn many_events_are_sealed_in_several_checkpoints_and_all_hold() {
    let world = World::new();
    happen(&world, MAX_EVENTS + 5).await;
    assert_eq!(seal_events(&world.context).await.unwrap(), SealedRound { events: MAX_EVENTS, more: true });
    assert_eq!(seal_events(&world.context).await.unwrap(), SealedRound { events: 5, more: false });
    happen(&world, 2).await;

    let verified = verify(&*world.storage).await.unwrap();

    assert_eq!((verified.progress.checkpoints, verified.progress.events), (2, u64::from(MAX_EVENTS) + 5));
    assert_eq!(verified.progress.expected, verified.progress.events);
    assert_eq!((verified.fresh, verified.forgotten, verified.keys_gone), (2, 0, 0));
}

#[tokio::test]
async fn of_two_sealers_at_once_one_is_too_late_and_no_event_is_sealed_twice() {
    let world = World::new();
    happen(&world, 10).await;
    let rounds = tokio::join!(seal_events(&world.context), seal_events(&world.context));
    let sealed = rounds.0.unwrap().events + rounds.1.unwrap().events;
    assert_eq!(sealed, 10);
    assert_eq!(verify(&*world.storage).await.unwrap().progress.events, 10);
}

#[tokio::test]
async fn a_sealer_that_is_stopped_anywhere_leaves_what_holds() {
    for calls in 0..3 {
        let (world, storage) = breakable_world();
        seal(&world, 3).await;
        happen(&world, 3).await;
        break_after(&world, &storage, calls).await;
        assert!(seal_events(&world.context).await.is_err(), "{calls}");
        break_after(&world, &storage, -1).await;
        assert_eq!(verify(&*world.storage).await.unwrap().fresh, 3);
        assert_eq!(seal_events(&world.context).await.unwrap().events, 3);
        assert_eq!(verify(&*world.storage).await.unwrap().progress.events, 6);
    }
}

#[tokio::test]
async fn events_go_when_their_time_is_over_and_their_checkpoints_stay() {
    let world = World::new();
    seal(&world, 3).await;
    world.clock.advance(RETENTION - Duration::seconds(1));
    seal(&world, 4).await;
    assert_eq!(retire_events(&world.context, world.past()).await.unwrap(), Retired::default());

    world.clock.advance(Duration::seconds(1));
    assert_eq!(retire_events(&world.context, world.past()).await.unwrap().events, 3);
    assert_eq!(retire_events(&world.context, world.past()).await.unwrap(), Retired::default());

    let verified = verify(&*world.storage).await.unwrap();
    assert_eq!((verified.forgotten, verified.progress.events), (3, 4));
    assert_eq!(verified.progress.checkpoints, 3, "one tells that the first events may be gone");
}

#[tokio::test]
async fn nothing_is_deleted_before_a_checkpoint_says_so() {
    for calls in 0..6 {
        let (world, storage) = breakable_world();
        seal(&world, 3).await;
        world.clock.advance(RETENTION);
        break_after(&world, &storage, calls).await;
        let stopped = retire_events(&world.context, world.past()).await;
        break_after(&world, &storage, -1).await;
        assert!(stopped.is_err(), "{calls}");
        verify(&*world.storage).await.unwrap();
        while retire_events(&world.context, world.past()).await.unwrap().more {}
        assert_eq!(verify(&*world.storage).await.unwrap().forgotten, 3);
    }
}

#[tokio::test]
async fn without_retention_all_events_go_and_no_checkpoints_pile_up() {
    let mut world = World::new();
    seal(&world, 3).await;
    happen(&world, 2).await;
    world.context.policy.events.retention = None;
    while retire_events(&world.context, world.past()).await.unwrap().more {}
    let verified = verify(&*world.storage).await.unwrap();
    assert_eq!((verified.progress.events, verified.forgotten, verified.fresh), (0, 5, 0));
    let checkpoints = verified.progress.checkpoints;
    for _ in 0..3 {
        assert_eq!(retire_events(&world.context, world.past()).await.unwrap(), Retired::default());
    }
    assert_eq!(verify(&*world.storage).await.unwrap().progress.checkpoints, checkpoints);
    world.context.policy.events.retention = Some(RETENTION);
    seal(&world, 2).await;
    assert_eq!(verify(&*world.storage).await.unwrap().progress.events, 2);
}

/// Deletes the account of a user who has three sealed events and one that is fresh.
async fn delete(world: &World, user: UserId) -> Pseudonym {
    let pseudonym = Pseudonym::new(world.context.entropy.bytes());
    let told = Event { kind: EventKind::AccountDeleted, person: None, ..event(&world.context, user) };
    let told = Event { wallet: None, ..told };
    let now = world.context.clock.now();
    let hiding = RECORD_KEY.hiding(pseudonym);
    let command = DeleteAccount { user, now, pseudonym, hiding, event: Some(Box::new(told)) };
    assert!(world.storage.delete_account(command).await.unwrap());
    pseudonym
}

#[tokio::test]
async fn a_deleted_account_breaks_no_seal() {
    let world = World::new();
    let login = fixtures::complete_login();
    let user = login.new_user;
    world.storage.complete_login(login).await.unwrap();
    for _ in 0..3 {
        world.storage.record_event(event(&world.context, user)).await.unwrap();
    }
    while seal_events(&world.context).await.unwrap().more {}
    world.storage.record_event(event(&world.context, user)).await.unwrap();
    let pseudonym = delete(&world, user).await;
    verify(&*world.storage).await.unwrap();
    while seal_events(&world.context).await.unwrap().more {}
    let verified = verify(&*world.storage).await.unwrap();
    assert!(verified.progress.events >= 5);
    assert!(world.storage.count_events_of(pseudonym).await.unwrap() >= 4);
}

/// Of a user with more events than a step takes, some name the user until upkeep goes on. What did not come from this
/// server hides nobody, although the storage says that somebody is left to forget (F-20).
#[tokio::test]
async fn f_24_upkeep_goes_on_with_a_deletion_of_this_server_and_of_nobody_else() {
    for (key, is_ours) in [(RECORD_KEY, true), (RecordKey::new([9; 32]), false)] {
        let world = World::new();
        let login = fixtures::complete_login();
        let user = login.new_user;
        world.storage.complete_login(login).await.unwrap();
        for _ in 0..EVENTS_A_STEP + 100 {
            world.storage.record_event(event(&world.context, user)).await.unwrap();
        }
        while seal_events(&world.context).await.unwrap().more {}
        let pseudonym = Pseudonym::new(world.context.entropy.bytes());
        let (now, hiding) = (world.context.clock.now(), key.hiding(pseudonym));
        let command = DeleteAccount { user, now, pseudonym, hiding, event: None };
        assert!(world.storage.delete_account(command).await.unwrap());
        let hidden = world.storage.count_events_of(pseudonym).await.unwrap();
        assert_eq!(hidden, u64::from(EVENTS_A_STEP));
        if is_ours {
            verify(&*world.storage).await.unwrap();
        }
        forget_left(&world.context).await.unwrap();
        let now = world.storage.count_events_of(pseudonym).await.unwrap();
        assert_eq!(now > hidden, is_ours, "{now}");
        assert_eq!(world.storage.left_to_forget(10).await.unwrap().is_empty(), is_ours);
    }
}

#[tokio::test]
async fn what_is_sealed_or_forgotten_while_everything_is_verified_is_no_finding() {
    for retires in [false, true] {
        let world = World::new();
        for _ in 0..3 {
            seal(&world, 400).await;
            world.clock.advance(Duration::days(30));
        }
        let busy = Busy { world: &world, retires };
        let verified = verify(&busy).await.unwrap();
        assert_eq!(verified.progress.events + verified.forgotten, 1_200, "{retires}");
        assert_eq!(verified.forgotten > 0, retires);
    }
}

/// A copy of what is stored, in which anything can be altered.
#[derive(Clone, Debug)]
struct Tampered {
    checkpoints: Vec<SignedCheckpoint>,
    events: Vec<EventAt>,
    all: Vec<Event>,
    /// How often a page was read.
    pages: std::sync::Arc<AtomicU64>,
}

impl Tampered {
    async fn copy_of(world: &World) -> Self {
        let mut checkpoints = Vec::new();
        for at in world.storage.checkpoints(0, u32::MAX).await.unwrap() {
            let CheckpointAt::Checkpoint(signed) = at else { panic!("{at:?}") };
            checkpoints.push(*signed);
        }
        let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: u32::MAX };
        Self {
            checkpoints,
            events: world.storage.sealed_events(0, u32::MAX).await.unwrap(),
            all: world.storage.list_events(&EventFilter::default(), page).await.unwrap(),
            pages: std::sync::Arc::default(),
        }
    }

    fn sealed(&mut self, index: usize) -> &mut SealedEvent {
        match &mut self.events[index] {
            EventAt::Event(sealed) => sealed,
            EventAt::Unreadable { .. } => panic!("a row was made unreadable"),
        }
    }

    async fn finding(&self) -> Broken {
        verify(self).await.unwrap_err()
    }
}

fn not_asked<T>() -> Result<T, StoreError> {
    Err(StoreError::Failed("verifying does not ask this".into()))
}

#[async_trait]
impl EventStore for Tampered {
    async fn record_event(&self, _: Event) -> Result<bool, StoreError> {
        not_asked()
    }

    async fn list_events(&self, filter: &EventFilter, _: EventPage) -> Result<Vec<Event>, StoreError> {
        let of_kind = |event: &&Event| filter.kinds.contains(&event.kind);
        let Some(Subject::User(EventPerson::Deleted(pseudonym))) = filter.who else {
            return not_asked();
        };
        let theirs = |event: &&Event| event.person == Some(EventPerson::Deleted(pseudonym));
        Ok(self.all.iter().filter(of_kind).filter(theirs).cloned().collect())
    }

    async fn find_event(&self, id: EventId) -> Result<Option<FoundEvent>, StoreError> {
        let mut found = self.events.iter().filter_map(|at| match at {
            EventAt::Event(sealed) if sealed.event.id == id => {
                Some(FoundEvent { event: sealed.event.clone(), position: Some(sealed.position) })
            }
            EventAt::Event(_) | EventAt::Unreadable { .. } => None,
        });
        Ok(found.next())
    }

    async fn fresh_events(&self, _: u32) -> Result<Vec<Event>, StoreError> {
        Ok(Vec::new())
    }

    async fn unsealable_events(&self, _: u32, _: Option<Recent>) -> Result<Vec<UnsealableEvent>, StoreError> {
        Ok(Vec::new())
    }

    async fn seal_events(&self, _: SealEvents) -> Result<Sealed, StoreError> {
        not_asked()
    }

    async fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        Ok(self.checkpoints.last().cloned())
    }

    async fn checkpoints(&self, after: u64, limit: u32) -> Result<Vec<CheckpointAt>, StoreError> {
        let later = self.checkpoints.iter().filter(|signed| signed.checkpoint.number > after);
        let later = later.take(usize::try_from(limit).unwrap()).cloned();
        Ok(later.map(|signed| CheckpointAt::Checkpoint(Box::new(signed))).collect())
    }

    async fn sealed_events(&self, after: u64, limit: u32) -> Result<Vec<EventAt>, StoreError> {
        self.pages.fetch_add(1, Ordering::Relaxed);
        let later = self.events.iter().filter(|at| at.position() > after);
        Ok(later.take(usize::try_from(limit).unwrap()).cloned().collect())
    }

    async fn count_events_of(&self, pseudonym: Pseudonym) -> Result<u64, StoreError> {
        let theirs = |at: &&EventAt| match at {
            EventAt::Event(sealed) => {
                let Event { person, kind, .. } = &sealed.event;
                *person == Some(EventPerson::Deleted(pseudonym)) && *kind != EventKind::AccountDeleted
            }
            EventAt::Unreadable { .. } => false,
        };
        Ok(u64::try_from(self.events.iter().filter(theirs).count()).unwrap())
    }

    async fn forget_events(&self, _: ForgetEvents) -> Result<u64, StoreError> {
        not_asked()
    }

    async fn take_lease(&self, _: TakeLease) -> Result<bool, StoreError> {
        not_asked()
    }
}

/// Three checkpoints with five events each.
async fn three_checkpoints() -> (World, Tampered) {
    let world = World::new();
    for _ in 0..3 {
        seal(&world, 5).await;
        world.clock.advance(Duration::seconds(10));
    }
    let copy = Tampered::copy_of(&world).await;
    assert_eq!(verify(&copy).await.unwrap().progress.events, 15);
    (world, copy)
}

/// What is altered, and how.
type Alteration = (&'static str, fn(&mut Event));

#[tokio::test]
async fn whatever_is_altered_in_an_event_is_found_in_its_checkpoint() {
    let (_, copy) = three_checkpoints().await;
    let alterations: [Alteration; 8] = [
        ("id", |event| event.id = EventId::from_uuid(uuid::Uuid::from_u128(7))),
        ("kind", |event| event.kind = EventKind::SignOut),
        ("actor", |event| event.actor = Actor::CommandLine("root@host".to_owned())),
        ("person", |event| event.person = Some(EventPerson::User(somebody(2)))),
        ("wallet", |event| event.wallet = Some(toy("toy-berta"))),
        ("no wallet", |event| event.wallet = None),
        ("request", |event| event.request = Some("other".to_owned())),
        ("details", |event| event.details = Details::default().flag("first", true)),
    ];
    for (what, alter) in alterations {
        for index in 0..15 {
            let mut copy = copy.clone();
            alter(&mut copy.sealed(index).event);
            let broken = copy.finding().await;
            assert_eq!(broken.checkpoint, u64::try_from(index / 5 + 1).unwrap(), "{what} {index}");
            assert!(
                matches!(broken.finding, Finding::EventsAltered { .. } | Finding::PersonAltered { .. }),
                "{what} {index}: {broken}"
            );
        }
    }
}

#[tokio::test]
async fn an_event_that_is_sealed_again_with_other_bytes_is_found() {
    let (_, mut copy) = three_checkpoints().await;
    let sealed = copy.sealed(7);
    let event = Event { wallet: Some(toy("toy-berta")), ..sealed.event.clone() };
    *sealed = SealedEvent::seal(sealed.position, event, sealed.salt.unwrap());
    let finding = Finding::EventsAltered { first: 6, last: 10 };
    assert_eq!(copy.finding().await, Broken { checkpoint: 2, finding });
}

#[tokio::test]
async fn a_removed_an_added_and_a_swapped_event_are_each_found_and_named() {
    let (_, copy) = three_checkpoints().await;
    for index in 0..15 {
        let position = u64::try_from(index).unwrap() + 1;
        let mut removed = copy.clone();
        removed.events.remove(index);
        let checkpoint = (position - 1) / 5 + 1;
        assert_eq!(
            removed.finding().await,
            Broken { checkpoint, finding: Finding::EventMissing { position } }
        );
        let other = (index + 1) % 15;
        let mut swapped = copy.clone();
        let (here, there) = (swapped.sealed(index).clone(), swapped.sealed(other).clone());
        *swapped.sealed(index) = SealedEvent { position: here.position, ..there.clone() };
        *swapped.sealed(other) = SealedEvent { position: there.position, ..here };
        let broken = swapped.finding().await;
        assert!(matches!(broken.finding, Finding::EventsAltered { .. }), "{broken}");
    }
    let mut added = copy.clone();
    let mut late = added.sealed(3).clone();
    late.position = 16;
    added.events.push(EventAt::Event(Box::new(late)));
    assert_eq!(
        added.finding().await,
        Broken { checkpoint: 3, finding: Finding::EventAdded { position: 16 } }
    );
    let mut unreadable = copy;
    unreadable.events[4] = EventAt::Unreadable { position: 5, problem: "kind".to_owned() };
    let finding = Finding::EventUnreadable { position: 5, problem: "kind".to_owned() };
    assert_eq!(unreadable.finding().await, Broken { checkpoint: 1, finding });
}

#[tokio::test]
async fn a_removed_checkpoint_is_found_with_or_without_its_events() {
    let (_, copy) = three_checkpoints().await;
    for index in 0..3 {
        let mut removed = copy.clone();
        removed.checkpoints.remove(index);
        let broken = removed.finding().await;
        if index < 2 {
            assert_eq!(
                broken,
                Broken { checkpoint: u64::try_from(index).unwrap() + 1, finding: Finding::Missing }
            );
        } else {
            assert_eq!(broken, Broken { checkpoint: 2, finding: Finding::EventAdded { position: 11 } });
        }
        removed.events.drain(index * 5..index * 5 + 5);
        if index < 2 {
            assert_eq!(removed.finding().await.finding, Finding::Missing);
        }
    }
}

#[tokio::test]
async fn an_end_that_was_cut_off_is_found_by_a_saved_checkpoint() {
    let (_, copy) = three_checkpoints().await;
    let saved: BTreeMap<u64, Digest256> =
        copy.checkpoints.iter().map(|signed| (signed.checkpoint.number, signed.hash())).collect();
    let against = async |store: &Tampered| match verify_events(
        store,
        &mut FakeSigner,
        SIGNATURES,
        &saved,
        |_| {},
    )
    .await
    {
        Err(VerifyError::Broken(broken)) => Some(broken),
        Ok(_) => None,
        Err(VerifyError::Store(error)) => panic!("{error}"),
    };
    assert_eq!(against(&copy).await, None);

    let mut cut = copy.clone();
    cut.checkpoints.pop();
    cut.events.truncate(10);
    verify(&cut).await.unwrap();
    assert_eq!(against(&cut).await, Some(Broken { checkpoint: 3, finding: Finding::SavedIsGone }));

    // Whoever has the secret can sign another history. The saved hashes show it.
    let mut rewritten = copy;
    let last = rewritten.checkpoints.last_mut().unwrap();
    last.checkpoint.sealed_at += Duration::seconds(1);
    last.jws = sign(&last.checkpoint).await;
    verify(&rewritten).await.unwrap();
    assert_eq!(against(&rewritten).await, Some(Broken { checkpoint: 3, finding: Finding::OtherWasSaved }));
}

#[tokio::test]
async fn a_checkpoint_whose_columns_or_signature_were_altered_is_found() {
    let (_, copy) = three_checkpoints().await;
    for index in 0..3 {
        let number = u64::try_from(index).unwrap() + 1;
        let mut columns = copy.clone();
        columns.checkpoints[index].checkpoint.events -= 1;
        assert_eq!(columns.finding().await, Broken { checkpoint: number, finding: Finding::Forged });

        let mut signature = copy.clone();
        let jws = &mut signature.checkpoints[index].jws;
        jws.truncate(jws.len() - 4);
        assert_eq!(signature.finding().await, Broken { checkpoint: number, finding: Finding::Forged });
    }
    let mut chained_elsewhere = copy.clone();
    let second = &mut chained_elsewhere.checkpoints[1];
    second.checkpoint.previous = Digest256::new([7; 32]);
    second.jws = sign(&second.checkpoint).await;
    assert_eq!(chained_elsewhere.finding().await, Broken { checkpoint: 2, finding: Finding::Unchained });

    let mut forgetting = copy;
    let first = &mut forgetting.checkpoints[0];
    first.checkpoint.kept_from = 3;
    first.jws = sign(&first.checkpoint).await;
    assert_eq!(forgetting.finding().await, Broken { checkpoint: 1, finding: Finding::Unchained });
}

#[tokio::test]
async fn nobody_is_hidden_behind_a_pseudonym() {
    let world = World::new();
    let login = fixtures::complete_login();
    let user = login.new_user;
    world.storage.complete_login(login).await.unwrap();
    for _ in 0..3 {
        world.storage.record_event(event(&world.context, user)).await.unwrap();
    }
    let pseudonym = delete(&world, user).await;
    happen(&world, 3).await;
    while seal_events(&world.context).await.unwrap().more {}
    let copy = Tampered::copy_of(&world).await;
    verify(&copy).await.unwrap();
    let others: Vec<_> = (0..copy.events.len())
        .filter(|index| copy.clone().sealed(*index).event.person == Some(EventPerson::User(somebody(1))))
        .collect();
    for (behind, finding) in [
        (pseudonym, Finding::HiddenBehind { pseudonym }),
        (Pseudonym::new([3; 16]), Finding::NobodyDeleted { pseudonym: Pseudonym::new([3; 16]) }),
    ] {
        let mut hidden = copy.clone();
        let sealed = hidden.sealed(others[0]);
        sealed.event = sealed.event.clone().forgetting(behind);
        sealed.salt = None;
        assert_eq!(hidden.finding().await.finding, finding);
    }
}

/// A store whose server works on while it is verified.
struct Busy<'a> {
    world: &'a World,
    retires: bool,
}

#[async_trait]
impl EventStore for Busy<'_> {
    async fn record_event(&self, _: Event) -> Result<bool, StoreError> {
        not_asked()
    }

    async fn list_events(&self, _: &EventFilter, _: EventPage) -> Result<Vec<Event>, StoreError> {
        not_asked()
    }

    async fn find_event(&self, _: EventId) -> Result<Option<FoundEvent>, StoreError> {
        not_asked()
    }

    async fn fresh_events(&self, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.world.storage.fresh_events(limit).await
    }

    async fn unsealable_events(
        &self,
        limit: u32,
        except: Option<Recent>,
    ) -> Result<Vec<UnsealableEvent>, StoreError> {
        self.world.storage.unsealable_events(limit, except).await
    }

    async fn seal_events(&self, _: SealEvents) -> Result<Sealed, StoreError> {
        not_asked()
    }

    async fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        self.world.storage.last_checkpoint().await
    }

    async fn checkpoints(&self, after: u64, limit: u32) -> Result<Vec<CheckpointAt>, StoreError> {
        self.world.storage.checkpoints(after, limit).await
    }

    async fn sealed_events(&self, after: u64, limit: u32) -> Result<Vec<EventAt>, StoreError> {
        let page = self.world.storage.sealed_events(after, limit.min(300)).await;
        if self.retires {
            self.world.clock.advance(Duration::days(10));
            retire_events(&self.world.context, self.world.past()).await.unwrap();
        }
        seal(self.world, 2).await;
        page
    }

    async fn count_events_of(&self, _: Pseudonym) -> Result<u64, StoreError> {
        not_asked()
    }

    async fn forget_events(&self, _: ForgetEvents) -> Result<u64, StoreError> {
        not_asked()
    }

    async fn take_lease(&self, _: TakeLease) -> Result<bool, StoreError> {
        not_asked()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Whatever the sizes of the pages and of the checkpoints are, what is sealed holds, and one altered event is
    /// found in its own checkpoint.
    #[test]
    fn one_altered_event_is_found_wherever_it_is(sizes in prop::collection::vec(1u32..8, 1..8), pick in any::<prop::sample::Index>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new();
            for size in &sizes {
                seal(&world, *size).await;
            }
            let mut copy = Tampered::copy_of(&world).await;
            prop_assert!(verify(&copy).await.is_ok());
            let index = pick.index(copy.events.len());
            copy.sealed(index).event.kind = EventKind::SignOut;
            let position = u64::try_from(index).unwrap() + 1;
            let of_index = copy.checkpoints.iter().find(|signed| signed.checkpoint.next() > position).unwrap();
            prop_assert_eq!(verify(&copy).await.unwrap_err().checkpoint, of_index.checkpoint.number);
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn f_25_an_event_waits_since_it_was_seen_whatever_its_id_says() {
    let world = World::new();
    let watch = SealWatch::default();
    let look = async || watch.look(&*world.storage, &*world.clock).await.unwrap();
    let ages = [Duration::ZERO, Duration::days(700), Duration::days(-700)];
    for age in ages {
        let event = Event { id: fixtures::event_id_at(world.clock.now() - age), ..fixtures::event() };
        assert!(world.storage.record_event(event).await.unwrap());
    }
    assert!(look().await.is_fine(), "they were seen only now");
    world.clock.advance(Duration::seconds(60));
    assert!(look().await.is_fine());
    world.clock.advance(Duration::seconds(1));
    let late = look().await;
    assert_eq!((late.late, late.waited.as_secs()), (4, 61), "three events, and that nothing is sealed");
    assert_eq!(late.to_string(), "events have waited for more than a minute to be sealed");
    seal_events(&world.context).await.unwrap();
    assert_eq!(look().await, Unsealed::default());
}

/// Rows that come in front of the others make each look see other events.
#[tokio::test]
async fn f_25_older_and_older_events_do_not_hide_that_nothing_is_sealed() {
    let world = World::new();
    let watch = SealWatch::default();
    let mut looks = Vec::new();
    for minute in 0..3 {
        for _ in 0..MAX_EVENTS {
            let id = fixtures::event_id_at(world.clock.now() - Duration::days(minute * 2));
            world.storage.record_event(Event { id, ..fixtures::event() }).await.unwrap();
        }
        looks.push(watch.look(&*world.storage, &*world.clock).await.unwrap().is_fine());
        world.clock.advance(Duration::seconds(40));
    }
    assert_eq!(looks, [true, true, false]);
}

/// A database that was stopped a second after its last event does not age.
#[tokio::test]
async fn a_command_calls_late_what_the_record_has_passed_over() {
    let world = World::new();
    let event = |seconds| Event {
        id: fixtures::event_id_at(world.clock.now() - Duration::seconds(seconds)),
        ..fixtures::event()
    };
    for seconds in [61, 60] {
        world.storage.record_event(event(seconds)).await.unwrap();
    }
    world.clock.advance(Duration::days(9));
    assert!(look_at_waiting(&*world.storage, &*world.clock).await.unwrap().is_fine());
    world.clock.advance(Duration::days(-9));
    world.storage.record_event(event(0)).await.unwrap();
    // A server that was killed right after its start leaves this one, with the time at which the key began to sign.
    let key_activated = Event { kind: EventKind::KeyActivated, ..event(3_600) };
    world.storage.record_event(key_activated).await.unwrap();
    assert_eq!(look_at_waiting(&*world.storage, &*world.clock).await.unwrap().late, 1);
}
