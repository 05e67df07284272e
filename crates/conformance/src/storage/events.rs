//! Events are read back, sealed and forgotten, and a deleted account leaves nobody's name in them.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::checkpoint::{MAX_EVENTS, SealedEvent, SignedCheckpoint};
use countersign_domain::event::{Actor, ChangeSignature, Details, Event, EventKind, EventPerson, Signed};
use countersign_domain::id::{EventId, UserId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    CheckpointAt, CompleteLogin, DeleteAccount, EVENTS_A_STEP, EventAt, EventFilter, EventOrder, EventPage,
    ForgetEvents, ForgetEventsOf, FoundEvent, LeftToForget, SealEvents, Sealed, Storage, TakeLease,
};
use time::Duration;

use super::steps;
use crate::fixtures::{self, NOW};
use crate::one_member::OneMember as _;

/// So many new events, oldest first.
async fn recorded<const N: usize>(store: &dyn Storage) -> [Event; N] {
    let events = [(); N].map(|()| fixtures::event());
    for event in &events {
        steps::record(store, event).await;
    }
    events
}

/// The ids of the fresh events.
async fn fresh(store: &dyn Storage) -> Vec<EventId> {
    store.fresh_events(u32::MAX).await.unwrap().into_iter().map(|event| event.id).collect()
}

fn ids(events: &[Event]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

async fn find(store: &dyn Storage, id: EventId) -> Option<FoundEvent> {
    store.find_event(id).await.unwrap()
}

/// Reads all events that a filter lets through, oldest first.
async fn filtered(store: &dyn Storage, filter: &EventFilter) -> Vec<Event> {
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: u32::MAX };
    store.list_events(filter, page).await.unwrap()
}

fn about(who: Subject<EventPerson>) -> EventFilter {
    EventFilter { who: Some(who), ..EventFilter::default() }
}

/// Every kind, every actor, every way to name a person, a wallet or an address, and any text.
pub async fn every_value_of_an_event_survives(store: Arc<dyn Storage>) {
    let mut events: Vec<_> =
        EventKind::ALL.iter().map(|kind| Event { kind: *kind, ..fixtures::event() }).collect();
    let actors = [
        Actor::Person,
        Actor::Client,
        Actor::Server,
        Actor::CommandLine("root@host:é".to_owned()),
        Actor::Key("CI: deploys \"here\"".to_owned()),
        Actor::Wallet("eip155:1:0xAb".to_owned()),
        Actor::File("/etc/a b/clients.toml".to_owned()),
        Actor::Key(String::new()),
    ];
    events.extend(actors.map(|actor| Event { actor, ..fixtures::event() }));
    let persons =
        [EventPerson::User(fixtures::user_id()), EventPerson::Deleted(fixtures::pseudonym())].map(Some);
    events.extend(persons.map(|person| Event { person, ..fixtures::event() }));
    let wallets = [("", "", ""), ("a:b", "a:b:c", "d e"), ("bip122:0000", "bip122:0000", "bc1é\u{1f511}")];
    let wallets = wallets.map(|(family, chain, address)| WalletAccount {
        family: family.to_owned(),
        chain: chain.to_owned(),
        address: address.to_owned(),
    });
    events.extend(wallets.map(|wallet| Event { wallet: Some(wallet), ..fixtures::event() }));
    let [v4, v6] =
        [Ipv4Addr::new(203, 0, 113, 77).into(), Ipv6Addr::new(0x2001, 0xdb8, 1, 2, 3, 4, 5, 6).into()];
    let peers = [v4, v6].into_iter().flat_map(|ip| [PeerAddress::Whole(ip), PeerAddress::network(ip)]);
    events.extend(peers.map(|address| Event { address: Some(address), ..fixtures::event() }));
    for request in ["", "é \u{1f511}", "0"] {
        events.push(Event { request: Some(request.to_owned()), ..fixtures::event() });
    }
    let long = Details::default().text("path", "é".repeat(4_000));
    for details in [Details::default(), Details::default().flag("kept", false).number("n", u64::MAX), long] {
        events.push(Event { details, ..fixtures::event() });
    }
    for signed in ["", "{\"change\":\"é \u{1f511}\"}", &"x".repeat(20_000)] {
        events.push(Event { signed: Some(Signed::from_stored(signed.to_owned())), ..fixtures::event() });
    }
    let empty =
        Event { wallet: None, client: None, address: None, request: None, signed: None, ..fixtures::event() };
    events.push(Event { details: Details::default(), ..empty });

    for event in &events {
        steps::record(&*store, event).await;
        let expected = FoundEvent { event: event.clone(), position: None };
        assert_eq!(find(&*store, event.id).await, Some(expected));
    }
    assert_eq!(store.fresh_events(u32::MAX).await.unwrap(), events);
    assert_eq!(steps::events(&*store).await, events);
    let command = steps::seal(&*store).await;
    assert_eq!(steps::sealed_events(&*store).await, command.events);
    assert_eq!(steps::events(&*store).await, events);
    for sealed in command.events {
        let expected = FoundEvent { event: sealed.event.clone(), position: Some(sealed.position) };
        assert_eq!(find(&*store, sealed.event.id).await, Some(expected));
    }
    steps::verify_seals(&*store).await;
}

/// What came first stays, also once it is sealed.
pub async fn an_event_is_recorded_once(store: Arc<dyn Storage>) {
    let [event] = recorded(&*store).await;
    let other = Event { id: event.id, ..fixtures::event() };
    for sealed in [false, true] {
        for again in [&event, &other] {
            assert!(!store.record_event(again.clone()).await.unwrap(), "sealed: {sealed}");
        }
        assert_eq!(steps::events(&*store).await, std::slice::from_ref(&event));
        if !sealed {
            steps::seal(&*store).await;
        }
    }
}

/// Wherever it is; an id of nothing is nothing.
pub async fn an_event_is_found_by_its_id(store: Arc<dyn Storage>) {
    let [first, second, third] = recorded(&*store).await;
    steps::seal_these(&*store, &[first.clone(), second.clone()]).await;
    for (event, position) in [(first, Some(1)), (second, Some(2)), (third, None)] {
        assert_eq!(find(&*store, event.id).await, Some(FoundEvent { event, position }));
    }
    assert_eq!(find(&*store, fixtures::event_id()).await, None);
}

/// In whatever order they came.
pub async fn fresh_events_are_read_oldest_first_up_to_the_limit(store: Arc<dyn Storage>) {
    assert_eq!(store.fresh_events(10).await.unwrap(), []);
    let events: Vec<_> = (0..7).map(|_| fixtures::event()).collect();
    for place in [3, 0, 6, 5, 1, 4, 2] {
        steps::record(&*store, &events[place]).await;
    }
    for limit in 0..9 {
        let read = store.fresh_events(u32::try_from(limit).unwrap()).await.unwrap();
        assert_eq!(read, events[..limit.min(7)]);
    }
    steps::seal_these(&*store, &events[2..4]).await;
    let left = [&events[..2], &events[4..]].concat();
    assert_eq!(store.fresh_events(u32::MAX).await.unwrap(), left);
}

/// What the next clause lists, oldest first, with the places that it names.
struct Listed {
    events: Vec<Event>,
    users: [UserId; 2],
    wallet: WalletAccount,
}

/// Three events in one millisecond, then one each, of two users, two clients and two wallets.
fn listed() -> Listed {
    let users = [fixtures::user_id(), fixtures::user_id()];
    let [wallet, other] = [fixtures::wallet_account(), fixtures::wallet_account()];
    let family = WalletAccount { family: "eip155:1".to_owned(), ..wallet.clone() };
    let chain = WalletAccount { chain: "eip155:10".to_owned(), ..wallet.clone() };
    let clients = [fixtures::client_id(), fixtures::client_id()];
    let person = |place: usize| Some(EventPerson::User(users[place]));
    let deleted = Some(EventPerson::Deleted(fixtures::pseudonym()));
    let rows = [
        (0, EventKind::SignIn, person(0), Some(&wallet), Some(0)),
        (0, EventKind::SignIn, person(1), Some(&other), Some(1)),
        (0, EventKind::SignOut, person(0), None, None),
        (1, EventKind::WalletBlocked, None, Some(&wallet), None),
        (2, EventKind::WalletUnblocked, None, Some(&chain), None),
        (3, EventKind::WalletBlocked, None, Some(&family), None),
        (4, EventKind::WalletBlocked, None, Some(&other), None),
        (5, EventKind::SignInContinued, person(0), Some(&chain), Some(1)),
        (6, EventKind::ClientChanged, None, None, Some(0)),
        (7, EventKind::SignIn, deleted, None, Some(0)),
        (8, EventKind::AccountDeleted, deleted, None, None),
        (9, EventKind::SignIn, person(1), Some(&wallet), Some(1)),
    ];
    let events = rows.map(|(at, kind, person, wallet, client)| Event {
        id: fixtures::event_id_at(NOW + Duration::milliseconds(at)),
        kind,
        person,
        wallet: wallet.cloned(),
        client: client.map(|place: usize| clients[place]),
        ..fixtures::event()
    });
    Listed { events: events.into(), users, wallet }
}

/// By every filter, alone and together; in both orders, in pages of every size, from every place on.
pub async fn fresh_and_sealed_events_are_listed_together(store: Arc<dyn Storage>) {
    let Listed { events, users, wallet } = listed();
    for place in [7, 2, 11, 0, 9, 4, 1, 10, 6, 3, 8, 5] {
        steps::record(&*store, &events[place]).await;
    }
    let chosen = |places: &[usize]| places.iter().map(|place| events[*place].clone()).collect::<Vec<_>>();
    steps::seal_these(&*store, &chosen(&[8, 0, 3, 5])).await;
    steps::seal_these(&*store, &chosen(&[1, 7, 10])).await;

    let all = EventFilter::default();
    let at = |millis| Some(NOW + Duration::milliseconds(millis));
    let kinds = |kinds: &[EventKind]| EventFilter { kinds: kinds.to_vec(), ..all.clone() };
    let client = |place: usize| EventFilter { client: events[place].client, ..all.clone() };
    let Some(EventPerson::Deleted(pseudonym)) = events[9].person else { panic!("a deleted account") };
    let elsewhere = WalletAccount { chain: "eip155:5".to_owned(), ..wallet.clone() };
    let of_user = about(Subject::User(EventPerson::User(users[0])));
    let filters = [
        (all.clone(), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11][..]),
        (EventFilter { since: at(0), ..all.clone() }, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (EventFilter { since: at(1), ..all.clone() }, &[3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (EventFilter { since: at(10), ..all.clone() }, &[]),
        (EventFilter { until: at(0), ..all.clone() }, &[]),
        (EventFilter { until: at(1), ..all.clone() }, &[0, 1, 2]),
        (EventFilter { until: at(4), ..all.clone() }, &[0, 1, 2, 3, 4, 5]),
        (EventFilter { since: at(3), until: at(7), ..all.clone() }, &[5, 6, 7, 8]),
        (EventFilter { since: at(7), until: at(3), ..all.clone() }, &[]),
        (kinds(&[EventKind::SignIn]), &[0, 1, 9, 11]),
        (kinds(&[EventKind::WalletBlocked, EventKind::SignOut, EventKind::Upgraded]), &[2, 3, 5, 6]),
        (kinds(&[EventKind::Upgraded]), &[]),
        (kinds(EventKind::ALL), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (of_user.clone(), &[0, 2, 7]),
        (about(Subject::User(EventPerson::User(users[1]))), &[1, 11]),
        (about(Subject::User(EventPerson::User(fixtures::user_id()))), &[]),
        (about(Subject::Wallet(wallet.clone())), &[3, 4]),
        (about(Subject::Wallet(elsewhere)), &[3, 4]),
        (about(Subject::Wallet(events[5].wallet.clone().unwrap())), &[5]),
        (about(Subject::Wallet(events[6].wallet.clone().unwrap())), &[6]),
        (about(Subject::Wallet(fixtures::wallet_account())), &[]),
        (about(Subject::User(EventPerson::Deleted(pseudonym))), &[9, 10]),
        (about(Subject::User(EventPerson::Deleted(fixtures::pseudonym()))), &[]),
        (client(0), &[0, 8, 9]),
        (client(1), &[1, 7, 11]),
        (EventFilter { client: Some(fixtures::client_id()), ..all.clone() }, &[]),
        (EventFilter { kinds: vec![EventKind::SignIn], ..client(0) }, &[0, 9]),
        (EventFilter { since: at(1), ..of_user.clone() }, &[7]),
        (EventFilter { kinds: vec![EventKind::SignOut], until: at(1), ..of_user.clone() }, &[2]),
        (EventFilter { client: events[7].client, ..of_user }, &[7]),
        (
            EventFilter { client: events[0].client, ..about(Subject::User(EventPerson::Deleted(pseudonym))) },
            &[9],
        ),
        (EventFilter { since: at(2), ..about(Subject::Wallet(wallet)) }, &[4]),
        (EventFilter { client: events[0].client, until: at(7), ..kinds(&[EventKind::SignIn]) }, &[0]),
    ];
    for (filter, places) in &filters {
        list_in_every_way(&*store, filter, &events, chosen(places)).await;
    }
}

/// In both orders, from each of these events on, and in pages of each size.
async fn list_in_every_way(store: &dyn Storage, filter: &EventFilter, all: &[Event], expected: Vec<Event>) {
    for order in [EventOrder::OldestFirst, EventOrder::NewestFirst] {
        let mut expected = expected.clone();
        if order == EventOrder::NewestFirst {
            expected.reverse();
        }
        let is_after = |event: &Event, after: EventId| match order {
            EventOrder::OldestFirst => event.id > after,
            EventOrder::NewestFirst => event.id < after,
        };
        for after in all {
            let page = EventPage { order, after: Some(after.id), limit: u32::MAX };
            let later: Vec<_> = expected.iter().filter(|event| is_after(event, after.id)).cloned().collect();
            assert_eq!(store.list_events(filter, page).await.unwrap(), later, "{filter:?} {page:?}");
        }
        for limit in [1, 2, 3, 5, 11, 12, 13] {
            let mut paged: Vec<Event> = Vec::new();
            loop {
                let page = EventPage { order, after: paged.last().map(|event| event.id), limit };
                let next = store.list_events(filter, page).await.unwrap();
                assert!(next.len() <= usize::try_from(limit).unwrap(), "{page:?}");
                if next.is_empty() {
                    break;
                }
                paged.extend(next);
                assert!(
                    paged.len() <= expected.len(),
                    "a page repeats what came before: {filter:?} {page:?}"
                );
            }
            assert_eq!(paged, expected, "{filter:?} {order:?} in pages of {limit}");
        }
        let page = EventPage { order, after: None, limit: 0 };
        assert_eq!(store.list_events(filter, page).await.unwrap(), []);
    }
}

/// A page may start after an event that was never there, or is gone.
pub async fn a_page_of_events_may_start_anywhere(store: Arc<dyn Storage>) {
    let [never, first] = [(); 2].map(|()| fixtures::event());
    let between = fixtures::event_id();
    let second = fixtures::event();
    let last = fixtures::event_id();
    for event in [&first, &second] {
        steps::record(&*store, event).await;
    }
    steps::seal_these(&*store, std::slice::from_ref(&first)).await;
    let all = [first.id, second.id];
    for (after, later, earlier) in
        [(never.id, &all[..], &[][..]), (between, &all[1..], &all[..1]), (last, &[], &[second.id, first.id])]
    {
        for (order, expected) in [(EventOrder::OldestFirst, later), (EventOrder::NewestFirst, earlier)] {
            let page = EventPage { order, after: Some(after), limit: 10 };
            let events = store.list_events(&EventFilter::default(), page).await.unwrap();
            assert_eq!(ids(&events), expected, "{order:?}");
        }
    }
}

/// A sealed event is not fresh any more, whatever came in the meantime stays fresh, and nobody renumbers.
pub async fn sealed_events_have_consecutive_positions(store: Arc<dyn Storage>) {
    assert_eq!(store.last_checkpoint().await.unwrap(), None);
    assert_eq!(steps::checkpoints(&*store).await, []);
    assert_eq!(steps::sealed_events(&*store).await, []);
    let early = fixtures::event();
    let [first, second, third] = recorded(&*store).await;
    let read = store.fresh_events(2).await.unwrap();
    steps::record(&*store, &early).await;
    let one = steps::seal_these(&*store, &read).await;
    assert_eq!(fresh(&*store).await, [early.id, third.id], "older than what is sealed, and not read then");
    assert_eq!(store.last_checkpoint().await.unwrap().as_ref(), Some(&one.checkpoint));
    let two = steps::seal(&*store).await;
    assert_eq!(fresh(&*store).await, []);
    assert_eq!(store.last_checkpoint().await.unwrap().as_ref(), Some(&two.checkpoint));
    let sealed = steps::sealed_events(&*store).await;
    let places: Vec<_> = sealed.iter().map(|sealed| (sealed.position, sealed.event.id)).collect();
    assert_eq!(places, [(1, first.id), (2, second.id), (3, early.id), (4, third.id)]);
    assert_eq!(sealed, [one.events, two.events].concat());
    assert_eq!(steps::checkpoints(&*store).await, [one.checkpoint, two.checkpoint]);
    steps::verify_seals(&*store).await;
}

/// Each is the answer to what came before it, and tells that nothing happened since.
pub async fn a_checkpoint_may_have_no_events(store: Arc<dyn Storage>) {
    let mut checkpoints = Vec::new();
    for _ in 0..2 {
        checkpoints.push(steps::seal(&*store).await.checkpoint);
    }
    recorded::<2>(&*store).await;
    for _ in 0..3 {
        checkpoints.push(steps::seal(&*store).await.checkpoint);
    }
    let firsts: Vec<_> = checkpoints.iter().map(|signed| signed.checkpoint.first).collect();
    assert_eq!(firsts, [1, 1, 1, 3, 3]);
    assert_eq!(steps::checkpoints(&*store).await, checkpoints);
    assert_eq!(store.last_checkpoint().await.unwrap().as_ref(), checkpoints.last());
    steps::verify_seals(&*store).await;
}

/// In pages, by numbers and by positions.
pub async fn checkpoints_and_sealed_events_are_read_in_pages(store: Arc<dyn Storage>) {
    let mut signed = Vec::new();
    for _ in 0..4 {
        recorded::<3>(&*store).await;
        signed.push(steps::seal(&*store).await);
    }
    for after in 0..6_usize {
        for limit in 0..6 {
            let rows = store.checkpoints(u64::try_from(after).unwrap(), limit).await.unwrap();
            let expected = signed.iter().skip(after).take(usize::try_from(limit).unwrap());
            let expected =
                expected.map(|command| CheckpointAt::Checkpoint(Box::new(command.checkpoint.clone())));
            assert_eq!(rows, expected.collect::<Vec<_>>(), "after {after}, up to {limit}");
        }
    }
    let events: Vec<_> = signed.into_iter().flat_map(|command| command.events).collect();
    for after in [0, 1, 2, 3, 7, 11, 12, 13] {
        for limit in [0, 1, 4, 12, 13] {
            let rows = store.sealed_events(u64::try_from(after).unwrap(), limit).await.unwrap();
            let expected = events.iter().skip(after).take(usize::try_from(limit).unwrap());
            let expected = expected.map(|sealed| EventAt::Event(Box::new(sealed.clone())));
            assert_eq!(rows, expected.collect::<Vec<_>>(), "after {after}, up to {limit}");
        }
    }
}

/// The largest checkpoint that there is.
pub async fn a_checkpoint_seals_as_many_events_as_it_may(store: Arc<dyn Storage>) {
    for _ in 0..MAX_EVENTS + 1 {
        steps::record(&*store, &fixtures::event()).await;
    }
    let read = store.fresh_events(MAX_EVENTS).await.unwrap();
    let sealed = steps::seal_these(&*store, &read).await;
    assert_eq!(sealed.checkpoint.checkpoint.events, MAX_EVENTS);
    assert_eq!(fresh(&*store).await.len(), 1);
    steps::verify_seals(&*store).await;
}

/// Rule 3: the last one, and an earlier one.
pub async fn a_seal_that_is_repeated_is_answered_like_the_first(store: Arc<dyn Storage>) {
    recorded::<3>(&*store).await;
    let one = steps::seal(&*store).await;
    let again = async |command: &SealEvents| store.seal_events(command.clone()).await.unwrap();
    assert_eq!(again(&one).await, Sealed::Sealed);
    recorded::<2>(&*store).await;
    let two = steps::seal(&*store).await;
    let empty = steps::seal(&*store).await;
    for command in [&one, &two, &empty] {
        assert_eq!(again(command).await, Sealed::Sealed);
    }
    assert_eq!(steps::checkpoints(&*store).await, [one.checkpoint, two.checkpoint, empty.checkpoint]);
    assert_eq!(steps::sealed_events(&*store).await, [one.events, two.events].concat());
    assert_eq!(fresh(&*store).await, []);
}

/// What is stored of events and checkpoints.
type Stored = (Vec<Event>, Vec<SealedEvent>, Vec<SignedCheckpoint>, Option<SignedCheckpoint>);

async fn stored(store: &dyn Storage) -> Stored {
    (
        store.fresh_events(u32::MAX).await.unwrap(),
        steps::sealed_events(store).await,
        steps::checkpoints(store).await,
        store.last_checkpoint().await.unwrap(),
    )
}

/// Expects that a command is stale, and that nothing changed.
async fn is_stale(store: &dyn Storage, what: &str, command: &SealEvents) {
    let before = stored(store).await;
    assert_eq!(store.seal_events(command.clone()).await.unwrap(), Sealed::Stale, "{what}");
    assert_eq!(stored(store).await, before, "{what}");
}

/// What is altered, and how.
type Alteration<T> = (&'static str, fn(&mut T));

/// Its number, its first position and its count must fit, and so must the positions of its events.
pub async fn a_checkpoint_that_does_not_follow_the_last_is_stale(store: Arc<dyn Storage>) {
    let alterations: [Alteration<SealEvents>; 13] = [
        ("number 0", |seal| seal.checkpoint.checkpoint.number = 0),
        ("the last number", |seal| seal.checkpoint.checkpoint.number -= 1),
        ("a number is left out", |seal| seal.checkpoint.checkpoint.number += 1),
        ("it begins later", |seal| seal.checkpoint.checkpoint.first += 1),
        ("it begins earlier", |seal| seal.checkpoint.checkpoint.first -= 1),
        ("it has more events", |seal| seal.checkpoint.checkpoint.events += 1),
        ("it has fewer events", |seal| seal.checkpoint.checkpoint.events -= 1),
        ("it has none", |seal| seal.checkpoint.checkpoint.events = 0),
        ("an event is missing", |seal| drop(seal.events.pop())),
        ("a position is left out", |seal| seal.events[2].position += 1),
        ("a position is taken", |seal| seal.events[1].position -= 1),
        ("positions are in another order", |seal| seal.events.swap(0, 1)),
        ("all are later, with their events", |seal| {
            seal.checkpoint.checkpoint.first += 1;
            seal.events.iter_mut().for_each(|sealed| sealed.position += 1);
        }),
    ];
    for _ in 0..2 {
        let events = recorded::<3>(&*store).await;
        let last = store.last_checkpoint().await.unwrap();
        let good = fixtures::seal_events(last.as_ref(), events.to_vec());
        for (what, alter) in &alterations {
            let mut altered = good.clone();
            alter(&mut altered);
            is_stale(&*store, what, &altered).await;
        }
        assert_eq!(store.seal_events(good.clone()).await.unwrap(), Sealed::Sealed);
        let mut other = good.clone();
        other.checkpoint.jws.push('x');
        is_stale(&*store, "another checkpoint has its number", &other).await;
        let none = fixtures::seal_events(last.as_ref(), Vec::new());
        is_stale(&*store, "another checkpoint has its number, and events", &none).await;
    }
    steps::verify_seals(&*store).await;
}

/// Whoever deleted an account, or sealed, in the meantime.
pub async fn an_event_that_is_not_fresh_or_changed_cannot_be_sealed(store: Arc<dyn Storage>) {
    let alterations: [Alteration<Event>; 12] = [
        ("id", |event| event.id = fixtures::event_id()),
        ("kind", |event| event.kind = EventKind::SignOut),
        ("actor", |event| event.actor = Actor::Server),
        ("person", |event| event.person = Some(EventPerson::User(fixtures::user_id()))),
        ("pseudonym", |event| event.person = Some(EventPerson::Deleted(fixtures::pseudonym()))),
        ("wallet", |event| event.wallet.as_mut().unwrap().chain.push('0')),
        ("client", |event| event.client = None),
        ("address", |event| event.address = None),
        ("request", |event| event.request = None),
        ("details", |event| event.details = Details::default()),
        ("signed", |event| event.signed = Some(fixtures::signed())),
        ("not signed", |event| event.signed = None),
    ];
    let [sealed] = recorded(&*store).await;
    steps::seal(&*store).await;
    let events: [Event; 3] = recorded(&*store).await;
    let last = store.last_checkpoint().await.unwrap();
    let seal = |events: Vec<Event>| fixtures::seal_events(last.as_ref(), events);
    for (what, alter) in alterations {
        for place in 0..3 {
            let mut events = events.to_vec();
            alter(&mut events[place]);
            is_stale(&*store, what, &seal(events)).await;
        }
    }
    let [first, second, third] = events;
    let twice = seal(vec![first.clone(), second.clone(), first.clone()]);
    is_stale(&*store, "one event twice", &twice).await;
    let again = seal(vec![first.clone(), sealed, second.clone()]);
    is_stale(&*store, "one is sealed already", &again).await;
    let command = seal(vec![third, first, second]);
    assert_eq!(store.seal_events(command).await.unwrap(), Sealed::Sealed, "their order is the caller's");
    steps::verify_seals(&*store).await;
}

async fn forget(store: &dyn Storage, before: u64, checkpoints: u32) -> u64 {
    store.forget_events(ForgetEvents { before, checkpoints }).await.unwrap()
}

/// The positions of the sealed events that are left.
async fn positions(store: &dyn Storage) -> Vec<u64> {
    steps::sealed_events(store).await.iter().map(|sealed| sealed.position).collect()
}

/// The oldest first, up to the limit. Checkpoints stay, and so does whatever is fresh.
pub async fn events_are_forgotten_by_whole_checkpoints(store: Arc<dyn Storage>) {
    assert_eq!(forget(&*store, 100, 10).await, 0);
    let mut old = Vec::new();
    // Positions 1 and 2, none, 3, none, none, 4 to 6, 7.
    for count in [2, 0, 1, 0, 0, 3, 1] {
        for _ in 0..count {
            let event = fixtures::event();
            steps::record(&*store, &event).await;
            old.push(event);
        }
        steps::seal(&*store).await;
    }
    let fresh_ones = recorded::<2>(&*store).await;
    let checkpoints = steps::checkpoints(&*store).await;
    for (before, limit, forgotten, left) in [
        (0, 10, 0, 1..8),
        (1, 10, 0, 1..8),
        (2, 10, 0, 1..8),
        (8, 0, 0, 1..8),
        (3, 10, 2, 3..8),
        (3, 10, 0, 3..8),
        (6, 1, 1, 4..8),
        (6, 10, 0, 4..8),
        (7, 10, 3, 7..8),
        (7, 10, 0, 7..8),
    ] {
        assert_eq!(forget(&*store, before, limit).await, forgotten, "before {before}, up to {limit}");
        assert_eq!(positions(&*store).await, left.collect::<Vec<_>>(), "before {before}, up to {limit}");
    }
    assert_eq!(steps::checkpoints(&*store).await, checkpoints);
    assert_eq!(fresh(&*store).await, ids(&fresh_ones));
    assert_eq!(find(&*store, old[0].id).await, None);
    let left = [&old[6..], &fresh_ones].concat();
    assert_eq!(steps::events(&*store).await, left);
    assert_eq!(forget(&*store, 100, 10).await, 1, "a time after everything forgets what is sealed");
    steps::seal(&*store).await;
    assert_eq!(positions(&*store).await, [8, 9], "no position is given twice");
    assert!(store.record_event(old[0].clone()).await.unwrap(), "what is forgotten is not known");
}

/// A step takes so many checkpoints that have events; those without do not count.
pub async fn forgetting_goes_in_steps(store: Arc<dyn Storage>) {
    for count in [1, 0, 2, 0, 3, 1, 0, 2] {
        for _ in 0..count {
            steps::record(&*store, &fixtures::event()).await;
        }
        steps::seal(&*store).await;
    }
    let mut steps_taken = Vec::new();
    loop {
        let forgotten = forget(&*store, 10, 2).await;
        if forgotten == 0 {
            break;
        }
        steps_taken.push(forgotten);
    }
    assert_eq!(steps_taken, [3, 4, 2]);
    assert!(positions(&*store).await.is_empty());
}

fn lease(name: &'static str, holder: u8, from: i64, until: i64) -> TakeLease {
    let at = |seconds| NOW + Duration::seconds(seconds);
    TakeLease { name, holder: [holder; 16], now: at(from), until: at(until) }
}

/// It is free, held, extended, given back by taking it until now, and free again when it has ended.
pub async fn a_lease_has_one_holder_at_a_time(store: Arc<dyn Storage>) {
    for (what, command, is_given) in [
        ("it is free", lease("events", 1, 0, 30), true),
        ("another one asks", lease("events", 2, 0, 30), false),
        ("another one asks at the last moment", lease("events", 2, 29, 90), false),
        ("the holder extends it", lease("events", 1, 20, 60), true),
        ("the first end is past", lease("events", 2, 30, 90), false),
        ("what was refused moved nothing", lease("events", 3, 59, 120), false),
        ("it has ended", lease("events", 2, 60, 90), true),
        ("the former holder asks", lease("events", 1, 61, 200), false),
        ("the holder gives it back", lease("events", 2, 62, 62), true),
        ("it was given back", lease("events", 1, 62, 100), true),
        ("it is held once more", lease("events", 2, 63, 100), false),
        ("long after its end", lease("events", 3, 1_000, 1_030), true),
        ("the same holder long after", lease("events", 3, 2_000, 2_030), true),
    ] {
        assert_eq!(store.take_lease(command).await.unwrap(), is_given, "{what}");
    }
}

/// One for each name.
pub async fn leases_of_other_names_are_others(store: Arc<dyn Storage>) {
    assert!(store.take_lease(lease("events", 1, 0, 30)).await.unwrap());
    assert!(store.take_lease(lease("push", 2, 0, 30)).await.unwrap());
    assert!(!store.take_lease(lease("push", 1, 0, 30)).await.unwrap());
    assert!(!store.take_lease(lease("events", 2, 0, 30)).await.unwrap());
    assert!(store.take_lease(lease("Events", 2, 0, 30)).await.unwrap());
}

/// A user with a wallet, about whom there are sealed and fresh events, and what nobody must find afterwards.
struct Known {
    login: CompleteLogin,
    /// The ids of the events that name the user, or the wallet and no user, oldest first.
    events: Vec<EventId>,
    /// The ids of those that name the user.
    of_user: Vec<EventId>,
}

/// Signs in several times, and is named by an operator. The first part of it is sealed, in turns with others'
/// events; the last is fresh.
async fn known(store: &dyn Storage) -> Known {
    let login = steps::sign_in(store).await;
    let (mut events, mut of_user) = (Vec::new(), Vec::new());
    for round in 0..4 {
        let mut again = fixtures::complete_login_of(login.account.clone());
        let event = Event { wallet: Some(login.account.clone()), ..fixtures::event() };
        events.push(event.id);
        of_user.push(event.id);
        again.event = Some(Box::new(event));
        assert_eq!(steps::user_of(store, &again).await, login.new_user);

        let group = steps::group(store).await;
        let mut member = fixtures::add_member(&group, &Subject::User(login.new_user));
        let mut event = fixtures::event().about(login.new_user);
        (event.kind, event.actor) = (EventKind::GroupMemberAdded, Actor::Key("desk".to_owned()));
        event.wallet = None;
        let signature = ChangeSignature { account: login.account.clone(), ..fixtures::change_signature() };
        event.signed = Some(Signed::of(fixtures::grant_id(), &[signature]));
        events.push(event.id);
        of_user.push(event.id);
        member.event = Some(Box::new(event));
        store.add_member(member).await.unwrap();

        let mut event = fixtures::event();
        (event.kind, event.wallet) = (EventKind::WalletBlocked, Some(login.account.clone()));
        events.push(event.id);
        steps::record(store, &event).await;
        steps::record(store, &fixtures::event().about(fixtures::user_id())).await;
        steps::record(store, &fixtures::event()).await;
        if round % 2 == 0 {
            steps::seal(store).await;
        }
    }
    assert!(fresh(store).await.contains(events.last().unwrap()));
    Known { login, events, of_user }
}

/// The deletion of a user, with an event as rich as any.
fn deletion(user: UserId, wallet: &WalletAccount) -> DeleteAccount {
    let mut event = fixtures::event().about(user);
    (event.kind, event.wallet) = (EventKind::AccountDeleted, Some(wallet.clone()));
    DeleteAccount { event: Some(Box::new(event)), ..fixtures::delete_account(user) }
}

/// Fresh or sealed, all of them, and the event of the deletion itself. Nobody else's event changes.
pub async fn the_events_of_a_deleted_account_get_its_pseudonym(store: Arc<dyn Storage>) {
    let bystander = known(&*store).await;
    let Known { login, events, .. } = known(&*store).await;
    let command = deletion(login.new_user, &login.account);
    let before = steps::events(&*store).await;
    let unsealed = fresh(&*store).await;
    assert_eq!(store.count_events_of(command.pseudonym).await.unwrap(), 0);
    assert!(store.delete_account(command.clone()).await.unwrap());

    let mut expected: Vec<_> = before
        .into_iter()
        .map(|event| if events.contains(&event.id) { event.forgetting(command.pseudonym) } else { event })
        // What is sealed stays sealed.
        .map(|event| {
            let is_unsealed = events.contains(&event.id) && unsealed.contains(&event.id);
            Event { request: event.request.clone().filter(|_| !is_unsealed), ..event }
        })
        .collect();
    let told = command.event.unwrap().of_deletion(command.pseudonym, u64::try_from(events.len()).unwrap());
    expected.push(told.clone());
    assert_eq!(steps::events(&*store).await, expected);
    for id in events.iter().copied().chain([told.id]) {
        let found = find(&*store, id).await.unwrap().event;
        assert_eq!(found.person, Some(EventPerson::Deleted(command.pseudonym)));
    }
    let theirs = filtered(&*store, &about(Subject::User(EventPerson::Deleted(command.pseudonym)))).await;
    assert_eq!(ids(&theirs), [&events[..], &[told.id]].concat());
    assert_eq!(filtered(&*store, &about(Subject::User(EventPerson::User(login.new_user)))).await, []);
    let others = filtered(&*store, &about(Subject::User(EventPerson::User(bystander.login.new_user)))).await;
    assert_eq!(ids(&others), bystander.of_user);
}

/// In steps, so that other writes need not wait. Until the last one the user is left to forget. A step for another user, or
/// with another pseudonym, changes nothing.
pub async fn many_events_of_a_deleted_account_get_its_pseudonym_in_steps(store: Arc<dyn Storage>) {
    let Known { login, events, .. } = known(&*store).await;
    for _ in 0..2 * EVENTS_A_STEP {
        steps::record(&*store, &fixtures::event().about(login.new_user)).await;
    }
    let living = steps::sign_in(&*store).await.new_user;
    steps::record(&*store, &fixtures::event().about(living)).await;
    loop {
        let fresh = store.fresh_events(100).await.unwrap();
        if fresh.is_empty() {
            break;
        }
        steps::seal_these(&*store, &fresh).await;
    }
    let command = deletion(login.new_user, &login.account);
    let DeleteAccount { user, pseudonym, ref hiding, .. } = command;
    let step = |user, pseudonym| ForgetEventsOf { user, pseudonym, hiding: hiding.clone() };
    assert!(store.delete_account(command.clone()).await.unwrap());
    let number = u64::try_from(events.len()).unwrap() + u64::from(2 * EVENTS_A_STEP);
    let deletion = find(&*store, command.event.as_ref().unwrap().id).await.unwrap().event;
    assert!(deletion.details.as_str().ends_with(&format!(",\"events\":{number}}}")), "{deletion:?}");

    let left = LeftToForget { user, pseudonym, proof: hiding.proof_of_user(user) };
    assert_eq!(store.left_to_forget(10).await.unwrap(), [left]);
    assert_eq!(store.left_to_forget(0).await.unwrap(), []);
    let hidden = store.count_events_of(pseudonym).await.unwrap();
    assert!(hidden < number);
    let before = steps::events(&*store).await;
    assert!(store.forget_events_of(step(living, pseudonym)).await.unwrap());
    assert!(store.forget_events_of(step(user, fixtures::pseudonym())).await.unwrap());
    let again = DeleteAccount { event: None, ..fixtures::delete_account(user) };
    assert!(again.pseudonym != pseudonym && !store.delete_account(again).await.unwrap(), "deleted already");
    assert_eq!((steps::events(&*store).await, store.left_to_forget(10).await.unwrap()), (before, vec![left]));

    let mut taken = 1;
    while !store.forget_events_of(step(user, pseudonym)).await.unwrap() {
        taken += 1;
    }
    assert!((2..=3).contains(&taken), "{taken} steps");
    assert_eq!(store.left_to_forget(10).await.unwrap(), []);
    assert_eq!(store.count_events_of(pseudonym).await.unwrap(), number);
    assert_eq!(filtered(&*store, &about(Subject::User(EventPerson::User(user)))).await, []);
    assert!(store.forget_events_of(step(user, pseudonym)).await.unwrap(), "repeated");
}

/// The count that the deletion tells, so that nobody can hide other events behind the pseudonym. It stays when
/// everything is sealed, until events are forgotten.
pub async fn the_events_of_a_deleted_account_are_counted(store: Arc<dyn Storage>) {
    let other = known(&*store).await;
    let Known { login, events, .. } = known(&*store).await;
    let [command, later] =
        [deletion(login.new_user, &login.account), deletion(other.login.new_user, &other.login.account)];
    let count = async |command: &DeleteAccount| store.count_events_of(command.pseudonym).await.unwrap();
    assert!(store.delete_account(command.clone()).await.unwrap());
    let number = u64::try_from(events.len()).unwrap();
    assert_eq!(count(&command).await, number);
    assert!(store.delete_account(later.clone()).await.unwrap());
    assert!(!store.delete_account(command.clone()).await.unwrap(), "repeated");
    steps::seal(&*store).await;
    assert_eq!((count(&command).await, count(&later).await), (number, number));
    let deletion = find(&*store, command.event.as_ref().unwrap().id).await.unwrap().event;
    assert!(deletion.details.as_str().ends_with(&format!(",\"events\":{number}}}")), "{deletion:?}");
    assert_eq!(store.count_events_of(fixtures::pseudonym()).await.unwrap(), 0);
    assert!(forget(&*store, 1_000, 1_000).await > 0);
    assert_eq!(count(&command).await, 0);
}

/// The leaf stays the same, and the commitment is faithful though its salt is gone. In its place is the proof that the
/// server did it.
pub async fn a_deleted_account_breaks_no_seal(store: Arc<dyn Storage>) {
    let Known { login, events, .. } = known(&*store).await;
    let before = steps::sealed_events(&*store).await;
    let command = deletion(login.new_user, &login.account);
    assert!(store.delete_account(command.clone()).await.unwrap());
    let after = steps::sealed_events(&*store).await;
    assert_eq!(after.len(), before.len());
    let mut forgotten = 0;
    for (sealed, before) in after.iter().zip(before) {
        assert_eq!(sealed.leaf(), before.leaf());
        let expected = if events.contains(&before.event.id) {
            forgotten += 1;
            before.forgetting(command.pseudonym, &command.hiding)
        } else {
            before
        };
        assert_eq!(*sealed, expected);
    }
    assert!(forgotten > 0);
    steps::verify_seals(&*store).await;
    steps::seal(&*store).await;
    steps::verify_seals(&*store).await;
}

/// No byte of user, wallet or address, nor where an operator's event names the wallet and no one else.
pub async fn nothing_in_the_events_leads_to_a_deleted_account(store: Arc<dyn Storage>) {
    let Known { login, events, .. } = known(&*store).await;
    let named = steps::events(&*store).await;
    let theirs = |event: &&Event| events.contains(&event.id);
    let mut addresses: Vec<_> = named.iter().filter(theirs).filter_map(|event| event.address).collect();
    assert_eq!(addresses.len(), events.len());
    let user = login.new_user.to_string();
    let command = deletion(login.new_user, &login.account);
    addresses.extend(command.event.as_ref().unwrap().address);
    assert!(store.delete_account(command).await.unwrap());
    for sealed in [false, true] {
        let left = steps::events(&*store).await;
        let rows = steps::sealed_events(&*store).await;
        assert!(!format!("{left:?} {rows:?}").contains(&user), "sealed: {sealed}");
        for address in left.iter().filter_map(|event| event.address) {
            assert!(!addresses.contains(&address), "{address} is left, sealed: {sealed}");
        }
        assert!(!format!("{left:?} {rows:?}").contains(&login.account.address), "sealed: {sealed}");
        assert_eq!(filtered(&*store, &about(Subject::Wallet(login.account.clone()))).await, []);
        steps::seal(&*store).await;
    }
}

/// The operator wants no events any more, and there are old ones.
pub async fn a_deletion_without_an_event_takes_the_person_away_too(store: Arc<dyn Storage>) {
    let Known { login, events, .. } = known(&*store).await;
    let before = steps::events(&*store).await.len();
    let command = fixtures::delete_account(login.new_user);
    let pseudonym = command.pseudonym;
    assert!(store.delete_account(command).await.unwrap());
    assert_eq!(steps::events(&*store).await.len(), before);
    assert_eq!(filtered(&*store, &about(Subject::User(EventPerson::User(login.new_user)))).await, []);
    let theirs = filtered(&*store, &about(Subject::User(EventPerson::Deleted(pseudonym)))).await;
    assert_eq!(ids(&theirs), events);
    steps::verify_seals(&*store).await;
}

/// Whoever comes back is somebody else, and their events are theirs.
pub async fn a_wallet_of_a_deleted_account_begins_with_new_events(store: Arc<dyn Storage>) {
    let Known { login, events, .. } = known(&*store).await;
    let command = deletion(login.new_user, &login.account);
    assert!(store.delete_account(command.clone()).await.unwrap());
    let mut back = fixtures::complete_login_of(login.account.clone());
    let event = Event { wallet: Some(login.account), ..fixtures::event() };
    back.event = Some(Box::new(event.clone()));
    assert_eq!(steps::user_of(&*store, &back).await, back.new_user);
    let theirs = filtered(&*store, &about(Subject::User(EventPerson::User(back.new_user)))).await;
    assert_eq!(theirs, [event.about(back.new_user)]);
    let number = u64::try_from(events.len()).unwrap();
    assert_eq!(store.count_events_of(command.pseudonym).await.unwrap(), number);
}

/// What was read before the deletion is not sealed after it.
pub async fn a_seal_from_before_a_deletion_is_stale(store: Arc<dyn Storage>) {
    let Known { login, .. } = known(&*store).await;
    let last = store.last_checkpoint().await.unwrap();
    let read = store.fresh_events(u32::MAX).await.unwrap();
    assert!(read.iter().any(|event| event.person == Some(EventPerson::User(login.new_user))));
    let command = fixtures::seal_events(last.as_ref(), read);
    assert!(store.delete_account(deletion(login.new_user, &login.account)).await.unwrap());
    is_stale(&*store, "an account was deleted", &command).await;
    steps::seal(&*store).await;
    steps::verify_seals(&*store).await;
}

/// Fresh and sealed events, checkpoints, what was forgotten, and who holds a lease.
pub async fn events_and_checkpoints_outlive_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    recorded::<2>(&*store).await;
    steps::seal(&*store).await;
    let Known { login, .. } = known(&*store).await;
    assert!(store.delete_account(deletion(login.new_user, &login.account)).await.unwrap());
    assert_eq!(forget(&*store, 3, 1).await, 2);
    assert!(store.take_lease(lease("events", 1, 0, 30)).await.unwrap());
    let (events, stored_before) = (steps::events(&*store).await, stored(&*store).await);
    drop(store);
    let store = open().await;
    assert_eq!(steps::events(&*store).await, events);
    assert_eq!(stored(&*store).await, stored_before);
    assert!(!store.take_lease(lease("events", 2, 29, 60)).await.unwrap());
    assert_eq!(forget(&*store, 3, 1).await, 0);
    steps::seal(&*store).await;
}

/// From the answer on: what is recorded, sealed, forgotten and held.
pub async fn events_are_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = [open().await, open().await];
    for _ in 0..8 {
        let [event] = recorded(&*here).await;
        assert_eq!(there.fresh_events(u32::MAX).await.unwrap(), std::slice::from_ref(&event));
        let command = steps::seal(&*there).await;
        assert_eq!(here.last_checkpoint().await.unwrap().as_ref(), Some(&command.checkpoint));
        let position = Some(command.events[0].position);
        assert_eq!(find(&*here, event.id).await, Some(FoundEvent { event, position }));
    }
    assert!(here.take_lease(lease("events", 1, 0, 30)).await.unwrap());
    assert!(!there.take_lease(lease("events", 2, 1, 60)).await.unwrap());
    assert_eq!(there.forget_events(ForgetEvents { before: 9, checkpoints: 8 }).await.unwrap(), 8);
    assert_eq!(steps::sealed_events(&*here).await, []);
}

/// A text that was signed for several people goes with the first of them, and their own events stay: fresh or sealed.
pub async fn the_text_of_several_people_goes_with_one_of_them(store: Arc<dyn Storage>) {
    for is_sealed in [false, true] {
        let (gone, stays) = (steps::sign_in(&*store).await, steps::sign_in(&*store).await);
        let mut texts = Vec::new();
        for (one, other) in [(gone.new_user, stays.new_user), (stays.new_user, fixtures::user_id())] {
            let mut text = fixtures::event();
            let signature = ChangeSignature { account: gone.account.clone(), ..fixtures::change_signature() };
            (text.kind, text.wallet) = (EventKind::ChangeSigned, None);
            text.signed = Some(Signed::of(fixtures::grant_id(), &[signature]));
            steps::record(&*store, &text).await;
            for (user, kind) in [(one, EventKind::GroupMemberAdded), (other, EventKind::GroupMemberRemoved)] {
                let mut event = Event { kind, wallet: None, ..fixtures::event().about(user) };
                event.name_text(text.id);
                steps::record(&*store, &event).await;
            }
            texts.push(text);
        }
        // Something else stays, even if a member's event names it as a text.
        let other = fixtures::event();
        let mut naming =
            Event { kind: EventKind::GroupMemberAdded, ..fixtures::event().about(gone.new_user) };
        naming.name_text(other.id);
        steps::record(&*store, &other).await;
        steps::record(&*store, &naming).await;
        if is_sealed {
            steps::seal(&*store).await;
        }
        let before = steps::events(&*store).await;
        let command = deletion(gone.new_user, &gone.account);
        assert!(store.delete_account(command.clone()).await.unwrap());
        let person = Some(EventPerson::User(gone.new_user));
        let mut hidden = 0;
        for event in before {
            let now = find(&*store, event.id).await.unwrap().event;
            if event.person == person || event.id == texts[0].id {
                let request = event.request.clone().filter(|_| is_sealed);
                assert_eq!(now, Event { request, ..event.forgetting(command.pseudonym) });
                hidden += 1;
            } else {
                assert_eq!(now, event);
            }
        }
        assert_eq!(store.count_events_of(command.pseudonym).await.unwrap(), hidden);
        let deleted = store.find_event(command.event.as_ref().unwrap().id).await.unwrap().unwrap().event;
        assert!(deleted.details.as_str().contains(&format!("\"events\":{hidden}")), "{:?}", deleted.details);
    }
}
