//! The desk: what operators change by signing it.

pub mod change;
mod fields;
pub mod operators;
pub mod pending;
pub mod proposal;
pub mod written;
