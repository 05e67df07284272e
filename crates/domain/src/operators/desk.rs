//! The desk: what operators change by signing it.

pub mod operators;
pub mod pending;
pub mod proposal;
