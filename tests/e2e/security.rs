//! The security requirements, by their ids, as far as they are visible from outside.

mod answers;
mod challenges;
mod client_assertions;
mod dpop;
mod login_sessions;
mod metadata;
mod sessions;
mod tokens;
mod transport;
