//! Rows of `fresh_events` and `events`. Verification does not trust the database, and each adapter reads the columns in its own way.

use countersign_domain::checkpoint::{Commitment, Digest256, Salt, SealedEvent};
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Pseudonym, Signed};
use countersign_domain::id::{EventId, UserId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{EventAt, FreshAt, UnsealableEvent};
use diesel::prelude::*;
use uuid::Uuid;

use crate::SqlError;
use crate::columns::{Binary, DomainId, Id, Key, Nullable, Row, Text};
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

/// A form in which a database stores a value, whatever is there.
pub trait StoredAs<V>: Clone {
    /// The value, if it is one.
    fn value(self) -> Option<V>;
}

impl<V: Clone> StoredAs<V> for V {
    fn value(self) -> Option<V> {
        Some(self)
    }
}

impl StoredAs<String> for Vec<u8> {
    fn value(self) -> Option<String> {
        String::from_utf8(self).ok()
    }
}

impl StoredAs<Uuid> for Vec<u8> {
    fn value(self) -> Option<Uuid> {
        Uuid::from_slice(&self).ok()
    }
}

/// An event as it was read from either table: an id is stored as `I`, a text as `T`. In a database that was tampered with, any column can be absent
/// or impossible.
#[derive(Clone, Debug, Queryable)]
pub struct EventRow<I, T> {
    id: Option<I>,
    kind: Option<T>,
    actor: Option<T>,
    user_id: Option<I>,
    pseudonym: Option<Vec<u8>>,
    family: Option<T>,
    chain: Option<T>,
    address: Option<T>,
    client_id: Option<I>,
    peer: Option<T>,
    request: Option<T>,
    details: Option<T>,
    signed: Option<T>,
}

impl<I: StoredAs<Uuid> + Default, T: StoredAs<String>> EventRow<I, T> {
    /// The position of the row among the others.
    pub fn key(&self) -> I {
        self.id.clone().unwrap_or_default()
    }

    /// The event of a row in this table.
    pub fn event(self, table: &'static str) -> Result<Event, SqlError> {
        let key = self.key().value().unwrap_or_default();
        self.read().map_err(|Impossible(column)| Row { table, key: &key }.impossible(column))
    }

    /// The event of a row among the fresh ones, which have these types, and of which one with its id may be sealed already.
    pub fn fresh(self, types: Result<(), Impossible>, is_copy: bool) -> FreshAt {
        let id = self.id.clone().and_then(I::value).map(EventId::from_uuid);
        let problem = match types.and_then(|()| self.exact()) {
            Ok(event) if !is_copy => return FreshAt::Event(Box::new(event)),
            Ok(_) => "an event with its id is sealed already".to_owned(),
            Err(impossible) => impossible.to_string(),
        };
        FreshAt::Unsealable(UnsealableEvent { id, problem })
    }

    /// The event, if the row is exactly what it would be stored as. Another row cannot be sealed: the guard of that
    /// compares the columns.
    fn exact(self) -> Result<Event, Impossible> {
        let event = self.clone().read()?;
        let written = NewEvent::of(&event);
        let columns = [
            ("kind", self.kind, Some(written.kind)),
            ("actor", self.actor, Some(&*written.actor)),
            ("peer", self.peer, written.peer.as_deref()),
        ];
        for (column, stored, written) in columns {
            if text(column, stored)?.as_deref() != written {
                return Err(Impossible(column));
            }
        }
        Ok(event)
    }

    fn read(self) -> Result<Event, Impossible> {
        let kind = required("kind", text("kind", self.kind)?)?;
        let actor = required("actor", text("actor", self.actor)?)?;
        let person = match (id("user_id", self.user_id)?, bytes("pseudonym", self.pseudonym)?) {
            (Some(user), None) => Some(EventPerson::User(user)),
            (None, Some(random)) => Some(EventPerson::Deleted(Pseudonym::new(random))),
            (None, None) => None,
            (Some(_), Some(_)) => return Err(Impossible("pseudonym")),
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
            id: required("id", id("id", self.id)?)?,
            kind: EventKind::parse(&kind).map_err(|_| Impossible("kind"))?,
            actor: Actor::parse(&actor).map_err(|_| Impossible("actor"))?,
            person,
            wallet,
            client: id("client_id", self.client_id)?,
            address,
            request: text("request", self.request)?,
            details: Details::from_stored(required("details", text("details", self.details)?)?),
            signed: text("signed", self.signed)?.map(Signed::from_stored),
        })
    }
}

/// What is stored at a position of `events`.
#[derive(Debug, Queryable)]
pub struct SealedRow<I, T> {
    position: i64,
    event: EventRow<I, T>,
    salt: Option<Vec<u8>>,
    commitment: Option<Vec<u8>>,
    hiding_proof: Option<Vec<u8>>,
}

impl<I: StoredAs<Uuid> + Default, T: StoredAs<String>> SealedRow<I, T> {
    /// What is there, if the columns have these types.
    pub fn at(self, types: Result<(), Impossible>) -> EventAt {
        let position = u64::try_from(self.position).unwrap_or_default();
        match types.and_then(|()| self.read(position)) {
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

pub(super) fn text<T: StoredAs<String>>(
    column: &'static str,
    stored: Option<T>,
) -> Result<Option<String>, Impossible> {
    stored.map(|stored| stored.value().ok_or(Impossible(column))).transpose()
}

pub(super) fn bytes<const N: usize>(
    column: &'static str,
    stored: Option<Vec<u8>>,
) -> Result<Option<[u8; N]>, Impossible> {
    stored.map(|stored| stored.try_into().map_err(|_| Impossible(column))).transpose()
}

fn id<I: StoredAs<Uuid>, Id: DomainId>(
    column: &'static str,
    stored: Option<I>,
) -> Result<Option<Id>, Impossible> {
    stored.map(|stored| stored.value().map(Id::wrap).ok_or(Impossible(column))).transpose()
}
