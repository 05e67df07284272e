//! Fetches clients' keys and metadata documents, and notifies clients of sign-outs.
//!
//! Clients choose these URLs when they register, so nothing about them is trusted. `HttpFetcher` checks
//! scheme and address and limits time, size and concurrency. `CachedDocuments` keeps what was fetched, so
//! that many requests cause one fetch.

mod cached;
mod fetcher;

pub use cached::CachedDocuments;
pub use fetcher::HttpFetcher;
