//! Rows of `fresh_events`, as they are written. Verification reads events differently in each database.

use countersign_domain::event::{Event, EventPerson, Signed};
use countersign_domain::id::UserId;

use crate::columns::{Binary, Id, Key, Nullable, Text};
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
