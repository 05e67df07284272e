//! The whole storage port.

use crate::{
    AccountStore, AdminKeyStore, BlockStore, ClientStore, DeclarationStore, DeskStore, EpochStore,
    EventPushStore, EventStore, GroupStore, InvitationStore, KeyStore, LoginStore, PeopleStore, ReplayStore,
    RequestStore, ResourceStore, SessionStore, SuspensionStore, TokenStore, Upkeep, WalletStore,
};

/// The whole storage port: implement its traits, and this one follows.
pub trait Storage: ClientStore + ResourceStore + BlockStore + DirectStorage {}

impl<T> Storage for T where T: ClientStore + ResourceStore + BlockStore + DirectStorage {}

/// The storage port except the clients, the resources and the blocks. Use-cases may call it directly. Clients
/// and resources are remembered, and so is whether anything is blocked; in the server one type alone may read
/// and change each of them.
pub trait DirectStorage:
    LoginStore
    + WalletStore
    + SessionStore
    + AccountStore
    + AdminKeyStore
    + GroupStore
    + InvitationStore
    + DeclarationStore
    + PeopleStore
    + EventStore
    + EventPushStore
    + DeskStore
    + SuspensionStore
    + EpochStore
    + TokenStore
    + RequestStore
    + KeyStore
    + ReplayStore
    + Upkeep
{
}

impl<T> DirectStorage for T where
    T: LoginStore
        + WalletStore
        + SessionStore
        + AccountStore
        + AdminKeyStore
        + GroupStore
        + InvitationStore
        + DeclarationStore
        + PeopleStore
        + EventStore
        + EventPushStore
        + DeskStore
        + SuspensionStore
        + EpochStore
        + TokenStore
        + RequestStore
        + KeyStore
        + ReplayStore
        + Upkeep
{
}
