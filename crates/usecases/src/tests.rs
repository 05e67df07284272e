//! Use-cases against the reference store, with a clock that is moved by hand and seeded entropy.

mod account;
mod asserting;
mod authorizing;
mod binding;
mod breakable;
mod broken_store;
mod challenge_text;
mod client_tokens;
mod documents;
mod exchanging;
mod invariants;
mod knowing_clients;
mod knowing_tokens;
mod linking_wallets;
mod managing_clients;
mod openid;
mod programs;
mod refreshing;
mod remembering;
mod requests;
mod revoking;
mod signing_in;
mod signing_out;
mod trusting;
mod verifying_texts;
mod world;
