//! People see where they signed in: their own events, and nothing that only operators may know.

use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson};
use countersign_domain::id::{ClientId, EventId, UserId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::secret::Secret;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::{EntropyExt, NameWallet};
use time::Duration;

use crate::account::read_account::read_account;
use crate::account::read_events::{
    EventClient, Happened, OWN_EVENTS_ON_A_PAGE, OwnEvents, OwnEventsPage, read_events,
};
use crate::context::cause::EventPolicy;
use crate::steps::login::{AccountError, Browser};
use crate::tests::world::{World, toy};

/// A person who is signed in on a browser.
struct Visitor {
    browser: Browser,
    user: UserId,
}

async fn visitor(world: &World, address: &str) -> Visitor {
    let policy = &world.context.policy;
    let mut request =
        PendingAuthorization::for_account(&policy.public_url, world.context.clock.now(), &policy.lifetimes);
    let mut browser = Browser::default();
    world.remember(&mut browser, &mut request, address).await;
    let user = read_account(&world.context, &browser).await.unwrap().user;
    Visitor { browser, user }
}

/// A visitor who signed in a second ago, so that what this left is older than all that follows.
async fn quiet_visitor(world: &World, address: &str) -> Visitor {
    let visitor = visitor(world, address).await;
    world.advance(Duration::seconds(1));
    visitor
}

fn event(world: &World, user: UserId, kind: EventKind) -> Event {
    Event {
        id: EventId::at(world.context.clock.now(), world.context.entropy.bytes()),
        kind,
        actor: Actor::Person,
        person: Some(EventPerson::User(user)),
        wallet: None,
        client: None,
        address: None,
        request: Some("a-request".to_owned()),
        details: Details::default(),
        signed: None,
    }
}

async fn store(world: &World, event: Event) -> EventId {
    let id = event.id;
    assert!(world.storage.record_event(event).await.unwrap());
    id
}

async fn page_after(world: &World, visitor: &Visitor, after: Option<EventId>) -> OwnEventsPage {
    match read_events(&world.context, &visitor.browser, after).await.unwrap() {
        OwnEvents::Kept(page) => page,
        OwnEvents::NotKept => panic!("events are kept"),
    }
}

async fn page(world: &World, visitor: &Visitor) -> OwnEventsPage {
    page_after(world, visitor, None).await
}

fn since_now(world: &World, page: &OwnEventsPage) -> Vec<Happened> {
    let began = world.context.clock.now() - Duration::milliseconds(500);
    page.events.iter().filter(|event| event.id.at_time() > began).map(|event| event.happened).collect()
}

#[tokio::test]
async fn each_kind_is_told_in_terms_of_the_person_or_not_at_all() {
    let detail = |name, value: &str| Details::default().text(name, value);
    let server = || Actor::Server;
    let operator = || Actor::CommandLine("root@host".to_owned());
    let nothing = Details::default;
    let table = [
        (EventKind::SignIn, Actor::Person, detail("way", "browser"), Some(Happened::SignedIn)),
        (EventKind::SignIn, Actor::Person, detail("way", "account"), Some(Happened::SignedIn)),
        (EventKind::SignIn, Actor::Person, nothing(), Some(Happened::SignedIn)),
        (EventKind::SignIn, Actor::Person, detail("way", "device"), Some(Happened::DeviceSignedIn)),
        (EventKind::SignIn, Actor::Person, detail("way", "program"), Some(Happened::ProgramSignedIn)),
        (EventKind::SignInContinued, Actor::Person, detail("way", "browser"), Some(Happened::Continued)),
        (EventKind::SignInContinued, Actor::Person, detail("way", "device"), Some(Happened::DeviceSignedIn)),
        (EventKind::SignOut, Actor::Person, nothing().flag("revoked", true), Some(Happened::SignedOut)),
        (EventKind::SessionEnded, Actor::Person, detail("sessions", "other"), Some(Happened::SessionEnded)),
        (
            EventKind::SessionEnded,
            Actor::Person,
            detail("sessions", "all"),
            Some(Happened::SignedOutEverywhere),
        ),
        (EventKind::SessionEnded, Actor::Person, detail("sessions", "this"), None),
        (EventKind::SessionEnded, server(), detail("sessions", "this"), None),
        (EventKind::SessionEnded, server(), detail("sessions", "all"), None),
        (EventKind::SessionEnded, operator(), detail("sessions", "all"), None),
        (EventKind::ConsentRevoked, Actor::Person, nothing(), Some(Happened::ConsentRevoked)),
        (EventKind::WalletLinked, Actor::Person, nothing(), Some(Happened::WalletLinked)),
        (EventKind::WalletUnlinked, Actor::Person, nothing(), Some(Happened::WalletUnlinked)),
        (EventKind::EmailConfirmed, Actor::Person, nothing(), Some(Happened::EmailConfirmed)),
        (
            EventKind::GrantRevoked,
            Actor::Client,
            detail("reason", "client_request"),
            Some(Happened::AccessGivenUp),
        ),
        (
            EventKind::GrantRevoked,
            Actor::Client,
            detail("reason", "code_replayed"),
            Some(Happened::AccessEnded),
        ),
        (
            EventKind::GrantRevoked,
            Actor::Client,
            detail("reason", "verifier_mismatch"),
            Some(Happened::AccessEnded),
        ),
        (
            EventKind::GrantRevoked,
            Actor::Client,
            detail("reason", "refresh_reused"),
            Some(Happened::AccessEnded),
        ),
        (EventKind::GrantRevoked, server(), detail("reason", "blocked"), None),
        (EventKind::GrantRevoked, server(), detail("reason", "other_user"), None),
        (EventKind::GrantRevoked, server(), detail("reason", "of another release"), None),
        (EventKind::GrantRevoked, operator(), nothing(), None),
        (EventKind::GrantRevoked, server(), Details::from_stored("no object".to_owned()), None),
        (EventKind::UserSignedOut, operator(), nothing(), Some(Happened::SignedOutByOperator)),
    ];
    let told: Vec<EventKind> = table.iter().map(|(kind, ..)| *kind).collect();
    let never = EventKind::ALL.iter().filter(|kind| !told.contains(kind));
    let never = never.map(|kind| (*kind, operator(), nothing(), None));
    let world = World::new();
    let visitor = quiet_visitor(&world, "toy-ann").await;
    let mut rows = 0;
    for (kind, actor, details, expected) in table.into_iter().chain(never) {
        world.advance(Duration::seconds(1));
        let told = Event { actor, details, ..event(&world, visitor.user, kind) };
        let shown = format!("{told:?}");
        store(&world, told).await;
        assert_eq!(since_now(&world, &page(&world, &visitor).await), Vec::from_iter(expected), "{shown}");
        rows += 1;
    }
    assert_eq!(rows, 28 + EventKind::ALL.len() - 10);
}

#[tokio::test]
async fn an_event_names_the_client_of_now_and_the_wallet_as_its_user_calls_it() {
    let world = World::new();
    let client = ClientId::parse(&world.client().await.id).unwrap();
    let gone = ClientId::parse("0197c2a4-6f00-7d3e-9b1a-4f6c2f0e8d11").unwrap();
    let visitor = visitor(&world, "toy-ann").await;
    let name = WalletName::parse("Savings").ok();
    let command = NameWallet { user: visitor.user, wallet: toy("toy-ann"), name };
    assert!(world.storage.name_wallet(command).await.unwrap());
    let network = PeerAddress::network("192.0.2.77".parse().unwrap());
    for (client, wallet) in [(client, "toy-ann"), (gone, "toy-lost")] {
        world.advance(Duration::seconds(1));
        let event = event(&world, visitor.user, EventKind::SignIn);
        let (client, wallet, address) = (Some(client), Some(toy(wallet)), Some(network));
        store(&world, Event { client, wallet, address, ..event }).await;
    }
    let shown = page(&world, &visitor).await;
    let [lost, known, ..] = &shown.events[..] else { panic!("{shown:?}") };
    assert!(matches!(&lost.client, Some(EventClient::Gone(id)) if *id == gone), "{lost:?}");
    assert_eq!((&lost.wallet, &lost.wallet_name), (&Some(toy("toy-lost")), &None));
    let Some(EventClient::Known(id, is)) = &known.client else { panic!("{known:?}") };
    assert_eq!((*id, is.name.as_str(), is.self_registered), (client, "Photo Album", true));
    assert_eq!(known.wallet_name.as_ref().unwrap().to_string(), "Savings");
    assert_eq!(known.address.unwrap().to_string(), "192.0.2.0/24");
}

#[tokio::test]
async fn nobody_else_s_address_is_shown() {
    let world = World::new();
    let visitor = quiet_visitor(&world, "toy-ann").await;
    let address = Some(PeerAddress::Whole("192.0.2.77".parse().unwrap()));
    let of_client = Event {
        actor: Actor::Client,
        address,
        details: Details::default().text("reason", "client_request"),
        signed: None,
        ..event(&world, visitor.user, EventKind::GrantRevoked)
    };
    let of_key = Event {
        actor: Actor::Key("CI".to_owned()),
        address,
        ..event(&world, visitor.user, EventKind::UserSignedOut)
    };
    store(&world, of_client).await;
    store(&world, of_key).await;
    let shown = page(&world, &visitor).await;
    let addresses: Vec<_> = shown.events.iter().take(2).map(|event| event.address).collect();
    assert_eq!(addresses, [None, None]);
}

#[tokio::test]
async fn pages_join_without_a_gap_and_what_is_left_out_leaves_no_trace() {
    let world = World::new();
    let visitor = quiet_visitor(&world, "toy-ann").await;
    let mut stored = Vec::new();
    for number in 0..3 * OWN_EVENTS_ON_A_PAGE {
        world.advance(Duration::seconds(1));
        stored.push(store(&world, event(&world, visitor.user, EventKind::SignOut)).await);
        // More than a page of what a block left, also just where a page ends.
        let hidden = if number == OWN_EVENTS_ON_A_PAGE { 2 * OWN_EVENTS_ON_A_PAGE } else { 1 };
        for _ in 0..hidden {
            world.advance(Duration::seconds(1));
            let details = Details::default().text("reason", "blocked");
            let left = event(&world, visitor.user, EventKind::GrantRevoked);
            store(&world, Event { actor: Actor::Server, details, ..left }).await;
        }
    }
    stored.reverse();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let shown = page_after(&world, &visitor, after).await;
        let ids: Vec<EventId> = shown.events.iter().map(|event| event.id).collect();
        seen.extend(ids.iter().copied().filter(|id| stored.contains(id)));
        let Some(older) = shown.older else { break };
        assert_eq!(ids.len(), OWN_EVENTS_ON_A_PAGE, "only the last page is shorter");
        assert_eq!(Some(&older), ids.last(), "the next page begins after what was seen");
        after = Some(older);
    }
    assert_eq!(seen, stored);
}

#[tokio::test]
async fn the_last_event_of_a_full_page_promises_no_older_one_that_is_left_out() {
    let world = World::new();
    let visitor = visitor(&world, "toy-ann").await;
    world.advance(Duration::days(29));
    let details = Details::default().text("reason", "blocked");
    let left = event(&world, visitor.user, EventKind::GrantRevoked);
    store(&world, Event { actor: Actor::Server, details, ..left }).await;
    world.advance(Duration::days(2));
    let visitor = Visitor { browser: self::visitor(&world, "toy-ann").await.browser, ..visitor };
    let already = page(&world, &visitor).await.events.len();
    for _ in already..OWN_EVENTS_ON_A_PAGE {
        world.advance(Duration::seconds(1));
        store(&world, event(&world, visitor.user, EventKind::SignOut)).await;
    }
    let shown = page(&world, &visitor).await;
    assert_eq!((shown.events.len(), shown.older), (OWN_EVENTS_ON_A_PAGE, None));
}

#[tokio::test]
async fn nobody_sees_the_events_of_somebody_else_whatever_they_ask_for() {
    let world = World::new();
    let (ann, bob) = (visitor(&world, "toy-ann").await, visitor(&world, "toy-bob").await);
    let mut of_ann = Vec::new();
    for _ in 0..5 {
        world.advance(Duration::seconds(1));
        of_ann.push(store(&world, event(&world, ann.user, EventKind::SignOut)).await);
    }
    let of_bob = store(&world, event(&world, bob.user, EventKind::EmailConfirmed)).await;
    world.advance(Duration::seconds(1));
    let unknown = EventId::at(world.context.clock.now(), [7; 10]);
    for after in of_ann.iter().copied().map(Some).chain([None, Some(of_bob), Some(unknown)]) {
        let shown = page_after(&world, &bob, after).await;
        assert!(shown.events.iter().all(|event| !of_ann.contains(&event.id)), "{after:?}: {shown:?}");
    }
    // An id of Ann's tells Bob no more than an id that is nobody's does.
    let near = EventId::at(of_ann[2].at_time(), [0; 10]);
    let ids = |page: OwnEventsPage| page.events.iter().map(|event| event.id).collect::<Vec<_>>();
    let of_hers = ids(page_after(&world, &bob, Some(of_ann[2])).await);
    assert_eq!(of_hers, ids(page_after(&world, &bob, Some(near)).await));
}

#[tokio::test]
async fn events_of_the_last_thirty_days_are_shown_or_of_the_time_for_which_they_are_kept() {
    let mut world = World::new();
    let visitor = visitor(&world, "toy-ann").await;
    let old = store(&world, event(&world, visitor.user, EventKind::SignOut)).await;
    world.advance(Duration::days(30));
    let visitor = Visitor { browser: self::visitor(&world, "toy-ann").await.browser, ..visitor };
    let has_old = |page: &OwnEventsPage| page.events.iter().any(|event| event.id == old);
    assert!(has_old(&page(&world, &visitor).await));
    world.advance(Duration::seconds(1));
    let shown = page(&world, &visitor).await;
    assert!(!has_old(&shown));
    assert_eq!(shown.since, world.context.clock.now() - Duration::days(30));

    let recent = store(&world, event(&world, visitor.user, EventKind::SignOut)).await;
    world.context.policy.events = EventPolicy { retention: Some(Duration::hours(1)), whole_addresses: false };
    world.advance(Duration::minutes(59));
    assert_eq!(page(&world, &visitor).await.events[0].id, recent);
    world.advance(Duration::minutes(2));
    assert!(page(&world, &visitor).await.events.is_empty());
}

#[tokio::test]
async fn a_server_that_keeps_no_events_shows_none_even_if_some_are_left() {
    let mut world = World::new();
    let visitor = visitor(&world, "toy-ann").await;
    store(&world, event(&world, visitor.user, EventKind::SignOut)).await;
    world.context.policy.events = EventPolicy { retention: None, whole_addresses: false };
    let found = read_events(&world.context, &visitor.browser, None).await.unwrap();
    assert!(matches!(found, OwnEvents::NotKept));
}

#[tokio::test]
async fn whoever_is_not_signed_in_sees_no_events() {
    let world = World::new();
    visitor(&world, "toy-ann").await;
    for login in [None, Some(Secret::new("x"))] {
        let nobody = Browser { login, ..Browser::default() };
        let error = read_events(&world.context, &nobody, None).await.unwrap_err();
        assert!(matches!(error, AccountError::SignedOut));
    }
}

#[test]
fn every_happening_has_a_name_of_its_own() {
    let mut names: Vec<_> = Happened::ALL.iter().map(|happened| happened.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Happened::ALL.len());
}
