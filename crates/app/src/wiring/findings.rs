//! What to make of the facts about a database, in words for operators.

pub(crate) mod finding;
pub(crate) mod postgres;
mod schema;
pub(crate) mod sqlite;
