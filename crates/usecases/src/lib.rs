//! One file for each thing that a client or a person can ask of the server.
//!
//! Every use-case has the same shape: `now` is read once, the client proves who it is, a snapshot is loaded, the
//! domain judges it, values are minted, one guarded operation is carried out, the answer is made. No use-case calls
//! another; what they share is a function.

pub mod context;

pub use context::{Context, Policy};
