//! Fetching what clients point at: their keys and their metadata, and telling them of sign-outs.
//!
//! Whoever registers says which URLs are asked, so nothing of them is trusted: `HttpFetcher` judges scheme and address and bounds
//! time, bytes and number; `CachedDocuments` keeps what was fetched, so that many requests ask once.

mod cached;
mod fetcher;

pub use cached::CachedDocuments;
pub use fetcher::HttpFetcher;
