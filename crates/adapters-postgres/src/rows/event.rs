//! Rows of `fresh_events` and `events`.

use countersign_domain::checkpoint::{Commitment, Salt, SealedEvent};
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Pseudonym, Signed};
use countersign_domain::id::{ClientId, EventId, UserId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{EventAt, FoundEvent, StoreError};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Nullable, Text, Uuid as SqlUuid};
use uuid::Uuid;

use crate::statement::row;

row! {
    /// An event as it is stored.
    NewEvent<'a>, NewEvents {
        id: Uuid as SqlUuid,
        kind: &'static str as Text,
        actor: String as Text,
        user_id: Option<Uuid> as Nullable<SqlUuid>,
        pseudonym: Option<&'a [u8]> as Nullable<Binary>,
        family: Option<&'a str> as Nullable<Text>,
        chain: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
        client_id: Option<Uuid> as Nullable<SqlUuid>,
        peer: Option<String> as Nullable<Text>,
        request: Option<&'a str> as Nullable<Text>,
        details: &'a str as Text,
        signed: Option<&'a str> as Nullable<Text>,
    }
}

impl<'a> NewEvent<'a> {
    /// The row of an event.
    pub(crate) fn of(event: &'a Event) -> Self {
        let (user_id, pseudonym) = match &event.person {
            Some(EventPerson::User(user)) => (Some(user.as_uuid()), None),
            Some(EventPerson::Deleted(pseudonym)) => (None, Some(pseudonym.as_bytes().as_slice())),
            None => (None, None),
        };
        let wallet = event.wallet.as_ref();
        Self {
            id: event.id.as_uuid(),
            kind: event.kind.name(),
            actor: event.actor.to_string(),
            user_id,
            pseudonym,
            family: wallet.map(|wallet| &*wallet.family),
            chain: wallet.map(|wallet| &*wallet.chain),
            address: wallet.map(|wallet| &*wallet.address),
            client_id: event.client.map(|client| client.as_uuid()),
            peer: event.address.map(|address| address.to_string()),
            request: event.request.as_deref(),
            details: event.details.as_str(),
            signed: event.signed.as_ref().map(Signed::as_str),
        }
    }

    /// The row of the same event about this user, unless it is about somebody already.
    pub(crate) fn about(mut self, user: UserId) -> Self {
        if self.pseudonym.is_none() {
            self.user_id.get_or_insert(user.as_uuid());
        }
        self
    }
}

/// The SQL types of [`EventRow`]. Any of them can be absent in a database that somebody tampered with.
pub(crate) type EventSql = (
    Nullable<SqlUuid>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<SqlUuid>,
    Nullable<Binary>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<SqlUuid>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Text>,
);

/// An event, wherever it stands.
#[derive(Queryable)]
pub(crate) struct EventRow {
    id: Option<Uuid>,
    kind: Option<String>,
    actor: Option<String>,
    user_id: Option<Uuid>,
    pseudonym: Option<Vec<u8>>,
    family: Option<String>,
    chain: Option<String>,
    address: Option<String>,
    client_id: Option<Uuid>,
    peer: Option<String>,
    request: Option<String>,
    details: Option<String>,
    signed: Option<String>,
}

row! {
    /// What a page of events has, for the statements that read one.
    AskedPage<'a> {
        user: Option<Uuid> as Nullable<SqlUuid>,
        pseudonym: Option<&'a [u8]> as Nullable<Binary>,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
        client: Option<Uuid> as Nullable<SqlUuid>,
        kinds: Option<Vec<&'a str>> as Nullable<Array<Text>>,
        /// The kinds to find by the index of clients, if that is the index to use.
        of_client: Vec<&'a str> as Array<Text>,
        /// The kinds to find by the index of kinds, if that is the index to use.
        of_kind: Vec<&'a str> as Array<Text>,
        /// Whether all events are to be read in their order.
        everything: bool as Bool,
        lowest: Uuid as SqlUuid,
        highest: Uuid as SqlUuid,
        limit: i64 as BigInt,
    }
}

/// The name of a column whose value is impossible.
type Impossible = &'static str;

impl EventRow {
    fn read(self) -> Result<Event, Impossible> {
        let kind = self.kind.and_then(|kind| EventKind::parse(&kind).ok());
        let actor = self.actor.and_then(|actor| Actor::parse(&actor).ok());
        let person = match (self.user_id, self.pseudonym) {
            (Some(user), None) => Some(EventPerson::User(UserId::from_uuid(user))),
            (None, Some(stored)) => {
                let pseudonym = stored.try_into().map_err(|_| "pseudonym")?;
                Some(EventPerson::Deleted(Pseudonym::new(pseudonym)))
            }
            (None, None) => None,
            (Some(_), Some(_)) => return Err("pseudonym"),
        };
        let wallet = match (self.family, self.chain, self.address) {
            (Some(family), Some(chain), Some(address)) => Some(WalletAccount { family, chain, address }),
            (None, None, None) => None,
            (Some(_) | None, _, _) => return Err("address"),
        };
        let address = self.peer.map(|peer| PeerAddress::parse(&peer).ok_or("peer"));
        Ok(Event {
            id: self.id.map(EventId::from_uuid).ok_or("id")?,
            kind: kind.ok_or("kind")?,
            actor: actor.ok_or("actor")?,
            person,
            wallet,
            client: self.client_id.map(ClientId::from_uuid),
            address: address.transpose()?,
            request: self.request,
            details: self.details.map(Details::from_stored).ok_or("details")?,
            signed: self.signed.map(Signed::from_stored),
        })
    }
}

impl TryFrom<EventRow> for Event {
    type Error = StoreError;

    fn try_from(row: EventRow) -> Result<Self, StoreError> {
        let id = row.id.unwrap_or_default();
        row.read().map_err(|column| corrupt(column, id))
    }
}

/// The SQL types of [`FoundRow`].
pub(crate) type FoundSql = (EventSql, Nullable<BigInt>);

/// An event that was looked up, with its position if it is sealed.
#[derive(Queryable)]
pub(crate) struct FoundRow {
    event: EventRow,
    position: Option<i64>,
}

impl TryFrom<FoundRow> for FoundEvent {
    type Error = StoreError;

    fn try_from(row: FoundRow) -> Result<Self, StoreError> {
        let event = Event::try_from(row.event)?;
        let position = row.position.map(u64::try_from).transpose();
        Ok(Self { position: position.map_err(|_| corrupt("position", event.id.as_uuid()))?, event })
    }
}

/// The SQL types of [`SealedRow`].
pub(crate) type SealedSql = (BigInt, EventSql, Nullable<Binary>, Nullable<Binary>);

/// What stands at a position of `events`.
#[derive(Queryable)]
pub(crate) struct SealedRow {
    position: i64,
    event: EventRow,
    salt: Option<Vec<u8>>,
    commitment: Option<Vec<u8>>,
}

impl From<SealedRow> for EventAt {
    fn from(row: SealedRow) -> Self {
        let position = u64::try_from(row.position).unwrap_or_default();
        match row.read(position) {
            Ok(sealed) => Self::Event(Box::new(sealed)),
            Err(column) => Self::Unreadable { position, problem: format!("impossible {column}") },
        }
    }
}

impl SealedRow {
    fn read(self, position: u64) -> Result<SealedEvent, Impossible> {
        let salt = self.salt.map(|stored| stored.try_into().map(Salt::new)).transpose();
        let commitment = self.commitment.and_then(|stored| stored.try_into().ok());
        Ok(SealedEvent {
            position,
            event: self.event.read()?,
            salt: salt.map_err(|_| "salt")?,
            commitment: commitment.map(Commitment::new).ok_or("commitment")?,
        })
    }
}

/// The error that names a column of the event with this id.
fn corrupt(column: Impossible, id: Uuid) -> StoreError {
    StoreError::Corrupt { table: "events", column, row: id.to_string() }
}
