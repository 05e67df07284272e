//! Use-cases against the reference store, with a clock that tests move and seeded entropy.

mod account;
mod acts;
mod admin_keys;
mod breakable;
mod broken_store;
mod clients;
mod declared;
mod desk;
mod event_pushes;
mod events;
mod invariants;
mod people;
mod saved;
mod sign_in;
mod tokens;
mod world;
