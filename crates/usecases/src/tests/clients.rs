//! Clients: who they are, and what we believe about them.

mod asserting;
mod documents;
mod knowing_clients;
mod managing_clients;
mod rotating_secrets;
mod trusting;
