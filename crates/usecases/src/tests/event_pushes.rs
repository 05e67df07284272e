//! Events are pushed: each arrives, in order for a person, whatever the receiver does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_conformance::fixtures;
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Pseudonym};
use countersign_domain::event_push::ReceiverId;
use countersign_domain::id::{EventId, UserId};
use countersign_domain::secret::Secret;
use countersign_ports::{
    CompleteLogin, DeleteAccount, EntropyExt, EventPush, FetchError, ForgetEvents, Posted,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use time::Duration;

use crate::events::push_events::{EventReceiver, PushRound, Pusher};
use crate::events::seal_events::seal_events;
use crate::tests::breakable::{break_after, world as breakable_world};
use crate::tests::world::{World, toy};

const URL: &str = "https://siem.example/events?tenant=7";
const KEY: &str = "a-secret-of-the-receiver";

fn pusher() -> Pusher {
    Pusher::new(EventReceiver { url: URL.to_owned(), secret: Some(Secret::new(KEY)) })
}

fn person(number: u8) -> UserId {
    UserId::random([number; 16])
}

fn answer(status: u16, reason: &str) -> Result<Posted, FetchError> {
    Ok(Posted { status, reason: reason.as_bytes().to_vec() })
}

/// The claims of a token.
fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

/// Whom a token is about.
fn subject(claims: &Value) -> String {
    let about = claims["events"].as_object().unwrap().values().next().unwrap();
    let user = claims["sub_id"]["sub"].as_str().or(about["user"].as_str());
    user.unwrap_or("nobody").to_owned()
}

/// What a receiver took: the ids by subject, in the order in which they first arrived.
#[derive(Clone, Default)]
struct Taken(Arc<Mutex<Vec<(String, String)>>>);

impl Taken {
    fn add(&self, claims: &Value) {
        let entry = (subject(claims), claims["jti"].as_str().unwrap().to_owned());
        self.0.lock().unwrap().push(entry);
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn by_subject(&self) -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (subject, id) in self.0.lock().unwrap().iter() {
            let ids = all.entry(subject.clone()).or_default();
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        all
    }
}

/// From now on the receiver answers like this; what it answers with a success, it has.
fn receive(
    world: &World,
    mut judge: impl FnMut(&Value) -> Result<Posted, FetchError> + Send + 'static,
) -> Taken {
    let taken = Taken::default();
    let noted = taken.clone();
    world.outside.receive(move |received| {
        let claims = claims(&received.body);
        let answer = judge(&claims);
        if matches!(&answer, Ok(posted) if (200..300).contains(&posted.status)) {
            noted.add(&claims);
        }
        answer
    });
    taken
}

async fn happen(world: &World, persons: &[u8]) -> Vec<EventId> {
    let mut ids = Vec::new();
    for number in persons {
        world.clock.advance(Duration::milliseconds(1));
        let event = Event {
            id: EventId::at(world.context.clock.now(), world.context.entropy.bytes()),
            kind: EventKind::SignIn,
            actor: Actor::Person,
            person: Some(EventPerson::User(person(*number))),
            wallet: Some(toy("toy-anna")),
            client: None,
            address: None,
            request: Some("request-1".to_owned()),
            details: Details::default().flag("first", true),
            signed: None,
        };
        ids.push(event.id);
        world.storage.record_event(event).await.unwrap();
    }
    while seal_events(&world.context).await.unwrap().more {}
    ids
}

/// Pushes until there is nothing more to do at once.
async fn push(world: &World, pusher: &mut Pusher) -> PushRound {
    let mut sum = PushRound::default();
    for _ in 0..100 {
        let round = pusher.push_events(&world.context).await.unwrap();
        sum.taken += round.taken;
        sum.failed += round.failed;
        sum.given_up += round.given_up;
        sum.lost += round.lost;
        sum.pending = round.pending;
        if !round.more {
            return sum;
        }
    }
    panic!("a push without an end: {sum:?}")
}

/// A world whose receiver was begun with.
async fn begun() -> (World, Pusher) {
    let world = World::new();
    let mut pusher = pusher();
    push(&world, &mut pusher).await;
    (world, pusher)
}

async fn stored(world: &World) -> EventPush {
    world.storage.find_push(ReceiverId::of(URL)).await.unwrap().unwrap()
}

fn texts(ids: &[EventId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn an_event_is_pushed_as_a_security_event_token() {
    let (world, mut pusher) = begun().await;
    let taken = receive(&world, |_| answer(202, ""));
    let [id] = happen(&world, &[1]).await[..] else { panic!() };
    assert_eq!(push(&world, &mut pusher).await.taken, 1);
    let received = world.outside.received();
    assert_eq!((received[0].url.as_str(), received[0].bearer.as_deref()), (URL, Some(KEY)));
    let now = world.context.clock.now().unix_timestamp();
    assert_eq!(
        claims(&received[0].body),
        json!({
            "iss": "https://auth.example.com",
            "aud": URL,
            "iat": now,
            "toe": now,
            "jti": id.to_string(),
            "txn": "request-1",
            "sub_id": {
                "format": "iss_sub",
                "iss": "https://auth.example.com",
                "sub": person(1).to_string(),
            },
            "events": {
                "urn:countersign:event:sign_in": {
                    "actor": "person",
                    "wallet": toy("toy-anna").caip10(),
                    "client": null,
                    "address": null,
                    "details": { "first": true },
                },
            },
        })
    );
    assert!(!received[0].body.contains(KEY));
    assert_eq!((taken.count(), push(&world, &mut pusher).await.taken), (1, 0), "once");
}

#[tokio::test]
async fn a_new_receiver_gets_what_happens_from_then_on_and_a_known_one_also_what_it_missed() {
    let world = World::new();
    happen(&world, &[1, 2]).await;
    let taken = receive(&world, |_| answer(200, ""));
    push(&world, &mut pusher()).await;
    assert_eq!(taken.count(), 0);
    let missed = happen(&world, &[1]).await;
    push(&world, &mut pusher()).await;
    assert_eq!(taken.by_subject()[&person(1).to_string()], texts(&missed), "another server of this receiver");
}

#[tokio::test]
async fn a_receiver_that_is_down_for_an_hour_gets_everything_afterwards_and_in_order() {
    for (name, down) in [
        ("500", answer(500, "")),
        ("503 with a reason", answer(503, r#"{"err":"invalid_request"}"#)),
        ("401", answer(401, "")),
        ("403", answer(403, "")),
        ("404", answer(404, "")),
        ("a redirect", answer(302, "")),
        ("400 without a reason", answer(400, "")),
        ("400 with no code", answer(400, r#"{"err":"a\nb"}"#)),
        ("400 about the sender", answer(400, r#"{"err":"authentication_failed"}"#)),
        ("400 about access", answer(400, r#"{"err":"access_denied"}"#)),
        ("it hangs", Err(FetchError::Late)),
        ("it is gone", Err(FetchError::Unreachable)),
        ("it leads inside", Err(FetchError::Address)),
        ("too much is sent", Err(FetchError::Busy)),
    ] {
        let (world, mut pusher) = begun().await;
        let nothing = receive(&world, move |_| down.clone());
        let mut ids: BTreeMap<u8, Vec<String>> = BTreeMap::new();
        let mut tries = 0;
        for minute in 0..60_u8 {
            let persons = [minute % 7, minute % 11, 100];
            for (person, id) in persons.iter().zip(happen(&world, &persons).await) {
                ids.entry(*person).or_default().push(id.to_string());
            }
            for _ in 0..6 {
                tries += push(&world, &mut pusher).await.failed;
                world.clock.advance(Duration::seconds(10));
            }
        }
        let held = stored(&world).await;
        assert_eq!((held.position, held.delayed.len(), nothing.count()), (0, 0, 0), "{name}");
        assert!((10..=400).contains(&tries), "{name}: {tries} tries in an hour");

        let taken = receive(&world, |_| answer(202, ""));
        world.clock.advance(Duration::minutes(5));
        let round = push(&world, &mut pusher).await;
        assert_eq!((round.taken, round.pending), (180, Some(0)), "{name}");
        let arrived = taken.by_subject();
        for (number, ids) in ids {
            assert_eq!(arrived[&person(number).to_string()], ids, "{name}");
        }
    }
}

#[tokio::test]
async fn what_a_receiver_refuses_is_not_sent_again_and_holds_up_nobody() {
    let (world, mut pusher) = begun().await;
    let ids = happen(&world, &[1, 2, 1]).await;
    let refused = ids[0].to_string();
    let taken = receive(&world, move |claims| {
        if claims["jti"] == refused {
            answer(400, r#"{"err":"invalid_request","description":"no"}"#)
        } else {
            answer(202, "")
        }
    });
    let round = push(&world, &mut pusher).await;
    assert_eq!((round.taken, round.given_up, round.pending), (2, 1, Some(0)));
    world.clock.advance(Duration::days(2));
    assert_eq!(push(&world, &mut pusher).await.failed, 0);
    assert_eq!(taken.by_subject()[&person(1).to_string()], texts(&ids[2..]));
    assert_eq!(world.outside.received().len(), 3);
}

#[tokio::test]
async fn events_of_one_person_that_fail_wait_in_order_while_others_go_on() {
    let (world, mut pusher) = begun().await;
    let [bad, good] = [1, 2].map(|number| person(number).to_string());
    let failing = bad.clone();
    let taken = receive(
        &world,
        move |claims| if subject(claims) == failing { answer(500, "") } else { answer(202, "") },
    );
    let mut ids = happen(&world, &[1, 2, 1, 2, 1]).await;
    push(&world, &mut pusher).await;
    let tried = world.outside.received().iter().filter(|one| subject(&claims(&one.body)) == bad).count();
    assert_eq!(tried, 1, "what follows is not tried before the first was taken");
    ids.extend(happen(&world, &[1, 2]).await);
    push(&world, &mut pusher).await;
    assert_eq!(taken.by_subject(), BTreeMap::from([(good, texts(&[ids[1], ids[3], ids[6]]))]));
    assert_eq!(stored(&world).await.delayed.len(), 4);

    let later = receive(&world, |_| answer(202, ""));
    world.clock.advance(Duration::minutes(5));
    assert_eq!(push(&world, &mut pusher).await.pending, Some(0));
    assert_eq!(later.by_subject(), BTreeMap::from([(bad, texts(&[ids[0], ids[2], ids[4], ids[5]]))]));
    assert_eq!(stored(&world).await.delayed, []);
}

#[tokio::test]
async fn an_event_that_is_not_taken_for_a_day_while_others_are_is_given_up() {
    let (world, mut pusher) = begun().await;
    let bad = person(1).to_string();
    receive(&world, move |claims| if subject(claims) == bad { answer(500, "") } else { answer(202, "") });
    happen(&world, &[1, 2]).await;
    let (mut given_up, mut tries) = (0, 0);
    for hour in 0..25 {
        world.clock.advance(Duration::hours(1));
        happen(&world, &[2]).await;
        let round = push(&world, &mut pusher).await;
        given_up += round.given_up;
        tries += round.failed;
        assert_eq!(given_up, u64::from(hour == 24), "{hour}");
    }
    assert_eq!((tries, stored(&world).await.delayed.len()), (25, 0));
}

#[tokio::test]
async fn a_page_full_of_one_persons_events_that_fail_does_not_stop_the_others() {
    let (world, mut pusher) = begun().await;
    let bad = person(1).to_string();
    let taken =
        receive(&world, move |claims| if subject(claims) == bad { answer(500, "") } else { answer(202, "") });
    happen(&world, &[1; 250]).await;
    happen(&world, &[2]).await;
    for _ in 0..20 {
        push(&world, &mut pusher).await;
        world.clock.advance(Duration::minutes(5));
    }
    assert_eq!(taken.count(), 1);
    assert_eq!(stored(&world).await.delayed.len(), 250);
}

#[tokio::test]
async fn if_too_many_events_wait_all_wait_and_none_is_lost() {
    let (world, mut pusher) = begun().await;
    let bad = person(1).to_string();
    let failing =
        receive(&world, move |claims| if subject(claims) == bad { answer(500, "") } else { answer(202, "") });
    let ids = happen(&world, &[vec![1; 500], vec![2]].concat()).await;
    for _ in 0..20 {
        push(&world, &mut pusher).await;
        world.clock.advance(Duration::minutes(5));
    }
    assert_eq!((failing.count(), stored(&world).await.delayed.len()), (0, 400));
    let taken = receive(&world, |_| answer(202, ""));
    for _ in 0..5 {
        push(&world, &mut pusher).await;
        world.clock.advance(Duration::minutes(5));
    }
    assert_eq!(taken.by_subject()[&person(1).to_string()], texts(&ids[..500]));
    assert_eq!(taken.count(), 501);
}

#[tokio::test]
async fn an_event_that_waits_is_sent_as_it_is_then() {
    let (world, mut pusher) = begun().await;
    let login = CompleteLogin { new_user: person(1), ..fixtures::complete_login() };
    world.storage.complete_login(login).await.unwrap();
    let bad = person(1).to_string();
    let failing = bad.clone();
    receive(&world, move |claims| if subject(claims) == failing { answer(500, "") } else { answer(202, "") });
    happen(&world, &[1, 2]).await;
    push(&world, &mut pusher).await;
    world.outside.received();
    let pseudonym = Pseudonym::new([9; 16]);
    let hiding = world.context.keys.record.hiding(pseudonym);
    let now = world.context.clock.now();
    let deletion = DeleteAccount { user: person(1), now, pseudonym, hiding, event: None };
    assert!(world.storage.delete_account(deletion).await.unwrap());

    let taken = receive(&world, |_| answer(202, ""));
    world.clock.advance(Duration::minutes(5));
    push(&world, &mut pusher).await;

    assert_eq!(taken.by_subject().into_keys().collect::<Vec<_>>(), [pseudonym.to_string()]);
    for received in world.outside.received() {
        let text = claims(&received.body).to_string();
        assert!(!text.contains(&bad) && !text.contains("toy-anna"), "{text}");
    }
}

#[tokio::test]
async fn events_that_are_deleted_before_they_were_pushed_are_counted_once() {
    let (world, mut pusher) = begun().await;
    let bad = person(1).to_string();
    receive(&world, move |claims| if subject(claims) == bad { answer(500, "") } else { answer(202, "") });
    happen(&world, &[1, 2]).await;
    push(&world, &mut pusher).await;
    receive(&world, |_| answer(503, ""));
    happen(&world, &[1, 2, 3]).await;
    push(&world, &mut pusher).await;
    world.storage.forget_events(ForgetEvents { before: 6, checkpoints: 9 }).await.unwrap();

    let taken = receive(&world, |_| answer(202, ""));
    world.clock.advance(Duration::minutes(5));
    let round = push(&world, &mut pusher).await;
    assert_eq!((round.lost, round.taken, round.pending), (4, 0, Some(0)));
    happen(&world, &[4]).await;
    assert_eq!(push(&world, &mut pusher).await.lost, 0);
    assert_eq!(taken.count(), 1);
}

#[tokio::test]
async fn a_push_that_is_stopped_anywhere_loses_nothing() {
    for calls in 0..8 {
        let (world, storage) = breakable_world();
        let mut first = pusher();
        push(&world, &mut first).await;
        let ids = happen(&world, &[1, 2, 1]).await;
        let taken = receive(&world, |_| answer(202, ""));
        break_after(&world, &storage, calls).await;
        let _ = first.push_events(&world.context).await;
        break_after(&world, &storage, -1).await;
        push(&world, &mut pusher()).await;
        let arrived = taken.by_subject();
        assert_eq!(arrived[&person(1).to_string()], texts(&[ids[0], ids[2]]), "{calls}");
        assert_eq!(arrived[&person(2).to_string()], texts(&ids[1..2]), "{calls}");
    }
}

#[tokio::test]
async fn of_two_pushers_at_once_one_is_noted_and_nothing_is_lost() {
    let (world, mut one) = begun().await;
    let mut other = pusher();
    let ids = happen(&world, &[1, 1, 1]).await;
    let taken = receive(&world, |_| answer(202, ""));
    let (first, second) = tokio::join!(one.push_events(&world.context), other.push_events(&world.context));
    assert!(first.is_ok() && second.is_ok());
    push(&world, &mut one).await;
    assert_eq!(taken.by_subject()[&person(1).to_string()], texts(&ids));
    assert_eq!(stored(&world).await.position, 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A receiver in any mood, servers that stop and start: in the end every event arrived, and first in order.
    #[test]
    fn whatever_a_receiver_does_every_event_arrives_in_order(
        steps in proptest::collection::vec((proptest::collection::vec(0_u8..6, 0..12), 0_u8..100, any::<bool>()), 1..30),
        seed in any::<u64>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async move {
            let (world, mut current) = begun().await;
            let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
            let mood = Arc::new(Mutex::new((0_u8, seed)));
            let judging = Arc::clone(&mood);
            let taken = receive(&world, move |_| {
                let mut mood = judging.lock().unwrap();
                mood.1 = mood.1.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let dice = u8::try_from((mood.1 >> 33) % 100).unwrap();
                if dice < mood.0 { answer(500, "") } else { answer(202, "") }
            });
            for (persons, badness, restarts) in steps {
                mood.lock().unwrap().0 = badness;
                for (number, id) in persons.iter().zip(happen(&world, &persons).await) {
                    ids.entry(person(*number).to_string()).or_default().push(id.to_string());
                }
                if restarts {
                    current = pusher();
                }
                push(&world, &mut current).await;
                world.clock.advance(Duration::seconds(3));
            }
            mood.lock().unwrap().0 = 0;
            for _ in 0..40 {
                world.clock.advance(Duration::minutes(5));
                push(&world, &mut current).await;
            }
            assert_eq!(taken.by_subject(), ids);
        });
    }
}
