//! Tests of the binary itself.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod challenge;
mod changes;
mod clients;
mod commands;
mod database;
mod documented;
mod healthcheck;
mod keys;
mod place;
mod serve;
mod server;
mod supervisor;
mod templates;
mod trial;
