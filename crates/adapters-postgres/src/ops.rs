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

pub(crate) mod clients;
pub(crate) mod events;
pub(crate) mod people;
pub(crate) mod sign_in;
pub(crate) mod tokens;
pub(crate) mod upkeep;

// What both databases do in the same way.
pub(crate) use countersign_sql::ops::*;

// Each operation of the port by its name alone: by it `store.rs` finds the function.
pub(crate) use clients::note_secret_uses::note_secret_uses;
pub(crate) use events::read_events::list_events;
pub(crate) use events::seal_events::seal_events;
pub(crate) use people::read_holdings::find_holdings;
pub(crate) use sign_in::continue_session::continue_session;
pub(crate) use sign_in::open_session::open_session;
pub(crate) use tokens::issue_tokens::issue_tokens;
pub(crate) use upkeep::forget_events::forget_events;
pub(crate) use upkeep::forget_unused::forget_unused;
pub(crate) use upkeep::ping::ping;
pub(crate) use upkeep::purge_expired::purge_expired;
pub(crate) use upkeep::time_witness::time_witness;
