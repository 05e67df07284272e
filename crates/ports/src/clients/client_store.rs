//! Registered clients.

use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::event::Event;
use countersign_domain::group::GroupName;
use countersign_domain::id::ClientId;
use countersign_domain::secret::SecretHash;
use time::OffsetDateTime;

use crate::Total;

/// Stores a client whose metadata was checked.
#[derive(Clone, Debug)]
pub struct RegisterClient {
    /// The client, with its id.
    pub client: Client,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`RegisterClient`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The client is stored. A repeat of the same command gives this too.
    Stored,
    /// Another client has this id. Nothing changed.
    IdTaken,
}

/// Replaces what a client registered.
#[derive(Clone, Debug)]
pub struct UpdateClient {
    /// The client, with its new values.
    pub client: Client,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Deletes a client.
#[derive(Clone, Debug)]
pub struct DeleteClient {
    /// Its id.
    pub id: ClientId,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Opens resources to a client, or closes them.
#[derive(Clone, Debug)]
pub struct ChangeResources {
    /// The client.
    pub client: ClientId,
    /// What changes.
    pub change: ResourceChange,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// What changes in the list of resources that are open to a client.
#[derive(Clone, Debug)]
pub enum ResourceChange {
    /// These are opened: added at the end, in this order. Those that are open already stay where they are.
    Open(Vec<String>),
    /// These are closed.
    Close(Vec<String>),
}

impl ResourceChange {
    /// Changes a list of open resources, for adapters that read the list before they write it.
    pub fn apply(&self, open: &mut Vec<String>) {
        match self {
            Self::Open(uris) => {
                for uri in uris {
                    if !open.contains(uri) {
                        open.push(uri.clone());
                    }
                }
            }
            Self::Close(uris) => open.retain(|uri| !uris.contains(uri)),
        }
    }
}

/// Decides who can sign in to a client, and which of their groups it gets.
#[derive(Clone, Debug)]
pub struct ChangeAccess {
    /// The client.
    pub client: ClientId,
    /// The client's own rule; `None` if it follows the setting.
    pub rule: Option<AccessRule>,
    /// Which groups it gets; `None` leaves that as it is.
    pub release: Option<Release>,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Gives a client a new secret.
#[derive(Clone, Debug)]
pub struct RotateSecret {
    /// The client.
    pub client: ClientId,
    /// The hash of the secret that is replaced.
    pub replaced: SecretHash,
    /// The hash of the new secret, which no other command has.
    pub hash: SecretHash,
    /// When the new secret was made, in whole seconds.
    pub now: OffsetDateTime,
    /// Until when the replaced secret works; `None` if it ends at once.
    pub keep_old_until: Option<OffsetDateTime>,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Changes a client only if it is still as the caller read it.
#[derive(Clone, Debug)]
pub struct IfClientUnchanged {
    /// The client as it was read.
    pub read: Client,
    /// What changes. It is about that client.
    pub change: ClientChange,
}

/// A change of a client.
#[derive(Clone, Debug)]
pub enum ClientChange {
    /// That of [`ClientStore::update_client`](crate::ClientStore::update_client).
    Update(Box<UpdateClient>),
    /// That of [`ClientStore::change_resources`](crate::ClientStore::change_resources).
    Resources(ChangeResources),
    /// That of [`ClientStore::change_access`](crate::ClientStore::change_access).
    Access(ChangeAccess),
    /// That of [`ClientStore::rotate_secret`](crate::ClientStore::rotate_secret).
    Secret(RotateSecret),
    /// That of [`ClientStore::delete_client`](crate::ClientStore::delete_client).
    Delete(DeleteClient),
}

/// A client authenticated with a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretUse {
    /// The client.
    pub client: ClientId,
    /// The hash of the secret.
    pub hash: SecretHash,
    /// When, to the minute.
    pub used_at: OffsetDateTime,
}

/// What is known about a secret of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretRecord {
    /// When it was made; `None` if an earlier release made it, which did not write that down.
    pub created_at: Option<OffsetDateTime>,
    /// When it ends; `None` for the current secret.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was last used, to the minute; `None` if never.
    pub last_used_at: Option<OffsetDateTime>,
}

/// When a client was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientUse {
    /// The client.
    pub client: ClientId,
    /// When.
    pub used_at: OffsetDateTime,
}

/// What clients are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientOrder {
    /// The name, in small ASCII letters and byte order.
    Name,
    /// When it was used last or, if it never was, when it was registered; the latest first.
    LastUse,
    /// When it was registered, the latest first.
    Created,
}

/// Who can sign in to the clients that are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LetsIn {
    /// Those without a rule of their own: the setting `default_access` decides.
    ByDefault,
    /// Everyone.
    Everyone,
    /// A group, perhaps beside others.
    Group(GroupName),
}

/// Which clients are listed: those that match both parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientFilter {
    /// Who can sign in.
    pub lets_in: Option<LetsIn>,
    /// How they came to be registered.
    pub origin: Option<ClientOrigin>,
}

impl ClientFilter {
    /// Does it ask for all of them?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Does it ask for a client with this rule of its own, or none, and of this origin?
    pub fn asks_for(&self, default: &AccessRule, own: Option<&AccessRule>, origin: ClientOrigin) -> bool {
        let rule = own.unwrap_or(default);
        let lets_in = match &self.lets_in {
            None => true,
            Some(LetsIn::ByDefault) => own.is_none(),
            Some(LetsIn::Everyone) => *rule == AccessRule::Everyone,
            Some(LetsIn::Group(group)) => rule.groups().contains(group),
        };
        lets_in && self.origin.is_none_or(|asked| asked == origin)
    }
}

/// Which clients are listed in which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortClients {
    /// Those that are asked for.
    pub filter: ClientFilter,
    /// The rule of clients that have none of their own.
    pub default_access: AccessRule,
    /// Their order.
    pub order: ClientOrder,
    /// Where the page begins: after this place.
    pub after: Option<ClientPlace>,
    /// How many are listed at most.
    pub limit: u32,
}

/// Where a client is in a sorted list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPlace {
    /// Its name as [`ClientOrder::Name`] sorts it.
    pub name: String,
    /// The time by which the other orders sort it.
    pub at: OffsetDateTime,
    /// The client.
    pub client: ClientId,
}

/// A client in a sorted list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientListed {
    /// The client.
    pub client: Client,
    /// When it was used last.
    pub used_at: Option<OffsetDateTime>,
}

/// A page of a sorted list of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedClients {
    /// The clients.
    pub clients: Vec<ClientListed>,
    /// Where the next page begins, if there can be one.
    pub next: Option<ClientPlace>,
    /// How many clients match the filter.
    pub total: Total,
}
