//! Events: what happened, who did it, and to which user.
//!
//! Storage writes an event in the commit of its act. So nothing happens without its event, and no event
//! exists without its act. An event never holds a secret, a token, a signature or a text that a person wrote;
//! but what operators signed at the desk, it does.

mod actor;
mod cause;
mod details;
mod kind;
mod signed;

use std::{fmt, mem};

pub use self::actor::{Actor, ActorRejected};
pub use self::cause::{Cause, SERVER};
pub use self::details::{Details, SIGNED_IN};
pub use self::kind::{EventKind, EventKindUnknown};
pub use self::signed::{ChangeSignature, SecondSignature, Signed};
use crate::id::{ClientId, EventId, GrantId, UserId};
use crate::peer_address::PeerAddress;
use crate::wallet::WalletAccount;

/// Something that happened. When it happened is in its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// What happened.
    pub kind: EventKind,
    /// Who did it.
    pub actor: Actor,
    /// The user it happened to. `None` in a command whose user only storage knows; storage fills it in.
    pub person: Option<EventPerson>,
    /// The wallet that signed, or that it is about.
    pub wallet: Option<WalletAccount>,
    /// The client that it is about.
    pub client: Option<ClientId>,
    /// Where the request came from.
    pub address: Option<PeerAddress>,
    /// The id of the request, as in the log.
    pub request: Option<String>,
    /// What else is known about an event of this kind.
    pub details: Details,
    /// What operators signed to have it done. Only for changes that were made at the desk.
    pub signed: Option<Signed>,
}

impl Event {
    /// The same event, about this user unless it already names a person.
    #[must_use]
    pub fn about(mut self, user: UserId) -> Self {
        self.person.get_or_insert(EventPerson::User(user));
        self
    }

    /// Says that what was signed is in the event of a text that is about several people.
    pub fn name_text(&mut self, text: EventId) {
        self.signed = None;
        self.details = mem::take(&mut self.details).text(SIGNED_IN, text);
    }

    /// The same event, with nothing left that leads to the person.
    #[must_use]
    pub fn forgetting(mut self, pseudonym: Pseudonym) -> Self {
        self.person = Some(EventPerson::Deleted(pseudonym));
        self.wallet = None;
        self.address = None;
        self.signed = None;
        self
    }

    /// The event of a block if there was a block already, and only its reason was replaced.
    #[must_use]
    pub fn of_replaced_reason(&self) -> Self {
        let event = self.clone();
        Self { details: event.details.text("changed", "reason"), ..event }
    }

    /// The event of a wallet that is blocked because the account of its user, who was blocked, is deleted. This is the
    /// event of the deletion. The new one names no one who asked, because the server does it.
    #[must_use]
    pub fn of_wallet_kept_out(&self, wallet: WalletAccount) -> Self {
        // The user's id is gone with the account. With the id of this event, the wallet would lead to the pseudonym.
        let user = match self.person {
            Some(EventPerson::User(user)) => user.to_string(),
            Some(EventPerson::Deleted(_)) | None => self.id.to_string(),
        };
        let of = format!("{user} {} {}", wallet.family, wallet.address);
        Self {
            id: EventId::derived(self.id.at_time(), &of),
            kind: EventKind::WalletBlocked,
            actor: Actor::Server,
            person: None,
            wallet: Some(wallet),
            client: None,
            address: None,
            request: None,
            details: Details::default().text("reason", "account_deleted"),
            signed: None,
        }
    }

    /// The event of a proposal that ended because its operator was suspended. This is the event of the suspension, which
    /// the new one names: that one says who suspended the operator. The end is the server's doing.
    #[must_use]
    pub fn of_proposal_ended(&self, proposal: GrantId) -> Self {
        let details = Details::default().text("proposal", proposal).text("reason", "operator_suspended");
        let details = details.text("suspended_in", self.id);
        Self {
            id: EventId::derived(self.id.at_time(), &format!("{} {proposal}", self.id)),
            kind: EventKind::ChangeWithdrawn,
            actor: Actor::Server,
            person: None,
            wallet: None,
            client: None,
            details,
            signed: None,
            ..self.clone()
        }
    }

    /// The event of a deletion, which gave this many other events the pseudonym. It does not name its request: the
    /// log's line of that request names the person.
    #[must_use]
    pub fn of_deletion(self, pseudonym: Pseudonym, events: u64) -> Self {
        let details = self.details.clone().number("events", events);
        Self { details, request: None, ..self.forgetting(pseudonym) }
    }
}

/// The person an event happened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventPerson {
    /// A user.
    User(UserId),
    /// A user whose account was deleted. All of their events have the same pseudonym, and nothing leads from it
    /// to the user.
    Deleted(Pseudonym),
}

impl fmt::Display for EventPerson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(user) => user.fmt(f),
            Self::Deleted(pseudonym) => pseudonym.fmt(f),
        }
    }
}

/// A random name for a person whose account was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pseudonym([u8; 16]);

impl Pseudonym {
    /// Makes a pseudonym of random bytes.
    pub const fn new(random: [u8; 16]) -> Self {
        Self(random)
    }

    /// The bytes, for storage.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// What a grant that stays names instead of its user. No user has this id.
    pub const fn in_place_of_user(self) -> UserId {
        UserId::from_uuid(uuid::Uuid::from_bytes(self.0))
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 16];
        hex::decode_to_slice(text.strip_prefix("deleted:")?, &mut bytes).ok()?;
        let pseudonym = Self(bytes);
        (pseudonym.to_string() == text).then_some(pseudonym)
    }
}

/// `deleted:` and the bytes in hexadecimal.
impl fmt::Display for Pseudonym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deleted:{}", hex::encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Event {
        Event {
            id: EventId::at(time::OffsetDateTime::UNIX_EPOCH, [1; 10]),
            kind: EventKind::SignIn,
            actor: Actor::Person,
            person: None,
            wallet: Some(WalletAccount {
                family: "eip155".to_owned(),
                chain: "eip155:1".to_owned(),
                address: "0xab".to_owned(),
            }),
            client: None,
            address: None,
            request: None,
            details: Details::default(),
            signed: None,
        }
    }

    #[test]
    fn an_event_keeps_the_person_whom_it_names() {
        let [first, second] = [1, 2].map(|byte| UserId::at(time::OffsetDateTime::UNIX_EPOCH, [byte; 10]));
        let event = event().about(first);
        assert_eq!(event.clone().about(second), event);
    }

    #[test]
    fn a_forgotten_person_leaves_neither_user_nor_wallet_nor_address() {
        let user = UserId::at(time::OffsetDateTime::UNIX_EPOCH, [1; 10]);
        let forgotten = event().about(user).forgetting(Pseudonym::new([7; 16]));
        assert_eq!(forgotten.person.unwrap().to_string(), format!("deleted:{}", "07".repeat(16)));
        assert_eq!((forgotten.wallet, forgotten.address), (None, None));
        assert_eq!(Pseudonym::parse(&format!("deleted:{}", "07".repeat(16))), Some(Pseudonym::new([7; 16])));
        assert_eq!(Pseudonym::parse(&"07".repeat(16)), None);
    }
}
