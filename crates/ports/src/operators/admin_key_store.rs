//! The keys of the admin interface, and which of their requests were begun before.

use countersign_domain::admin_key::AdminKey;
use countersign_domain::event::Event;
use countersign_domain::id::AdminKeyId;
use time::{Duration, OffsetDateTime};

use crate::{
    CreateGroup, CreateInvitation, CreateResource, GroupCreated, InvitationCreated, RegisterClient,
    Registered, ResourceCreated,
};

/// Stores an admin key.
#[derive(Clone, Debug)]
pub struct CreateAdminKey {
    /// The key, with its id and its hash.
    pub key: AdminKey,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`CreateAdminKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminKeyCreated {
    /// The key is stored. A repeat of the same command (same id) gives this too.
    Stored,
    /// Another key has this name, perhaps one that was revoked. Nothing changed.
    NameTaken,
}

/// Revokes an admin key.
#[derive(Clone, Debug)]
pub struct RevokeAdminKey {
    /// The key.
    pub id: AdminKeyId,
    /// When.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// How long a request is remembered at least, whatever becomes of the key that began it.
pub const REQUESTS_REMEMBERED: Duration = Duration::days(1);

/// Begins a request that must not be carried out twice.
#[derive(Clone, Copy, Debug)]
pub struct BeginRequest {
    /// The key that is used.
    pub key: AdminKeyId,
    /// The digest of the request's name, which its sender chose.
    pub name: [u8; 32],
    /// The digest of what is asked.
    pub asked: [u8; 32],
    /// When.
    pub now: OffsetDateTime,
    /// What this key began before this time is forgotten.
    pub forget_before: OffsetDateTime,
}

/// A request that was begun, now or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestBegun {
    /// The digest of what was asked first.
    pub asked: [u8; 32],
    /// When that was.
    pub begun_at: OffsetDateTime,
    /// When what it asks for was created; `None` if it was not yet ([`AdminKeyStore::create_once`](crate::AdminKeyStore::create_once)).
    pub made_at: Option<OffsetDateTime>,
}

/// A request that was begun: the key that sent it, and the digest of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestName {
    /// The key.
    pub key: AdminKeyId,
    /// The digest of the name.
    pub name: [u8; 32],
}

/// Creates what a request asks for, once.
#[derive(Clone, Debug)]
pub struct CreateOnce {
    /// The request.
    pub request: RequestName,
    /// When.
    pub now: OffsetDateTime,
    /// What it creates.
    pub creation: Creation,
}

/// What a request can create.
#[derive(Clone, Debug)]
pub enum Creation {
    /// That of [`ClientStore::register_client`](crate::ClientStore::register_client).
    Client(Box<RegisterClient>),
    /// That of [`GroupStore::create_group`](crate::GroupStore::create_group).
    Group(CreateGroup),
    /// That of [`ResourceStore::create_resource`](crate::ResourceStore::create_resource).
    Resource(CreateResource),
    /// That of [`InvitationStore::create_invitation`](crate::InvitationStore::create_invitation).
    Invitation(CreateInvitation),
}

/// The outcome of [`CreateOnce`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreatedOnce {
    /// The request made something before, and it is no longer there as it was made. Nothing changed.
    MadeBefore,
    /// What became of a client.
    Client(Registered),
    /// What became of a group.
    Group(GroupCreated),
    /// What became of a resource.
    Resource(ResourceCreated),
    /// What became of an invitation.
    Invitation(InvitationCreated),
}
