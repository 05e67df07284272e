//! The operations of which many are carried out as one statement: each the array form of one in `ops`, with the same guards.
//!
//! Each row is looked up by its key alone, in a subquery that the planner cannot take apart (`OFFSET 0`), and judged outside:
//! how a table looked when the statement was planned cannot lead to another way, which would read the whole of it later.
//!
//! Existing rows that others have locked are skipped, so that nobody waits for a batch that waits, and new ones are
//! written in the order of their keys, so that no two batches wait for each other.

pub(crate) mod complete_login;
pub(crate) mod read;
pub(crate) mod redeem_code;
pub(crate) mod register_client;
pub(crate) mod revoke;
pub(crate) mod rotate_refresh;
pub(crate) mod spend_proof;
mod tokens;

use std::collections::HashSet;

use uuid::Uuid;

/// One value of each command.
fn column<'a, C, T>(batch: &'a [C], value: impl Fn(&'a C) -> T) -> Vec<T> {
    batch.iter().map(value).collect()
}

/// The outcome of those whose ids were stored.
fn where_stored<C, T: Copy>(
    batch: &[C],
    stored: Vec<(Uuid,)>,
    id: impl Fn(&C) -> Uuid,
    outcome: T,
) -> Vec<Option<T>> {
    let stored: HashSet<Uuid> = stored.into_iter().map(|(id,)| id).collect();
    batch.iter().map(|command| stored.contains(&id(command)).then_some(outcome)).collect()
}
