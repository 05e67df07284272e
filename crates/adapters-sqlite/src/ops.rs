//! The operations: one function each. The caller provides the connection, and the transaction around it.
//!
//! A refusal is an outcome and changes nothing. An error means that the whole transaction must be rolled
//! back.

pub(crate) mod clients;
pub(crate) mod events;
pub(crate) mod people;
pub(crate) mod sign_in;
pub(crate) mod tokens;
pub(crate) mod upkeep;

// What both databases do in the same way.
pub(crate) use countersign_sql::ops::*;

// Each operation of the port by its name alone: by it `store.rs` finds the function.
pub(crate) use clients::find_client::find_client;
pub(crate) use clients::note_secret_uses::note_secret_uses;
pub(crate) use events::read_events::list_events;
pub(crate) use events::seal_events::seal_events;
pub(crate) use people::read_holdings::find_holdings;
pub(crate) use sign_in::complete_login::complete_login;
pub(crate) use sign_in::continue_session::continue_session;
pub(crate) use sign_in::open_session::open_session;
pub(crate) use sign_in::spend_proof::spend_proof;
pub(crate) use sign_in::standing::{anything_blocked, groups_of, standing_of};
pub(crate) use tokens::issue_tokens::issue_tokens;
pub(crate) use tokens::read::{find_access, find_grant, find_refresh, lives_on};
pub(crate) use tokens::redeem_code::redeem_code;
pub(crate) use tokens::revoke::{revoke_grant, revoke_token};
pub(crate) use tokens::rotate_refresh::rotate_refresh;
pub(crate) use upkeep::forget_events::forget_events;
pub(crate) use upkeep::forget_unused::forget_unused;
pub(crate) use upkeep::ping::ping;
pub(crate) use upkeep::purge_expired::purge_expired;
pub(crate) use upkeep::time_witness::{mark_time, time_witness};
