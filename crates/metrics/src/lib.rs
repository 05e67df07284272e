//! Counts what happens, and writes it in the format that Prometheus reads.
//!
//! Each layer counts what it sees: the HTTP layer counts requests and their results, [`MeasuredWallets`]
//! counts signatures. Numbers that another part already has ([`Source`]) are asked for when the page is read.
//! Use-cases know nothing of this. What is added up by the hour for the desk, they ask for by a port
//! ([`Figures`](countersign_ports::Figures)).
//!
//! Every label has a fixed set of values that is set at the start (B-074). No address, client, code or path
//! of a request ever becomes a value, and nothing that a client sends can add a series. Counting takes a few
//! relaxed atomic operations, with no lock and no allocation.

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
pub use source::{PushFigures, SealFigures, SecretFigures, Source, WriterFigures};
pub use table::{ALL, Description, MetricKind};
pub use wallets::{MeasuredWallets, namespace};
