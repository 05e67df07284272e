//! Every act leaves the event that tells of it, and a refusal leaves none. Without retention nothing leaves any.

mod of_clients;
mod of_operators;
mod of_people;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;

use countersign_domain::event::{Actor, Event, EventKind, EventPerson};
use countersign_domain::id::{ClientId, EventId, UserId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::secret::Secret;
use countersign_usecases::Management;
use countersign_usecases::context::cause::Cause;
use serde_json::Value;

use crate::tests::world::{TestClient, World, toy};

/// A world in which the test looks at the events after each act.
struct Scene {
    world: World,
    /// The events that were looked at.
    seen: BTreeSet<EventId>,
    kinds: BTreeSet<EventKind>,
    operator: Cause,
}

/// What an event tells.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    kind: EventKind,
    cause: Cause,
    person: Option<EventPerson>,
    wallet: Option<String>,
    client: Option<ClientId>,
    details: Value,
}

impl Told {
    fn of(kind: EventKind, cause: &Cause, details: Value) -> Self {
        Self { kind, cause: cause.clone(), person: None, wallet: None, client: None, details }
    }

    fn user(self, user: UserId) -> Self {
        Self { person: Some(EventPerson::User(user)), ..self }
    }

    fn wallet(self, address: &str) -> Self {
        Self { wallet: Some(toy(address).caip10()), ..self }
    }

    fn client(self, client: &TestClient) -> Self {
        Self { client: ClientId::named(&client.id), ..self }
    }
}

impl From<Event> for Told {
    fn from(event: Event) -> Self {
        let Event { id: _, kind, actor, person, wallet, client, address, request, details, signed } = event;
        Self {
            kind,
            cause: Cause { actor, address, logged_address: None, request, signed: signed.map(Arc::new) },
            person,
            wallet: wallet.map(|wallet| wallet.caip10()),
            client,
            details: serde_json::from_str(details.as_str()).unwrap(),
        }
    }
}

/// The cause of what this actor asks for over HTTP.
fn over_http(actor: Actor) -> Cause {
    Cause {
        address: PeerAddress::parse("203.0.113.0/24"),
        request: Some("request-7".to_owned()),
        ..Cause::of(actor)
    }
}

fn by_person() -> Cause {
    over_http(Actor::Person)
}

fn by_client() -> Cause {
    over_http(Actor::Client)
}

/// The id of the grant whose code this is.
fn grant_of(code: &Secret) -> String {
    code.id().unwrap().to_string()
}

impl Scene {
    fn new(with_events: bool) -> Self {
        let mut world = World::new();
        if !with_events {
            world.context.policy.events.retention = None;
        }
        let operator = Cause::of(Actor::CommandLine("ann@machine".to_owned()));
        Self { world, seen: BTreeSet::new(), kinds: BTreeSet::new(), operator }
    }

    fn management(&self) -> Management<'_> {
        self.world.context.management_for(&self.operator)
    }

    /// The user of a toy wallet.
    async fn user(&self, address: &str) -> UserId {
        self.world.context.storage.find_owner(toy(address)).await.unwrap().unwrap()
    }

    /// The events since this was last asked.
    async fn news(&mut self) -> Vec<Told> {
        let events = self.world.storage.fresh_events(10_000).await.unwrap().into_iter();
        let new: Vec<Event> = events.filter(|event| self.seen.insert(event.id)).collect();
        new.into_iter().map(Told::from).collect()
    }

    /// What comes now is the act.
    async fn begin(&mut self) {
        self.news().await;
    }

    /// Since the last look exactly this was told, in any order.
    async fn told(&mut self, expected: &[Told]) {
        let told = self.news().await;
        if self.world.context.policy.events.retention.is_none() {
            assert_eq!(told, [], "no events are kept");
            return;
        }
        let sorted = |told: &[Told]| {
            let mut rows: Vec<_> = told.iter().map(|told| format!("{told:#?}")).collect();
            rows.sort();
            rows
        };
        assert_eq!(sorted(&told), sorted(expected));
        self.kinds.extend(told.iter().map(|told| told.kind));
    }

    /// Since the last look nothing was told.
    async fn nothing_told(&mut self) {
        assert_eq!(self.news().await, []);
    }
}

/// Plays an act, and gives the scene back.
type Play = fn(Scene) -> Pin<Box<dyn Future<Output = Scene>>>;

macro_rules! acts {
    ($($room:ident { $($act:ident,)* })*) => {
        const ACTS: &[(&str, Play)] = &[
            $($((concat!(stringify!($room), "::", stringify!($act)), |mut scene| Box::pin(async move {
                $room::$act(&mut scene).await;
                scene
            })),)*)*
        ];
    };
}

acts! {
    of_people {
        signing_in, signing_in_remembered, signing_in_to_the_account_page, signing_in_for_a_device,
        signing_in_by_a_program, signing_in_at_a_client_with_a_document, signing_in_as_somebody_else, continuing,
        continuing_silently, signing_out, signing_out_here, ending_another_session, ending_all_sessions,
        coming_in_by_an_invitation, revoking_a_consent, linking_and_unlinking, confirming_an_address, deleting_an_account,
    }
    of_clients {
        replaying_a_code, a_wrong_verifier, replaying_a_device_code, reusing_a_refresh_token,
        revoking_a_refresh_token, revoking_an_access_token, registering, changing_itself, deleting_itself,
    }
    of_operators {
        registering_a_client, changing_a_client, opening_and_closing_resources, rotating_a_secret,
        deleting_a_client, changing_access, groups, members, resources, blocking_a_user, blocking_a_wallet,
        naming_a_user_and_a_wallet, suspending_an_operator, inviting,
        signing_a_user_out, deleting_a_user,
    }
}

async fn play(with_events: bool) -> BTreeSet<EventKind> {
    let mut kinds = BTreeSet::new();
    for (name, act) in ACTS {
        println!("{name}");
        kinds.extend(act(Scene::new(with_events)).await.kinds);
    }
    kinds
}

#[tokio::test]
async fn each_act_leaves_its_event_and_a_refusal_leaves_none() {
    let kinds = play(true).await;
    // What no use-case does, or what other tests look at: those of the desk make proposals.
    let others = [
        EventKind::GroupChanged,
        EventKind::AdminKeyCreated,
        EventKind::AdminKeyRevoked,
        EventKind::ChangeSigned,
        EventKind::ChangeProposed,
        EventKind::ChangeWithdrawn,
        EventKind::KeyAnnounced,
        EventKind::KeyActivated,
        EventKind::KeyWithdrawn,
        EventKind::KeyRetired,
        EventKind::HostNoted,
        EventKind::Restored,
        EventKind::Upgraded,
    ];
    let missing: Vec<_> = EventKind::ALL.iter().filter(|kind| !kinds.contains(kind)).copied().collect();
    assert_eq!(missing, others);
}

#[tokio::test]
async fn without_retention_every_act_works_and_none_leaves_an_event() {
    assert_eq!(play(false).await, BTreeSet::new());
}
