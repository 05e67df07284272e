//! A signed-in person looks at what happened to their account: where did I sign in?
//!
//! Only the operator learns of blocks. So the events of a block are left out, and so is what ended because of one.
//! Nothing shows that something was left out: a page has as many events as any other, and the next one begins
//! after an event that the person saw.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use countersign_domain::event::EventPerson;
use countersign_domain::event::{Actor, Details, Event, EventKind};
use countersign_domain::id::{ClientId, EventId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::{EventFilter, EventOrder, EventPage, LinkedWallet};
use serde::Deserialize;
use time::{Duration, OffsetDateTime};

use crate::Context;
use crate::sign_in::describe_sign_in::ClientShown;
use crate::steps::login::{AccountError, Browser, require_login};

/// What a person gets to see of what happened.
#[derive(Clone, Debug)]
pub enum OwnEvents {
    /// The operator decided to keep no events.
    NotKept,
    /// A page of events.
    Kept(OwnEventsPage),
}

/// A page of a person's events.
#[derive(Clone, Debug)]
pub struct OwnEventsPage {
    /// The earliest time of which events are shown.
    pub since: OffsetDateTime,
    /// The events, newest first.
    pub events: Vec<OwnEvent>,
    /// The last event of this page, if older ones follow.
    pub older: Option<EventId>,
}

/// An event, as the person it happened to sees it.
#[derive(Clone, Debug)]
pub struct OwnEvent {
    /// Its id; the time of the event is in it.
    pub id: EventId,
    /// What happened.
    pub happened: Happened,
    /// The client that it is about.
    pub client: Option<EventClient>,
    /// The wallet that signed, or that it is about.
    pub wallet: Option<WalletAccount>,
    /// What the person calls that wallet, if it is still theirs.
    pub wallet_name: Option<WalletName>,
    /// Where the person's own request came from. No other address is shown.
    pub address: Option<PeerAddress>,
}

/// The client of an event.
#[derive(Clone, Debug)]
pub enum EventClient {
    /// It is registered, or remembered.
    Known(ClientId, ClientShown),
    /// It was deleted since.
    Gone(ClientId),
}

macro_rules! happenings {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// What happened, in terms of the person.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Happened {
            $($(#[$doc])* $name,)*
        }

        impl Happened {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name on the wire, and in the key of its text.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

happenings! {
    /// They signed in with a signature.
    SignedIn = "sign_in",
    /// They signed in a device that showed a code.
    DeviceSignedIn = "device_sign_in",
    /// A program signed in with their wallet.
    ProgramSignedIn = "program_sign_in",
    /// They were signed in without a new signature, because the browser remembered them.
    Continued = "sign_in_continued",
    /// They signed out.
    SignedOut = "sign_out",
    /// They signed out another browser.
    SessionEnded = "session_ended",
    /// They signed out all browsers.
    SignedOutEverywhere = "signed_out_everywhere",
    /// The operator signed them out everywhere.
    SignedOutByOperator = "user_signed_out",
    /// They revoked the access of a client.
    ConsentRevoked = "consent_revoked",
    /// A client gave up its access.
    AccessGivenUp = "access_given_up",
    /// A client lost its access because something that works once was used again, or by another party.
    AccessEnded = "access_ended",
    /// They linked a wallet.
    WalletLinked = "wallet_linked",
    /// They unlinked a wallet.
    WalletUnlinked = "wallet_unlinked",
    /// They confirmed their e-mail address.
    EmailConfirmed = "email_confirmed",
}

/// So many events are on a page.
pub const OWN_EVENTS_ON_A_PAGE: usize = 50;

/// So far back a person sees.
const SHOWN_FOR: Duration = Duration::days(30);

/// The kinds of which some events are shown.
const KINDS: [EventKind; 10] = [
    EventKind::SignIn,
    EventKind::SignInContinued,
    EventKind::SignOut,
    EventKind::SessionEnded,
    EventKind::ConsentRevoked,
    EventKind::WalletLinked,
    EventKind::WalletUnlinked,
    EventKind::EmailConfirmed,
    EventKind::GrantRevoked,
    EventKind::UserSignedOut,
];

/// Reads a page of the events of the user who is signed in on this browser: the newest, or those after one of
/// an earlier page.
pub async fn read_events(
    context: &Context,
    browser: &Browser,
    after: Option<EventId>,
) -> Result<OwnEvents, AccountError> {
    let session = require_login(context, browser).await?;
    let Some(retention) = context.policy.events.retention else { return Ok(OwnEvents::NotKept) };
    let since = context.clock.now() - retention.min(SHOWN_FOR);
    let filter = EventFilter {
        since: Some(since),
        kinds: KINDS.to_vec(),
        who: Some(Subject::User(EventPerson::User(session.user))),
        ..EventFilter::default()
    };
    // One more than is shown, to know whether there are more.
    let limit = OWN_EVENTS_ON_A_PAGE + 1;
    let mut page =
        EventPage { order: EventOrder::NewestFirst, after, limit: u32::try_from(limit).unwrap_or(u32::MAX) };
    let mut found = Vec::with_capacity(limit);
    // This takes more than one turn only if the operator blocked the user or their wallets.
    loop {
        let read = context.storage.list_events(&filter, page).await?;
        let is_all = read.len() < limit;
        page.after = read.last().map(|event| event.id).or(page.after);
        found.extend(read.into_iter().filter_map(|event| Some((Happened::of(&event)?, event))));
        if is_all || found.len() >= limit {
            break;
        }
    }
    let more = found.len() > OWN_EVENTS_ON_A_PAGE;
    found.truncate(OWN_EVENTS_ON_A_PAGE);
    let older = found.last().filter(|_| more).map(|(_, event)| event.id);
    let wallets = context.storage.wallets_of(session.user).await?;
    let mut clients = BTreeMap::new();
    for id in found.iter().filter_map(|(_, event)| event.client) {
        if let Entry::Vacant(place) = clients.entry(id) {
            let known = context.clients.find(id).await?;
            place.insert(known.map(|client| ClientShown::from(&*client)));
        }
    }
    let events = found.into_iter().map(|(happened, event)| OwnEvent::of(happened, event, &wallets, &clients));
    Ok(OwnEvents::Kept(OwnEventsPage { since, events: events.collect(), older }))
}

/// The details that say what happened.
#[derive(Default, Deserialize)]
struct Parsed {
    way: Option<String>,
    sessions: Option<String>,
    reason: Option<String>,
}

impl Parsed {
    /// What cannot be read says nothing.
    fn of(details: &Details) -> Self {
        serde_json::from_str(details.as_str()).unwrap_or_default()
    }
}

impl Happened {
    /// What an event means for the person, if it is for them. What is not known here could be the consequence
    /// of a block, so it is not.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a new kind is for operators until it has words here")]
    fn of(event: &Event) -> Option<Self> {
        let parsed = Parsed::of(&event.details);
        let is_theirs = event.actor == Actor::Person;
        Some(match event.kind {
            EventKind::SignIn => match parsed.way.as_deref() {
                Some("device") => Self::DeviceSignedIn,
                Some("program") => Self::ProgramSignedIn,
                Some(_) | None => Self::SignedIn,
            },
            EventKind::SignInContinued => match parsed.way.as_deref() {
                Some("device") => Self::DeviceSignedIn,
                Some(_) | None => Self::Continued,
            },
            EventKind::SignOut => Self::SignedOut,
            EventKind::SessionEnded if is_theirs => match parsed.sessions.as_deref() {
                Some("other") => Self::SessionEnded,
                Some("all") => Self::SignedOutEverywhere,
                Some(_) | None => return None,
            },
            EventKind::ConsentRevoked => Self::ConsentRevoked,
            EventKind::WalletLinked => Self::WalletLinked,
            EventKind::WalletUnlinked => Self::WalletUnlinked,
            EventKind::EmailConfirmed => Self::EmailConfirmed,
            EventKind::GrantRevoked => match parsed.reason.as_deref() {
                Some("client_request") => Self::AccessGivenUp,
                Some("code_replayed" | "verifier_mismatch" | "refresh_reused") => Self::AccessEnded,
                Some(_) | None => return None,
            },
            EventKind::UserSignedOut => Self::SignedOutByOperator,
            _ => return None,
        })
    }
}

impl OwnEvent {
    fn of(
        happened: Happened,
        event: Event,
        wallets: &[LinkedWallet],
        clients: &BTreeMap<ClientId, Option<ClientShown>>,
    ) -> Self {
        let client = event.client.map(|id| match clients.get(&id).cloned().flatten() {
            Some(shown) => EventClient::Known(id, shown),
            None => EventClient::Gone(id),
        });
        let is_it = |linked: &&LinkedWallet| {
            let LinkedWallet { account, .. } = linked;
            event.wallet.as_ref().is_some_and(|wallet| {
                (&wallet.family, &wallet.address) == (&account.family, &account.address)
            })
        };
        Self {
            id: event.id,
            happened,
            client,
            wallet_name: wallets.iter().find(is_it).and_then(|linked| linked.name.clone()),
            wallet: event.wallet,
            address: event.address.filter(|_| event.actor == Actor::Person),
        }
    }
}
