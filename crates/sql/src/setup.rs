//! The schema of a database: what brings it about, and what is there.

pub mod catalog;
pub mod migrate;
