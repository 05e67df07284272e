//! Black-box tests over TCP against the real binary, on both databases.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it measured"
)]

mod account;
mod account_events;
mod admin;
mod admission;
mod applications;
mod client_secrets;
mod clocks;
mod crash;
mod declared;
mod desk;
mod devices;
mod doctor;
mod edge;
mod epochs;
mod event_push;
mod events;
mod exits;
mod fail2ban;
mod first_hour;
mod flow;
mod form_post;
mod growth;
mod heal;
mod histories;
mod invitations;
mod keys;
mod lifetimes;
mod limits;
mod litestream;
mod logout;
mod mail;
mod mcp;
mod mcp_clients;
mod metrics;
mod own_pages;
mod packages;
mod pairwise;
mod people;
mod playground;
mod programs;
mod races;
mod refusals;
mod remembering;
mod requests;
mod resources;
mod restarts;
mod rules;
mod saved;
mod scaling;
mod secrecy;
mod security;
mod strangers;
mod trusting;
mod verify;
mod wallets;
