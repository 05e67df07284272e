//! The desk: what operators change by signing it.

pub mod proposal;
