//! Clients: who they are, and what is believed of them.

mod asserting;
mod documents;
mod knowing_clients;
mod managing_clients;
mod trusting;
