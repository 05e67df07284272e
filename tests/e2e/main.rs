//! Black-box tests over TCP against the real binary, on both databases.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells what it measured"
)]

mod account;
mod crash;
mod flow;
mod growth;
mod limits;
mod mail;
mod playground;
mod races;
mod remembering;
mod rules;
mod secrecy;
mod security;
mod verify;
mod wallets;
