//! Counts what happens, and writes it down as Prometheus reads it.
//!
//! Whoever sees something happen counts it: the HTTP layer requests and what came of them, [`MeasuredWallets`] signatures.
//! What others know already ([`Source`]) is asked for when somebody reads. Use-cases know nothing of this.
//!
//! Every label has a fixed set of values that is made at the start (B-074): no address, client, code or path of a request ever
//! becomes one, and nothing that anybody sends makes a series more. Counting is a few relaxed atomics, without a lock and
//! without memory.

mod counter;
mod histogram;
mod labelled;
mod metrics;
#[cfg(test)]
mod page;
mod process;
mod source;
mod table;
mod text;
mod wallets;

pub use counter::Counter;
pub use histogram::Histogram;
pub use labelled::Labelled;
pub use metrics::{CONTENT_TYPE, LoginResult, METHODS, Metrics, Request};
pub use source::{Source, WriterFigures};
pub use table::{ALL, Description, Kind};
pub use wallets::{MeasuredWallets, namespace};
