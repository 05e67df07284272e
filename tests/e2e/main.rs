//! Black-box tests over TCP against the real binary, on both databases.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells what it measured"
)]

mod crash;
mod flow;
mod growth;
mod limits;
mod races;
mod rules;
mod secrecy;
mod security;
mod wallets;
