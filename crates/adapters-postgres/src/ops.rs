//! The operations: each takes a connection and a command and returns an outcome.
//!
//! Operations that lock rows of several tables all do so in the same order, so that there are no deadlocks:
//! the client, the records of its secrets, the spent challenge, the group, the user, memberships in groups, the
//! user's wallets, blocks, consents, sessions, grants, and then events: fresh ones before sealed ones. Several
//! records, memberships, blocks, consents, sessions or events are locked in the order of their keys. Several
//! grants of one user are changed only under the lock of the user, or when a client is deleted. An operation
//! about a wallet that needs its user's lock begins again if the wallet has changed hands meanwhile, so it
//! never locks two users. Upkeep can take any order, because it never waits for a lock; the same goes for
//! batches (`together.rs`), which wait for no existing row.

pub(crate) mod admin_keys;
pub(crate) mod change_access;
pub(crate) mod change_members;
pub(crate) mod change_resources;
pub(crate) mod client_secrets;
pub(crate) mod complete_login;
pub(crate) mod confirm_email;
pub(crate) mod continue_session;
pub(crate) mod declarations;
pub(crate) mod delete_account;
pub(crate) mod end_access;
pub(crate) mod end_session;
pub(crate) mod epoch;
pub(crate) mod event_push;
pub(crate) mod forget_documents;
pub(crate) mod forget_events;
pub(crate) mod forget_person;
pub(crate) mod forget_unused;
pub(crate) mod if_unchanged;
pub(crate) mod issue_tokens;
pub(crate) mod leases;
pub(crate) mod link_wallet;
pub(crate) mod manage_clients;
pub(crate) mod manage_groups;
pub(crate) mod name_wallet;
pub(crate) mod open_session;
pub(crate) mod overview;
pub(crate) mod ping;
pub(crate) mod proposals;
pub(crate) mod purge_expired;
pub(crate) mod put_block;
pub(crate) mod put_email;
pub(crate) mod read;
pub(crate) mod read_account;
pub(crate) mod read_blocks;
pub(crate) mod read_events;
pub(crate) mod read_groups;
pub(crate) mod read_people;
pub(crate) mod record_event;
pub(crate) mod redeem_code;
pub(crate) mod register_client;
pub(crate) mod remove_block;
pub(crate) mod remove_email;
pub(crate) mod requests;
pub(crate) mod resources;
pub(crate) mod revoke;
pub(crate) mod revoke_consent;
pub(crate) mod rotate_refresh;
pub(crate) mod seal_events;
pub(crate) mod sign_out;
pub(crate) mod signing_keys;
pub(crate) mod spend_proof;
pub(crate) mod time_witness;
pub(crate) mod transaction;
pub(crate) mod unlink_wallet;
pub(crate) mod wallets;
