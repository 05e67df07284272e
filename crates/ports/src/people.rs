//! Storage of people: accounts, wallets, groups, invitations, blocks, and what operators see of them.

pub(crate) mod account_store;
pub(crate) mod block_store;
pub mod group_store;
pub(crate) mod invitation_store;
pub(crate) mod people_store;
pub mod wallet_store;
