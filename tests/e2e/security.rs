//! The requirements of `security.md`, by their ids, as far as they can be seen from outside.

mod answers;
mod challenges;
mod client_assertions;
mod dpop;
mod login_sessions;
mod metadata;
mod sessions;
mod tokens;
mod transport;
