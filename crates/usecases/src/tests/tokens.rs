//! What is exchanged for tokens, and what happens to them.

mod audiences;
mod binding;
mod client_tokens;
mod exchanging;
mod groups;
mod knowing_tokens;
mod lifetimes;
mod openid;
mod own_scopes;
mod pairwise;
pub(super) mod programs;
mod refreshing;
mod revoking;
