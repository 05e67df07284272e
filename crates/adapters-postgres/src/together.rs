//! Operations that are carried out for many commands in one statement. Each is the array form of one in
//! `ops`, with the same guards.
//!
//! Each row is looked up by its key alone, in a subquery that the planner cannot flatten (`OFFSET 0`), and
//! judged outside it. So the plan does not depend on the size of the table when the statement was planned;
//! otherwise it could read the whole table later.
//!
//! Existing rows that others have locked are skipped, so that nothing waits for a batch that waits. New rows
//! are written in the order of their keys, so that no two batches wait for each other.

pub(crate) mod complete_login;
pub(crate) mod read;
pub(crate) mod redeem_code;
pub(crate) mod register_client;
pub(crate) mod revoke;
pub(crate) mod rotate_refresh;
pub(crate) mod spend_proof;
pub(crate) mod standing;

use std::collections::HashSet;

use uuid::Uuid;

/// One value of each command.
fn column<'a, C, T>(batch: &'a [C], value: impl Fn(&'a C) -> T) -> Vec<T> {
    batch.iter().map(value).collect()
}

/// The outcome for the commands whose ids were stored.
fn where_stored<C, T: Copy>(
    batch: &[C],
    stored: Vec<Uuid>,
    id: impl Fn(&C) -> Uuid,
    outcome: T,
) -> Vec<Option<T>> {
    let stored: HashSet<Uuid> = stored.into_iter().collect();
    batch.iter().map(|command| stored.contains(&id(command)).then_some(outcome)).collect()
}
