//! Rows of `fresh_events` and `events`.
//!
//! Verification of events does not trust the database. So every column is read as bytes, whatever it holds,
//! and of sealed events also its type: a text that is stored as a blob reads the same, and no index finds it.

use countersign_domain::checkpoint::{Commitment, Digest256, Salt, SealedEvent};
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Pseudonym, Signed};
use countersign_domain::id::EventId;
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{EventAt, FreshAt, UnsealableEvent};
use countersign_sql::SqlError;
use countersign_sql::columns::{DomainId, Row, StoredId};
use countersign_sql::rows::event::NewEvent;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable};
use uuid::Uuid;

/// The columns of [`EventRow`]. SQLite converts any value to a blob.
macro_rules! event_columns {
    () => {
        "id, CAST(kind AS BLOB), CAST(actor AS BLOB), user_id, pseudonym, CAST(family AS BLOB), \
        CAST(chain AS BLOB), CAST(address AS BLOB), client_id, CAST(peer AS BLOB), CAST(request AS BLOB), \
        CAST(details AS BLOB), CAST(signed AS BLOB)"
    };
}
pub(crate) use event_columns;

/// The SQL type of [`event_columns`].
pub(crate) type EventSql =
    (Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes);

/// Bytes, or nothing.
pub(crate) type Bytes = Nullable<Binary>;

/// An event as it was read.
#[derive(Clone, Queryable)]
pub(crate) struct EventRow {
    pub(crate) id: Option<Vec<u8>>,
    kind: Option<Vec<u8>>,
    actor: Option<Vec<u8>>,
    user_id: Option<Vec<u8>>,
    pseudonym: Option<Vec<u8>>,
    family: Option<Vec<u8>>,
    chain: Option<Vec<u8>>,
    address: Option<Vec<u8>>,
    client_id: Option<Vec<u8>>,
    peer: Option<Vec<u8>>,
    request: Option<Vec<u8>>,
    details: Option<Vec<u8>>,
    signed: Option<Vec<u8>>,
}

impl EventRow {
    /// The event of a row in this table.
    pub(crate) fn event(self, table: &'static str) -> Result<Event, SqlError> {
        let key = StoredId::of(self.id.clone().unwrap_or_default());
        self.read().map_err(|Impossible(column)| Row { table, key: &key }.impossible(column))
    }

    /// The event, if the row is exactly what it would be stored as. Another row cannot be sealed: the guard of that
    /// compares the columns.
    fn exact(self) -> Result<Event, Impossible> {
        let event = self.clone().read()?;
        let written = NewEvent::of(&event);
        let differs = |stored: Option<&[u8]>, written: Option<&str>| stored != written.map(str::as_bytes);
        let columns = [
            ("kind", self.kind.as_deref(), Some(written.kind)),
            ("actor", self.actor.as_deref(), Some(written.actor.as_str())),
            ("peer", self.peer.as_deref(), written.peer.as_deref()),
        ];
        let different = columns.into_iter().find(|(_, stored, written)| differs(*stored, *written));
        match different.map(|(column, ..)| column) {
            Some(column) => Err(Impossible(column)),
            None => Ok(event),
        }
    }

    fn read(self) -> Result<Event, Impossible> {
        let kind = required(text("kind", self.kind)?, "kind")?;
        let actor = required(text("actor", self.actor)?, "actor")?;
        let user = id("user_id", self.user_id)?.map(EventPerson::User);
        let deleted = bytes("pseudonym", self.pseudonym)?;
        let deleted = deleted.map(|random| EventPerson::Deleted(Pseudonym::new(random)));
        let person = match (user, deleted) {
            (Some(_), Some(_)) => return Err(Impossible("pseudonym")),
            (user, deleted) => user.or(deleted),
        };
        let (family, chain) = (text("family", self.family)?, text("chain", self.chain)?);
        let wallet = match (family, chain, text("address", self.address)?) {
            (Some(family), Some(chain), Some(address)) => Some(WalletAccount { family, chain, address }),
            (None, None, None) => None,
            (_, _, _) => return Err(Impossible("address")),
        };
        let peer = text("peer", self.peer)?;
        let address = peer.map(|peer| PeerAddress::parse(&peer).ok_or(Impossible("peer"))).transpose()?;
        Ok(Event {
            id: required(id("id", self.id)?, "id")?,
            kind: EventKind::parse(&kind).map_err(|_| Impossible("kind"))?,
            actor: Actor::parse(&actor).map_err(|_| Impossible("actor"))?,
            person,
            wallet,
            client: id("client_id", self.client_id)?,
            address,
            request: text("request", self.request)?,
            details: Details::from_stored(required(text("details", self.details)?, "details")?),
            signed: text("signed", self.signed)?.map(Signed::from_stored),
        })
    }
}

/// The types of the columns of an event, in the order of [`SEALED_COLUMNS`].
macro_rules! event_types {
    () => {
        "typeof(id) || ' ' || typeof(kind) || ' ' || typeof(actor) || ' ' || typeof(user_id) || ' ' || \
        typeof(pseudonym) || ' ' || typeof(family) || ' ' || typeof(chain) || ' ' || typeof(address) || ' ' || \
        typeof(client_id) || ' ' || typeof(peer) || ' ' || typeof(request) || ' ' || typeof(details) || ' ' || \
        typeof(signed)"
    };
}
pub(crate) use event_types;

/// The same with those that a [`SealedRow`] has besides.
macro_rules! sealed_types {
    () => {
        concat!(
            event_types!(),
            " || ' ' || typeof(salt) || ' ' || typeof(commitment) || ' ' || typeof(hiding_proof)"
        )
    };
}
pub(crate) use sealed_types;

/// How many of [`SEALED_COLUMNS`] a fresh event has.
const EVENT_COLUMNS: usize = 13;

/// What type each column has, if it is not `NULL`.
const SEALED_COLUMNS: [(&str, &str); 16] = [
    ("id", "blob"),
    ("kind", "text"),
    ("actor", "text"),
    ("user_id", "blob"),
    ("pseudonym", "blob"),
    ("family", "text"),
    ("chain", "text"),
    ("address", "text"),
    ("client_id", "blob"),
    ("peer", "text"),
    ("request", "text"),
    ("details", "text"),
    ("signed", "text"),
    ("salt", "blob"),
    ("commitment", "blob"),
    ("hiding_proof", "blob"),
];

/// What was read among the fresh events, and whether an event with its id is sealed already.
#[derive(Queryable)]
pub(crate) struct FreshRow {
    types: String,
    event: EventRow,
    is_copy: bool,
}

impl FreshRow {
    /// The position of the row among the others.
    pub(crate) fn key(&self) -> Vec<u8> {
        self.event.id.clone().unwrap_or_default()
    }
}

impl From<FreshRow> for FreshAt {
    fn from(row: FreshRow) -> Self {
        let key = row.key();
        let read = have_types(&row.types, &SEALED_COLUMNS[..EVENT_COLUMNS]).and_then(|()| row.event.exact());
        let problem = match read {
            Ok(event) if !row.is_copy => return Self::Event(Box::new(event)),
            Ok(_) => "an event with its id is sealed already".to_owned(),
            Err(impossible) => impossible.to_string(),
        };
        let id = <[u8; 16]>::try_from(key).map(|id| EventId::from_uuid(Uuid::from_bytes(id))).ok();
        Self::Unsealable(UnsealableEvent { id, problem })
    }
}

/// What was read at a position.
#[derive(Queryable)]
pub(crate) struct SealedRow {
    position: i64,
    types: String,
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
            Err(problem) => Self::Unreadable { position, problem: problem.to_string() },
        }
    }
}

impl SealedRow {
    fn read(self, position: u64) -> Result<SealedEvent, Impossible> {
        have_types(&self.types, &SEALED_COLUMNS)?;
        Ok(SealedEvent {
            position,
            event: self.event.read()?,
            salt: bytes("salt", self.salt)?.map(Salt::new),
            commitment: Commitment::new(required(bytes("commitment", self.commitment)?, "commitment")?),
            hiding_proof: bytes("hiding_proof", self.hiding_proof)?.map(Digest256::new),
        })
    }
}

/// A column holds what none of our operations could have written.
#[derive(Debug, thiserror::Error)]
#[error("impossible {0}")]
pub(super) struct Impossible(pub(super) &'static str);

/// Checks types as SQLite names them, with spaces between them. `NULL` is judged elsewhere.
pub(super) fn have_types(types: &str, columns: &[(&'static str, &str)]) -> Result<(), Impossible> {
    let mut types = types.split(' ');
    for (column, expected) in columns {
        if !types.next().is_some_and(|found| found == *expected || found == "null") {
            return Err(Impossible(column));
        }
    }
    Ok(())
}

pub(super) fn required<T>(value: Option<T>, column: &'static str) -> Result<T, Impossible> {
    value.ok_or(Impossible(column))
}

pub(super) fn text(column: &'static str, bytes: Option<Vec<u8>>) -> Result<Option<String>, Impossible> {
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| Impossible(column))).transpose()
}

pub(super) fn bytes<const N: usize>(
    column: &'static str,
    bytes: Option<Vec<u8>>,
) -> Result<Option<[u8; N]>, Impossible> {
    bytes.map(|bytes| bytes.try_into().map_err(|_| Impossible(column))).transpose()
}

fn id<Id: DomainId>(column: &'static str, given: Option<Vec<u8>>) -> Result<Option<Id>, Impossible> {
    Ok(bytes(column, given)?.map(|bytes| Id::wrap(Uuid::from_bytes(bytes))))
}
