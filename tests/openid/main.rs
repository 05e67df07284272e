//! The OpenID Foundation's conformance suite, as tests of ours with the names of its modules. `plans.rs`
//! contains its lists of modules, and `docs/reports/conformance.md` says which of them are tests here.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod basic;
mod config;
mod conformance;
mod dynamic;
mod fapi2;
mod logout;
mod plans;
mod suite;
