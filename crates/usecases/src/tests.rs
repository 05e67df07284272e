//! Use-cases against the reference store, with a clock that is moved by hand and seeded entropy.

mod account;
mod authorizing;
mod broken_store;
mod challenge_text;
mod exchanging;
mod invariants;
mod linking_wallets;
mod managing_clients;
mod refreshing;
mod remembering;
mod revoking;
mod signing_in;
mod verifying_texts;
mod world;
