//! The OpenID Foundation's conformance suite, module by module, as tests of ours under the names of its modules. `plans.rs` holds
//! its lists, and `docs/conformance.md` what became of each.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod basic;
mod config;
mod conformance;
mod dynamic;
mod fapi2;
mod logout;
mod plans;
mod suite;
