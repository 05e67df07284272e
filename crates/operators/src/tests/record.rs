//! The server builds only on what it can authenticate, and whoever verifies sees what nothing proves.

use std::collections::BTreeMap;

use countersign_conformance::fakes::FakeSigner;
use countersign_conformance::fixtures::{self, RECORD_KEY};
use countersign_domain::checkpoint::{
    Checkpoint, CheckpointClaims, Digest256, RecordKey, Salt, SealedEvent, SignedCheckpoint, merkle_root,
};
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Pseudonym};
use countersign_domain::id::{EventId, UserId};
use countersign_ports::{EntropyExt, SealEvents, Sealed, TokenSigner};
use countersign_usecases::events::retire_events::retire_events;
use countersign_usecases::events::seal_error::{SealError, Unauthentic};
use countersign_usecases::events::seal_events::seal_events;
use time::{Duration, OffsetDateTime};

use crate::events::accept_record::{AcceptError, accept_record};
use crate::events::verify_events::{Broken, Finding, Signatures, Verified, VerifyError, verify_events};
use crate::tests::world::{ToyWallets, World};

const RETENTION: Duration = Duration::days(90);

/// How a checkpoint is signed.
#[derive(Clone, Copy, Debug)]
enum By {
    /// By a build before there were MACs, with a key that is published.
    Before,
    /// The same with a key that is gone, or was never the server's.
    Gone,
    /// With the server's key, and the MAC of another secret.
    StolenKey,
    Server,
}

fn event_at(world: &World, at: OffsetDateTime) -> Event {
    Event {
        id: EventId::at(at, world.context.entropy.bytes()),
        kind: EventKind::SignIn,
        actor: Actor::Person,
        person: Some(EventPerson::User(UserId::random([1; 16]))),
        wallet: None,
        client: None,
        address: None,
        request: None,
        details: Details::default(),
        signed: None,
    }
}

async fn happen(world: &World) -> EventId {
    let event = event_at(world, world.context.clock.now());
    let id = event.id;
    assert!(world.storage.record_event(event).await.unwrap());
    id
}

/// Seals what is fresh by hand, as an older build or an attacker does.
async fn seal_by(world: &World, by: By) -> SignedCheckpoint {
    let last = world.storage.last_checkpoint().await.unwrap();
    let fresh = world.storage.fresh_events(500).await.unwrap();
    let first = last.as_ref().map_or(1, |last| last.checkpoint.next());
    let events: Vec<_> = (first..)
        .zip(fresh)
        .map(|(position, event)| SealedEvent::seal(position, event, Salt::new([7; 16])))
        .collect();
    let leaves: Vec<_> = events.iter().map(SealedEvent::leaf).collect();
    let checkpoint = Checkpoint {
        number: last.as_ref().map_or(1, |last| last.checkpoint.number + 1),
        sealed_at: world.context.clock.now().truncate_to_second(),
        first,
        events: u32::try_from(events.len()).unwrap(),
        root: merkle_root(&leaves),
        previous: last.as_ref().map_or(Digest256::NOTHING, SignedCheckpoint::hash),
        kept_from: last.as_ref().map_or(1, |last| last.checkpoint.kept_from),
    };
    let claims = CheckpointClaims::of(checkpoint.clone());
    let jws = match by {
        By::Before => FakeSigner::old_checkpoint(&checkpoint, None),
        By::Gone => FakeSigner::old_checkpoint(&checkpoint, Some("gone")),
        By::StolenKey => {
            FakeSigner.sign_checkpoint(&claims, last.as_ref(), &RecordKey::new([66; 32])).await.unwrap()
        }
        By::Server => FakeSigner.sign_checkpoint(&claims, last.as_ref(), &RECORD_KEY).await.unwrap(),
    };
    let checkpoint = SignedCheckpoint { checkpoint, jws };
    let command = SealEvents { checkpoint: checkpoint.clone(), events, counts: Vec::new() };
    assert_eq!(world.storage.seal_events(command).await.unwrap(), Sealed::Sealed);
    checkpoint
}

/// Three checkpoints, ten seconds apart.
async fn history(by: [By; 3]) -> World {
    let world = World::new();
    for by in by {
        happen(&world).await;
        seal_by(&world, by).await;
        world.clock.advance(Duration::seconds(10));
    }
    world
}

async fn verify(world: &World) -> Result<Verified, Broken> {
    let signatures = Signatures { wallets: &ToyWallets, authority: "auth.example.com" };
    match verify_events(&*world.storage, &mut FakeSigner, signatures, &BTreeMap::new(), |_| {}).await {
        Ok(verified) => Ok(verified),
        Err(VerifyError::Broken(broken)) => Err(broken),
        Err(VerifyError::Store(error)) => panic!("{error}"),
    }
}

async fn refusal(world: &World) -> Unauthentic {
    happen(world).await;
    let fresh = world.storage.fresh_events(500).await.unwrap().len();
    let refused = match seal_events(&world.context).await {
        Err(SealError::Unauthentic(refused)) => refused,
        other => panic!("{other:?}"),
    };
    assert!(matches!(
        retire_events(&world.context, fixtures::past(world.context.clock.now())).await,
        Err(SealError::Unauthentic(_))
    ));
    assert_eq!(world.storage.fresh_events(500).await.unwrap().len(), fresh, "they wait");
    refused
}

#[tokio::test]
async fn f_19_the_server_does_not_go_on_after_a_checkpoint_that_it_cannot_authenticate() {
    for last in [By::Gone, By::StolenKey] {
        for before in [By::Gone, By::Server, By::Before] {
            let world = history([before, before, last]).await;
            assert_eq!(refusal(&world).await, Unauthentic::Forged { number: 3 }, "{before:?} {last:?}");
            let broken = verify(&world).await.unwrap_err();
            assert_eq!(broken.checkpoint, 3, "{before:?} {last:?}: {broken}");
        }
    }
}

#[tokio::test]
async fn a_record_of_the_build_before_goes_on_and_holds() {
    for history_by in [
        [By::Before; 3],
        [By::Gone, By::Gone, By::Before],
        [By::Server, By::Before, By::Before],
        [By::Before, By::Server, By::Before],
    ] {
        let world = history(history_by).await;
        assert_eq!(verify(&world).await.unwrap().progress.checkpoints, 3, "{history_by:?}");
        happen(&world).await;
        assert_eq!(seal_events(&world.context).await.unwrap().events, 1, "{history_by:?}");
        let verified = verify(&world).await.unwrap();
        assert_eq!((verified.progress.events, verified.accepted.as_slice()), (4, &[][..]), "{history_by:?}");
    }
}

#[tokio::test]
async fn f_20_the_events_of_the_build_before_go_in_time_though_its_keys_are_gone() {
    let world = history([By::Gone, By::Gone, By::Before]).await;
    happen(&world).await;
    seal_events(&world.context).await.unwrap();
    world.clock.advance(RETENTION - Duration::seconds(25));
    assert_eq!(
        retire_events(&world.context, fixtures::past(world.context.clock.now())).await.unwrap().events,
        1,
        "the first is over by what is signed"
    );
    world.clock.advance(Duration::days(1));
    while retire_events(&world.context, fixtures::past(world.context.clock.now())).await.unwrap().more {}
    let verified = verify(&world).await.unwrap();
    assert_eq!((verified.forgotten, verified.progress.events), (4, 0));
    assert_eq!(verified.retention, Some(RETENTION));
    let (from, to) = verified.forgotten_between.unwrap();
    assert_eq!(to - from, Duration::seconds(30));
}

#[tokio::test]
async fn a_running_server_notices_a_shorter_and_another_record() {
    let world = history([By::Server; 3]).await;
    happen(&world).await;
    seal_events(&world.context).await.unwrap();
    for (length, expected) in [(0, Unauthentic::Gone { number: 4 }), (3, Unauthentic::Gone { number: 4 })] {
        let other = World::new();
        for _ in 0..length {
            happen(&other).await;
            seal_by(&other, By::Server).await;
        }
        let mut seen = world.context.clone();
        seen.storage = std::sync::Arc::clone(&other.context.storage);
        happen(&other).await;
        let refused = seal_events(&seen).await;
        assert!(matches!(refused, Err(SealError::Unauthentic(found)) if found == expected), "{refused:?}");
        for _ in length..5 {
            happen(&other).await;
            seal_by(&other, By::Server).await;
        }
        happen(&other).await;
        let refused = seal_events(&seen).await;
        let replaced = Unauthentic::Replaced { number: 4 };
        assert!(matches!(refused, Err(SealError::Unauthentic(found)) if found == replaced), "{refused:?}");
        assert!(seal_events(&other.context).await.is_ok(), "one that starts now cannot know");
    }
    happen(&world).await;
    assert!(seal_events(&world.context).await.is_ok());
}

#[tokio::test]
async fn an_operator_lets_the_record_go_on_and_it_says_so_for_good() {
    for last in [By::Gone, By::StolenKey] {
        let world = history([By::Server, By::Server, last]).await;
        let management = world.context.management();
        refusal(&world).await;
        let accepted = accept_record(management, &FakeSigner, &RECORD_KEY).await.unwrap();
        assert_eq!((accepted.checkpoint.number, accepted.checkpoint.events), (4, 0));
        while seal_events(&world.context).await.unwrap().more {}
        let verified = verify(&world).await.unwrap();
        assert_eq!(verified.accepted.len(), 1, "{last:?}");
        assert_eq!(verified.accepted[0].checkpoint, 4);
        assert_eq!(verified.accepted[0].by, "server");
        let again = accept_record(management, &FakeSigner, &RECORD_KEY).await;
        assert!(matches!(again, Err(AcceptError::Authentic)), "{again:?}");
    }
}

/// Nobody but the secret can accept anything.
#[tokio::test]
async fn an_attacker_cannot_accept_a_record() {
    let world = history([By::Server, By::Server, By::Gone]).await;
    let management = world.context.management();
    accept_record(management, &FakeSigner, &RecordKey::new([66; 32])).await.unwrap();
    assert_eq!(refusal(&world).await, Unauthentic::Forged { number: 4 });
    let broken = verify(&world).await.unwrap_err();
    assert!(matches!(broken.finding, Finding::Forged), "{broken}");
}

/// A checkpoint of the server's that lets young events go, which no server of ours makes.
#[tokio::test]
async fn a_deletion_before_its_time_is_named_by_the_times_that_were_signed() {
    for (retention, holds) in [(None, false), (Some(RETENTION), false), (Some(Duration::seconds(30)), true)] {
        let world = history([By::Server; 3]).await;
        let last = world.storage.last_checkpoint().await.unwrap().unwrap();
        let checkpoint = Checkpoint {
            number: 4,
            sealed_at: world.context.clock.now(),
            first: 4,
            events: 0,
            root: merkle_root(&[]),
            previous: last.hash(),
            kept_from: 2,
        };
        let claims = CheckpointClaims { retention, ..CheckpointClaims::of(checkpoint.clone()) };
        let jws = FakeSigner.sign_checkpoint(&claims, Some(&last), &RECORD_KEY).await.unwrap();
        let checkpoint = SignedCheckpoint { checkpoint, jws };
        let command = SealEvents { checkpoint, events: Vec::new(), counts: Vec::new() };
        assert_eq!(world.storage.seal_events(command).await.unwrap(), Sealed::Sealed);
        let found = verify(&world).await;
        let early = Broken { checkpoint: 4, finding: Finding::DeletedEarly };
        assert!(if holds { found.is_ok() } else { found == Err(early) }, "{retention:?}: {found:?}");
    }
}

#[tokio::test]
async fn an_event_whose_time_does_not_fit_is_told_apart() {
    let world = history([By::Server; 3]).await;
    world.clock.advance(Duration::hours(1));
    happen(&world).await;
    seal_events(&world.context).await.unwrap();
    assert_eq!(verify(&world).await.unwrap().misdated.events, 0);
    let now = world.context.clock.now();
    let old = event_at(&world, now - Duration::days(730));
    let new = event_at(&world, now + Duration::hours(1));
    for event in [old.clone(), new] {
        assert!(world.storage.record_event(event).await.unwrap());
    }
    seal_events(&world.context).await.unwrap();
    let misdated = verify(&world).await.unwrap().misdated;
    assert_eq!((misdated.events, misdated.first), (2, Some(old.id)));
}

/// G and H: neither a deletion that somebody made up nor one that really was hides anyone.
#[tokio::test]
async fn a_deletion_that_never_happened_is_told_apart_and_hides_nobody() {
    let world = history([By::Server; 3]).await;
    let login = fixtures::complete_login();
    let user = login.new_user;
    world.storage.complete_login(login).await.unwrap();
    let theirs = event_at(&world, world.context.clock.now()).about(user);
    assert!(
        world.storage.record_event(Event { person: Some(EventPerson::User(user)), ..theirs }).await.unwrap()
    );
    while seal_events(&world.context).await.unwrap().more {}
    let management = world.context.management();
    crate::people::delete_user::delete_user(management, &RECORD_KEY, user).await.unwrap();
    while seal_events(&world.context).await.unwrap().more {}
    let verified = verify(&world).await.unwrap();
    assert_eq!(verified.unproven_deletions.events, 0);

    let pseudonym = Pseudonym::new([5; 16]);
    let deletion = Event {
        kind: EventKind::AccountDeleted,
        person: Some(EventPerson::Deleted(pseudonym)),
        details: Details::default().text("proof", pseudonym).number("events", 1),
        ..event_at(&world, world.context.clock.now())
    };
    let id = deletion.id;
    assert!(world.storage.record_event(deletion).await.unwrap());
    while seal_events(&world.context).await.unwrap().more {}
    let noticed = verify(&world).await.unwrap().unproven_deletions;
    assert_eq!((noticed.events, noticed.first), (1, Some(id)));
}
