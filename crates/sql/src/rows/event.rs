//! Rows of `fresh_events` and `events`. Verification does not trust the database, so a column counts only if it holds its own type.

use countersign_domain::checkpoint::{Commitment, Digest256, Salt, SealedEvent};
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Pseudonym, Signed};
use countersign_domain::id::{EventId, UserId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{EventAt, FreshAt, UnsealableEvent};
use diesel::prelude::*;
use uuid::Uuid;

use crate::SqlError;
use crate::columns::{BigInt, Binary, DomainId, Exact, Id, Key, Nullable, Row, Text};
use crate::statement::row;

row! {
    /// An event as it is stored.
    pub NewEvent<'a>, NewEvents {
        id: Id as Key,
        kind: &'a str as Text,
        actor: String as Text,
        user_id: Option<Id> as Nullable<Key>,
        pseudonym: Option<&'a [u8]> as Nullable<Binary>,
        family: Option<&'a str> as Nullable<Text>,
        chain: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
        client_id: Option<Id> as Nullable<Key>,
        peer: Option<String> as Nullable<Text>,
        request: Option<&'a str> as Nullable<Text>,
        details: &'a str as Text,
        signed: Option<&'a str> as Nullable<Text>,
    }
}

impl<'a> NewEvent<'a> {
    /// The row of an event.
    pub fn of(event: &'a Event) -> Self {
        let (user_id, pseudonym) = match &event.person {
            Some(EventPerson::User(user)) => (Some((*user).into()), None),
            Some(EventPerson::Deleted(pseudonym)) => (None, Some(pseudonym.as_bytes().as_slice())),
            None => (None, None),
        };
        let wallet = event.wallet.as_ref();
        Self {
            id: event.id.into(),
            kind: event.kind.name(),
            actor: event.actor.to_string(),
            user_id,
            pseudonym,
            family: wallet.map(|wallet| &*wallet.family),
            chain: wallet.map(|wallet| &*wallet.chain),
            address: wallet.map(|wallet| &*wallet.address),
            client_id: event.client.map(Id::from),
            peer: event.address.map(|address| address.to_string()),
            request: event.request.as_deref(),
            details: event.details.as_str(),
            signed: event.signed.as_ref().map(Signed::as_str),
        }
    }

    /// The row of the same event about this user, unless it already names a person.
    #[must_use]
    pub fn about(mut self, user: UserId) -> Self {
        if self.pseudonym.is_none() {
            self.user_id.get_or_insert(user.into());
        }
        self
    }
}

/// A column holds what none of our operations could have written.
#[derive(Debug, thiserror::Error)]
#[error("impossible {0}")]
pub struct Impossible(pub &'static str);

/// The columns of an [`EventRow`], in the order of [`EventSql`].
#[macro_export]
macro_rules! event_columns {
    () => {
        "id, kind, actor, user_id, pseudonym, family, chain, address, client_id, peer, request, details, signed"
    };
}
pub use event_columns;

/// The SQL types of an [`EventRow`].
pub type EventSql = (
    Nullable<Key>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Key>,
    Nullable<Binary>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Key>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Text>,
);

/// The SQL types of a [`SealedRow`].
pub type SealedSql = (BigInt, EventSql, Nullable<Binary>, Nullable<Binary>, Nullable<Binary>);

/// An event as it was read from either table. In a database that was tampered with, any column can be absent or impossible.
#[derive(Clone, Debug, Queryable)]
pub struct EventRow {
    id: Option<Exact<Uuid>>,
    kind: Option<Exact<String>>,
    actor: Option<Exact<String>>,
    user_id: Option<Exact<Uuid>>,
    pseudonym: Option<Exact<Vec<u8>>>,
    family: Option<Exact<String>>,
    chain: Option<Exact<String>>,
    address: Option<Exact<String>>,
    client_id: Option<Exact<Uuid>>,
    peer: Option<Exact<String>>,
    request: Option<Exact<String>>,
    details: Option<Exact<String>>,
    signed: Option<Exact<String>>,
}

impl EventRow {
    /// The id, if it is one.
    fn id(&self) -> Option<Uuid> {
        self.id.as_ref().and_then(|Exact(id)| *id)
    }

    /// The event of a row in this table.
    pub fn event(self, table: &'static str) -> Result<Event, SqlError> {
        let key = self.id().unwrap_or_default();
        self.read().map_err(|Impossible(column)| Row { table, key: &key }.impossible(column))
    }

    /// The event of a row among the fresh ones. Is one with its id sealed already?
    pub fn fresh(self, is_copy: bool) -> FreshAt {
        let id = self.id().map(EventId::from_uuid);
        let problem = match self.exact() {
            Ok(event) if !is_copy => return FreshAt::Event(Box::new(event)),
            Ok(_) => "an event with its id is sealed already".to_owned(),
            Err(impossible) => impossible.to_string(),
        };
        FreshAt::Unsealable(UnsealableEvent { id, problem })
    }

    /// The event, if the row is exactly what it would be stored as. Another row cannot be sealed: the guard of that
    /// compares the columns.
    fn exact(self) -> Result<Event, Impossible> {
        let stored = [("actor", self.actor.clone()), ("peer", self.peer.clone())];
        let event = self.read()?;
        let written = [Some(event.actor.to_string()), event.address.map(|address| address.to_string())];
        for ((column, stored), written) in stored.into_iter().zip(written) {
            if exact(column, stored)? != written {
                return Err(Impossible(column));
            }
        }
        Ok(event)
    }

    fn read(self) -> Result<Event, Impossible> {
        let kind = required("kind", exact("kind", self.kind)?)?;
        let actor = required("actor", exact("actor", self.actor)?)?;
        let person = match (id("user_id", self.user_id)?, bytes("pseudonym", self.pseudonym)?) {
            (Some(user), None) => Some(EventPerson::User(user)),
            (None, Some(random)) => Some(EventPerson::Deleted(Pseudonym::new(random))),
            (None, None) => None,
            (Some(_), Some(_)) => return Err(Impossible("pseudonym")),
        };
        let (family, chain) = (exact("family", self.family)?, exact("chain", self.chain)?);
        let wallet = match (family, chain, exact("address", self.address)?) {
            (Some(family), Some(chain), Some(address)) => Some(WalletAccount { family, chain, address }),
            (None, None, None) => None,
            (_, _, _) => return Err(Impossible("address")),
        };
        let peer = exact("peer", self.peer)?;
        let address = peer.map(|peer| PeerAddress::parse(&peer).ok_or(Impossible("peer"))).transpose()?;
        Ok(Event {
            id: required("id", id("id", self.id)?)?,
            kind: EventKind::parse(&kind).map_err(|_| Impossible("kind"))?,
            actor: Actor::parse(&actor).map_err(|_| Impossible("actor"))?,
            person,
            wallet,
            client: id("client_id", self.client_id)?,
            address,
            request: exact("request", self.request)?,
            details: Details::from_stored(required("details", exact("details", self.details)?)?),
            signed: exact("signed", self.signed)?.map(Signed::from_stored),
        })
    }
}

/// What is stored at a position of `events`.
#[derive(Debug, Queryable)]
pub struct SealedRow {
    position: i64,
    event: EventRow,
    salt: Option<Exact<Vec<u8>>>,
    commitment: Option<Exact<Vec<u8>>>,
    hiding_proof: Option<Exact<Vec<u8>>>,
}

impl SealedRow {
    /// What is there.
    pub fn at(self) -> EventAt {
        let position = u64::try_from(self.position).unwrap_or_default();
        match self.read(position) {
            Ok(sealed) => EventAt::Event(Box::new(sealed)),
            Err(problem) => EventAt::Unreadable { position, problem: problem.to_string() },
        }
    }

    fn read(self, position: u64) -> Result<SealedEvent, Impossible> {
        Ok(SealedEvent {
            position,
            event: self.event.read()?,
            salt: bytes("salt", self.salt)?.map(Salt::new),
            commitment: Commitment::new(required("commitment", bytes("commitment", self.commitment)?)?),
            hiding_proof: bytes("hiding_proof", self.hiding_proof)?.map(Digest256::new),
        })
    }
}

pub(super) fn required<V>(column: &'static str, value: Option<V>) -> Result<V, Impossible> {
    value.ok_or(Impossible(column))
}

/// What a column holds, if it is not absent.
pub(super) fn exact<V>(column: &'static str, stored: Option<Exact<V>>) -> Result<Option<V>, Impossible> {
    stored.map(|Exact(value)| value.ok_or(Impossible(column))).transpose()
}

pub(super) fn bytes<const N: usize>(
    column: &'static str,
    stored: Option<Exact<Vec<u8>>>,
) -> Result<Option<[u8; N]>, Impossible> {
    exact(column, stored)?.map(|bytes| bytes.try_into().map_err(|_| Impossible(column))).transpose()
}

fn id<Id: DomainId>(column: &'static str, stored: Option<Exact<Uuid>>) -> Result<Option<Id>, Impossible> {
    Ok(exact(column, stored)?.map(Id::wrap))
}
