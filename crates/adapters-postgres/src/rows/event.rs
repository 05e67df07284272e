//! Rows of `fresh_events` and `events`.

use countersign_domain::checkpoint::{Commitment, Digest256, Salt, SealedEvent};
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Pseudonym, Signed};
use countersign_domain::id::{ClientId, EventId, UserId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{EventAt, FoundEvent, FreshAt, UnsealableEvent};
use countersign_sql::SqlError;
use countersign_sql::rows::event::NewEvent;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Nullable, Text, Uuid as SqlUuid};
use uuid::Uuid;

use crate::statement::row;

/// The SQL types of [`EventRow`]. Any of them can be absent in a database that was tampered with.
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

/// An event, in either table.
#[derive(Clone, Queryable)]
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
    pub(crate) AskedPage<'a> {
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
    /// The event, if the row is exactly what it would be stored as. Another row cannot be sealed: the guard of that
    /// compares the columns.
    fn exact(self) -> Result<Event, Impossible> {
        let event = self.clone().read()?;
        let written = NewEvent::of(&event);
        let columns = [
            ("kind", self.kind.as_deref(), Some(written.kind)),
            ("actor", self.actor.as_deref(), Some(&*written.actor)),
            ("peer", self.peer.as_deref(), written.peer.as_deref()),
        ];
        let different = columns.into_iter().find(|(_, stored, written)| stored != written);
        match different.map(|(column, ..)| column) {
            Some(column) => Err(column),
            None => Ok(event),
        }
    }

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
    type Error = SqlError;

    fn try_from(row: EventRow) -> Result<Self, SqlError> {
        let id = row.id.unwrap_or_default();
        row.read().map_err(|column| corrupt(column, id))
    }
}

/// The SQL types of [`FreshRow`].
pub(crate) type FreshSql = (EventSql, Bool);

/// What was read among the fresh events, and whether an event with its id is sealed already.
#[derive(Queryable)]
pub(crate) struct FreshRow {
    event: EventRow,
    is_copy: bool,
}

impl FreshRow {
    /// The position of the row among the others.
    pub(crate) fn key(&self) -> Uuid {
        self.event.id.unwrap_or_default()
    }
}

impl From<FreshRow> for FreshAt {
    fn from(row: FreshRow) -> Self {
        let id = row.event.id.map(EventId::from_uuid);
        let problem = match row.event.exact() {
            Ok(event) if !row.is_copy => return Self::Event(Box::new(event)),
            Ok(_) => "an event with its id is sealed already".to_owned(),
            Err(column) => format!("impossible {column}"),
        };
        Self::Unsealable(UnsealableEvent { id, problem })
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
    type Error = SqlError;

    fn try_from(row: FoundRow) -> Result<Self, SqlError> {
        let event = Event::try_from(row.event)?;
        let position = row.position.map(u64::try_from).transpose();
        Ok(Self { position: position.map_err(|_| corrupt("position", event.id.as_uuid()))?, event })
    }
}

/// The SQL types of [`SealedRow`].
pub(crate) type SealedSql = (BigInt, EventSql, Nullable<Binary>, Nullable<Binary>, Nullable<Binary>);

/// What is stored at a position of `events`.
#[derive(Queryable)]
pub(crate) struct SealedRow {
    position: i64,
    event: EventRow,
    salt: Option<Vec<u8>>,
    commitment: Option<Vec<u8>>,
    hiding_proof: Option<Vec<u8>>,
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
        let hiding_proof = self.hiding_proof.map(|stored| stored.try_into().map(Digest256::new)).transpose();
        Ok(SealedEvent {
            position,
            event: self.event.read()?,
            salt: salt.map_err(|_| "salt")?,
            commitment: commitment.map(Commitment::new).ok_or("commitment")?,
            hiding_proof: hiding_proof.map_err(|_| "hiding_proof")?,
        })
    }
}

/// The error that names a column of the event with this id.
fn corrupt(column: Impossible, id: Uuid) -> SqlError {
    SqlError::Corrupt { table: "events", column, row: id.to_string() }
}
