//! Fetches clients' keys and metadata documents, and notifies clients of sign-outs.
//!
//! Clients choose these URLs when they register, so nothing about them is trusted. `HttpFetcher` checks
//! scheme and address and limits time, size and concurrency. `CachedDocuments` keeps what was fetched, so
//! that many requests cause one fetch. `OwnServer` asks the operator's own server, for the commands that check it.

mod cached;
mod fetcher;
mod own_server;

pub use cached::CachedDocuments;
pub use fetcher::HttpFetcher;
pub use own_server::{Answer, NoAnswer, NoRoots, OwnServer};
